//! A step being read.

use crate::buffer::{Filled, Memory};
use crate::definition::Definition;
use crate::dtype;
use crate::dtype::with_element;
use crate::error::{OrRaise, misuse};
use crate::interrupt::waiting;
use crate::judgement::{self, Told};
use crate::pending::{Outcome, Pending};
use crate::schema::Schema;
use crate::seconds::seconds;
use crate::selection::{loss, select};
use crate::values;
use flexpath::{Element, Judgement, Select, StepReader};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{PoisonError, RwLock};

/// A step being read. It is held until it is released and the memory of its views is gone.
#[pyclass(frozen, module = "flexpath._native")]
pub(crate) struct Step {
    stream: String,
    number: u64,
    epoch: Option<String>,
    skipped: u64,
    is_redelivered: bool,
    len_bytes: u64,
    queued_steps: u32,
    judgement: Option<Judgement>,
    held: RwLock<Option<StepReader>>,
}

/// The element type's name, the shape, and the elements.
type Got = (&'static str, Vec<u64>, Memory);

impl Step {
    pub(crate) fn new(reader: StepReader) -> Self {
        Self {
            stream: reader.stream().to_owned(),
            number: reader.step().0,
            epoch: reader.epoch().map(|epoch| epoch.to_string()),
            skipped: reader.skipped(),
            is_redelivered: reader.is_redelivered(),
            len_bytes: reader.len_bytes(),
            queued_steps: reader.queued_steps(),
            judgement: reader.judgement().cloned(),
            held: RwLock::new(Some(reader)),
        }
    }

    fn released(&self) -> PyErr {
        misuse(format!(
            "stream {:?}, step {}: it was released. A loop releases the step before as it goes on: copy what is needed \
             longer, or take steps by next_step()",
            self.stream, self.number
        ))
    }

    /// Makes a call on the held step, without the interpreter's lock. Several threads may do so at a time.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&StepReader) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        waiting(py, || match self.held.read().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(reader) => call(reader),
            None => Err(self.released()),
        })?
    }

    fn take(&self, py: Python<'_>) -> Option<StepReader> {
        py.detach(|| self.held.write().unwrap_or_else(PoisonError::into_inner).take())
    }
}

fn get_as<T: Element>(reader: &StepReader, name: &str, select: Select) -> PyResult<Got> {
    let shape = reader.selected_shape(name, select.clone()).or_raise()?.dims().to_vec();
    Ok((T::DTYPE.name(), shape, Memory::of(reader.get::<T>(name, select).or_raise()?)))
}

fn view_as<T: Element>(reader: &StepReader, name: &str, select: Select) -> PyResult<(Vec<u64>, Memory)> {
    let view = reader.view::<T>(name, select).or_raise()?;
    Ok((view.shape().dims().to_vec(), Memory::shared(view)))
}

fn filled_as<T: Element>(
    reader: &StepReader,
    name: &str,
    select: Select,
    fill: &[u8],
) -> PyResult<(Vec<u64>, Memory)> {
    let shape = reader.selected_shape(name, select.clone()).or_raise()?.dims().to_vec();
    let fill = bytemuck::try_pod_read_unaligned::<T>(fill);
    let fill =
        fill.map_err(|_| misuse(format!("variable {name:?}: the value that fills gaps is of another type")))?;
    Ok((shape, Memory::of(reader.get_or_fill(name, select, fill).or_raise()?)))
}

#[pymethods]
impl Step {
    #[getter]
    fn stream(&self) -> &str {
        &self.stream
    }

    #[getter]
    fn number(&self) -> u64 {
        self.number
    }

    #[getter]
    fn epoch(&self) -> Option<&str> {
        self.epoch.as_deref()
    }

    #[getter]
    fn skipped(&self) -> u64 {
        self.skipped
    }

    #[getter]
    fn is_redelivered(&self) -> bool {
        self.is_redelivered
    }

    #[getter]
    fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    #[getter]
    fn queued_steps(&self) -> u32 {
        self.queued_steps
    }

