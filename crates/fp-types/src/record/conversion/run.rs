//! Runs conversions of records.

use std::borrow::Cow;

use super::columns::Tiles;
use super::{Conversion, FieldPlan, Fill, LengthPlan, PlacePlan, RecordPlan, UnitPlan};
use crate::dtype::Dtype;
use crate::record::array::ArrayConversionError;
use crate::record::byte_order::ByteOrder;
use crate::record::bytes::{append, integer, is_present, put_reference, reference, set_present};
use crate::record::check::holds;
use crate::record::element::ElementConversionError;
use crate::record::layout::{REFERENCE_BYTES, Unit};
use crate::record::view::{Records, ValueError};

/// Why records are not converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// Of another type than the conversion's source.
    #[error("the records are {found:?}, the conversion starts at {expected:?}")]
    OtherType {
        /// The type of the records.
        found: String,
        /// The conversion's source.
        expected: String,
    },
    /// More bytes than this machine can address.
    #[error("{count} records of {size} bytes are too large for this machine")]
    TooLarge {
        /// How many there are.
        count: usize,
        /// The size of each.
        size: usize,
    },
    /// A record that there is not.
    #[error("block {block} has no record {index}")]
    NoRecord {
        /// The index of the block.
        block: usize,
        /// The index of the record in it.
        index: usize,
    },
    /// A list whose length field would not say so, or could not.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// Of an element.
    #[error(transparent)]
    Element(#[from] ElementConversionError),
    /// Of an array.
    #[error(transparent)]
    Array(#[from] ArrayConversionError),
}

impl Conversion {
    /// Converts records. Those that are of the wanted type already stay where they are.
    pub fn convert<'a>(&self, records: &Records<'a>) -> Result<Cow<'a, [u8]>, ConvertError> {
        if self.is_identity() && *records.schema() == self.from {
            return Ok(Cow::Borrowed(records.as_bytes()));
        }
        let mut out = Vec::new();
        self.convert_into(records, &mut out)?;
        Ok(Cow::Owned(out))
    }

    /// Converts records into memory that is used again; what it held is gone.
    pub fn convert_into(&self, records: &Records<'_>, out: &mut Vec<u8>) -> Result<(), ConvertError> {
        self.check_source(records)?;
        let count = records.count();
        self.make_room(count, out)?;
        let orders = (self.from.byte_order(), self.to.byte_order());
        let tiles = &mut Tiles::default();
        Run { source: records.as_bytes(), out, orders, tiles }.records(&self.plan, 0, 0, count)
    }
}

impl Conversion {
    /// Converts chosen records of several blocks: each pick is the index of a block and that of a record in it. Picks
    /// that are not there are an error, and what was written is no value then.
    pub fn gather(
        &self,
        blocks: &[Records<'_>],
        picks: impl ExactSizeIterator<Item = (usize, usize)>,
    ) -> Result<Vec<u8>, ConvertError> {
        let mut out = Vec::new();
        self.make_room(picks.len(), &mut out)?;
        let orders = (self.from.byte_order(), self.to.byte_order());
        let mut tiles = Tiles::default();
        for (at, (block, index)) in picks.enumerate() {
            let found = blocks.get(block).filter(|block| index < block.count());
            let records = found.ok_or(ConvertError::NoRecord { block, index })?;
            self.check_source(records)?;
            let (from, to) = (index * self.plan.from_size, at * self.plan.to_size);
            let source = records.as_bytes();
            Run { source, out: &mut out, orders, tiles: &mut tiles }.records(&self.plan, from, to, 1)?;
        }
        Ok(out)
    }

    fn check_source(&self, records: &Records<'_>) -> Result<(), ConvertError> {
        if *records.schema() == self.from {
            return Ok(());
        }
        let (found, expected) = (records.schema().record().name.clone(), self.from.record().name.clone());
        Err(ConvertError::OtherType { found, expected })
    }

    /// Makes `out` the fixed parts of so many records: all zeros, but where every byte is to be written.
    fn make_room(&self, count: usize, out: &mut Vec<u8>) -> Result<(), ConvertError> {
        let size = self.plan.to_size;
        let len = count.checked_mul(size).filter(|&len| isize::try_from(len).is_ok());
        let len = len.ok_or(ConvertError::TooLarge { count, size })?;
        if out.capacity() < len {
            // Fresh memory comes as zeros: nobody has to write them.
            *out = vec![0; len];
            return Ok(());
        }
        if !self.plan.covers() {
            out.clear();
        }
        out.resize(len, 0);
        Ok(())
    }
}

/// Records being converted. Offsets at the source were checked when its records were taken.
struct Run<'a> {
    source: &'a [u8],
    out: &'a mut Vec<u8>,
    orders: (ByteOrder, ByteOrder),
    tiles: &'a mut Tiles,
}

