//! Writes records, in the byte order of this machine.

use super::{ElementValue, FieldValue, Record};
use crate::dtype::Dtype;
use crate::record::byte_order::ByteOrder;
use crate::record::bytes::{append, integer, put_reference, set_present};
use crate::record::check::RecordError;
use crate::record::layout::{Place, REFERENCE_BYTES, RecordLayout, Unit};
use crate::record::schema::RecordSchema;

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
    /// A record type in the other byte order: values are converted to that, not written in it.
    #[error("{record:?} is in the other byte order: write it in this machine's, and convert it")]
    ByteOrder {
        /// The record type.
        record: String,
    },
    /// A field that the record type does not have.
    #[error("the record type has no field {index}")]
    Field {
        /// The index of the field.
        index: usize,
    },
}

/// Writes records one after another, and what they refer to behind them.
pub fn encode_records<T: Record>(records: &[T]) -> Result<Vec<u8>, EncodeError> {
    encode_with(&T::schema()?, records.len(), |index, target| {
        records.get(index).map_or(Ok(()), |record| record.put_fields(target))
    })
}

/// Writes `count` records of any type: `put` is called for each, with its index and its place.
pub fn encode_with(
    schema: &RecordSchema,
    count: usize,
    mut put: impl FnMut(usize, &mut RecordTarget<'_>) -> Result<(), EncodeError>,
) -> Result<Vec<u8>, EncodeError> {
    if schema.byte_order() != ByteOrder::NATIVE {
        return Err(EncodeError::ByteOrder { record: schema.record().name.clone() });
    }
    let (layout, size) = (schema.layout(), schema.size_bytes());
    let mut out = vec![0; count * size];
    for index in 0..count {
        put(index, &mut RecordTarget { layout, out: &mut out, at: index * size })?;
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
        if value.is_present() { self.put_field(index, |target| value.put(target)) } else { Ok(()) }
    }

    /// Writes the elements of the field of that index.
    pub fn put_elements<T: ElementValue>(&mut self, index: usize, values: &[T]) -> Result<(), EncodeError> {
        self.put_field(index, |target| target.put_elements(values))
    }

    /// Writes the numbers of the field of that index, which lie in this machine's order already.
    pub fn put_bytes(&mut self, index: usize, dtype: Dtype, bytes: &[u8]) -> Result<(), EncodeError> {
        let size = dtype.size_bytes().ok_or(EncodeError::Type)?;
        self.put_field(index, |target| {
            let at = target.make_room(bytes.len() / size)?;
            ElementTarget { unit: target.unit, out: &mut *target.out, at }.put_bytes(dtype, bytes)
        })
    }

    /// Writes the texts, or opaque bytes, of the field of that index.
    pub fn put_texts(&mut self, index: usize, texts: &[impl AsRef<[u8]>]) -> Result<(), EncodeError> {
        self.put_field(index, |target| {
            let at = target.make_room(texts.len())?;
            let texts = texts.iter().map(AsRef::as_ref);
            ElementTarget { unit: target.unit, out: &mut *target.out, at }.put_texts(texts)
        })
    }

    /// Writes the field of that index, which is `count` records: `put` is called for each, with its index and place.
    pub fn put_records(
        &mut self,
        index: usize,
        count: usize,
        mut put: impl FnMut(usize, &mut RecordTarget<'_>) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        self.put_field(index, |target| {
            let at = target.make_room(count)?;
            let Unit::Record(layout) = target.unit else { return Err(EncodeError::Type) };
            let place = |index| at + index * layout.size_bytes;
            (0..count).try_for_each(|index| {
                put(index, &mut RecordTarget { layout, out: &mut *target.out, at: place(index) })
            })
        })
    }

    fn put_field(
        &mut self,
        index: usize,
        put: impl FnOnce(&mut FieldTarget<'_>) -> Result<(), EncodeError>,
    ) -> Result<(), EncodeError> {
        let slot = self.layout.slots.get(index).ok_or(EncodeError::Field { index })?;
        set_present(self.out, self.at + self.layout.presence_offset, slot.presence_bit);
        let (unit, place, at) = (&slot.unit, slot.place, self.at + slot.offset);
        let mut target = FieldTarget { unit, place, out: &mut *self.out, at, count: 0 };
        put(&mut target)?;
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
        let at = self.make_room(values.len())?;
        T::put_elements(values, &mut ElementTarget { unit: self.unit, out: self.out, at })
    }

    /// Where so many elements are to be: within the record, or elsewhere.
    fn make_room(&mut self, wanted: usize) -> Result<usize, EncodeError> {
        match self.place {
            Place::Inline(count) if count == wanted => Ok(self.at),
            Place::Inline(_) => Err(EncodeError::Type),
            Place::Elsewhere(_) => {
                self.count = wanted;
                let part = append(self.out, self.unit, wanted);
                put_reference(self.out, ByteOrder::NATIVE, self.at, (part, wanted));
                Ok(part)
            }
        }
    }
}

impl ElementTarget<'_> {
    /// The places of that many numbers.
    pub(super) fn places(&mut self, count: usize, dtype: Dtype) -> Result<&mut [u8], EncodeError> {
        if *self.unit != Unit::Number(dtype) {
            return Err(EncodeError::Type);
        }
        let end = self.at + count * self.unit.size_bytes();
        self.out.get_mut(self.at..end).ok_or(EncodeError::Type)
    }

    /// Writes numbers of that type that lie in this machine's order already, such as complex ones.
    pub fn put_bytes(&mut self, dtype: Dtype, bytes: &[u8]) -> Result<(), EncodeError> {
        let size = dtype.size_bytes().ok_or(EncodeError::Type)?;
        let places = self.places(bytes.len() / size, dtype)?;
        if places.len() != bytes.len() {
            return Err(EncodeError::Type);
        }
        places.copy_from_slice(bytes);
        Ok(())
    }

    /// Writes integers of that type, such as stand for the names of an enumeration. Bits that it lacks are cut off.
    pub fn put_integers(&mut self, dtype: Dtype, numbers: &[i64]) -> Result<(), EncodeError> {
        let size = dtype.size_bytes().filter(|&size| size <= 8).ok_or(EncodeError::Type)?;
        let places = self.places(numbers.len(), dtype)?.chunks_exact_mut(size);
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
