//! What a plan runs that is not built in: modules by their hash, registered functions by their name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::error::DeriveError;
use crate::foreign_code::RunModule;
use crate::operation::ModuleCall;
use crate::policy::ModuleHash;

/// The modules and the registered functions of one plan.
#[derive(Clone, Default)]
pub(super) struct Attached {
    modules: BTreeMap<ModuleHash, Arc<dyn RunModule>>,
    functions: BTreeMap<String, Arc<dyn RunModule>>,
}

impl Attached {
    pub(super) fn insert(&mut self, hash: ModuleHash, module: Arc<dyn RunModule>) {
        self.modules.insert(hash, module);
    }

    pub(super) fn insert_function(&mut self, name: String, function: Arc<dyn RunModule>) {
        self.functions.insert(name, function);
    }

    pub(super) fn find(&self, call: &ModuleCall) -> Result<&dyn RunModule, DeriveError> {
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
