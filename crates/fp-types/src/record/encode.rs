//! Writes records, in the byte order of this machine.

use super::check::RecordError;
use super::layout::{Place, REFERENCE_BYTES, RecordLayout, Unit};
use super::element::ByteOrder;
use super::rust::{ElementValue, FieldValue, Record};
use super::view::integer;

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
    /// A field that the record type does not have, or not as this Rust type.
    #[error("the record type has no field {index} of this Rust type")]
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
        value.put(&mut target).map_err(|()| EncodeError::Field { index })?;
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
    /// Writes all elements of the field, within the record or elsewhere. The error is for a number of them, or a type,
    /// that the field does not have.
    pub fn put_elements<T: ElementValue>(&mut self, values: &[T]) -> Result<(), ()> {
        let at = match self.place {
            Place::Inline(count) if count == values.len() => self.at,
            Place::Inline(_) => return Err(()),
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
    pub(super) fn places(&mut self, count: usize, size: usize) -> Result<&mut [u8], ()> {
        let fits = self.unit.size_bytes() == size;
        let place = self.out.get_mut(self.at..self.at + count * size);
        if fits { place.ok_or(()) } else { Err(()) }
    }

    /// Writes texts, or bytes, elsewhere, and their references here.
    pub(super) fn put_texts<'a>(&mut self, texts: impl Iterator<Item = &'a [u8]>) -> Result<(), ()> {
        if *self.unit != Unit::Text {
            return Err(());
        }
        for (index, text) in texts.enumerate() {
            let at = self.out.len();
            self.out.extend_from_slice(text);
            put_reference(self.out, ByteOrder::NATIVE, self.at + index * REFERENCE_BYTES, (at, text.len()));
        }
        Ok(())
    }

    /// Writes records.
    pub(super) fn put_records<T: Record>(&mut self, records: &[T]) -> Result<(), ()> {
        let Unit::Record(layout) = self.unit else { return Err(()) };
        for (index, record) in records.iter().enumerate() {
            let at = self.at + index * layout.size_bytes;
            record.put_fields(&mut RecordTarget { layout, out: &mut *self.out, at }).map_err(drop)?;
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
