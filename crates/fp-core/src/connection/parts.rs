//! Memory for what is on its way out. It is used again: new pages would cost more than the copy.

use std::sync::{Arc, Mutex, PoisonError};

/// Bytes are sent in parts of this length: they stay in a core's cache between the copy and the system's.
pub(super) const PART_BYTES: usize = 256 << 10;

/// Memory of parts that have gone, at most as many as may be on their way.
#[derive(Default)]
pub(super) struct Parts(Mutex<Vec<Vec<u8>>>);

/// Memory that is kept.
const LIMIT_SPARE: usize = 8;

/// A part that is on its way. Its drop gives the memory back.
pub(super) struct Part {
    bytes: Vec<u8>,
    parts: Arc<Parts>,
}

impl Parts {
    /// A copy of these bytes.
    pub(super) fn copy_of(self: &Arc<Self>, bytes: &[u8]) -> Part {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut memory = spare.unwrap_or_else(|| Vec::with_capacity(PART_BYTES));
        memory.clear();
        memory.extend_from_slice(bytes);
        Part { bytes: memory, parts: self.clone() }
    }
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut spare = self.parts.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < LIMIT_SPARE {
            spare.push(std::mem::take(&mut self.bytes));
        }
    }
}
