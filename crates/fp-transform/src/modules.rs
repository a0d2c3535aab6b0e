//! The modules of a process by their hash: loaded once, or refused once. Without the feature `wasm` none is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "wasm")]
use crate::block::Block;
#[cfg(feature = "wasm")]
use crate::deployed::{DeployError, Deployed, Runtime};
use crate::error::DeriveError;
use crate::foreign_code::RunModule;
use crate::policy::{DeployLimits, ModuleHash};

type Loaded = Result<Arc<dyn RunModule>, DeriveError>;

/// Modules that were handed over to this process, with their limits.
pub struct Modules {
    limits: DeployLimits,
    known: Mutex<BTreeMap<ModuleHash, Loaded>>,
    #[cfg(feature = "wasm")]
    runtime: std::sync::OnceLock<Result<Runtime, DeployError>>,
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
        let failed = |error: &DeployError| module_error(module, error);
        let runtime = self.runtime.get_or_init(|| Runtime::new(self.limits.clone()));
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
impl RunModule for Deployed {
    fn run(&self, inputs: &[Block]) -> Result<Block, DeriveError> {
        self.run(inputs).map_err(|error| module_error(self.hash(), &error))
    }
}

#[cfg(feature = "wasm")]
fn module_error(module: ModuleHash, error: &DeployError) -> DeriveError {
    let overran = matches!(error, DeployError::Fuel { .. } | DeployError::TimedOut { .. });
    DeriveError::Module { module, what: error.to_string(), overran }
}
