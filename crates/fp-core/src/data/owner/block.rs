//! A block that was put.

use crate::value::stored_bytes::StoredBytes;
use fp_transport::Payload;
use fp_types::{Region, VariableDef};
use std::sync::Arc;

/// Where the bytes of a block are.
#[derive(Clone)]
pub(crate) enum BlockBytes {
    /// In memory of this process.
    Memory(Payload),
    /// Outside of memory: they are read when somebody asks, and sent.
    Stored(Arc<dyn StoredBytes>),
}

/// A block that was put.
pub(crate) struct StoredBlock {
    pub(crate) def: Arc<VariableDef>,
    /// Its index among this rank's blocks of the variable in this step.
    pub(crate) index: u32,
    pub(crate) region: Region,
    pub(crate) bytes: BlockBytes,
}

impl StoredBlock {
    pub(crate) fn size(&self) -> usize {
        self.def.element_bytes().unwrap_or(1)
    }

    /// Its bytes, if they are in memory.
    pub(crate) fn payload(&self) -> Option<&Payload> {
        match &self.bytes {
            BlockBytes::Memory(payload) => Some(payload),
            BlockBytes::Stored(_) => None,
        }
    }

    /// What reads its bytes, if they are not in memory.
    pub(crate) fn stored(&self) -> Option<&Arc<dyn StoredBytes>> {
        match &self.bytes {
            BlockBytes::Memory(_) => None,
            BlockBytes::Stored(stored) => Some(stored),
        }
    }

    /// How many bytes it has.
    pub(crate) fn len_bytes(&self) -> u64 {
        match &self.bytes {
            BlockBytes::Memory(payload) => payload.len() as u64,
            BlockBytes::Stored(stored) => stored.len_bytes(),
        }
    }

    /// How much memory it takes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.payload().map_or(0, |payload| payload.len() as u64)
    }
}
