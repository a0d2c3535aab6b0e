//! Values of records as Python's, and back.

use crate::attribute;
use crate::error::{OrRaise, misuse};
use flexpath::Dtype;
use flexpath::record::{
    ArrayRef, EnumType, Extent, Field, FieldElement, RecordBuilder, RecordRef, RecordSchema, RecordType,
    Value,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyComplex, PyDict, PyList, PyString};

/// A record as a dict with a value for each field.
pub(crate) fn record<'py>(py: Python<'py>, record: RecordRef<'_>) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    for (index, field) in record.record_type().fields.iter().enumerate() {
        fields.set_item(&field.name, value(py, record.field(index).or_raise()?)?)?;
    }
    Ok(fields)
}

fn value<'py>(py: Python<'py>, given: Value<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match given {
        Value::Absent => py.None().into_bound(py),
        Value::Default(value) => attribute::told(py, value)?,
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        Value::Real(value) => value.into_pyobject(py)?.into_any(),
        Value::Complex(real, imaginary) => PyComplex::from_doubles(py, real, imaginary).into_any(),
        Value::Text(text) => PyString::new(py, text).into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::Enum(name, _) => PyString::new(py, name).into_any(),
        Value::Record(of) => record(py, of)?.into_any(),
        Value::Array(array) => list(py, array)?.into_any(),
    })
}

fn list<'py>(py: Python<'py>, array: ArrayRef<'_>) -> PyResult<Bound<'py, PyList>> {
    let all = PyList::empty(py);
    for index in 0..array.count() {
        all.append(value(py, array.value(index).or_raise()?)?)?;
    }
    Ok(all)
}

/// Records, given as dicts, as the bytes that travel.
pub(crate) fn encode(schema: &RecordSchema, records: &[Bound<'_, PyAny>]) -> PyResult<Vec<u8>> {
    let mut builder = RecordBuilder::new(schema, records.len()).or_raise()?;
    for (index, record) in records.iter().enumerate() {
        let record = record
            .cast::<PyDict>()
            .map_err(|_| misuse(format!("record {index} is no dict with the fields' values")))?;
        set_record(&mut builder, index, "", schema.record(), record)?;
    }
    builder.encode().or_raise()
}

fn set_record(
    builder: &mut RecordBuilder,
    index: usize,
    prefix: &str,
    record: &RecordType,
    values: &Bound<'_, PyDict>,
) -> PyResult<()> {
    for key in values.keys() {
        let name: String = key.extract()?;
        if !record.fields.iter().any(|field| field.name == name) {
            let known: Vec<&str> = record.fields.iter().map(|field| field.name.as_str()).collect();
            return Err(misuse(format!(
                "record {index}: {} has no field {name:?}; it has: {}",
                record.name,
                known.join(", ")
            )));
        }
    }
    for field in &record.fields {
        let path = if prefix.is_empty() { field.name.clone() } else { format!("{prefix}.{}", field.name) };
        match values.get_item(&field.name)? {
            Some(value) if !value.is_none() => set_field(builder, index, &path, field, &value)?,
            _ => {}
        }
    }
    Ok(())
}

/// The elements of a field: one, or those of whatever has several.
fn elements<'py>(field: &Field, value: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    match &field.extent {
        Extent::One => Ok(vec![value.clone()]),
        Extent::Fixed(shape, _) => flattened(value, shape.ndims()),
        Extent::Variable | Extent::SizedBy(_) => flattened(value, 1),
    }
}

/// The elements of an array, or of lists in lists.
fn flattened<'py>(value: &Bound<'py, PyAny>, ndims: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if let Ok(raveled) = value.call_method0("ravel") {
        return raveled.call_method0("tolist")?.try_iter()?.collect();
    }
    if ndims <= 1 {
        return value.try_iter()?.collect();
    }
    let mut all = Vec::new();
    for part in value.try_iter()? {
        all.extend(flattened(&part?, ndims - 1)?);
    }
    Ok(all)
}

