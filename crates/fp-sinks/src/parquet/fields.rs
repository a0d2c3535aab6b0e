//! The columns of records, and what is said of columns.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use fp_core::record::{Extent, Field as RecordField, FieldElement, RecordType};
use fp_core::{AttributeValue, Dtype, MemoryOrder};
use serde_json::{Value, json};

/// The columns of a record type, or the fields of a structure.
pub(super) fn of_records(record: &RecordType) -> Result<Vec<Field>, String> {
    if record.fields.is_empty() {
        return Err(format!("the record {:?} has no fields, and a table needs columns", record.name));
    }
    record.fields.iter().map(of_field).collect()
}

fn of_field(field: &RecordField) -> Result<Field, String> {
    let element = of_element(&field.element)?;
    let dtype = match &field.extent {
        Extent::One => element,
        Extent::Fixed(..) | Extent::Variable | Extent::SizedBy(_) => DataType::List(item(element)),
    };
    let is_nullable = field.optional && field.default.is_none();
    Ok(Field::new(&field.name, dtype, is_nullable).with_metadata(metadata_of(field)))
}

/// The elements of a list.
pub(super) fn item(dtype: DataType) -> FieldRef {
    Arc::new(Field::new("element", dtype, false))
}

/// The type of a single element.
pub(super) fn of_element(element: &FieldElement) -> Result<DataType, String> {
    Ok(match element {
        FieldElement::Dtype(dtype) => of_dtype(*dtype),
        FieldElement::Enum(_) => DataType::Utf8,
        FieldElement::Record(record) => DataType::Struct(of_records(record)?.into()),
    })
}

/// The type of a column of such elements.
pub(super) fn of_dtype(dtype: Dtype) -> DataType {
    let complex = |part: DataType| {
        let fields = ["re", "im"].map(|name| Field::new(name, part.clone(), false));
        DataType::Struct(Fields::from(fields.to_vec()))
    };
    match dtype {
        Dtype::I8 => DataType::Int8,
        Dtype::I16 => DataType::Int16,
        Dtype::I32 => DataType::Int32,
        Dtype::I64 => DataType::Int64,
        Dtype::U8 => DataType::UInt8,
        Dtype::U16 => DataType::UInt16,
        Dtype::U32 => DataType::UInt32,
        Dtype::U64 => DataType::UInt64,
        Dtype::F16 | Dtype::BF16 | Dtype::F32 => DataType::Float32,
        Dtype::F64 => DataType::Float64,
        Dtype::C32 => complex(DataType::Float32),
        Dtype::C64 => complex(DataType::Float64),
        Dtype::Bool => DataType::Boolean,
        Dtype::String => DataType::Utf8,
        Dtype::Bytes => DataType::Binary,
    }
}

/// What is said of a field of a record.
fn metadata_of(field: &RecordField) -> HashMap<String, String> {
    let mut all = metadata(&BTreeMap::new(), field.unit.as_ref(), field.description.as_ref());
    all.extend(field.indexes.as_ref().map(|indexed| ("indexes".to_owned(), indexed.clone())));
    if let FieldElement::Enum(names) = &field.element {
        let numbers: serde_json::Map<String, Value> =
            names.variants.iter().map(|(name, number)| (name.clone(), json!(number))).collect();
        all.insert("enumeration".to_owned(), Value::Object(numbers).to_string());
    }
    if let Extent::Fixed(shape, order) = &field.extent {
        let dims: Vec<u64> = shape.dims().iter().copied().collect();
        all.insert("shape".to_owned(), json!(dims).to_string());
        if *order == MemoryOrder::ColumnMajor {
            all.insert("published_order".to_owned(), order.to_string());
        }
    }
    all
}

/// Unit, description and attributes as metadata. A unit is never hidden by an attribute of that name.
pub(super) fn metadata(
    attributes: &BTreeMap<String, AttributeValue>,
    unit: Option<&String>,
    description: Option<&String>,
) -> HashMap<String, String> {
    let mut all: HashMap<String, String> =
        attributes.iter().map(|(name, value)| (name.clone(), text(value))).collect();
    all.extend(unit.map(|unit| ("unit".to_owned(), unit.clone())));
    all.extend(description.map(|description| ("description".to_owned(), description.clone())));
    all
}

/// An attribute as text: that of a single value is the value alone, that of several is JSON.
fn text(value: &AttributeValue) -> String {
    match value {
        AttributeValue::Bool(value) => value.to_string(),
        AttributeValue::Integer(number) => number.to_string(),
        AttributeValue::Unsigned(number) => number.to_string(),
        AttributeValue::Real(number) => format!("{:?}", number.0),
        AttributeValue::Text(text) => text.clone(),
        AttributeValue::Bytes(bytes) => json!(bytes).to_string(),
        AttributeValue::Integers(numbers) => json!(numbers).to_string(),
        AttributeValue::Reals(numbers) => {
            json!(numbers.iter().map(|number| number.0).collect::<Vec<f64>>()).to_string()
        }
        AttributeValue::Texts(texts) => json!(texts).to_string(),
    }
}
