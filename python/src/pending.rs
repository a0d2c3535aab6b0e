//! Futures of the library for the event loop of Python: no other runtime, and no thread of ours. Nobody who wakes waits
//! for the interpreter's lock.

use crate::buffer::Memory;
use crate::definition::Definition;
use crate::error::{Guilt, misuse, raise};
use flexpath::VariableInfo;
use pyo3::prelude::*;
use rustix::event::{EventfdFlags, eventfd};
use std::future::Future;
use std::os::fd::{AsRawFd, OwnedFd};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// What a future gives.
pub(crate) enum Outcome {
    Elements(Memory),
    Variables(Vec<VariableInfo>),
}

impl Outcome {
    fn into_python(self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self {
            Self::Elements(memory) => Ok(Py::new(py, memory)?.into_any()),
            Self::Variables(all) => {
                let all: Vec<Definition> = all.into_iter().map(Definition::of_step).collect();
                Ok(all.into_pyobject(py)?.into_any().unbind())
            }
        }
    }
}

/// The descriptor on which an event loop waits for all its futures of this package: readable when one is to be polled.
struct Bell(OwnedFd);

impl Bell {
    fn ring(&self) {
        // It never blocks: where it was rung already, nothing is to be done.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.ring();
    }
}

/// What an event loop waits on.
#[pyclass(frozen, module = "flexpath._native")]
pub(crate) struct Alarm(Arc<Bell>);

#[pymethods]
impl Alarm {
    #[new]
    fn new() -> PyResult<Self> {
        let made = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let made =
            made.map_err(|error| raise(Guilt::Io, format!("no descriptor for an event loop: {error}")))?;
        Ok(Self(Arc::new(Bell(made))))
    }

    fn fileno(&self) -> i32 {
        self.0.0.as_raw_fd()
    }

    fn clear(&self) {
        let _ = rustix::io::read(&self.0.0, &mut [0; 8]);
    }
}

type Future_ = Pin<Box<dyn Future<Output = PyResult<Outcome>> + Send>>;

/// A call under way. Nothing happens before it is polled; dropped, it is given up.
#[pyclass(frozen, module = "flexpath._native")]
pub(crate) struct Pending(Mutex<Option<Future_>>);

impl Pending {
    pub(crate) fn new(future: impl Future<Output = PyResult<Outcome>> + Send + 'static) -> Self {
        Self(Mutex::new(Some(Box::pin(future))))
    }
}

#[pymethods]
impl Pending {
    /// What came of it; None while it is under way. The alarm rings when to ask again.
    fn poll(&self, py: Python<'_>, alarm: &Bound<'_, Alarm>) -> PyResult<Option<Py<PyAny>>> {
        let waker = Waker::from(alarm.get().0.clone());
        let polled = py.detach(|| {
            let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let future = place.as_mut().ok_or_else(|| misuse("a call is awaited twice"))?;
            let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
            if polled.is_ready() {
                *place = None;
            }
            Ok::<_, PyErr>(polled)
        })?;
        match polled {
            Poll::Ready(outcome) => Ok(Some(outcome?.into_python(py)?)),
            Poll::Pending => Ok(None),
        }
    }

    fn cancel(&self, py: Python<'_>) {
        py.detach(|| drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}