fn set_field(
    builder: &mut RecordBuilder,
    index: usize,
    path: &str,
    field: &Field,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let wrong = |error: PyErr| misuse(format!("record {index}: field {path:?}: {error}"));
    let elements = elements(field, value).map_err(wrong)?;
    match &field.element {
        FieldElement::Record(record) => set_records(builder, index, (path, field), record, &elements),
        FieldElement::Dtype(Dtype::String) => {
            let texts = elements.iter().map(|text| text.extract::<String>());
            let texts = texts.collect::<PyResult<Vec<_>>>().map_err(wrong)?;
            builder.set_texts(index, path, &texts).or_raise()
        }
        FieldElement::Dtype(Dtype::Bytes) => {
            let bytes: Vec<u8> = value.extract().map_err(wrong)?;
            builder.set_numbers(index, path, (Dtype::U8, &bytes)).or_raise()
        }
        FieldElement::Enum(of) => {
            let numbers = elements.iter().map(|element| number_of(of, element));
            let numbers = numbers.collect::<PyResult<Vec<_>>>().map_err(wrong)?;
            builder.set_numbers(index, path, (Dtype::I64, bytemuck::cast_slice(&numbers))).or_raise()
        }
        FieldElement::Dtype(dtype) => {
            let bytes = numbers(*dtype, &elements).map_err(wrong)?;
            builder.set_numbers(index, path, (*dtype, &bytes)).or_raise()
        }
    }
}

/// Sets the records of a field: one, or several.
fn set_records(
    builder: &mut RecordBuilder,
    index: usize,
    (path, field): (&str, &Field),
    record: &RecordType,
    elements: &[Bound<'_, PyAny>],
) -> PyResult<()> {
    match &field.extent {
        Extent::One => {}
        Extent::Fixed(shape, _) if shape.element_count() == elements.len() as u64 => {}
        Extent::Fixed(shape, _) => {
            let (wanted, given) = (shape.element_count(), elements.len());
            let what = format!("record {index}: field {path:?} has {wanted} records, and {given} are given");
            return Err(misuse(what));
        }
        Extent::Variable | Extent::SizedBy(_) => builder.set_len(index, path, elements.len()).or_raise()?,
    }
    for (at, element) in elements.iter().enumerate() {
        let values = element.cast::<PyDict>();
        let values = values.map_err(|_| misuse(format!("record {index}: field {path:?} wants dicts")))?;
        match field.extent {
            Extent::One => set_record(builder, index, path, record, values)?,
            Extent::Fixed(..) | Extent::Variable | Extent::SizedBy(_) => {
                set_record(builder, index, &format!("{path}[{at}]"), record, values)?
            }
        }
    }
    Ok(())
}

/// A value of an enumeration, given by its name or number.
fn number_of(of: &EnumType, element: &Bound<'_, PyAny>) -> PyResult<i64> {
    let Ok(name) = element.extract::<String>() else { return element.extract() };
    let found = of.variants.iter().find(|(known, _)| *known == name);
    found.map(|found| found.1).ok_or_else(|| misuse(format!("{} has no name {name:?}", of.name)))
}

/// Numbers as bytes of that type.
fn numbers(dtype: Dtype, elements: &[Bound<'_, PyAny>]) -> PyResult<Vec<u8>> {
    macro_rules! all {
        ($T:ty) => {{
            let all = elements.iter().map(|of| of.extract::<$T>()).collect::<PyResult<Vec<$T>>>()?;
            bytemuck::cast_slice(&all).to_vec()
        }};
    }
    Ok(match dtype {
        Dtype::I8 => all!(i8),
        Dtype::I16 => all!(i16),
        Dtype::I32 => all!(i32),
        Dtype::I64 => all!(i64),
        Dtype::U8 => all!(u8),
        Dtype::U16 => all!(u16),
        Dtype::U32 => all!(u32),
        Dtype::U64 => all!(u64),
        Dtype::F32 => all!(f32),
        Dtype::F64 => all!(f64),
        Dtype::Bool => elements.iter().map(|of| of.is_truthy().map(u8::from)).collect::<PyResult<_>>()?,
        Dtype::F16 | Dtype::BF16 => {
            let reals = elements.iter().map(|of| of.extract::<f32>()).collect::<PyResult<Vec<_>>>()?;
            let half = |real: &f32| match dtype {
                Dtype::F16 => half::f16::from_f32(*real).to_bits(),
                _ => half::bf16::from_f32(*real).to_bits(),
            };
            bytemuck::cast_slice(&reals.iter().map(half).collect::<Vec<u16>>()).to_vec()
        }
        Dtype::C32 | Dtype::C64 => {
            let parts = |of: &Bound<'_, PyAny>| -> PyResult<[f64; 2]> {
                Ok([of.getattr("real")?.extract()?, of.getattr("imag")?.extract()?])
            };
            let parts = elements.iter().map(parts).collect::<PyResult<Vec<_>>>()?.concat();
            match dtype {
                Dtype::C64 => bytemuck::cast_slice(&parts).to_vec(),
                _ => {
                    bytemuck::cast_slice(&parts.iter().map(|&part| part as f32).collect::<Vec<_>>()).to_vec()
                }
            }
        }
        Dtype::String | Dtype::Bytes => return Err(crate::dtype::no_element(dtype)),
    })
}
