//! Attributes of variables, as values of Python's.

use flexpath::{AttributeValue, Real};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyString};

/// What an attribute is told as.
pub(crate) fn told<'py>(py: Python<'py>, value: &AttributeValue) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        AttributeValue::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        AttributeValue::Integer(value) => value.into_pyobject(py)?.into_any(),
        AttributeValue::Unsigned(value) => value.into_pyobject(py)?.into_any(),
        AttributeValue::Real(value) => value.0.into_pyobject(py)?.into_any(),
        AttributeValue::Text(value) => PyString::new(py, value).into_any(),
        AttributeValue::Bytes(value) => PyBytes::new(py, value).into_any(),
        AttributeValue::Integers(values) => values.into_pyobject(py)?.into_any(),
        AttributeValue::Reals(values) => {
            values.iter().map(|value| value.0).collect::<Vec<_>>().into_pyobject(py)?.into_any()
        }
        AttributeValue::Texts(values) => values.into_pyobject(py)?.into_any(),
    })
}

/// What an attribute is given as.
pub(crate) fn given(value: &Bound<'_, PyAny>) -> PyResult<AttributeValue> {
    if value.is_instance_of::<PyBool>() {
        return Ok(AttributeValue::Bool(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        let signed = value.extract::<i64>().map(AttributeValue::Integer);
        return signed.or_else(|_| value.extract::<u64>().map(AttributeValue::Unsigned));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(AttributeValue::Real(Real(value.extract()?)));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(AttributeValue::Text(text.to_string()));
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(AttributeValue::Bytes(bytes.as_bytes().to_vec()));
    }
    if let Ok(texts) = value.extract::<Vec<String>>() {
        return Ok(AttributeValue::Texts(texts));
    }
    if let Ok(integers) = value.extract::<Vec<i64>>() {
        return Ok(AttributeValue::Integers(integers));
    }
    if let Ok(reals) = value.extract::<Vec<f64>>() {
        return Ok(AttributeValue::Reals(reals.into_iter().map(Real).collect()));
    }
    // numpy's scalars, which are none of Python's.
    if let Ok(item) = value.call_method0("item")
        && !item.is(value)
    {
        return given(&item);
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "{kind} is none of bool, int, float, str, bytes, or a list of int, float or str"
    )))
}
