//! A publisher rank.

use crate::error::OrRaise;
use crate::events;
use crate::interrupt::waiting;
use crate::options;
use crate::seconds::seconds;
use crate::slot::Slot;
use crate::writer::StepWriter;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A publisher rank of a stream.
#[pyclass(frozen, module = "flexpath._native")]
pub(crate) struct Publisher {
    stream: String,
    epoch: String,
    contact: String,
    open: Slot<flexpath::Publisher>,
}

#[pymethods]
impl Publisher {
    #[new]
    fn new(py: Python<'_>, stream: &str, options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let options = options::publisher(options)?;
        let publisher = waiting(py, || flexpath::Publisher::open(stream, options))?.or_raise()?;
        let (epoch, contact) = (publisher.epoch().to_string(), publisher.contact().to_string());
        let closed = format!("stream {stream:?}: the publisher was closed: open another one");
        Ok(Self { stream: stream.to_owned(), epoch, contact, open: Slot::new(publisher, closed) })
    }

    #[getter]
    fn stream(&self) -> &str {
        &self.stream
    }

    #[getter]
    fn epoch(&self) -> &str {
        &self.epoch
    }

    #[getter]
    fn contact(&self) -> &str {
        &self.contact
    }

    fn begin_step(&self, py: Python<'_>) -> PyResult<StepWriter> {
        self.open.with(py, |publisher| publisher.begin_step().or_raise().map(StepWriter::new))
    }

    fn has_subscribers(&self, py: Python<'_>) -> PyResult<bool> {
        self.open.with(py, |publisher| Ok(publisher.has_subscribers()))
    }

    fn wait_for_subscriptions(&self, py: Python<'_>, count: u32, timeout: f64) -> PyResult<u32> {
        let timeout = seconds(timeout)?;
        self.open.with(py, |publisher| Ok(publisher.wait_for_subscriptions(count, timeout)))
    }

    fn sync(&self, py: Python<'_>, timeout: f64) -> PyResult<()> {
        let timeout = seconds(timeout)?;
        self.open.with(py, |publisher| publisher.sync(timeout).or_raise())
    }

    fn events<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let all = self.open.with(py, |publisher| Ok(publisher.events()))?;
        all.iter().map(|event| events::told(py, event)).collect()
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counted = self.open.with(py, |publisher| Ok(publisher.statistics()))?;
        events::statistics(py, &counted)
    }

    fn transports(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.open.with(py, |publisher| Ok(publisher.transports()))
    }

    /// Closes the stream: what was published is still delivered.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.open.close(py, flexpath::Publisher::close)
    }
}
