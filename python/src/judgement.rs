//! What is told with a step of why its subscriber gets it, as Python's values.

use flexpath::{Judgement, Measured, MeasuredNumber, Real};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// What a measure is called, its number, and where it is.
type OneOf<'py> = (String, Option<Bound<'py, PyAny>>, Option<Bound<'py, PyTuple>>);

/// What was measured, why the step was not judged, and when it was decided: microseconds since the Unix epoch.
pub(crate) type Told<'py> = (Vec<OneOf<'py>>, Option<String>, u64);

/// A judgement.
pub(crate) fn told<'py>(py: Python<'py>, judgement: &Judgement) -> PyResult<Told<'py>> {
    let measured = judgement.measured.iter().map(|measured| one(py, measured)).collect::<PyResult<_>>()?;
    Ok((measured, judgement.unjudged.as_ref().map(ToString::to_string), judgement.decided_at_micros))
}

fn one<'py>(py: Python<'py>, measured: &Measured) -> PyResult<OneOf<'py>> {
    let number = measured.number.map(|number| exact(py, number)).transpose()?;
    let place = measured.place.as_ref().map(|place| PyTuple::new(py, place)).transpose()?;
    Ok((measured.measure.clone(), number, place))
}

/// Integers stay what they are.
fn exact(py: Python<'_>, number: MeasuredNumber) -> PyResult<Bound<'_, PyAny>> {
    Ok(match number {
        MeasuredNumber::Signed(number) => number.into_pyobject(py)?.into_any(),
        MeasuredNumber::Unsigned(number) => number.into_pyobject(py)?.into_any(),
        MeasuredNumber::Real(Real(number)) => number.into_pyobject(py)?.into_any(),
        MeasuredNumber::Bracket { low: Real(low), high: Real(high) } => {
            (low, high).into_pyobject(py)?.into_any()
        }
    })
}
