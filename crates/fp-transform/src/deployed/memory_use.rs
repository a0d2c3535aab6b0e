//! How much calls may have of tables, and how much of a memory of the pool any of them used.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::policy::DeployLimits;

/// As many elements a table may have.
const TABLE_ELEMENTS: usize = 128 << 10;
/// How many bytes are set to zero in the time that one fresh byte takes, or less.
const ZEROES_FOR_A_FRESH_BYTE: usize = 16;

/// How many elements a table may have.
pub(super) fn table_elements(limits: &DeployLimits) -> usize {
    TABLE_ELEMENTS.min(limits.memory_bytes / size_of::<usize>())
}

/// How much of a memory of the pool any call used.
#[derive(Clone, Default)]
pub(super) struct Used(Arc<AtomicUsize>);

impl Used {
    pub(super) fn add(&self, bytes: usize) {
        self.0.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Whether a call that uses so much had better have a memory of the pool. It had if setting to zero what others
    /// used takes less time than fresh memory.
    pub(super) fn suits(&self, bytes: usize, limits: &DeployLimits) -> bool {
        self.0.load(Ordering::Relaxed).min(limits.kept_bytes) / ZEROES_FOR_A_FRESH_BYTE <= bytes
    }
}
