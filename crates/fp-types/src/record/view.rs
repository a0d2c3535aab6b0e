//! Records in borrowed bytes, of whatever type.
//!
//! So many fixed parts come first, one after another. What they refer to follows, in the order in which a walk
//! through records and fields meets it: each part starts where the one before ended, at the next multiple of its
//! alignment. So bytes have one meaning, no byte belongs to two places, and reading or converting hostile bytes costs
//! no more than their length.

use super::element::ByteOrder;
use super::layout::{Place, REFERENCE_BYTES, RecordLayout, Slot, Unit};
use super::path::{self, ReadError};
use super::schema::RecordSchema;
use super::types::{Element, Extent, RecordType};
use super::value::Value;
use crate::dtype::Dtype;

/// Why bytes are no values of a record type. Offsets are in bytes, from the start of them all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Fewer or more bytes than the records need.
    #[error("{count} records {record:?} take {expected} bytes, but there are {found}")]
    Len {
        /// The record type.
        record: String,
        /// How many records there are to be.
        count: usize,
        /// How many bytes they take.
        expected: u128,
        /// How many there are.
        found: usize,
    },
    /// A reference that does not point at the next part.
    #[error("the reference at {at} points to {found}, but its part starts at {expected}")]
    Misplaced {
        /// Where the reference is.
        at: usize,
        /// Where it points to.
        found: u64,
        /// Where its part has to start.
        expected: usize,
    },
    /// A part that ends beyond the end.
    #[error("the part at {at} has {count} elements of {size} bytes, beyond the end at {end}")]
    Beyond {
        /// Where the part starts.
        at: usize,
        /// How many elements it is to have.
        count: u64,
        /// The size of each.
        size: usize,
        /// Where the bytes end.
        end: usize,
    },
    /// A list that is not as long as the field that sizes it says.
    #[error("the reference at {at} has {found} elements, but its length field says {expected}")]
    Length {
        /// Where the reference is.
        at: usize,
        /// How many elements it has.
        found: u64,
        /// What the field says.
        expected: i128,
    },
    /// A list of more elements than its length field can say.
    #[error("a list of {count} elements, but its length field is {dtype}")]
    LengthRange {
        /// How many elements it has.
        count: usize,
        /// The type of the length field.
        dtype: Dtype,
    },
}

/// Records of one type in borrowed bytes, checked as a whole when this was made.
#[derive(Clone, Copy, Debug)]
pub struct Records<'a> {
    schema: &'a RecordSchema,
    bytes: &'a [u8],
    count: usize,
}

/// One record, where it lies. Reading it copies nothing.
#[derive(Clone, Copy, Debug)]
pub struct RecordRef<'a> {
    pub(super) record: &'a RecordType,
    pub(super) layout: &'a RecordLayout,
    pub(super) order: ByteOrder,
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Records<'a> {
    /// Takes bytes as `count` records. Of plain records only the length is looked at; of others every reference.
    /// Truth values, names of enumerations and texts are checked when they are read.
    pub fn new(schema: &'a RecordSchema, bytes: &'a [u8], count: usize) -> Result<Self, ValueError> {
        let fixed = count as u128 * schema.size_bytes() as u128;
        let wrong = |expected: u128| ValueError::Len {
            record: schema.record().name.clone(),
            count,
            expected,
            found: bytes.len(),
        };
        if fixed > bytes.len() as u128 {
            return Err(wrong(fixed));
        }
        let mut walk = Walk { bytes, order: schema.byte_order(), end: count * schema.size_bytes() };
        if !schema.is_plain() {
            walk.records(schema.layout(), 0, count)?;
        }
        if walk.end != bytes.len() {
            return Err(wrong(walk.end as u128));
        }
        Ok(Self { schema, bytes, count })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Their type.
    pub fn schema(&self) -> &'a RecordSchema {
        self.schema
    }

    /// All bytes.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The record of that index.
    pub fn record(&self, index: usize) -> Option<RecordRef<'a>> {
        (index < self.count).then(|| RecordRef {
            record: self.schema.record(),
            layout: self.schema.layout(),
            order: self.schema.byte_order(),
            bytes: self.bytes,
            at: index * self.schema.size_bytes(),
        })
    }

    /// The records one by one.
    pub fn iter(&self) -> impl Iterator<Item = RecordRef<'a>> + use<'a> {
        let records = *self;
        (0..self.count).filter_map(move |index| records.record(index))
    }
}

