//! A block that was put.

use fp_transport::Payload;
use fp_types::{Region, VariableDef};
use std::sync::Arc;

/// A block that was put.
pub(crate) struct StoredBlock {
    pub(crate) def: Arc<VariableDef>,
    /// Its index among this rank's blocks of the variable in this step.
    pub(crate) index: u32,
    pub(crate) region: Region,
    pub(crate) payload: Payload,
}

impl StoredBlock {
    pub(crate) fn size(&self) -> usize {
        self.def.element_bytes().unwrap_or(1)
    }
}
