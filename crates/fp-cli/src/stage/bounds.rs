//! How much memory staged steps take together, and who may take more.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Steps of ranks that are in memory at one time, where a disk is there for others: each takes descriptors.
const LIMIT_STEPS: usize = 300;

/// What ranks are about to put, beside what they have put. Each says before it copies, so that they keep the bound
/// together.
#[derive(Default)]
pub(crate) struct Bounds {
    promised_bytes: Mutex<u64>,
    steps: AtomicUsize,
}

/// A step that is in memory, until this is dropped.
pub(crate) struct StepInMemory(Arc<Bounds>);

impl StepInMemory {
    /// One more.
    pub(crate) fn of(bounds: &Arc<Bounds>) -> Self {
        bounds.steps.fetch_add(1, Ordering::Relaxed);
        Self(bounds.clone())
    }
}

impl Drop for StepInMemory {
    fn drop(&mut self) {
        self.0.steps.fetch_sub(1, Ordering::Relaxed);
    }
}

/// So many bytes that are about to be put.
pub(crate) struct Promise<'a> {
    bounds: &'a Bounds,
    len_bytes: u64,
}

impl Bounds {
    /// Whether there are as many steps in memory as there may be.
    pub(crate) fn has_many(&self) -> bool {
        self.steps.load(Ordering::Relaxed) >= LIMIT_STEPS
    }

    /// Room for so many bytes of those that are spare now; `None` if there is none.
    pub(crate) fn promise(&self, len_bytes: u64, spare_bytes: impl FnOnce() -> u64) -> Option<Promise<'_>> {
        let mut promised = self.promised_bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let all = promised.checked_add(len_bytes)?;
        (all <= spare_bytes()).then(|| {
            *promised = all;
            Promise { bounds: self, len_bytes }
        })
    }
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        *self.bounds.promised_bytes.lock().unwrap_or_else(PoisonError::into_inner) -= self.len_bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_promised_counts_until_it_is_put() {
        let bounds = Bounds::default();
        let one = bounds.promise(60, || 100);
        assert!(one.is_some() && bounds.promise(41, || 100).is_none());
        assert!(bounds.promise(40, || 100).is_some());
        drop(one);
        assert!(bounds.promise(100, || 100).is_some());
        assert!(bounds.promise(u64::MAX, || u64::MAX).is_some());
    }
}
