//! Who learns that a step was taken by all.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::inflow::Inflow;
use crate::crossing::Mark;

/// A step that the gate publishes: each rank keeps it as long as somebody needs what it put. Its drop, the last one, says
/// that all have taken the step, if all ranks had published it.
pub(super) struct Taken {
    inflow: Arc<Inflow>,
    mark: Mark,
    ranks: u32,
    published: AtomicU32,
    /// Whether its publishers go without having seen that all was taken.
    is_void: Arc<AtomicBool>,
}

impl Taken {
    pub(super) fn new(inflow: &Arc<Inflow>, mark: Mark, ranks: u32, is_void: &Arc<AtomicBool>) -> Self {
        let (inflow, is_void) = (inflow.clone(), is_void.clone());
        Self { inflow, mark, ranks, published: AtomicU32::new(0), is_void }
    }

    /// A rank has published it.
    pub(super) fn published(&self) {
        self.published.fetch_add(1, Ordering::AcqRel);
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let is_published = self.published.load(Ordering::Acquire) == self.ranks;
        if is_published && !self.is_void.load(Ordering::Acquire) {
            self.inflow.taken(self.mark);
        }
    }
}
