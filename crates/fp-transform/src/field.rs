//! A number of each record, measured where records lie: some ten thousand are brought together at a time, in memory that
//! stays in the cache. So no copy of the field is made.

use std::sync::Arc;

use fp_types::record::{ElementForm, FieldPlace};
use fp_types::{MemoryOrder, Region, Shape};

use crate::block::{Array, ArrayType, Block, SharedBytes};
use crate::derivation::{DerivationPlan, Derived};
use crate::error::DeriveError;
use crate::measure::{Origin, part_of};
use crate::memory::Memory;

/// Records that are looked at together at most: 256 KiB of numbers. Tests cut small arrays, too.
const PIECE: u64 = if cfg!(test) { 1 << 10 } else { 1 << 15 };

/// What one rank holds of an array of records: a region, dense in memory.
#[derive(Clone)]
pub struct FieldBlock {
    /// Where the records lie in the whole array.
    pub region: Region,
    /// Which dimension runs fastest.
    pub order: MemoryOrder,
    /// Their fixed parts; what follows these is not looked at.
    pub payload: SharedBytes,
}

/// A field of the records that a rank has.
pub struct FieldArray {
    place: FieldPlace,
    record_bytes: usize,
    shape: Shape,
    blocks: Vec<FieldBlock>,
}

impl FieldArray {
    /// The numbers at a place of records whose fixed parts take so many bytes each.
    ///
    /// # Errors
    /// Elements that have no size or lie outside of a record, or bytes that are too few for so many records.
    pub fn new(
        (place, record_bytes): (FieldPlace, usize),
        shape: Shape,
        blocks: Vec<FieldBlock>,
    ) -> Result<Self, DeriveError> {
        let dtype = place.form.dtype;
        let size = dtype.size_bytes().ok_or(DeriveError::NotNumbers { dtype })?;
        let is_within = place.offset.saturating_add(size) <= record_bytes;
        for FieldBlock { region, payload, .. } in &blocks {
            let len_bytes = (**payload).as_ref().len();
            let wanted_bytes = u128::from(region.element_count()) * record_bytes as u128;
            if wanted_bytes > len_bytes as u128 || !is_within {
                return Err(DeriveError::Len { region: Box::new(*region), dtype, len_bytes, wanted_bytes });
            }
        }
        Ok(Self { place, record_bytes, shape, blocks })
    }

    /// Their type, and the shape of the whole array.
    pub fn array_type(&self) -> ArrayType {
        ArrayType { dtype: self.place.form.dtype, shape: self.shape }
    }

    /// The numbers of some records, which lie one after another from the one with that index.
    fn gathered(
        &self,
        of: &FieldBlock,
        region: Region,
        first: u64,
        memory: &Memory,
    ) -> Result<Block, DeriveError> {
        let ElementForm { dtype, .. } = self.place.form;
        let size = dtype.size_bytes().ok_or(DeriveError::NotNumbers { dtype })?;
        let mut numbers = memory.room(region.element_count(), size)?;
        let skipped = usize::try_from(first).unwrap_or(usize::MAX).saturating_mul(self.record_bytes);
        let records = (*of.payload).as_ref().get(skipped..).unwrap_or_default();
        let from = records.chunks_exact(self.record_bytes).map(|record| &record[self.place.offset..]);
        match size {
            1 => gather::<1>(from, &mut numbers),
            2 => gather::<2>(from, &mut numbers),
            4 => gather::<4>(from, &mut numbers),
            8 => gather::<8>(from, &mut numbers),
            _ => return Err(DeriveError::NotNumbers { dtype }),
        }
        Block::shared(region, self.place.form, of.order, Arc::new(numbers))
    }
}

/// Copies the first bytes of each record.
fn gather<'r, const SIZE: usize>(from: impl Iterator<Item = &'r [u8]>, to: &mut [u8]) {
    let (to, _) = to.as_chunks_mut::<SIZE>();
    for (to, record) in to.iter_mut().zip(from) {
        if let Some(number) = record.first_chunk::<SIZE>() {
            *to = *number;
        }
    }
}

