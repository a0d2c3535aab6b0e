//! A step being published.

use crate::attribute;
use crate::buffer::{Exported, Loan};
use crate::definition::Definition;
use crate::error::{OrRaise, misuse};
use crate::interrupt::waiting;
use crate::selection::dims;
use crate::values;
use flexpath::{ParameterRequest, Region};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// A step being published: blocks, and its end.
#[pyclass(frozen, module = "flexpath._native")]
pub(crate) struct StepWriter {
    number: u64,
    open: Mutex<Option<flexpath::StepWriter>>,
}

impl StepWriter {
    pub(crate) fn new(writer: flexpath::StepWriter) -> Self {
        Self { number: writer.step().0, open: Mutex::new(Some(writer)) }
    }

    fn ended(&self) -> PyErr {
        misuse(format!("step {} was ended: begin the next one to put more", self.number))
    }

    /// Makes a call on the open step, without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut flexpath::StepWriter) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| match self.open.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            Some(writer) => call(writer),
            None => Err(self.ended()),
        })
    }

    fn take(&self, py: Python<'_>) -> PyResult<flexpath::StepWriter> {
        let taken = py.detach(|| self.open.lock().unwrap_or_else(PoisonError::into_inner).take());
        taken.ok_or_else(|| self.ended())
    }
}

fn region(start: &[u64], count: &[u64]) -> PyResult<Region> {
    Region::new(dims(start)?, dims(count)?).or_raise()
}

#[pymethods]
impl StepWriter {
    #[getter]
    fn number(&self) -> u64 {
        self.number
    }

    /// Whether anybody wants what is put of a variable.
    fn wanted(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        self.with(py, |writer| Ok(writer.wanted(name)))
    }

    /// Says which variables will be put, so that derivations begin as soon as they can.
    fn promise(&self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        self.with(py, |writer| {
            writer.promise(names);
            Ok(())
        })
    }

    /// What is asked of the simulation: parameter, value, and who asks.
    fn requests<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>, String)>> {
        let all = self.with(py, |writer| Ok(writer.requests().to_vec()))?;
        let told = |request: &ParameterRequest| {
            let value = attribute::told(py, request.value())?;
            Ok((request.parameter().to_owned(), value, request.by().to_owned()))
        };
        all.iter().map(told).collect()
    }

    /// Whether somebody asks for that at this step.
    fn is_asked(&self, py: Python<'_>, parameter: &str) -> PyResult<bool> {
        self.with(py, |writer| Ok(writer.is_asked(parameter)))
    }

    /// Does not take one of `requests`.
    fn decline(&self, py: Python<'_>, index: usize, reason: String) -> PyResult<()> {
        self.with(py, |writer| {
            let request = writer.requests().get(index).cloned();
            let request = request.ok_or_else(|| misuse("this is no request of this step"))?;
            writer.decline(&request, reason).or_raise()
        })
    }

    /// Puts a copy.
    fn put(
        &self,
        py: Python<'_>,
        definition: &Bound<'_, Definition>,
        start: Vec<u64>,
        count: Vec<u64>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (region, bytes, variable) =
            (region(&start, &count)?, Exported::of(data)?, definition.get().variable()?);
        self.with(py, |writer| writer.put_bytes(variable, &region, bytes.as_ref()).or_raise())
    }

    /// Puts the memory itself, which is held until everybody has released the step.
    fn put_external(
        &self,
        py: Python<'_>,
        definition: &Bound<'_, Definition>,
        start: Vec<u64>,
        count: Vec<u64>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (region, bytes, variable) =
            (region(&start, &count)?, Exported::of(data)?, definition.get().variable()?);
        self.with(py, |writer| writer.put_external_bytes(variable, &region, bytes).or_raise())
    }

    /// Lends memory of the pool.
    fn loan(
        &self,
        py: Python<'_>,
        definition: &Bound<'_, Definition>,
        start: Vec<u64>,
        count: Vec<u64>,
    ) -> PyResult<Loan> {
        let (region, variable) = (region(&start, &count)?, definition.get().variable()?);
        self.with(py, |writer| writer.loan_bytes(variable, &region).or_raise()).map(Loan::new)
    }

    /// Puts a loan, without a copy.
    fn put_loan(&self, py: Python<'_>, loan: &Bound<'_, Loan>) -> PyResult<()> {
        loan.try_borrow_mut()?.put(|place| {
            self.with(py, |writer| {
                let memory = place
                    .take()
                    .ok_or_else(|| misuse("a loan is put twice: ask for a new one for each block"))?;
                let (outcome, kept) = writer.put_loan_kept(memory);
                Ok((outcome.or_raise(), kept))
            })
        })
    }

    /// Puts records that are dicts.
    fn put_records(
        &self,
        py: Python<'_>,
        definition: &Bound<'_, Definition>,
        start: Vec<u64>,
        count: Vec<u64>,
        records: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let variable = definition.get().variable()?;
        let schema = variable
            .records()
            .ok_or_else(|| misuse(format!("variable {:?} has no records", variable.name())))?;
        let (region, bytes) = (region(&start, &count)?, values::encode(schema, &records)?);
        self.with(py, |writer| writer.put_bytes(variable, &region, &bytes).or_raise())
    }

    /// Ends the step: subscribers may have it.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        let writer = self.take(py)?;
        waiting(py, || writer.end())?.or_raise()
    }

    /// Gives the step up: nobody has it.
    fn abandon(&self, py: Python<'_>) {
        py.detach(|| drop(self.open.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}
