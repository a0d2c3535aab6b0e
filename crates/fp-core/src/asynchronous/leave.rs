//! Handles whose task is dropped before it has opened or closed them.

use crate::error::CloseError;
use crate::session::life::Session;
use std::future::Future;
use std::sync::Arc;

/// Closes a handle, if it is dropped before [`Leaving::done`], on a thread of its own: a task must not wait for that.
/// Where no thread can be started the handle goes without a word, as if its process were gone.
pub(crate) struct Leaving<S: Session>(Option<Arc<S>>);

impl<S: Session> Leaving<S> {
    pub(crate) fn new(handle: &Arc<S>) -> Self {
        Self(Some(handle.clone()))
    }

    /// There is nothing to be closed any more, or the application has the handle.
    pub(crate) fn done(mut self) {
        self.0 = None;
    }
}

impl<S: Session> Drop for Leaving<S> {
    fn drop(&mut self) {
        let Some(handle) = self.0.take() else { return };
        let thread = std::thread::Builder::new().name("flexpath-close".to_owned());
        // The task that would have been told how it went is gone.
        if let Err(error) = thread.spawn(move || handle.close()) {
            tracing::warn!(%error, "a handle could not be closed");
        }
    }
}

/// Closes a handle, for a task. Dropped, it goes on closing on a thread of its own.
pub(crate) fn close<S: Session>(
    handle: Arc<S>,
) -> impl Future<Output = Result<(), CloseError>> + Send + use<S> {
    let leaving = Leaving::new(&handle);
    async move {
        let outcome = handle.close_async().await;
        leaving.done();
        outcome
    }
}
