//! What all threads of a relay watch: whether to go on.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use fp_core::Epoch;

/// Whether a relay goes on, and what it takes.
pub(super) struct Course {
    is_interrupted: Box<dyn Fn() -> bool + Send + Sync>,
    /// Whether another opening of the stream waits to be staged.
    is_succeeded: AtomicBool,
    has_failed: AtomicBool,
    /// Whether the stream is to be staged once more, by other ranks.
    is_to_repeat: AtomicBool,
    epoch: Mutex<Option<Epoch>>,
}

impl Course {
    pub(super) fn new(
        epoch: Option<Epoch>,
        is_interrupted: impl Fn() -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            is_interrupted: Box::new(is_interrupted),
            is_succeeded: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            is_to_repeat: AtomicBool::new(false),
            epoch: Mutex::new(epoch),
        }
    }

    /// Whether the user has seen enough.
    pub(super) fn is_interrupted(&self) -> bool {
        (self.is_interrupted)()
    }

    /// Whether nothing more is to be done: the user has seen enough, or a rank failed.
    pub(super) fn is_over(&self) -> bool {
        self.is_interrupted() || self.has_failed.load(Ordering::Relaxed)
    }

    /// A rank failed, so that the others need not wait for it.
    pub(super) fn fail(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    pub(super) fn set_succeeded(&self, is_succeeded: bool) {
        self.is_succeeded.store(is_succeeded, Ordering::Relaxed);
    }

    /// Whether another opening of the stream waits to be staged.
    pub(super) fn is_succeeded(&self) -> bool {
        self.is_succeeded.load(Ordering::Relaxed)
    }

    /// The stream came back with more ranks than there are here.
    pub(super) fn repeat(&self) {
        self.is_to_repeat.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_to_repeat(&self) -> bool {
        self.is_to_repeat.load(Ordering::Relaxed)
    }

    /// The opening of the stream that is taken.
    pub(super) fn epoch(&self) -> Option<Epoch> {
        *self.epoch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The publisher was lost, and this opening is the one that is taken since.
    pub(super) fn set_epoch(&self, epoch: Epoch) {
        *self.epoch.lock().unwrap_or_else(PoisonError::into_inner) = Some(epoch);
    }
}
