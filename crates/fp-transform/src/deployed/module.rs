//! Modules: checked once, compiled once, cached by the hash of their bytes.
//!
//! Each call gets a fresh instance: a module that two subscribers share carries no data from one to the other
//! (`docs/decisions/0036-deployed-code-sees-nothing-of-the-process.md`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::bounds;
use super::engines::{Code, Engines};
use super::error::DeployError;
use super::ticker::Ticker;
use crate::alignment::for_each_part;
use crate::block::{Array, ArrayType, Block};
use crate::memory::Memory;
use crate::policy::{DeployLimits, ModuleHash};

/// Compiles modules and runs them. Modules outlive it. The memory that is kept between calls goes with the last of
/// them.
pub struct Runtime {
    engines: Engines,
    ticker: Arc<Ticker>,
    limits: DeployLimits,
    modules: Mutex<BTreeMap<ModuleHash, Arc<Deployed>>>,
}

/// A module that was checked and compiled, ready to run.
pub struct Deployed {
    hash: ModuleHash,
    code: Code,
    ticker: Arc<Ticker>,
    limits: DeployLimits,
}

impl Runtime {
    /// A runtime without modules.
    ///
    /// # Errors
    /// [`DeployError::Runtime`] where WebAssembly cannot run.
    pub fn new(limits: DeployLimits) -> Result<Self, DeployError> {
        let engines = Engines::new(&limits)?;
        let ticker = Arc::new(Ticker::new(engines.all()));
        Ok(Self { engines, ticker, limits, modules: Mutex::new(BTreeMap::new()) })
    }

    /// A module, from the cache if its bytes are known.
    ///
    /// Compiling takes a moment, on the caller's thread: milliseconds for kilobytes. It cannot be interrupted, so what
    /// could take long is refused before.
    ///
    /// # Errors
    /// It is too large or has too much of something, is no module, imports anything, or does not export what it has to.
    pub fn load(&self, bytes: &[u8]) -> Result<Arc<Deployed>, DeployError> {
        let (len_bytes, limit_bytes) = (bytes.len(), self.limits.module_bytes);
        if len_bytes > limit_bytes {
            return Err(DeployError::TooLarge { len_bytes, limit_bytes });
        }
        let hash = ModuleHash::of(bytes);
        if let Some(known) = self.cached(hash) {
            return Ok(known);
        }
        bounds::check(bytes, &self.limits)?;
        let (code, ticker) = (self.engines.compile(bytes)?, Arc::clone(&self.ticker));
        let deployed = Arc::new(Deployed { hash, code, ticker, limits: self.limits.clone() });
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if modules.len() >= self.limits.modules && !modules.contains_key(&hash) {
            return Err(DeployError::TooMany { limit: self.limits.modules });
        }
        Ok(Arc::clone(modules.entry(hash).or_insert(deployed)))
    }

    /// A module that was loaded before.
    pub fn cached(&self, hash: ModuleHash) -> Option<Arc<Deployed>> {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner).get(&hash).cloned()
    }

    /// Lets go of a module; calls that run go on. Says whether there was one.
    pub fn unload(&self, hash: ModuleHash) -> bool {
        self.modules.lock().unwrap_or_else(PoisonError::into_inner).remove(&hash).is_some()
    }
}

impl Deployed {
    /// The hash of the module.
    pub fn hash(&self) -> ModuleHash {
        self.hash
    }

    /// Runs the module on one block of each variable, on the caller's thread, in a memory that is as if nobody had used
    /// it.
    ///
    /// # Errors
    /// It used more than it may, trapped, failed, or gave an output that makes no sense.
    pub fn run(&self, inputs: &[Block]) -> Result<Block, DeployError> {
        let no_thread = |error: std::io::Error| DeployError::Runtime { reason: error.to_string() };
        let _running = self.ticker.run().map_err(no_thread)?;
        let input_bytes = inputs.iter().map(|block| block.bytes().len()).sum();
        self.code.start(&self.limits, input_bytes)?.run(inputs)
    }

    /// Runs the module on every block that the variables have in common.
    ///
    /// # Errors
    /// Those of [`run`](Self::run), and an output that is no part of the array that was wanted.
    pub fn run_arrays(&self, inputs: &[Array], to: ArrayType) -> Result<Array, DeployError> {
        let mut all = Vec::new();
        if !inputs.is_empty() {
            for_each_part(inputs, &Memory::default(), |_, parts| {
                all.push(parts);
                Ok(())
            })?;
        }
        let blocks = all.iter().map(|parts| self.run(parts)).collect::<Result<_, _>>()?;
        Ok(Array::new(to.dtype, to.shape, blocks)?)
    }
}