impl<'a> RecordRef<'a> {
    /// Its type.
    pub fn record_type(&self) -> &'a RecordType {
        self.record
    }

    /// What a path leads to: names of fields with dots between them, and indices in brackets: `cell.corner[3].x`.
    /// Arrays are indexed in their order in memory.
    pub fn value(&self, path: &str) -> Result<Value<'a>, ReadError> {
        path::follow(*self, path)
    }

    /// What the field of that index is.
    pub fn field(&self, index: usize) -> Result<Value<'a>, ReadError> {
        let field = self.record.fields.get(index).zip(self.layout.slots.get(index));
        let missing = || ReadError::NoFieldIndex { record: self.record.name.clone(), index };
        let (field, slot) = field.ok_or_else(missing)?;
        Value::of(self, field, slot)
    }

    /// The type and bytes of a field that is one number in this machine's order and always there, as most are: the short
    /// way to it.
    #[inline]
    pub(super) fn number(&self, index: usize) -> Option<(Dtype, &'a [u8])> {
        let (field, slot) = (self.record.fields.get(index)?, self.layout.slots.get(index)?);
        let (Element::Dtype(dtype), Extent::One, None) = (&field.element, &field.extent, slot.presence_bit)
        else {
            return None;
        };
        if !matches!(slot.unit, Unit::Number(_)) || self.order != ByteOrder::NATIVE {
            return None;
        }
        self.bytes.get(self.at + slot.offset..).map(|bytes| (*dtype, bytes))
    }

    pub(super) fn is_present(&self, slot: &Slot) -> bool {
        is_present(self.bytes, self.at + self.layout.presence_offset, slot.presence_bit)
    }
}

/// Whether a presence bit is set; without one all are present.
pub(super) fn is_present(bytes: &[u8], at: usize, bit: Option<usize>) -> bool {
    let set = |bit: usize| bytes.get(at + bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1);
    bit.is_none_or(set)
}

/// The offset and count of the reference there; zeros if it lies beyond the end.
pub(super) fn reference(bytes: &[u8], order: ByteOrder, at: usize) -> (u64, u64) {
    let number = |at| unsigned(bytes, order, at, 8);
    (number(at), number(at + REFERENCE_BYTES / 2))
}

/// An unsigned number of `len` bytes, at most 8; zero if it lies beyond the end.
pub(super) fn unsigned(bytes: &[u8], order: ByteOrder, at: usize, len: usize) -> u64 {
    let found = at.checked_add(len).and_then(|end| bytes.get(at..end)).unwrap_or_default();
    let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    match order {
        ByteOrder::Little => found.iter().rev().fold(0, add),
        ByteOrder::Big => found.iter().fold(0, add),
    }
}

/// An integer of that type; zero if it lies beyond the end, or the type is none of integers.
pub(super) fn integer(bytes: &[u8], order: ByteOrder, at: usize, dtype: Dtype) -> i128 {
    let len = dtype.size_bytes().unwrap_or(0).min(8);
    let number = unsigned(bytes, order, at, len);
    match dtype {
        Dtype::I8 => i128::from(number as i8),
        Dtype::I16 => i128::from(number as i16),
        Dtype::I32 => i128::from(number as i32),
        Dtype::I64 => i128::from(number as i64),
        _ => i128::from(number),
    }
}

/// A walk through all references, which must lead through all bytes.
struct Walk<'a> {
    bytes: &'a [u8],
    order: ByteOrder,
    /// Where the last part ended.
    end: usize,
}

