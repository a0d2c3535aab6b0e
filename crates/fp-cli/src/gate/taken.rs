//! Who learns that a step was taken by all.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::inflow::Inflow;
use crate::crossing::Mark;

/// A step that the gate publishes: each rank keeps it as long as somebody needs what it put. Its drop, the last one, says
/// that all have taken the step, if all ranks had published it.
pub(super) struct Taken {
    inflow: Arc<Inflow>,
    mark: Mark,
    ranks: u32,
    published: AtomicU32,
}

impl Taken {
    pub(super) fn new(inflow: &Arc<Inflow>, mark: Mark, ranks: u32) -> Self {
        Self { inflow: inflow.clone(), mark, ranks, published: AtomicU32::new(0) }
    }

    /// A rank has published it.
    pub(super) fn published(&self) {
        self.published.fetch_add(1, Ordering::AcqRel);
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        if self.published.load(Ordering::Acquire) == self.ranks {
            self.inflow.taken(self.mark);
        }
    }
}
