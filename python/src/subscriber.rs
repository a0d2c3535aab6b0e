//! A subscriber rank.

use crate::attribute;
use crate::error::{Guilt, OrRaise, raise};
use crate::events;
use crate::interrupt::waiting;
use crate::options;
use crate::seconds::seconds;
use crate::slot::Slot;
use crate::step::Step;
use flexpath::{CohortSide, NextStep, Parameter, ParameterKind, Signal};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::OnceLock;

/// A subscriber rank of a stream.
#[pyclass(frozen, module = "flexpath._native")]
pub(crate) struct Subscriber {
    stream: String,
    open: Slot<flexpath::Subscriber>,
    signal: OnceLock<Signal>,
}

#[pymethods]
impl Subscriber {
    #[new]
    fn new(py: Python<'_>, stream: &str, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let options = options::subscriber(options)?;
        let subscriber = waiting(py, || flexpath::Subscriber::open(stream, options))?.or_raise()?;
        let closed = format!("stream {stream:?}: the subscriber was closed: subscribe again");
        Ok(Self { stream: stream.to_owned(), open: Slot::new(subscriber, closed), signal: OnceLock::new() })
    }

    #[getter]
    fn stream(&self) -> &str {
        &self.stream
    }

    #[getter]
    fn epoch(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.open.with(py, |subscriber| Ok(subscriber.epoch().map(|epoch| epoch.to_string())))
    }

    #[getter]
    fn first_step(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.open.with(py, |subscriber| Ok(subscriber.first_step().map(|step| step.0)))
    }

    /// A step, None where none came within the time, or a dict that says how the stream ended.
    fn next_step<'py>(&self, py: Python<'py>, timeout: f64) -> PyResult<Option<Bound<'py, PyAny>>> {
        let timeout = seconds(timeout)?;
        Ok(match self.open.with(py, |subscriber| subscriber.next_step(timeout).or_raise())? {
            NextStep::Step(step) => Some(Bound::new(py, Step::new(step))?.into_any()),
            NextStep::NotYet => None,
            NextStep::Ended(ending) => Some(events::ending(py, &ending)?.into_any()),
        })
    }

    /// A descriptor that is readable while next_step would return at once.
    fn step_signal(&self, py: Python<'_>) -> PyResult<i32> {
        if self.signal.get().is_none() {
            let made = self.open.with(py, |subscriber| {
                subscriber
                    .step_signal()
                    .map_err(|error| raise(Guilt::Io, format!("no descriptor for a signal: {error}")))
            })?;
            let _ = self.signal.set(made);
        }
        Ok(self.signal.get().map_or(-1, |signal| signal.as_fd().as_raw_fd()))
    }

    /// Asks the simulation for a value, and gives the step at which all its ranks saw it.
    fn request(
        &self,
        py: Python<'_>,
        parameter: &str,
        value: &Bound<'_, PyAny>,
        timeout: f64,
        now: bool,
    ) -> PyResult<u64> {
        let (value, timeout) = (attribute::given(value)?, seconds(timeout)?);
        self.open.with(py, |subscriber| {
            let seen = match now {
                true => subscriber.request_now(parameter, value, timeout),
                false => subscriber.request(parameter, value, timeout),
            };
            Ok(seen.or_raise()?.0)
        })
    }

    /// The parameters that can be asked for: name, kind, the range of reals, that of whole numbers, and text.
    fn parameters(&self, py: Python<'_>, timeout: f64) -> PyResult<Vec<Listed>> {
        let timeout = seconds(timeout)?;
        let known = self.open.with(py, |subscriber| subscriber.parameters(timeout).or_raise())?;
        Ok(known.into_iter().map(listed).collect())
    }

    /// Wants other steps, and gives the first that is judged by this condition.
    fn set_condition(&self, py: Python<'_>, condition: &str, timeout: f64) -> PyResult<u64> {
        let timeout = seconds(timeout)?;
        self.open.with(py, |subscriber| Ok(subscriber.set_condition(condition, timeout).or_raise()?.0))
    }

    fn select_variables(&self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        self.open.with(py, |subscriber| subscriber.select_variables(names).or_raise())
    }

    fn place(&self, py: Python<'_>, variable: &str, side: &str) -> PyResult<()> {
        let side = options::side(side)?;
        self.open.with(py, |subscriber| subscriber.place(variable, side).or_raise())
    }

    fn placements<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for of in self.open.with(py, |subscriber| Ok(subscriber.placements()))? {
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
        let all = self.open.with(py, |subscriber| Ok(subscriber.events()))?;
        all.iter().map(|event| events::told(py, event)).collect()
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counted = self.open.with(py, |subscriber| Ok(subscriber.statistics()))?;
        events::statistics(py, &counted)
    }

    fn transports(&self, py: Python<'_>) -> PyResult<Vec<(u32, String)>> {
        self.open.with(py, |subscriber| {
            Ok(subscriber.transports().into_iter().map(|(rank, text)| (rank.0, text)).collect())
        })
    }

    /// Leaves the stream.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.open.close(py, flexpath::Subscriber::close)
    }
}

/// A parameter: name, kind, the range of reals, that of whole numbers, and text.
type Listed = (String, &'static str, (f64, f64), (i64, i64), String);

/// A parameter as Python makes it up.
fn listed(parameter: Parameter) -> Listed {
    let Parameter { name, kind, text } = parameter;
    let (mut reals, mut integers) = ((0.0, 0.0), (0, 0));
    let kind = match kind {
        ParameterKind::Real { least, greatest } => {
            reals = (least.0, greatest.0);
            "real"
        }
        ParameterKind::Integer { least, greatest } => {
            integers = (least, greatest);
            "integer"
        }
        ParameterKind::Bool => "bool",
        ParameterKind::Text => "text",
        ParameterKind::Pause { longest } => {
            reals.1 = longest.as_secs_f64();
            "real"
        }
        ParameterKind::Signal | ParameterKind::Resume => "signal",
    };
    (name, kind, reals, integers, text)
}