impl Run<'_> {
    fn records(
        &mut self,
        plan: &RecordPlan,
        from: usize,
        to: usize,
        count: usize,
    ) -> Result<(), ConvertError> {
        // Fields that differ from record to record follow while their records are still in the cache.
        let batch = if plan.fields.is_empty() { count } else { plan.columns.batch() };
        for first in (0..count).step_by(batch.max(1)) {
            let count = batch.min(count - first);
            let (from, to) = (from + first * plan.from_size, to + first * plan.to_size);
            let source = &self.source[from..from + count * plan.from_size];
            plan.columns.run(source, &mut self.out[to..to + count * plan.to_size], self.tiles)?;
            if !plan.fields.is_empty() {
                (0..count).try_for_each(|index| {
                    self.fields(plan, from + index * plan.from_size, to + index * plan.to_size)
                })?;
            }
        }
        Ok(())
    }

    /// Converts the fields of one record that are not alike in all.
    fn fields(&mut self, plan: &RecordPlan, from: usize, to: usize) -> Result<(), ConvertError> {
        for field in &plan.fields {
            let present =
                field.from.filter(|(_, bit)| is_present(self.source, from + plan.from_presence, *bit));
            match present {
                Some((offset, _)) => {
                    set_present(self.out, to + plan.to_presence, field.to_bit);
                    self.field(field, from + offset, to)?;
                }
                // What may be absent is absent, and read as its default; only what may not be is filled.
                None if field.to_bit.is_none() => self.fill(field, to + field.to),
                None => {}
            }
        }
        Ok(())
    }

    /// Converts a field at `from` of the record that is to be at `record`.
    fn field(&mut self, field: &FieldPlan, from: usize, record: usize) -> Result<(), ConvertError> {
        let to = record + field.to;
        match &field.place {
            PlacePlan::Inline(count) => self.units(field, from, to, *count),
            PlacePlan::Transposed(array, shape) => {
                let (from_size, to_size) = array.sizes_bytes();
                let count = shape.element_count() as usize;
                let source = &self.source[from..from + count * from_size];
                Ok(array.run(shape, source, &mut self.out[to..to + count * to_size])?)
            }
            PlacePlan::Elsewhere(length) => {
                let (start, count) = reference(self.source, self.orders.0, from);
                let (start, count) = (start as usize, count as usize);
                let part = append(self.out, &field.to_unit, count);
                put_reference(self.out, self.orders.1, to, (part, count));
                length.map_or(Ok(()), |length| self.length(length, record, to, count))?;
                self.units(field, start, part, count)
            }
        }
    }

    fn units(&mut self, field: &FieldPlan, from: usize, to: usize, count: usize) -> Result<(), ConvertError> {
        match &field.unit {
            UnitPlan::Number(conversion) => {
                let (from_size, to_size) = conversion.sizes_bytes();
                let source = &self.source[from..from + count * from_size];
                Ok(conversion.run(source, &mut self.out[to..to + count * to_size])?)
            }
            UnitPlan::Text => {
                (0..count).for_each(|index| {
                    self.text(from + index * REFERENCE_BYTES, to + index * REFERENCE_BYTES)
                });
                Ok(())
            }
            UnitPlan::Record(plan) => self.records(plan, from, to, count),
        }
    }

    fn text(&mut self, from: usize, to: usize) {
        let (start, len) = reference(self.source, self.orders.0, from);
        let text = &self.source[start as usize..(start + len) as usize];
        self.put_text(text, to);
    }

    fn put_text(&mut self, text: &[u8], to: usize) {
        let part = self.out.len();
        self.out.extend_from_slice(text);
        put_reference(self.out, self.orders.1, to, (part, text.len()));
    }

    fn fill(&mut self, field: &FieldPlan, to: usize) {
        match &field.fill {
            Fill::Bytes(bytes) => self.out[to..to + bytes.len()].copy_from_slice(bytes),
            Fill::Texts(text, count) => {
                (0..*count).for_each(|index| self.put_text(text.as_bytes(), to + index * REFERENCE_BYTES));
            }
            Fill::Nothing => {}
        }
    }

    /// Writes the length field of a list, or checks it where it came from the source.
    fn length(
        &mut self,
        length: LengthPlan,
        record: usize,
        at: usize,
        count: usize,
    ) -> Result<(), ConvertError> {
        let place = record + length.at;
        if length.is_written {
            return self.write_length(length.dtype, place, count);
        }
        let expected = integer(self.out, self.orders.1, place, length.dtype);
        let differs = ValueError::Length { at, found: count as u64, expected };
        (expected == count as i128).then_some(()).ok_or(differs.into())
    }

    fn write_length(&mut self, dtype: Dtype, place: usize, count: usize) -> Result<(), ConvertError> {
        if !holds(dtype, count as i128) {
            return Err(ValueError::LengthRange { count, dtype }.into());
        }
        let len = Unit::Number(dtype).size_bytes();
        let bytes = (count as u64).to_le_bytes();
        let place = &mut self.out[place..place + len];
        match self.orders.1 {
            ByteOrder::Little => place.copy_from_slice(&bytes[..len]),
            ByteOrder::Big => {
                place.iter_mut().zip(bytes[..len].iter().rev()).for_each(|(to, from)| *to = *from)
            }
        }
        Ok(())
    }
}
