//! The modules of a process by their hash: loaded once, or refused once. Without the feature `wasm` none is.

use crate::error::DeriveError;
use crate::foreign_code::RunModule;
use crate::policy::{DeployLimits, ModuleHash};
use std::sync::Arc;
#[cfg(feature = "wasm")]
use std::time::Duration;

#[cfg(feature = "wasm")]
mod compiling;
#[cfg(feature = "wasm")]
mod counted;

type Loaded = Result<Arc<dyn RunModule>, DeriveError>;

/// Modules that were handed over to this process, with their limits.
pub struct Modules {
    #[cfg(feature = "wasm")]
    compiler: compiling::Compiler,
    #[cfg(feature = "wasm")]
    overruns: Arc<counted::ModuleOverruns>,
    /// How long a module may run for one derivation, on all its blocks together.
    #[cfg(feature = "wasm")]
    time: Option<Duration>,
}

#[cfg(feature = "wasm")]
impl Modules {
    /// None yet.
    pub fn new(limits: DeployLimits) -> Self {
        Self { compiler: compiling::Compiler::new(limits), overruns: Arc::default(), time: None }
    }

    /// None yet. Each may run for so long for one derivation, on all its blocks together.
    pub fn within(limits: DeployLimits, time: Duration) -> Self {
        Self { time: Some(time), ..Self::new(limits) }
    }

    /// The module, checked and compiled when it is first asked for, for one derivation. It is compiled on a thread of
    /// its own, for which this waits for a while.
    ///
    /// How often a module ran too long is counted once, whatever derivations it ran for.
    ///
    /// # Errors
    /// It is no module that is run here, each time for the same reason. It is still being compiled. It ran too long too
    /// often.
    pub fn load(&self, hash: ModuleHash, bytes: &[u8]) -> Loaded {
        self.overruns.check(hash)?;
        let code = self.compiler.load(hash, bytes)?;
        Ok(Arc::new(counted::Counted::new((hash, code), self.overruns.clone(), self.time)))
    }
}

#[cfg(not(feature = "wasm"))]
impl Modules {
    /// None, ever.
    pub fn new(_: DeployLimits) -> Self {
        Self {}
    }

    /// None, ever.
    pub fn within(limits: DeployLimits, _: std::time::Duration) -> Self {
        Self::new(limits)
    }

    /// No module is run here.
    ///
    /// # Errors
    /// [`DeriveError::NoWebAssembly`].
    pub fn load(&self, _: ModuleHash, _: &[u8]) -> Loaded {
        Err(DeriveError::NoWebAssembly)
    }
}

impl Default for Modules {
    fn default() -> Self {
        Self::new(DeployLimits::default())
    }
}
