//! A handle of the library that may be closed, and that several threads may use.

use crate::error::{Guilty, OrRaise as _, misuse};
use crate::interrupt::{locked, waiting};
use parking_lot::Mutex;
use pyo3::prelude::*;
use std::thread::ThreadId;

/// A handle that is there until it is closed.
pub(crate) struct Slot<T: Send> {
    open: Mutex<Option<T>>,
    /// The thread that is in the midst of a call.
    user: Mutex<Option<ThreadId>>,
    /// What is said to whoever uses it later.
    closed: String,
}

impl<T: Send> Slot<T> {
    /// `closed` says what is over, and what to do.
    pub(crate) fn new(handle: T, closed: String) -> Self {
        Self { open: Mutex::new(Some(handle)), user: Mutex::new(None), closed }
    }

    /// Makes a call on the handle, without the interpreter's lock. Calls of other threads wait for it.
    pub(crate) fn with<R: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut T) -> PyResult<R> + Send,
    ) -> PyResult<R> {
        self.check_user()?;
        // What a handler raised goes before the error that stands here.
        waiting(py, || match locked(&self.open).as_deref_mut() {
            Some(Some(handle)) => {
                *self.user.lock() = Some(std::thread::current().id());
                let outcome = call(handle);
                *self.user.lock() = None;
                outcome
            }
            Some(None) | None => Err(misuse(&self.closed)),
        })?
    }

    /// Closes the handle by this call, once no other thread uses it. It does nothing where that was done.
    pub(crate) fn close<E: Guilty + Send>(
        &self,
        py: Python<'_>,
        close: impl FnOnce(T) -> Result<(), E> + Send,
    ) -> PyResult<()> {
        self.check_user()?;
        match waiting(py, || locked(&self.open)?.take())? {
            Some(handle) => waiting(py, || close(handle))?.or_raise(),
            None => Ok(()),
        }
    }

    /// A handler of a signal runs in the midst of a call that waits. If it made another one, that would wait for itself.
    fn check_user(&self) -> PyResult<()> {
        if *self.user.lock() != Some(std::thread::current().id()) {
            return Ok(());
        }
        Err(misuse(
            "a handler of a signal uses the handle whose call it interrupts: raise there, and use it afterwards",
        ))
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
