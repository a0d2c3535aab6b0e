//! The modules of a process by their hash: loaded once, or refused once. Without the feature `wasm` none is.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::block::Block;
use crate::error::DeriveError;
use crate::operation::ModuleCall;
use crate::policy::{DeployLimits, ModuleHash};

/// Deployed code, or a registered function, that can be run.
pub trait RunModule: Send + Sync {
    /// Runs it on one block of each variable, all of one region.
    ///
    /// # Errors
    /// Whatever stopped it.
    fn run(&self, inputs: &[Block]) -> Result<Block, DeriveError>;
}

type Loaded = Result<Arc<dyn RunModule>, DeriveError>;

/// Modules that were handed over to this process, with their limits.
pub struct Modules {
    limits: DeployLimits,
    known: Mutex<BTreeMap<ModuleHash, Loaded>>,
    #[cfg(feature = "wasm")]
    runtime: std::sync::OnceLock<Result<crate::deployed::Runtime, crate::deployed::DeployError>>,
}

impl Modules {
    /// None yet.
    pub fn new(limits: DeployLimits) -> Self {
        Self {
            limits,
            known: Mutex::new(BTreeMap::new()),
            #[cfg(feature = "wasm")]
            runtime: std::sync::OnceLock::new(),
        }
    }

    /// The module, checked and compiled when it is first asked for.
    ///
    /// # Errors
    /// It is no module that is run here, each time for the same reason.
    pub fn load(&self, hash: ModuleHash, bytes: &[u8]) -> Loaded {
        if let Some(known) = self.lock().get(&hash) {
            return known.clone();
        }
        if self.lock().len() >= self.limits.modules {
            self.clear();
        }
        let loaded = self.compile(bytes);
        self.lock().entry(hash).or_insert(loaded).clone()
    }

    /// Lets go of all: calls that run go on, and who comes again is loaded again.
    fn clear(&self) {
        let known = std::mem::take(&mut *self.lock());
        #[cfg(feature = "wasm")]
        if let Some(Ok(runtime)) = self.runtime.get() {
            for hash in known.keys() {
                runtime.unload(*hash);
            }
        }
        drop(known);
    }

    #[cfg(feature = "wasm")]
    fn compile(&self, bytes: &[u8]) -> Loaded {
        let module = ModuleHash::of(bytes);
        let failed = |error: &crate::DeployError| module_error(module, error);
        let runtime = self.runtime.get_or_init(|| crate::deployed::Runtime::new(self.limits.clone()));
        let runtime = runtime.as_ref().map_err(failed)?;
        let deployed = runtime.load(bytes).map_err(|error| failed(&error))?;
        Ok(deployed)
    }

    #[cfg(not(feature = "wasm"))]
    fn compile(&self, _: &[u8]) -> Loaded {
        Err(DeriveError::NoWebAssembly)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ModuleHash, Loaded>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Modules {
    fn default() -> Self {
        Self::new(DeployLimits::default())
    }
}

#[cfg(feature = "wasm")]
impl RunModule for crate::deployed::Deployed {
    fn run(&self, inputs: &[Block]) -> Result<Block, DeriveError> {
        self.run(inputs).map_err(|error| module_error(self.hash(), &error))
    }
}

#[cfg(feature = "wasm")]
fn module_error(module: ModuleHash, error: &crate::DeployError) -> DeriveError {
    let overran = matches!(error, crate::DeployError::Fuel { .. } | crate::DeployError::TimedOut { .. });
    DeriveError::Module { module, what: error.to_string(), overran }
}

/// The modules and the registered functions of one plan.
#[derive(Clone, Default)]
pub(crate) struct Attached {
    modules: BTreeMap<ModuleHash, Arc<dyn RunModule>>,
    functions: BTreeMap<String, Arc<dyn RunModule>>,
}

impl Attached {
    pub(crate) fn insert(&mut self, hash: ModuleHash, module: Arc<dyn RunModule>) {
        self.modules.insert(hash, module);
    }

    pub(crate) fn insert_function(&mut self, name: String, function: Arc<dyn RunModule>) {
        self.functions.insert(name, function);
    }

    pub(crate) fn find(&self, call: &ModuleCall) -> Result<&dyn RunModule, DeriveError> {
        let name = || call.name().to_owned();
        let found = match call.is_registered() {
            true => self.functions.get(call.name()).ok_or_else(|| DeriveError::NoFunction { name: name() }),
            false => call
                .hash()
                .and_then(|hash| self.modules.get(&hash))
                .ok_or_else(|| DeriveError::NoModule { name: name() }),
        };
        found.map(|found| &**found)
    }
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.modules.keys()).entries(self.functions.keys()).finish()
    }
}
