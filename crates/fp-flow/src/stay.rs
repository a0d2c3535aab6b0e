//! How long a subscriber stays: as long as somebody holds steps of it, as a reader of a closed one can be read no more.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use fp_core::{StepReader, Subscriber};

/// What the steps of one subscriber share.
#[derive(Default)]
pub(crate) struct Stay {
    /// Where the subscriber is when nobody takes steps of it any more.
    retired: Mutex<Option<Subscriber>>,
    held: AtomicU32,
}

impl Stay {
    /// Steps that are held.
    pub(crate) fn held(&self) -> u32 {
        self.held.load(Ordering::Relaxed)
    }

    /// No more steps are taken: the subscriber leaves the stream with the last step of it that is held.
    pub(crate) fn retire(self: Arc<Self>, subscriber: Subscriber) {
        *self.retired.lock().unwrap_or_else(PoisonError::into_inner) = Some(subscriber);
    }
}

impl Drop for Stay {
    fn drop(&mut self) {
        let retired = self.retired.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // Not awaited: it leaves on a thread of its own, and nobody waits here.
        retired.into_iter().for_each(|subscriber| drop(subscriber.close_async()));
    }
}

/// A step that is held, and its subscriber with it.
pub(crate) struct Pinned {
    // Before the stay: the last step goes before its subscriber.
    step: StepReader,
    stay: Arc<Stay>,
}

impl Pinned {
    pub(crate) fn new(step: StepReader, stay: &Arc<Stay>) -> Self {
        stay.held.fetch_add(1, Ordering::Relaxed);
        Self { step, stay: stay.clone() }
    }

    pub(crate) fn step(&self) -> &StepReader {
        &self.step
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        self.stay.held.fetch_sub(1, Ordering::Relaxed);
    }
}
