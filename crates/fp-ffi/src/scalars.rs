//! Single values of records as numbers of C.

use fp_core::record::{FieldElement, Value};
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

/// What a value is, for people.
pub(crate) fn of_bytes(value: &Value<'_>) -> String {
    match value {
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Default(default) => format!("the default {default:?}"),
        Value::Record(record) => format!("a record {:?}", record.record_type().name),
        Value::Array(array) if matches!(array.element(), FieldElement::Record(_)) => {
            "an array of records".to_owned()
        }
        Value::Absent
        | Value::Complex(..)
        | Value::Text(_)
        | Value::Bytes(_)
        | Value::Enum(..)
        | Value::Array(_) => format!("{value:?}"),
    }
}

/// Writes one value as a number of that type, if that holds it.
pub(crate) fn of_value(value: &Value<'_>, dtype: Dtype, place: &mut [u8]) -> Option<()> {
    let bytes = match (value, dtype) {
        (Value::Bool(truth) | Value::Default(AttributeValue::Bool(truth)), Dtype::Bool) => {
            vec![u8::from(*truth)]
        }
        (Value::Complex(real, imaginary), Dtype::C64) => [*real, *imaginary].map(f64::to_ne_bytes).concat(),
        (Value::Complex(real, imaginary), Dtype::C32) => {
            [short(*real)?, short(*imaginary)?].map(f32::to_ne_bytes).concat()
        }
        _ => match value.as_integer() {
            Some(number) => of_integer(number, dtype)?,
            None => of_real(value.as_f64()?, dtype)?,
        },
    };
    (bytes.len() == place.len()).then(|| place.copy_from_slice(&bytes))
}

/// As a `f32`, where nothing is lost.
fn short(number: f64) -> Option<f32> {
    let short = number as f32;
    (f64::from(short) == number || number.is_nan()).then_some(short)
}

fn of_integer(number: i128, dtype: Dtype) -> Option<Vec<u8>> {
    macro_rules! integers {
        ($($name:ident $rust:ty),*) => {
            match dtype {
                $(Dtype::$name => return <$rust>::try_from(number).ok().map(|number| number.to_ne_bytes().to_vec()),)*
                Dtype::F16 | Dtype::BF16 | Dtype::F32 | Dtype::F64 | Dtype::C32 | Dtype::C64 | Dtype::Bool | Dtype::String | Dtype::Bytes => {}
            }
        };
    }
    integers!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
    let real = number as f64;
    (real as i128 == number).then(|| of_real(real, dtype)).flatten()
}

fn of_real(number: f64, dtype: Dtype) -> Option<Vec<u8>> {
    match dtype {
        Dtype::F64 => Some(number.to_ne_bytes().to_vec()),
        Dtype::F32 => Some(short(number)?.to_ne_bytes().to_vec()),
        Dtype::F16 => {
            let half = half::f16::from_f64(number);
            (half.to_f64() == number || number.is_nan()).then(|| half.to_ne_bytes().to_vec())
        }
        Dtype::BF16 => {
            let half = half::bf16::from_f64(number);
            (half.to_f64() == number || number.is_nan()).then(|| half.to_ne_bytes().to_vec())
        }
        Dtype::I8
        | Dtype::I16
        | Dtype::I32
        | Dtype::I64
        | Dtype::U8
        | Dtype::U16
        | Dtype::U32
        | Dtype::U64
        | Dtype::C32
        | Dtype::C64
        | Dtype::Bool
        | Dtype::String
        | Dtype::Bytes => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(value: Value<'_>, dtype: Dtype) -> Option<Vec<u8>> {
        let mut place = vec![0; dtype.size_bytes().expect("a size")];
        of_value(&value, dtype, &mut place).map(|()| place)
    }

    #[test]
    fn a_number_becomes_what_holds_it() {
        assert_eq!(taken(Value::Integer(200), Dtype::U8), Some(vec![200]));
        assert_eq!(taken(Value::Integer(200), Dtype::I8), None);
        assert_eq!(taken(Value::Integer(3), Dtype::F32), Some(3f32.to_ne_bytes().to_vec()));
        assert_eq!(taken(Value::Integer((1 << 53) + 1), Dtype::F64), None);
        assert_eq!(
            taken(Value::Real(0.5), Dtype::F16),
            Some(half::f16::from_f32(0.5).to_ne_bytes().to_vec())
        );
        assert_eq!(taken(Value::Real(0.1), Dtype::F32), None);
        assert_eq!(taken(Value::Real(1.0), Dtype::I32), None);
        assert_eq!(taken(Value::Bool(true), Dtype::Bool), Some(vec![1]));
        assert_eq!(taken(Value::Bool(true), Dtype::U8), None);
        assert_eq!(taken(Value::Enum("hot", 7), Dtype::U16), Some(7u16.to_ne_bytes().to_vec()));
    }
}