/// A rank's part of a measure of a field, as [`measure_planned`](crate::measure_planned) gives it of an array. The plan is
/// one for arrays of the type and shape of the field. A function that it calls is given some ten thousand records at a time.
///
/// # Errors
/// Those of [`measure_planned`](crate::measure_planned).
pub fn measure_field(
    plan: &DerivationPlan,
    input: &FieldArray,
    is_placed: bool,
    memory: &Memory,
) -> Result<Vec<u8>, DeriveError> {
    let of = input.array_type();
    let nothing = Array::new(of.dtype, of.shape, Vec::new())?;
    let mut pieces = Pieces { found: plan.apply(&[nothing])?, done: 0 };
    for block in &input.blocks {
        let mut one = |region, first| measured(plan, of, input.gathered(block, region, first, memory)?);
        pieces.take((block.region, 0), block.order, &mut one, memory)?;
    }
    let dtype = plan.last_input().map_or(of.dtype, |of| of.dtype);
    part_of(pieces.found.partial, (dtype, is_placed.then_some(of.shape), Origin::Field))
}

fn measured(plan: &DerivationPlan, of: ArrayType, numbers: Block) -> Result<Derived, DeriveError> {
    plan.apply(&[Array::new(of.dtype, of.shape, vec![numbers])?])
}

/// What is known of the pieces so far. Merging them is exact, however many there are.
struct Pieces {
    found: Derived,
    done: usize,
}

impl Pieces {
    /// Goes through a region piece by piece: each lies in one stretch of memory, and `first` is the record before it.
    fn take(
        &mut self,
        (region, first): (Region, u64),
        order: MemoryOrder,
        measured: &mut dyn FnMut(Region, u64) -> Result<Derived, DeriveError>,
        memory: &Memory,
    ) -> Result<(), DeriveError> {
        let Some((lower, upper)) = halves(&region, order).filter(|_| region.element_count() > PIECE) else {
            memory.check_stop_after(self.done)?;
            self.done += 1;
            return self.found.merge(measured(region, first)?);
        };
        self.take((lower, first), order, measured, memory)?;
        self.take((upper, first + lower.element_count()), order, measured, memory)
    }
}

