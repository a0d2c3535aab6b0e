//! Values as numbers of a type that is known only at run time.

use super::error::RecordReadError;
use super::path::describe;
use super::value::Value;
use crate::attribute::AttributeValue;
use crate::dtype::Dtype;

/// As a `f32`, where nothing is lost.
fn short(number: f64) -> Option<f32> {
    let short = number as f32;
    (f64::from(short) == number || number.is_nan()).then_some(short)
}

/// As a number of 16 bits, where nothing is lost.
fn half(number: f64, half: u16, back: f64) -> Option<Vec<u8>> {
    (back == number || number.is_nan()).then(|| half.to_ne_bytes().to_vec())
}

fn of_integer(number: i128, dtype: Dtype) -> Option<Vec<u8>> {
    macro_rules! integers {
        ($($name:ident $rust:ty),*) => {
            match dtype {
                $(Dtype::$name => return <$rust>::try_from(number).ok().map(|fits| fits.to_ne_bytes().to_vec()),)*
                Dtype::F16 | Dtype::BF16 | Dtype::F32 | Dtype::F64 => {}
                Dtype::C32 | Dtype::C64 | Dtype::Bool | Dtype::String | Dtype::Bytes => return None,
            }
        };
    }
    integers!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
    let real = number as f64;
    (real as i128 == number).then(|| of_real(real, dtype)).flatten()
}

fn of_real(number: f64, dtype: Dtype) -> Option<Vec<u8>> {
    let (f16, bf16) = (half::f16::from_f64(number), half::bf16::from_f64(number));
    match dtype {
        Dtype::F64 => Some(number.to_ne_bytes().to_vec()),
        Dtype::F32 => Some(short(number)?.to_ne_bytes().to_vec()),
        Dtype::F16 => half(number, f16.to_bits(), f16.to_f64()),
        Dtype::BF16 => half(number, bf16.to_bits(), bf16.to_f64()),
        Dtype::I8 | Dtype::I16 | Dtype::I32 | Dtype::I64 => None,
        Dtype::U8 | Dtype::U16 | Dtype::U32 | Dtype::U64 => None,
        Dtype::C32 | Dtype::C64 | Dtype::Bool | Dtype::String | Dtype::Bytes => None,
    }
}

impl Value<'_> {
    /// How many elements it has: of an array or of opaque bytes as many as there are, of what is absent none.
    pub fn count(&self) -> usize {
        match self {
            Self::Absent => 0,
            Self::Array(array) => array.count(),
            Self::Bytes(bytes) => bytes.len(),
            Self::Default(_) | Self::Bool(_) | Self::Integer(_) | Self::Real(_) | Self::Complex(..) => 1,
            Self::Text(_) | Self::Enum(..) | Self::Record(_) => 1,
        }
    }

    /// All its numbers, converted to that type in this machine's byte order, as long as no value changes. Opaque bytes
    /// are taken as `Dtype::U8`. What is absent gives nothing.
    pub fn convert_into(&self, dtype: Dtype, destination: &mut [u8]) -> Result<(), RecordReadError> {
        let unlike = || RecordReadError::Type { found: describe(self), wanted: dtype.name() };
        let bytes = match (self, dtype) {
            (Self::Absent, _) => return Ok(()),
            (Self::Array(array), _) => {
                array.convert_into(dtype, destination)?;
                let wrong = destination.iter().find(|&&truth| dtype == Dtype::Bool && truth > 1);
                return wrong.map_or(Ok(()), |&number| Err(RecordReadError::NoTruthValue { number }));
            }
            (Self::Bytes(bytes), Dtype::U8) => Some(bytes.to_vec()),
            (Self::Bool(truth) | Self::Default(AttributeValue::Bool(truth)), Dtype::Bool) => {
                Some(vec![u8::from(*truth)])
            }
            (Self::Complex(real, imaginary), Dtype::C64) => {
                Some([*real, *imaginary].map(f64::to_ne_bytes).concat())
            }
            (Self::Complex(real, imaginary), Dtype::C32) => short(*real)
                .zip(short(*imaginary))
                .map(|(real, imaginary)| [real, imaginary].map(f32::to_ne_bytes).concat()),
            _ => match self.as_integer() {
                Some(number) => of_integer(number, dtype),
                None => self.as_f64().and_then(|number| of_real(number, dtype)),
            },
        };
        let bytes = bytes.filter(|bytes| bytes.len() == destination.len()).ok_or_else(unlike)?;
        destination.copy_from_slice(&bytes);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(value: Value<'_>, dtype: Dtype) -> Option<Vec<u8>> {
        let mut place = vec![0; dtype.size_bytes().expect("a size")];
        value.convert_into(dtype, &mut place).ok().map(|()| place)
    }

    #[test]
    fn a_number_becomes_what_holds_it() {
        assert_eq!(taken(Value::Integer(200), Dtype::U8), Some(vec![200]));
        assert_eq!(taken(Value::Integer(200), Dtype::I8), None);
        assert_eq!(taken(Value::Integer(3), Dtype::F32), Some(3f32.to_ne_bytes().to_vec()));
        assert_eq!(taken(Value::Integer((1 << 53) + 1), Dtype::F64), None);
        let half = half::f16::from_f32(0.5).to_ne_bytes().to_vec();
        assert_eq!(taken(Value::Real(0.5), Dtype::F16), Some(half));
        assert_eq!(taken(Value::Real(0.1), Dtype::F32), None);
        assert_eq!(taken(Value::Real(1.0), Dtype::I32), None);
        assert_eq!(taken(Value::Bool(true), Dtype::Bool), Some(vec![1]));
        assert_eq!(taken(Value::Bool(true), Dtype::U8), None);
        assert_eq!(taken(Value::Enum("hot", 7), Dtype::U16), Some(7u16.to_ne_bytes().to_vec()));
        let complex = [1f32, 2.0].map(f32::to_ne_bytes).concat();
        assert_eq!(taken(Value::Complex(1.0, 2.0), Dtype::C32), Some(complex));
        assert_eq!(taken(Value::Bytes(&[7]), Dtype::U8), Some(vec![7]));
        assert_eq!(taken(Value::Bytes(&[7, 8]), Dtype::U8), None);
    }

    #[test]
    fn a_refusal_names_the_value() {
        let refused = Value::Integer(200).convert_into(Dtype::I8, &mut [0]).expect_err("too large");
        assert_eq!(refused.to_string(), "the integer 200 is not i8");
    }
}
