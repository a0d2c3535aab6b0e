//! Writes records, in the byte order of this machine.

use super::check::RecordError;
use super::layout::{Place, REFERENCE_BYTES, RecordLayout, Unit};
use super::element::ByteOrder;
use super::rust::{ElementValue, FieldValue, Record};
use super::view::integer;
use crate::dtype::Dtype;

/// Why records are not written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The Rust type's record type is not allowed.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A list that is not as long as the field that sizes it says.
    #[error("field {index} is a list of {count}, but its length field says {said}")]
    Length {
        /// The index of the field.
        index: usize,
        /// How many elements the list has.
        count: usize,
        /// What the length field says.
        said: i128,
    },
    /// A place that is not of the value's type, or not for as many.
    #[error("the record type has another type, or number of elements, where this value is to be")]
    Type,
    /// A field that the record type does not have.
    #[error("the record type has no field {index}")]
    Field {
        /// The index of the field.
        index: usize,
    },
}

/// Writes records one after another, and what they refer to behind them.
pub fn encode_records<T: Record>(records: &[T]) -> Result<Vec<u8>, EncodeError> {
    let schema = T::schema()?;
    let (layout, size) = (schema.layout(), schema.size_bytes());
    let mut out = vec![0; records.len() * size];
    for (index, record) in records.iter().enumerate() {
        record.put_fields(&mut RecordTarget { layout, out: &mut out, at: index * size })?;
    }
    Ok(out)
}

/// The place of one record that is being written.
#[derive(Debug)]
pub struct RecordTarget<'a> {
    pub(super) layout: &'a RecordLayout,
    pub(super) out: &'a mut Vec<u8>,
    pub(super) at: usize,
}

/// The place of elements that are being written.
#[derive(Debug)]
pub struct ElementTarget<'a> {
    pub(super) unit: &'a Unit,
    pub(super) out: &'a mut Vec<u8>,
    pub(super) at: usize,
}

/// The place of a field that is being written.
#[derive(Debug)]
pub struct FieldTarget<'a> {
    unit: &'a Unit,
    place: Place,
    out: &'a mut Vec<u8>,
    at: usize,
    /// How many elements were put elsewhere.
    count: usize,
}

impl RecordTarget<'_> {
    /// Writes the field of that index. Fields are written in their order, each once.
    pub fn put<T: FieldValue>(&mut self, index: usize, value: &T) -> Result<(), EncodeError> {
        let slot = self.layout.slots.get(index).ok_or(EncodeError::Field { index })?;
        if !value.is_present() {
            return Ok(());
        }
        set_present(self.out, self.at + self.layout.presence_offset, slot.presence_bit);
        let (unit, place, at) = (&slot.unit, slot.place, self.at + slot.offset);
        let mut target = FieldTarget { unit, place, out: &mut *self.out, at, count: 0 };
        value.put(&mut target)?;
        let count = target.count;
        match slot.place {
            Place::Elsewhere(Some(length)) => self.check_length(index, length, count),
            Place::Elsewhere(None) | Place::Inline(_) => Ok(()),
        }
    }

    fn check_length(&self, index: usize, length: usize, count: usize) -> Result<(), EncodeError> {
        let slot = self.layout.slots.get(length).ok_or(EncodeError::Field { index: length })?;
        let Unit::Number(dtype) = slot.unit else { return Err(EncodeError::Field { index: length }) };
        let said = integer(self.out, ByteOrder::NATIVE, self.at + slot.offset, dtype);
        let differs = EncodeError::Length { index, count, said };
        (said == count as i128).then_some(()).ok_or(differs)
    }
}

impl FieldTarget<'_> {
    /// Writes all elements of the field, within the record or elsewhere.
    pub fn put_elements<T: ElementValue>(&mut self, values: &[T]) -> Result<(), EncodeError> {
        let at = match self.place {
            Place::Inline(count) if count == values.len() => self.at,
            Place::Inline(_) => return Err(EncodeError::Type),
            Place::Elsewhere(_) => {
                self.count = values.len();
                let part = append(self.out, self.unit, values.len());
                put_reference(self.out, ByteOrder::NATIVE, self.at, (part, values.len()));
                part
            }
        };
        T::put_elements(values, &mut ElementTarget { unit: self.unit, out: self.out, at })
    }
}

impl ElementTarget<'_> {
    /// The places of that many elements, of `size` bytes each.
    pub(super) fn places(&mut self, count: usize, size: usize) -> Result<&mut [u8], EncodeError> {
        let fits = self.unit.size_bytes() == size;
        let place = self.out.get_mut(self.at..self.at + count * size);
        if fits { place.ok_or(EncodeError::Type) } else { Err(EncodeError::Type) }
    }

    /// Writes integers of that type, such as stand for the names of an enumeration. Bits that it lacks are cut off.
    pub fn put_integers(&mut self, dtype: Dtype, numbers: &[i64]) -> Result<(), EncodeError> {
        let size = dtype.size_bytes().filter(|&size| size <= 8).ok_or(EncodeError::Type)?;
        let places = self.places(numbers.len(), size)?.chunks_exact_mut(size);
        for (place, number) in places.zip(numbers) {
            let bytes = number.to_le_bytes();
            let bytes = bytes.iter().take(size);
            match ByteOrder::NATIVE {
                ByteOrder::Little => place.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from),
                ByteOrder::Big => place.iter_mut().rev().zip(bytes).for_each(|(to, from)| *to = *from),
            }
        }
        Ok(())
    }

    /// Writes texts, or bytes, elsewhere, and their references here.
    pub(super) fn put_texts<'a>(&mut self, texts: impl Iterator<Item = &'a [u8]>) -> Result<(), EncodeError> {
        if *self.unit != Unit::Text {
            return Err(EncodeError::Type);
        }
        for (index, text) in texts.enumerate() {
            let at = self.out.len();
            self.out.extend_from_slice(text);
            put_reference(self.out, ByteOrder::NATIVE, self.at + index * REFERENCE_BYTES, (at, text.len()));
        }
        Ok(())
    }

    /// Writes records.
    pub(super) fn put_records<T: Record>(&mut self, records: &[T]) -> Result<(), EncodeError> {
        let Unit::Record(layout) = self.unit else { return Err(EncodeError::Type) };
        for (index, record) in records.iter().enumerate() {
            let at = self.at + index * layout.size_bytes;
            record.put_fields(&mut RecordTarget { layout, out: &mut *self.out, at })?;
        }
        Ok(())
    }
}

/// Sets a presence bit, if there is one.
pub(super) fn set_present(out: &mut [u8], at: usize, bit: Option<usize>) {
    if let Some((bit, byte)) = bit.and_then(|bit| Some((bit, out.get_mut(at + bit / 8)?))) {
        *byte |= 1 << (bit % 8);
    }
}

/// Makes room for elements at the end, and says where.
pub(super) fn append(out: &mut Vec<u8>, unit: &Unit, count: usize) -> usize {
    let at = out.len().next_multiple_of(unit.alignment_bytes());
    out.resize(at + count * unit.size_bytes(), 0);
    at
}

/// Writes a reference to a part and its number of elements.
pub(super) fn put_reference(out: &mut [u8], order: ByteOrder, at: usize, (part, count): (usize, usize)) {
    let numbers = [part as u64, count as u64].map(|number| match order {
        ByteOrder::Little => number.to_le_bytes(),
        ByteOrder::Big => number.to_be_bytes(),
    });
    if let Some(place) = out.get_mut(at..at + REFERENCE_BYTES) {
        place.copy_from_slice(numbers.as_flattened());
    }
}