/// A region cut along its slowest dimension: one half lies behind the other. `None` of what is one element or none.
fn halves(region: &Region, order: MemoryOrder) -> Option<(Region, Region)> {
    let dims = 0..region.ndims();
    let is_long = |dim: &usize| region.count()[*dim] > 1;
    let dim = match order {
        MemoryOrder::RowMajor => dims.into_iter().find(is_long),
        MemoryOrder::ColumnMajor => dims.into_iter().rev().find(is_long),
    }?;
    let (mut lower, mut upper, mut start) = (*region.count(), *region.count(), *region.start());
    lower[dim] /= 2;
    upper[dim] -= lower[dim];
    start[dim] += lower[dim];
    Some((Region::new(*region.start(), lower).ok()?, Region::new(start, upper).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_types::record::ByteOrder;
    use fp_types::{Dims, Dtype, Measure};
    use proptest::prelude::*;

    const TEXTS: [&str; 7] = [
        "max(p.x)",
        "min(p.x[1:, ::2])",
        "sum(p.x)",
        "mean(p.x[:, 3])",
        "count(p.x > 1)",
        "any(p.x < -3)",
        "quantile(p.x, 0.5, -5..5 / 20)",
    ];

    /// Records of 12 bytes with a number from byte 3 on, and those numbers by themselves.
    fn both(
        numbers: &[i16],
        region: Region,
        order: MemoryOrder,
        byte_order: ByteOrder,
    ) -> (FieldBlock, Block) {
        let bytes = |number: &i16| match byte_order {
            ByteOrder::Little => number.to_le_bytes(),
            ByteOrder::Big => number.to_be_bytes(),
        };
        let record = |number: &i16| {
            let mut record = [0xa5; 12];
            record[3..5].copy_from_slice(&bytes(number));
            record
        };
        let payload: SharedBytes = Arc::new(numbers.iter().flat_map(record).collect::<Vec<u8>>());
        let alone = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<u8>>();
        (FieldBlock { region, order, payload }, Block::new(region, Dtype::I16, order, alone).unwrap())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// The same bytes as of the numbers by themselves, but for the mark that tells them apart.
        #[test]
        fn a_field_is_measured_as_an_array_is(
            seed in proptest::collection::vec(-5i16..6, 97), rows in 1u64..60, columns in 4u64..300, cut in 0u64..60,
            column_major: bool, big: bool, is_placed: bool,
        ) {
            let order = if column_major { MemoryOrder::ColumnMajor } else { MemoryOrder::RowMajor };
            let byte_order = if big { ByteOrder::Big } else { ByteOrder::Little };
            let shape = Shape::new([rows, columns]).unwrap();
            let cut = cut.min(rows);
            let place = FieldPlace { offset: 3, form: ElementForm { dtype: Dtype::I16, byte_order } };
            let (mut records, mut alone) = (Vec::new(), Vec::new());
            for (start, count) in [(0, cut), (cut, rows - cut)] {
                let region = Region::new([start, 0], [count, columns]).unwrap();
                let numbers: Vec<i16> =
                    (0..count * columns).map(|at| seed[((at * 31 + start) % 97) as usize]).collect();
                let (of_records, of_numbers) = both(&numbers, region, order, byte_order);
                records.push(of_records);
                alone.push(of_numbers);
            }
            let records = FieldArray::new((place, 12), shape, records).unwrap();
            let alone = Array::new(Dtype::I16, shape, alone).unwrap();
            for text in TEXTS.iter().filter(|text| is_placed || !text.contains('[')) {
                let measure: Measure = text.parse().unwrap();
                let plan = crate::measuring(&measure, is_placed).unwrap().plan(&[records.array_type()]).unwrap();
                let found = measure_field(&plan, &records, is_placed, &Memory::default()).unwrap();
                let mut wanted = crate::measure(&measure, &alone, is_placed, &Memory::default()).unwrap();
                prop_assert!(ExactMeasures.merge(text, &found, &found).is_some());
                prop_assert!(ExactMeasures.merge(text, &found, &wanted).is_none(), "{}: two things", text);
                prop_assert_eq!(ExactMeasures.finish(text, &found), ExactMeasures.finish(text, &wanted));
                wanted[1] ^= 0x40;
                prop_assert_eq!(found, wanted, "{}", text);
            }
        }
    }

    use crate::measure::ExactMeasures;
    use fp_types::MeasureParts;

    #[test]
    fn too_few_bytes_and_no_numbers_are_refused() {
        let region = Region::new(Dims::from([0]), Dims::from([3])).unwrap();
        let (block, _) = both(&[1, 2], region_of(2), MemoryOrder::RowMajor, ByteOrder::NATIVE);
        let place = |dtype| FieldPlace { offset: 3, form: ElementForm::native(dtype) };
        let short = FieldBlock { region, ..block.clone() };
        let shape = Shape::new([3]).unwrap();
        let fails =
            |place, record_bytes, block| FieldArray::new((place, record_bytes), shape, vec![block]).is_err();
        assert!(fails(place(Dtype::I16), 12, short) && fails(place(Dtype::String), 12, block.clone()));
        assert!(fails(place(Dtype::I16), 0, block.clone()) && fails(place(Dtype::F64), 4, block.clone()));
        assert!(!fails(place(Dtype::F64), 12, block));
    }

    fn region_of(count: u64) -> Region {
        Region::new([0], [count]).unwrap()
    }
}
