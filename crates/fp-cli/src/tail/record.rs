//! Records as text and as JSON, field by field, whatever their type.

use std::fmt;

use fp_core::Dtype;
use fp_core::record::{ArrayRef, FieldElement, RecordReadError, RecordRef, Value};
use serde::{Serialize, Serializer};

use crate::summary::Attribute;

/// A record: its fields in their order.
#[derive(Debug)]
pub(super) struct Fields(Vec<(String, FieldValue)>);

/// What a field holds.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum FieldValue {
    /// Nothing: null in JSON.
    Absent(()),
    Default(Attribute),
    Bool(bool),
    Integer(i128),
    /// A number of at most four bytes, which has a shorter text than the same of eight.
    Short(f32),
    Real(f64),
    Complex([f64; 2]),
    Text(String),
    /// A name of an enumeration.
    Name(String),
    Bytes(Vec<u8>),
    Record(Fields),
    Array(Vec<FieldValue>),
}

impl Fields {
    /// Reads a record.
    pub(super) fn of(record: &RecordRef<'_>) -> Result<Self, RecordReadError> {
        let fields = record.record_type().fields.iter().enumerate();
        let read = fields.map(|(index, field)| {
            Ok((field.name.clone(), FieldValue::of(&record.field(index)?, &field.element)?))
        });
        read.collect::<Result<_, _>>().map(Self)
    }
}

impl FieldValue {
    fn of(value: &Value<'_>, element: &FieldElement) -> Result<Self, RecordReadError> {
        let is_short = matches!(element, FieldElement::Dtype(Dtype::F16 | Dtype::BF16 | Dtype::F32));
        Ok(match value {
            Value::Absent => Self::Absent(()),
            Value::Default(value) => Self::Default(Attribute::new(value)),
            Value::Bool(value) => Self::Bool(*value),
            Value::Integer(number) => Self::Integer(*number),
            Value::Real(number) if is_short => Self::Short(*number as f32),
            Value::Real(number) => Self::Real(*number),
            Value::Complex(real, imaginary) => Self::Complex([*real, *imaginary]),
            Value::Text(text) => Self::Text((*text).to_owned()),
            Value::Enum(name, _) => Self::Name((*name).to_owned()),
            Value::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
            Value::Record(record) => Self::Record(Fields::of(record)?),
            Value::Array(array) => Self::of_array(array)?,
        })
    }

    fn of_array(array: &ArrayRef<'_>) -> Result<Self, RecordReadError> {
        let element = |index| Self::of(&array.value(index)?, array.element());
        (0..array.count()).map(element).collect::<Result<_, _>>().map(Self::Array)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        write!(f, "{{ {} }}", fields.join(", "))
    }
}

impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(()) => f.write_str("absent"),
            Self::Default(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Short(number) => write!(f, "{number:?}"),
            Self::Real(number) => write!(f, "{number:?}"),
            Self::Complex([real, imaginary]) => write!(f, "{real:?}{imaginary:+?}i"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Name(name) => f.write_str(name),
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Record(fields) => write!(f, "{fields}"),
            Self::Array(elements) => {
                let elements: Vec<String> = elements.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", elements.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_core::Shape;
    use fp_core::record::{EnumType, Field, RecordType, Records, encode_with};

    #[test]
    fn every_kind_of_value_has_a_text_and_json() {
        let schema = RecordType::new("Cell")
            .field(Field::new("phase", EnumType::new("Phase", Dtype::U8).variant("Solid", 1)))
            .field(Field::new("name", Dtype::String))
            .field(Field::new("place", Dtype::F32).fixed(Shape::new([2]).unwrap()))
            .field(Field::new("near", Dtype::I64).variable())
            .field(Field::new("labels", Dtype::String).variable())
            .field(Field::new("weight", Dtype::F64).optional())
            .build()
            .unwrap();
        let encoded = encode_with(&schema, 1, |_, cell| {
            cell.put_bytes(0, Dtype::U8, &[1])?;
            cell.put(1, &"the \"inlet\"".to_owned())?;
            cell.put(2, &[0.1f32, f32::NAN])?;
            cell.put(3, &vec![-1i64, 2])?;
            cell.put(4, &vec!["a".to_owned(), "b".to_owned()])
        });
        let bytes = encoded.unwrap();
        let records = Records::new(&schema, &bytes, 1).unwrap();
        let fields = Fields::of(&records.record(0).unwrap()).unwrap();
        assert_eq!(
            fields.to_string(),
            "{ phase: Solid, name: \"the \\\"inlet\\\"\", place: [0.1, NaN], near: [-1, 2], labels: [\"a\", \"b\"], \
             weight: absent }"
        );
        assert_eq!(
            serde_json::to_string(&fields).unwrap(),
            "{\"phase\":\"Solid\",\"name\":\"the \\\"inlet\\\"\",\"place\":[0.1,null],\"near\":[-1,2],\"labels\":[\"a\",\"b\"],\
             \"weight\":null}"
        );
    }
}
