//! What a value of a record is, as numbers of C.

use fp_core::record::Value;
use fp_core::{AttributeValue, Dtype};

/// What a value is.
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// an optional field that is not there and has no default
    Absent = 0,
    /// one number or truth value
    Number = 1,
    /// a text
    Text = 2,
    /// opaque bytes
    Bytes = 3,
    /// a name of an enumeration: taken as a text or as its number
    Name = 4,
    /// a record
    Record = 5,
    /// several elements
    Array = 6,
}

fn code(dtype: Dtype) -> i32 {
    i32::from(dtype.as_u8())
}

impl Kind {
    /// The kind, and what the elements are: of one number the widest type of its like.
    pub(crate) fn of(value: &Value<'_>) -> (Self, i32) {
        match value {
            Value::Absent => (Self::Absent, 0),
            Value::Default(AttributeValue::Text(_)) | Value::Text(_) => (Self::Text, code(Dtype::String)),
            Value::Default(AttributeValue::Bool(_)) | Value::Bool(_) => (Self::Number, code(Dtype::Bool)),
            Value::Default(AttributeValue::Real(_)) | Value::Real(_) => (Self::Number, code(Dtype::F64)),
            Value::Default(_) => (Self::Number, code(Dtype::I64)),
            Value::Integer(number) => {
                (Self::Number, code(if i64::try_from(*number).is_ok() { Dtype::I64 } else { Dtype::U64 }))
            }
            Value::Complex(..) => (Self::Number, code(Dtype::C64)),
            Value::Bytes(_) => (Self::Bytes, code(Dtype::Bytes)),
            Value::Enum(..) => (Self::Name, code(Dtype::I64)),
            Value::Record(_) => (Self::Record, 0),
            Value::Array(array) => (Self::Array, array.element().dtype().map_or(0, code)),
        }
    }
}