impl Walk<'_> {
    fn records(&mut self, layout: &RecordLayout, at: usize, count: usize) -> Result<(), ValueError> {
        (0..count).try_for_each(|index| self.record(layout, at + index * layout.size_bytes))
    }

    fn record(&mut self, layout: &RecordLayout, at: usize) -> Result<(), ValueError> {
        for slot in &layout.slots {
            if !is_present(self.bytes, at + layout.presence_offset, slot.presence_bit) {
                continue;
            }
            match slot.place {
                Place::Inline(_) if slot.unit.is_plain() => {}
                Place::Inline(count) => self.units(&slot.unit, at + slot.offset, count)?,
                Place::Elsewhere(length) => {
                    let (start, count) = self.part(at + slot.offset, &slot.unit)?;
                    self.check_length(layout, at, length, at + slot.offset, count)?;
                    if !slot.unit.is_plain() {
                        self.units(&slot.unit, start, count)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn units(&mut self, unit: &Unit, at: usize, count: usize) -> Result<(), ValueError> {
        match unit {
            Unit::Number(_) => Ok(()),
            Unit::Text => (0..count).try_for_each(|index| {
                self.part(at + index * REFERENCE_BYTES, &Unit::Number(Dtype::U8)).map(drop)
            }),
            Unit::Record(layout) => self.records(layout, at, count),
        }
    }

    /// Passes the part that the reference points to, and says where it starts and how many elements it has.
    fn part(&mut self, at: usize, unit: &Unit) -> Result<(usize, usize), ValueError> {
        let (found, count) = reference(self.bytes, self.order, at);
        let expected = self.end.next_multiple_of(unit.alignment_bytes());
        if found != expected as u64 {
            return Err(ValueError::Misplaced { at, found, expected });
        }
        let (size, end) = (unit.size_bytes(), self.bytes.len());
        let room = end.saturating_sub(expected) / size.max(1);
        if expected > end || count > room as u64 {
            return Err(ValueError::Beyond { at: expected, count, size, end });
        }
        self.end = expected + count as usize * size;
        Ok((expected, count as usize))
    }

    fn check_length(
        &self,
        layout: &RecordLayout,
        record_at: usize,
        length: Option<usize>,
        at: usize,
        count: usize,
    ) -> Result<(), ValueError> {
        let Some(slot) = length.and_then(|index| layout.slots.get(index)) else { return Ok(()) };
        let Unit::Number(dtype) = slot.unit else { return Ok(()) };
        let expected = integer(self.bytes, self.order, record_at + slot.offset, dtype);
        let found = count as u64;
        let differs = || ValueError::Length { at, found, expected };
        (i128::from(found) == expected).then_some(()).ok_or_else(differs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Field, encode_with};

    /// Two lists of `u64`, of which a number says how long the first is.
    fn lists() -> (RecordSchema, Vec<u8>) {
        let schema = RecordType::new("T")
            .field(Field::new("n", Dtype::U64))
            .field(Field::new("a", Dtype::U64).sized_by("n"))
            .field(Field::new("b", Dtype::U64).variable())
            .build()
            .unwrap();
        let bytes = encode_with(&schema, 1, |_, target| {
            target.put(0, &2u64)?;
            target.put(1, &vec![1u64, 2])?;
            target.put(2, &vec![3u64, 4])
        });
        (schema, bytes.unwrap())
    }

    #[test]
    fn references_lead_where_the_walk_is() {
        let (schema, bytes) = lists();
        assert!(Records::new(&schema, &bytes, 1).is_ok());
        let changed = |at: usize, number: u64| {
            let mut bytes = bytes.clone();
            bytes[at..at + 8].copy_from_slice(&number.to_ne_bytes());
            Records::new(&schema, &bytes, 1).unwrap_err()
        };
        // The second list where the first one is: no byte belongs to two.
        assert_eq!(changed(24, 40), ValueError::Misplaced { at: 24, found: 40, expected: 56 });
        assert_eq!(changed(32, 3), ValueError::Beyond { at: 56, count: 3, size: 8, end: 72 });
        assert_eq!(changed(32, u64::MAX), ValueError::Beyond { at: 56, count: u64::MAX, size: 8, end: 72 });
        assert_eq!(changed(0, 1), ValueError::Length { at: 8, found: 2, expected: 1 });
        assert!(matches!(changed(32, 1), ValueError::Len { expected: 64, found: 72, .. }));
        assert!(matches!(Records::new(&schema, &bytes, 2), Err(ValueError::Len { .. })));
    }
}