    /// What was measured, and why the step was not judged.
    #[getter]
    fn judgement<'py>(&self, py: Python<'py>) -> PyResult<Option<Told<'py>>> {
        self.judgement.as_ref().map(|judgement| judgement::told(py, judgement)).transpose()
    }

    #[getter]
    fn is_released(&self, py: Python<'_>) -> bool {
        py.detach(|| self.held.read().unwrap_or_else(PoisonError::into_inner).is_none())
    }

    fn variables(&self, py: Python<'_>) -> PyResult<Vec<Definition>> {
        let all = self.with(py, |reader| reader.variables().or_raise())?;
        Ok(all.into_iter().map(Definition::of_step).collect())
    }

    /// A variable, to be put on another stream.
    fn definition(&self, py: Python<'_>, name: &str) -> PyResult<Definition> {
        self.with(py, |reader| {
            let variable = reader.variable(name).or_raise()?;
            let found = reader.variables().or_raise()?.into_iter().find(|info| info.def.name == name);
            let info = found.ok_or_else(|| misuse(format!("variable {name:?} is not there")))?;
            Ok(Definition::of_step(info).with_variable(variable))
        })
    }

    /// Rank, index, start and count of each block.
    #[expect(clippy::type_complexity, reason = "a tuple of Python")]
    fn blocks(&self, py: Python<'_>, name: &str) -> PyResult<Vec<(u32, u32, Vec<u64>, Vec<u64>)>> {
        let all = self.with(py, |reader| reader.blocks(name).or_raise())?;
        let block = |(id, region): (flexpath::BlockId, flexpath::Region)| {
            (id.rank.0, id.index, region.start().to_vec(), region.count().to_vec())
        };
        Ok(all.into_iter().map(block).collect())
    }

    fn selected_shape(&self, py: Python<'_>, name: &str, selection: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let select = select(selection, false, None)?;
        self.with(py, |reader| Ok(reader.selected_shape(name, select).or_raise()?.dims().to_vec()))
    }

    /// The selected elements, in memory of their own. `dtype`: what they become.
    #[pyo3(signature = (name, selection=None, column_major=false, dtype=None, lossy=false))]
    fn get(
        &self,
        py: Python<'_>,
        name: &str,
        selection: Option<&Bound<'_, PyAny>>,
        column_major: bool,
        dtype: Option<&str>,
        lossy: bool,
    ) -> PyResult<Got> {
        let select = match selection {
            Some(given) => select(given, column_major, loss(dtype.is_some(), lossy))?,
            None => select(py.None().bind(py), column_major, loss(dtype.is_some(), lossy))?,
        };
        match dtype {
            None => self.with(py, |reader| {
                let (dtype, shape, bytes) = reader.get_bytes(name, select).or_raise()?;
                Ok((dtype.name(), shape.dims().to_vec(), Memory::of(bytes)))
            }),
            Some(dtype) => {
                let dtype = dtype::named(dtype)?;
                self.with(py, |reader| with_element!(dtype, T => get_as::<T>(reader, name, select)))
            }
        }
    }

    /// The selected elements into memory of the caller's, whose element type is `dtype`.
    #[expect(clippy::too_many_arguments, reason = "one call of Python")]
    fn get_into(
        &self,
        py: Python<'_>,
        name: &str,
        selection: &Bound<'_, PyAny>,
        column_major: bool,
        dtype: &str,
        lossy: bool,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let select = select(selection, column_major, loss(true, lossy))?;
        let (mut out, dtype) = (Filled::of(out)?, dtype::named(dtype)?);
        self.with(py, move |reader| {
            let out = &mut out;
            with_element!(dtype, T => reader.get_into::<T>(name, select, out.elements::<T>()?).or_raise())
        })
    }

    /// As `get_into` for several, with one question to each owner: name, selection, column_major, dtype, memory.
    #[expect(clippy::type_complexity, reason = "a tuple of Python")]
    fn fetch_into(
        &self,
        py: Python<'_>,
        gets: Vec<(String, Bound<'_, PyAny>, bool, String, Bound<'_, PyAny>)>,
        timeout: f64,
    ) -> PyResult<()> {
        let timeout = seconds(timeout)?;
        let parse = |(name, selection, column_major, dtype, out): (
            String,
            Bound<'_, PyAny>,
            bool,
            String,
            Bound<'_, PyAny>,
        )| {
            Ok((
                name,
                select(&selection, column_major, loss(true, false))?,
                dtype::named(&dtype)?,
                Filled::of(&out)?,
            ))
        };
        let mut gets = gets.into_iter().map(parse).collect::<PyResult<Vec<_>>>()?;
        self.with(py, move |reader| {
            let mut fetch = reader.fetch();
            for (name, select, dtype, out) in &mut gets {
                let select = select.clone();
                fetch = with_element!(*dtype, T => Ok::<_, PyErr>(fetch.get::<T>(name, select, out.elements::<T>()?)))?;
            }
            fetch.wait(timeout).or_raise()
        })
    }

    /// The selected elements, and `fill` where no rank put any: one element of the variable's type as bytes.
    fn get_or_fill(
        &self,
        py: Python<'_>,
        name: &str,
        selection: &Bound<'_, PyAny>,
        dtype: &str,
        fill: &Bound<'_, PyBytes>,
    ) -> PyResult<(Vec<u64>, Memory)> {
        let (select, dtype, fill) = (select(selection, false, None)?, dtype::named(dtype)?, fill.as_bytes());
        self.with(py, |reader| with_element!(dtype, T => filled_as::<T>(reader, name, select, fill)))
    }

    /// The selected elements where they lie, if that can be: see `Memory.is_zero_copy`. `dtype` is the variable's own.
    fn view(
        &self,
        py: Python<'_>,
        name: &str,
        selection: &Bound<'_, PyAny>,
        column_major: bool,
        dtype: &str,
    ) -> PyResult<(Vec<u64>, Memory)> {
        let (select, dtype) = (select(selection, column_major, None)?, dtype::named(dtype)?);
        self.with(py, |reader| with_element!(dtype, T => view_as::<T>(reader, name, select)))
    }

    fn text(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        self.with(py, |reader| reader.text(name).or_raise())
    }

    /// Records as they lie: their type, the shape, and the bytes.
    fn records(
        &self,
        py: Python<'_>,
        name: &str,
        selection: &Bound<'_, PyAny>,
    ) -> PyResult<(Schema, Vec<u64>, Memory)> {
        let select = select(selection, false, None)?;
        let set = self.with(py, |reader| reader.records(name, select).or_raise())?;
        Ok((Schema(set.schema().clone()), set.shape().dims().to_vec(), Memory::shared(set)))
    }

    /// Records as dicts.
    fn record_values<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        selection: &Bound<'_, PyAny>,
    ) -> PyResult<(Vec<u64>, Vec<Bound<'py, PyDict>>)> {
        let select = select(selection, false, None)?;
        let set = self.with(py, |reader| reader.records(name, select).or_raise())?;
        let all = set.records().or_raise()?;
        let values = all.iter().map(|record| values::record(py, record)).collect::<PyResult<_>>()?;
        Ok((set.shape().dims().to_vec(), values))
    }

    /// The type of a variable's records.
    fn record_schema(&self, py: Python<'_>, name: &str) -> PyResult<Schema> {
        self.with(py, |reader| reader.record_schema(name).or_raise()).map(Schema)
    }

    /// A get for an event loop: the elements alone, as `Memory`.
    fn get_async(
        &self,
        py: Python<'_>,
        name: &str,
        selection: &Bound<'_, PyAny>,
        column_major: bool,
        dtype: &str,
        is_converted: bool,
    ) -> PyResult<Pending> {
        let select = select(selection, column_major, loss(is_converted, false))?;
        let dtype = dtype::named(dtype)?;
        self.with(py, |reader| {
            with_element!(dtype, T => {
                let got = reader.get_async::<T>(name, select);
                Ok(Pending::new(async move { Ok(Outcome::Elements(Memory::of(got.await.or_raise()?))) }))
            })
        })
    }

    /// `variables` for an event loop.
    fn variables_async(&self, py: Python<'_>) -> PyResult<Pending> {
        self.with(py, |reader| {
            let all = reader.variables_async();
            Ok(Pending::new(async move { Ok(Outcome::Variables(all.await.or_raise()?)) }))
        })
    }

    /// The step is done: no member of a work-sharing set gets it again.
    fn done(&self, py: Python<'_>) -> PyResult<()> {
        let reader = self.take(py).ok_or_else(|| self.released())?;
        py.detach(|| reader.done());
        Ok(())
    }

    /// The step goes back to its work-sharing set.
    fn give_back(&self, py: Python<'_>) -> PyResult<()> {
        let reader = self.take(py).ok_or_else(|| self.released())?;
        py.detach(|| reader.give_back()).or_raise()
    }

    fn release(&self, py: Python<'_>) {
        let reader = self.take(py);
        py.detach(|| drop(reader));
    }
}
