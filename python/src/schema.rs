//! Types of records.

use crate::attribute;
use crate::dtype;
use crate::error::{OrRaise, misuse};
use flexpath::record::{EnumType, Extent, Field, FieldElement, RecordSchema, RecordType};
use flexpath::{MemoryOrder, Shape};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// The type of records.
///
/// A field's type is the name of an element type ("f64", "string", "bytes"), another Schema, or a dict with `type` and
/// one or more of `shape` (a fixed array), `list` (True: it has its own length), `optional`, `unit`, `description`.
#[pyclass(frozen, module = "flexpath._native", from_py_object)]
#[derive(Clone)]
pub(crate) struct Schema(pub(crate) RecordSchema);

fn element(given: &Bound<'_, PyAny>) -> PyResult<FieldElement> {
    if let Ok(schema) = given.cast::<Schema>() {
        return Ok(FieldElement::Record(schema.get().0.record().clone()));
    }
    let name = given
        .cast::<PyString>()
        .map_err(|_| misuse("a field's type is the name of an element type, or a Schema"))?;
    Ok(FieldElement::Dtype(dtype::named(name.to_str()?)?))
}

fn field(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Field> {
    let Ok(words) = given.cast::<PyDict>() else { return Ok(Field::new(name, element(given)?)) };
    let mut field = Field::new(name, FieldElement::Dtype(flexpath::Dtype::U8));
    for (word, value) in words {
        match word.extract::<String>()?.as_str() {
            "type" => field.element = element(&value)?,
            "shape" => {
                let dims = crate::selection::dims(&value.extract::<Vec<u64>>()?)?;
                let shape = Shape::new(dims).map_err(misuse)?;
                field.extent = Extent::Fixed(shape, MemoryOrder::RowMajor);
            }
            "list" if value.is_truthy()? => field.extent = Extent::Variable,
            "list" => {}
            "optional" => field.optional = value.is_truthy()?,
            "unit" => field.unit = value.extract()?,
            "description" => field.description = value.extract()?,
            other => {
                let known = "type, shape, list, optional, unit, description";
                return Err(misuse(format!(
                    "field {name:?}: there is no word {other:?}; there are: {known}"
                )));
            }
        }
    }
    Ok(field)
}

fn element_name<'py>(py: Python<'py>, element: &FieldElement) -> PyResult<Bound<'py, PyAny>> {
    match element {
        FieldElement::Dtype(dtype) => Ok(PyString::new(py, dtype.name()).into_any()),
        FieldElement::Enum(EnumType { dtype, .. }) => Ok(PyString::new(py, dtype.name()).into_any()),
        FieldElement::Record(record) => {
            let schema = record.clone().build().or_raise()?;
            Ok(Bound::new(py, Schema(schema))?.into_any())
        }
    }
}

#[pymethods]
impl Schema {
    #[new]
    fn new(name: &str, fields: Vec<(String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let fields = fields.iter().map(|(name, given)| field(name, given)).collect::<PyResult<Vec<_>>>()?;
        let record = fields.into_iter().fold(RecordType::new(name), RecordType::field);
        Ok(Self(record.build().or_raise()?))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.record().name
    }

    #[getter]
    fn size_bytes(&self) -> usize {
        self.0.size_bytes()
    }

    #[getter]
    fn is_plain(&self) -> bool {
        self.0.is_plain() && self.0.byte_order() == flexpath::record::ByteOrder::NATIVE
    }

    /// Name, offset and type of each field, as a dict of the constructor's words. Enumerations have `variants`.
    #[getter]
    fn fields<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, usize, Bound<'py, PyDict>)>> {
        let mut all = Vec::new();
        for field in &self.0.record().fields {
            let words = PyDict::new(py);
            words.set_item("type", element_name(py, &field.element)?)?;
            match &field.extent {
                Extent::One => {}
                Extent::Fixed(shape, order) => {
                    words.set_item("shape", shape.dims().to_vec())?;
                    words.set_item("column_major", *order == MemoryOrder::ColumnMajor)?;
                }
                Extent::Variable => words.set_item("list", true)?,
                Extent::SizedBy(of) => words.set_item("sized_by", of)?,
            }
            if let FieldElement::Enum(of) = &field.element {
                words.set_item(
                    "variants",
                    of.variants.iter().cloned().collect::<std::collections::BTreeMap<_, _>>(),
                )?;
            }
            if field.optional {
                words.set_item("optional", true)?;
            }
            if let Some(default) = &field.default {
                words.set_item("default", attribute::told(py, default)?)?;
            }
            for (word, text) in [("unit", &field.unit), ("description", &field.description)] {
                if let Some(text) = text {
                    words.set_item(word, text)?;
                }
            }
            all.push((field.name.clone(), self.0.offset_of(&field.name).unwrap_or_default(), words));
        }
        Ok(all)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().0.fingerprint() == self.0.fingerprint())
    }

    fn __hash__(&self) -> isize {
        let bytes = self.0.fingerprint().to_string();
        bytes.bytes().fold(0isize, |hash, byte| hash.wrapping_mul(31).wrapping_add(isize::from(byte as i8)))
    }
}
