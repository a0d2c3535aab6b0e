//! Handles whose task is dropped before it has opened or closed them.

use crate::error::CloseError;
use crate::session::life::Session;
use std::future::Future;
use std::sync::Arc;

/// Closes a handle, if it is dropped before [`Leaving::done`], on a thread of its own: a task must not wait for that.
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
        self.0.take().iter().for_each(Session::close_elsewhere);
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
