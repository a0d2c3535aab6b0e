//! Means of regions of a fixed extent: those inside one block at once, the others from all ranks' exact sums.

use std::collections::BTreeMap;
use std::sync::Arc;

use fp_types::record::ElementForm;
use fp_types::{Dims, MemoryOrder, Region, Shape};

use crate::block::{Array, ArrayType, Block};
use crate::error::DeriveError;
use crate::exact::{ExactSum, sum_of};
use crate::memory::Memory;
use crate::numbers::{read_reals, write_reals};
use crate::placing::{Placing, corner};
use crate::walk::{for_each_corner, for_each_row};

/// What is known of regions that several blocks share: by place in the result, how many elements and their sum.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cells(BTreeMap<u64, (u64, ExactSum)>);

/// How an array is averaged.
struct Averaging<'a> {
    shape: &'a Shape,
    steps: &'a Dims,
    to: ArrayType,
}

/// The means that the blocks of an array give, and of the others the sums.
pub(crate) fn averages(
    input: &Array,
    steps: &Dims,
    to: ArrayType,
    memory: &Memory,
) -> Result<(Array, Cells), DeriveError> {
    let averaging = Averaging { shape: input.shape(), steps, to };
    let (mut blocks, mut cells) = (Vec::new(), Cells::default());
    for (at, block) in input.blocks().iter().enumerate() {
        memory.check_stop_after(at)?;
        blocks.extend(averaging.block(block, &mut cells, memory)?);
    }
    Ok((Array::new(to.dtype, to.shape, blocks)?, cells))
}

impl Averaging<'_> {
    fn block(&self, block: &Block, cells: &mut Cells, memory: &Memory) -> Result<Option<Block>, DeriveError> {
        let block = block.native(memory)?.reordered(MemoryOrder::RowMajor, memory)?;
        let (touched, complete) = (self.touched(block.region())?, self.complete(block.region())?);
        memory.charge(Cells::len_bytes(touched.element_count(), complete.element_count()))?;
        let mut means = Vec::with_capacity(complete.element_count() as usize);
        let mut values = Vec::new();
        let mut failed = None;
        for_each_corner(&touched, touched.ndims(), |cell| {
            let Some(common) = self.source(cell).and_then(|source| source.intersection(block.region()))
            else {
                failed = Some(DeriveError::Uncovered { region: Box::new(*block.region()) });
                return;
            };
            values.clear();
            for_each_row(&block, &common, |_, row| {
                let start = values.len();
                values.resize(start + row.len() / block.dtype().size_bytes().unwrap_or(1), 0.0);
                read_reals(block.dtype(), row, &mut values[start..]);
            });
            if complete.contains_point(cell) {
                means.push(sum_of(&values).divided(values.len() as u64));
            } else if let Some(place) =
                Region::whole(&self.to.shape).linear_offset(cell, MemoryOrder::RowMajor)
            {
                cells.add(place, &values);
            }
        });
        match failed {
            Some(error) => Err(error),
            None if complete.is_empty() => Ok(None),
            None => self.finished(complete, &means).map(Some),
        }
    }

    fn finished(&self, region: Region, means: &[f64]) -> Result<Block, DeriveError> {
        let mut bytes = vec![0; means.len() * self.to.dtype.size_bytes().unwrap_or(8)];
        write_reals(self.to.dtype, means, &mut bytes);
        let form = ElementForm::native(self.to.dtype);
        Block::shared(region, form, MemoryOrder::RowMajor, Arc::new(bytes))
    }

    /// The cells that have an element in a block.
    fn touched(&self, region: &Region) -> Result<Region, DeriveError> {
        let (mut start, mut count, end) = (*region.start(), *region.count(), region.end());
        for dim in 0..region.ndims() {
            start[dim] /= self.steps[dim];
            count[dim] = if count[dim] == 0 { 0 } else { end[dim].div_ceil(self.steps[dim]) - start[dim] };
        }
        Ok(Region::new(start, count)?)
    }

    /// The cells that have every element in a block.
    fn complete(&self, region: &Region) -> Result<Region, DeriveError> {
        let (mut start, mut count, end) = (*region.start(), *region.count(), region.end());
        for dim in 0..region.ndims() {
            start[dim] = start[dim].div_ceil(self.steps[dim]);
            let is_last = end[dim] == self.shape.dims()[dim];
            let end = if is_last { end[dim].div_ceil(self.steps[dim]) } else { end[dim] / self.steps[dim] };
            count[dim] = end.saturating_sub(start[dim]);
        }
        Ok(Region::new(start, count)?)
    }

    /// The elements of a cell.
    fn source(&self, cell: &Dims) -> Option<Region> {
        let (mut start, mut count) = (*cell, *cell);
        for dim in 0..cell.ndims() {
            start[dim] = cell[dim].checked_mul(self.steps[dim])?;
            count[dim] = self.steps[dim].min(self.shape.dims()[dim].checked_sub(start[dim])?);
        }
        Region::new(start, count).ok()
    }
}

