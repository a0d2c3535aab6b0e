//! A subscriber rank.

use crate::error::{Guilt, OrRaise, misuse, raise};
use crate::events;
use crate::interrupt::waiting;
use crate::options;
use crate::seconds::seconds;
use crate::step::Step;
use flexpath::{CohortSide, NextStep, Signal};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A subscriber rank of a stream.
#[pyclass(frozen, module = "flexpath._native")]
pub(crate) struct Subscriber {
    stream: String,
    open: Mutex<Option<flexpath::Subscriber>>,
    signal: OnceLock<Signal>,
}

impl Subscriber {
    fn closed(&self) -> PyErr {
        misuse(format!("stream {:?}: the subscriber was closed: subscribe again", self.stream))
    }

    /// Makes a call on the open subscriber, without the interpreter's lock. Calls of other threads wait for it.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut flexpath::Subscriber) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        waiting(py, || match self.open.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(subscriber) => call(subscriber),
            None => Err(self.closed()),
        })?
    }
}

#[pymethods]
impl Subscriber {
    #[new]
    fn new(py: Python<'_>, stream: &str, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let options = options::subscriber(options)?;
        let subscriber = waiting(py, || flexpath::Subscriber::open(stream, options))?.or_raise()?;
        Ok(Self { stream: stream.to_owned(), open: Mutex::new(Some(subscriber)), signal: OnceLock::new() })
    }

    #[getter]
    fn stream(&self) -> &str {
        &self.stream
    }

    #[getter]
    fn epoch(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |subscriber| Ok(subscriber.epoch().map(|epoch| epoch.to_string())))
    }

    /// A step, None where none came within the time, or a dict that says how the stream ended.
    fn next_step<'py>(&self, py: Python<'py>, timeout: f64) -> PyResult<Option<Bound<'py, PyAny>>> {
        let timeout = seconds(timeout)?;
        Ok(match self.with(py, |subscriber| subscriber.next_step(timeout).or_raise())? {
            NextStep::Step(step) => Some(Bound::new(py, Step::new(step))?.into_any()),
            NextStep::NotYet => None,
            NextStep::Ended(ending) => Some(events::ending(py, &ending)?.into_any()),
        })
    }

    /// A descriptor that is readable while next_step would return at once.
    fn step_signal(&self, py: Python<'_>) -> PyResult<i32> {
        if self.signal.get().is_none() {
            let made = self.with(py, |subscriber| {
                subscriber
                    .step_signal()
                    .map_err(|error| raise(Guilt::Io, format!("no descriptor for a signal: {error}")))
            })?;
            let _ = self.signal.set(made);
        }
        Ok(self.signal.get().map_or(-1, |signal| signal.as_fd().as_raw_fd()))
    }

    fn select_variables(&self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        self.with(py, |subscriber| subscriber.select_variables(names).or_raise())
    }

    fn place(&self, py: Python<'_>, variable: &str, side: &str) -> PyResult<()> {
        let side = options::side(side)?;
        self.with(py, |subscriber| subscriber.place(variable, side).or_raise())
    }

    fn placements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for of in self.with(py, |subscriber| Ok(subscriber.placements()))? {
            let side = match of.now {
                CohortSide::Publisher => "publisher",
                CohortSide::Subscriber => "subscriber",
                CohortSide::FewerBytes => "auto",
            };
            all.set_item(of.name, side)?;
        }
        Ok(all)
    }

    fn events<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let all = self.with(py, |subscriber| Ok(subscriber.events()))?;
        all.iter().map(|event| events::told(py, event)).collect()
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counted = self.with(py, |subscriber| Ok(subscriber.statistics()))?;
        events::statistics(py, &counted)
    }

    fn transports(&self, py: Python<'_>) -> PyResult<Vec<(u32, String)>> {
        self.with(py, |subscriber| {
            Ok(subscriber.transports().into_iter().map(|(rank, text)| (rank.0, text)).collect())
        })
    }

    /// Leaves the stream.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let open = py.detach(|| self.open.lock().unwrap_or_else(PoisonError::into_inner).take());
        match open {
            Some(subscriber) => waiting(py, || subscriber.close())?.or_raise(),
            None => Ok(()),
        }
    }
}
