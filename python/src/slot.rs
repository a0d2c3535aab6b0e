//! A handle of the library that may be closed, and that several threads may use.

use crate::error::{Guilty, OrRaise as _, misuse};
use crate::interrupt::{locked, waiting};
use parking_lot::Mutex;
use pyo3::prelude::*;

/// A handle that is there until it is closed.
pub(crate) struct Slot<T: Send> {
    open: Mutex<Option<T>>,
    /// What is said to whoever uses it later.
    closed: String,
}

impl<T: Send> Slot<T> {
    /// `closed` says what is over, and what to do.
    pub(crate) fn new(handle: T, closed: String) -> Self {
        Self { open: Mutex::new(Some(handle)), closed }
    }

    /// Makes a call on the handle, without the interpreter's lock. Calls of other threads wait for it.
    pub(crate) fn with<R: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut T) -> PyResult<R> + Send,
    ) -> PyResult<R> {
        // What a handler raised goes before the error that stands here.
        waiting(py, || match locked(&self.open).as_deref_mut() {
            Some(Some(handle)) => call(handle),
            Some(None) | None => Err(misuse(&self.closed)),
        })?
    }

    /// Closes the handle by this call, once no other thread uses it. It does nothing where that was done.
    pub(crate) fn close<E: Guilty + Send>(
        &self,
        py: Python<'_>,
        close: impl FnOnce(T) -> Result<(), E> + Send,
    ) -> PyResult<()> {
        match waiting(py, || locked(&self.open)?.take())? {
            Some(handle) => waiting(py, || close(handle))?.or_raise(),
            None => Ok(()),
        }
    }
}

impl<T: Send> Drop for Slot<T> {
    /// Leaving may take a moment, in which other threads of the interpreter run.
    fn drop(&mut self) {
        let Some(handle) = self.open.get_mut().take() else { return };
        let mut handle = Some(handle);
        Python::try_attach(|py| py.detach(|| drop(handle.take())));
    }
}