impl Cells {
    /// What so many regions take at most, of which so many are means at once.
    fn len_bytes(touched: u64, complete: u64) -> u64 {
        let shared =
            touched.saturating_sub(complete).saturating_mul(size_of::<(u64, (u64, ExactSum))>() as u64);
        shared.saturating_add(complete.saturating_mul(2 * size_of::<f64>() as u64))
    }

    fn add(&mut self, place: u64, values: &[f64]) {
        let (count, sum) = self.0.entry(place).or_insert((0, ExactSum::ZERO));
        *count += values.len() as u64;
        values.iter().for_each(|&value| sum.add(value));
    }

    /// The same of a rank's rows, where they lie in the whole array.
    pub(crate) fn placed(&mut self, placing: &Placing) -> Option<()> {
        let moved = std::mem::take(&mut self.0).into_iter();
        self.0 = moved.map(|(place, cell)| Some((placing.element(place)?, cell))).collect::<Option<_>>()?;
        Some(())
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (place, (others, theirs)) in &other.0 {
            let (count, sum) = self.0.entry(*place).or_insert((0, ExactSum::ZERO));
            *count = count.saturating_add(*others);
            sum.merge(theirs);
        }
    }

    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        for (place, (count, sum)) in &self.0 {
            bytes.extend(place.to_le_bytes());
            bytes.extend(count.to_le_bytes());
            sum.write(bytes);
        }
    }

    /// Reads what [`write`](Self::write) wrote: cells of an array of that many, in rising order.
    pub(crate) fn read(mut bytes: &[u8], limit: u64) -> Option<Self> {
        let mut cells = BTreeMap::new();
        while let Some((place, rest)) = bytes.split_first_chunk::<8>() {
            let (count, rest) = rest.split_first_chunk::<8>()?;
            let (sum, rest) = ExactSum::read(rest)?;
            let place = u64::from_le_bytes(*place);
            let rises = cells.last_key_value().is_none_or(|(last, _)| *last < place);
            if !rises || place >= limit {
                return None;
            }
            cells.insert(place, (u64::from_le_bytes(*count), sum));
            bytes = rest;
        }
        bytes.is_empty().then_some(Self(cells))
    }
}

/// The means of the regions that blocks share, once all ranks' sums were merged: a block for each run of them.
pub(crate) fn finish_averages(
    cells: &Cells,
    shape: &Shape,
    steps: &Dims,
    to: ArrayType,
) -> Result<Vec<Block>, DeriveError> {
    let averaging = Averaging { shape, steps, to };
    let row_len = to.shape.dims().last().copied().unwrap_or(1).max(1);
    let mut blocks: Vec<Block> = Vec::new();
    let (mut first, mut means): (u64, Vec<f64>) = (0, Vec::new());
    for (&place, (count, sum)) in &cells.0 {
        let next = first + means.len() as u64;
        if !means.is_empty() && (place != next || place % row_len == 0) {
            blocks.push(averaging.run(first, &means)?);
            means.clear();
        }
        if means.is_empty() {
            first = place;
        }
        let source = averaging.source(&corner(place, to.shape.dims()));
        let source = source.filter(|source| source.element_count() == *count);
        source.ok_or_else(|| DeriveError::Uncovered { region: Box::new(Region::whole(shape)) })?;
        means.push(sum.round().divided(*count));
    }
    if !means.is_empty() {
        blocks.push(averaging.run(first, &means)?);
    }
    Ok(blocks)
}

impl Averaging<'_> {
    /// Means that lie side by side in one row of the result.
    fn run(&self, first: u64, means: &[f64]) -> Result<Block, DeriveError> {
        let start = corner(first, self.to.shape.dims());
        let mut count = start.ones_like();
        if let Some(last) = count.last_mut() {
            *last = means.len() as u64;
        }
        self.finished(Region::new(start, count)?, means)
    }
}
