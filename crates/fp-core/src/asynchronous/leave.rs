//! Handles whose task is dropped before it has opened or closed them.

use crate::session::publisher::PublisherSession;
use crate::session::subscriber::SubscriberSession;
use std::sync::Arc;

/// What can be closed, on a thread that may wait.
pub(crate) trait Closing: Send + Sync + 'static {
    fn close_waiting(&self);
}

impl Closing for PublisherSession {
    fn close_waiting(&self) {
        // The task that would have been told how it went is gone.
        let _ = self.close();
    }
}

impl Closing for SubscriberSession {
    fn close_waiting(&self) {
        let _ = self.close();
    }
}

/// Closes a handle, if it is dropped before [`Leaving::done`], on a thread of its own: a task must not wait for that.
/// Where no thread can be started the handle goes without a word, as if its process were gone.
pub(crate) struct Leaving<H: Closing>(Option<Arc<H>>);

impl<H: Closing> Leaving<H> {
    pub(crate) fn new(handle: &Arc<H>) -> Self {
        Self(Some(handle.clone()))
    }

    /// There is nothing to be closed any more, or the application has the handle.
    pub(crate) fn done(mut self) {
        self.0 = None;
    }
}

impl<H: Closing> Drop for Leaving<H> {
    fn drop(&mut self) {
        let Some(handle) = self.0.take() else { return };
        let thread = std::thread::Builder::new().name("flexpath-close".to_owned());
        if let Err(error) = thread.spawn(move || handle.close_waiting()) {
            tracing::warn!(%error, "a handle could not be closed");
        }
    }
}
