//! What is read from a record without its Rust type.

use half::{bf16, f16};

use super::RecordRef;
use super::error::RecordReadError;
use crate::attribute::{AttributeValue, Real};
use crate::dtype::Dtype;
use crate::record::byte_order::ByteOrder;
use crate::record::bytes::{integer, reference, unsigned};
use crate::record::element::{ElementConversion, ElementForm, Loss};
use crate::record::layout::{Place, REFERENCE_BYTES, Slot, Unit};
use crate::record::types::{EnumType, Extent, Field, FieldElement, RecordType};

/// A value where it lies in a record.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// An optional field that is not there and has no default.
    Absent,
    /// What stands for a field that is not there.
    Default(&'a AttributeValue),
    /// A truth value.
    Bool(bool),
    /// An integer of any type: all of them fit.
    Integer(i128),
    /// A real number.
    Real(f64),
    /// A complex number: its real and imaginary parts.
    Complex(f64, f64),
    /// A text.
    Text(&'a str),
    /// Opaque bytes.
    Bytes(&'a [u8]),
    /// A name of an enumeration, and its number.
    Enum(&'a str, i64),
    /// A record.
    Record(RecordRef<'a>),
    /// Several elements.
    Array(ArrayRef<'a>),
}

/// Several elements where they lie.
#[derive(Clone, Copy, Debug)]
pub struct ArrayRef<'a> {
    element: &'a FieldElement,
    unit: &'a Unit,
    extent: &'a Extent,
    order: ByteOrder,
    bytes: &'a [u8],
    at: usize,
    count: usize,
}

impl<'a> Value<'a> {
    /// What a field of a record is.
    pub(super) fn of(
        from: &RecordRef<'a>,
        field: &'a Field,
        slot: &'a Slot,
    ) -> Result<Self, RecordReadError> {
        if !from.is_present(slot) {
            return Ok(field.default.as_ref().map_or(Self::Absent, Self::Default));
        }
        let array = ArrayRef::of(from, field, slot)?;
        if field.extent == Extent::One { array.value(0) } else { Ok(Self::Array(array)) }
    }

    /// As a real number, of whatever number type; integers above 2^53 are rounded.
    pub fn as_f64(&self) -> Option<f64> {
        if let Self::Real(number) | Self::Default(AttributeValue::Real(Real(number))) = self {
            return Some(*number);
        }
        self.as_integer().map(|number| number as f64)
    }

    /// As an integer, of whatever integer type; of an enumeration its number.
    pub fn as_integer(&self) -> Option<i128> {
        match self {
            Self::Integer(number) => Some(*number),
            Self::Enum(_, number) | Self::Default(AttributeValue::Integer(number)) => {
                Some(i128::from(*number))
            }
            Self::Default(AttributeValue::Unsigned(number)) => Some(i128::from(*number)),
            Self::Absent
            | Self::Default(_)
            | Self::Bool(_)
            | Self::Real(_)
            | Self::Complex(..)
            | Self::Text(_)
            | Self::Bytes(_)
            | Self::Record(_)
            | Self::Array(_) => None,
        }
    }

    /// As a text; of an enumeration its name.
    pub fn as_text(&self) -> Option<&'a str> {
        match self {
            Self::Text(text) | Self::Enum(text, _) => Some(text),
            Self::Default(AttributeValue::Text(text)) => Some(text),
            Self::Absent
            | Self::Default(_)
            | Self::Bool(_)
            | Self::Integer(_)
            | Self::Real(_)
            | Self::Complex(..)
            | Self::Bytes(_)
            | Self::Record(_)
            | Self::Array(_) => None,
        }
    }

    /// As an array.
    pub fn as_array(&self) -> Option<ArrayRef<'a>> {
        if let Self::Array(array) = self { Some(*array) } else { None }
    }

    /// As a record.
    pub fn as_record(&self) -> Option<RecordRef<'a>> {
        if let Self::Record(record) = self { Some(*record) } else { None }
    }
}

impl<'a> ArrayRef<'a> {
    /// The elements of a field that is present.
    pub(super) fn of(
        from: &RecordRef<'a>,
        field: &'a Field,
        slot: &'a Slot,
    ) -> Result<Self, RecordReadError> {
        let (at, count) = match slot.place {
            Place::Inline(count) => (from.at + slot.offset, count),
            Place::Elsewhere(_) => {
                let (at, count) = reference(from.bytes, from.order, from.at + slot.offset);
                (at as usize, count as usize)
            }
        };
        let (element, unit, extent) = (&field.element, &slot.unit, &field.extent);
        Ok(Self { element, unit, extent, order: from.order, bytes: from.bytes, at, count })
    }

    /// How many elements there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many elements there are in each dimension, and in which order they lie.
    pub fn extent(&self) -> &'a Extent {
        self.extent
    }

    /// The elements' type.
    pub fn element(&self) -> &'a FieldElement {
        self.element
    }

    /// The elements as they lie; in this machine's byte order they can be taken as a slice of their type.
    pub fn as_bytes(&self) -> &'a [u8] {
        let end = self.count.checked_mul(self.unit.size_bytes()).and_then(|len| self.at.checked_add(len));
        end.and_then(|end| self.bytes.get(self.at..end)).unwrap_or_default()
    }

    /// Whether the bytes are elements of that type in this machine's order.
    pub fn is_native(&self, dtype: Dtype) -> bool {
        self.element.dtype() == Some(dtype) && self.order == ByteOrder::NATIVE
    }

    /// The element of that index, in the order in memory.
    pub fn value(&self, index: usize) -> Result<Value<'a>, RecordReadError> {
        if index >= self.count {
            return Err(RecordReadError::OutOfRange { index, count: self.count });
        }
        let at = self.at + index * self.unit.size_bytes();
        match (self.element, self.unit) {
            (FieldElement::Record(record), Unit::Record(layout)) => {
                Ok(Value::Record(RecordRef { record, layout, order: self.order, bytes: self.bytes, at }))
            }
            (FieldElement::Enum(names), _) => self.name(names, at),
            (FieldElement::Dtype(dtype), _) => self.number(*dtype, at),
            (FieldElement::Record(record), _) => Err(unlike(record)),
        }
    }

    /// All numbers in one slice, converted to that form, as long as no value changes.
    pub fn convert_into(&self, dtype: Dtype, destination: &mut [u8]) -> Result<(), RecordReadError> {
        let found = self.element.dtype().unwrap_or(Dtype::Bytes);
        let from = ElementForm { dtype: found, byte_order: self.order };
        let conversion = ElementConversion::new(from, ElementForm::native(dtype), Loss::Refused)?;
        Ok(conversion.run(self.as_bytes(), destination)?)
    }

    fn name(&self, names: &'a EnumType, at: usize) -> Result<Value<'a>, RecordReadError> {
        let number = integer(self.bytes, self.order, at, names.dtype);
        let unknown = || RecordReadError::UnknownName { names: names.name.clone(), number };
        let number = i64::try_from(number).map_err(|_| unknown())?;
        names.name_of(number).map(|name| Value::Enum(name, number)).ok_or_else(unknown)
    }

    fn number(&self, dtype: Dtype, at: usize) -> Result<Value<'a>, RecordReadError> {
        let bits = |at, len| unsigned(self.bytes, self.order, at, len);
        let short = |at| f64::from(f32::from_bits(bits(at, 4) as u32));
        Ok(match dtype {
            Dtype::F16 => Value::Real(f16::from_bits(bits(at, 2) as u16).to_f64()),
            Dtype::BF16 => Value::Real(bf16::from_bits(bits(at, 2) as u16).to_f64()),
            Dtype::F32 => Value::Real(short(at)),
            Dtype::F64 => Value::Real(f64::from_bits(bits(at, 8))),
            Dtype::C32 => Value::Complex(short(at), short(at + 4)),
            Dtype::C64 => Value::Complex(f64::from_bits(bits(at, 8)), f64::from_bits(bits(at + 8, 8))),
            Dtype::Bool => match bits(at, 1) {
                number @ 0..=1 => Value::Bool(number == 1),
                number => return Err(RecordReadError::NoTruthValue { number: number as u8 }),
            },
            Dtype::Bytes => Value::Bytes(self.text(at)),
            Dtype::String => match std::str::from_utf8(self.text(at)) {
                Ok(text) => Value::Text(text),
                Err(_) => return Err(RecordReadError::Utf8 { at }),
            },
            Dtype::I8
            | Dtype::I16
            | Dtype::I32
            | Dtype::I64
            | Dtype::U8
            | Dtype::U16
            | Dtype::U32
            | Dtype::U64 => Value::Integer(integer(self.bytes, self.order, at, dtype)),
        })
    }

    /// The bytes that a reference points to.
    fn text(&self, at: usize) -> &'a [u8] {
        debug_assert!(at + REFERENCE_BYTES <= self.bytes.len(), "checked when the records were taken");
        let (start, len) = reference(self.bytes, self.order, at);
        let range = usize::try_from(start).ok().zip(usize::try_from(start.saturating_add(len)).ok());
        range.and_then(|(start, end)| self.bytes.get(start..end)).unwrap_or_default()
    }
}

/// An element and its layout that do not belong together, which no schema has.
fn unlike(record: &RecordType) -> RecordReadError {
    RecordReadError::NotIndexed { found: record.name.clone() }
}
