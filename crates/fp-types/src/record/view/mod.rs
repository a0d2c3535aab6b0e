//! Records in borrowed bytes, of whatever type.
//!
//! So many fixed parts come first, one after another. What they refer to follows, in the order in which a walk through
//! records and fields meets it. Each part starts where the one before ended, at the next multiple of its alignment. So
//! bytes have one meaning, no byte belongs to two places, and reading or converting hostile bytes costs no more than
//! their length.

mod error;
mod number;
mod path;
mod value;

pub use error::{RecordReadError, ValueError};
pub(super) use path::describe;
pub use value::{ArrayRef, Value};

use crate::dtype::Dtype;
use crate::record::byte_order::ByteOrder;
use crate::record::bytes::{integer, is_present, reference};
use crate::record::layout::{Place, REFERENCE_BYTES, RecordLayout, Slot, Unit};
use crate::record::schema::RecordSchema;
use crate::record::types::{Extent, FieldElement, RecordType};

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
    record: &'a RecordType,
    layout: &'a RecordLayout,
    order: ByteOrder,
    bytes: &'a [u8],
    at: usize,
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
    pub fn value(&self, path: &str) -> Result<Value<'a>, RecordReadError> {
        path::follow(*self, path)
    }

    /// What the field of that index is.
    pub fn field(&self, index: usize) -> Result<Value<'a>, RecordReadError> {
        let field = self.record.fields.get(index).zip(self.layout.slots.get(index));
        let missing = || RecordReadError::NoFieldIndex { record: self.record.name.clone(), index };
        let (field, slot) = field.ok_or_else(missing)?;
        Value::of(self, field, slot)
    }

    /// The type and bytes of a field that is one number in this machine's order and always there, as most are. This is
    /// the short way to it.
    #[inline]
    pub(super) fn number(&self, index: usize) -> Option<(Dtype, &'a [u8])> {
        let (field, slot) = (self.record.fields.get(index)?, self.layout.slots.get(index)?);
        let (FieldElement::Dtype(dtype), Extent::One, None) =
            (&field.element, &field.extent, slot.presence_bit)
        else {
            return None;
        };
        if !matches!(slot.unit, Unit::Number(_)) || self.order != ByteOrder::NATIVE {
            return None;
        }
        self.bytes.get(self.at + slot.offset..).map(|bytes| (*dtype, bytes))
    }

    fn is_present(&self, slot: &Slot) -> bool {
        is_present(self.bytes, self.at + self.layout.presence_offset, slot.presence_bit)
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

    /// Two lists of `u64`. A number says how long the first is.
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

    #[test]
    fn an_array_is_taken_as_what_it_is_made_of() {
        let schema = RecordType::new("T")
            .field(Field::new("truths", Dtype::Bool).variable())
            .field(Field::new("small", Dtype::U8).variable())
            .build()
            .unwrap();
        let bytes = encode_with(&schema, 1, |_, target| {
            target.put(0, &vec![false, true])?;
            target.put(1, &vec![3u8, 7])
        });
        let mut bytes = bytes.unwrap();
        let truths = bytes.len() - bytes[..].windows(2).rev().position(|two| two == [0, 1]).unwrap() - 2;
        for (truth, right) in [(1, true), (2, false)] {
            bytes[truths + 1] = truth;
            let records = Records::new(&schema, &bytes, 1).unwrap();
            let record = records.record(0).unwrap();
            let (Ok(Value::Array(array)), Ok(small)) = (record.value("truths"), record.value("small")) else {
                panic!("two arrays");
            };
            assert!(matches!(array.value(0), Ok(Value::Bool(false))));
            assert_eq!(matches!(array.value(1), Ok(Value::Bool(true))), right);
            assert_eq!([Dtype::Bool, Dtype::U8].map(|dtype| array.is_native(dtype)), [true, false]);
            let mut taken = [9; 2];
            let all = Value::Array(array).convert_into(Dtype::Bool, &mut taken);
            let wrong = RecordReadError::NoTruthValue { number: 2 };
            assert_eq!(all, if right { Ok(()) } else { Err(wrong) });
            assert_eq!(small.convert_into(Dtype::U8, &mut taken), Ok(()));
            assert_eq!(taken, [3, 7], "of numbers any is right");
        }
    }
}
