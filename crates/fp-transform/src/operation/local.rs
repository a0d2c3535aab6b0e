//! Operations that a block undergoes by itself: cast, order, stride, slice.

use std::sync::Arc;

use fp_types::record::{ElementConversion, ElementForm, Loss};
use fp_types::{DenseArray, Dtype, Region, StridedRegion, copy};

use crate::block::Block;
use crate::error::DeriveError;
use crate::memory::Memory;

/// Whether a cast leads from one type to the other.
pub(super) fn can_cast(from: Dtype, to: Dtype) -> bool {
    let (from, to) = (ElementForm::native(from), ElementForm::native(to));
    ElementConversion::new(from, to, Loss::Allowed).is_ok()
}

/// The block with its elements as another type, from whatever byte order.
pub(crate) fn cast(block: &Block, dtype: Dtype, memory: &Memory) -> Result<Block, DeriveError> {
    let to = ElementForm::native(dtype);
    let conversion = ElementConversion::new(block.form(), to, Loss::Allowed)?;
    if conversion.is_identity() {
        return Ok(block.clone());
    }
    let mut bytes = memory.room(block.region().element_count(), conversion.sizes_bytes().1)?;
    conversion.run(block.bytes(), &mut bytes)?;
    Block::shared(*block.region(), to, block.order(), Arc::new(bytes))
}

/// The elements of the block that are among those taken of the whole array, where they lie among these; none if there
/// are none.
pub(crate) fn taken(
    block: &Block,
    wanted: &StridedRegion,
    memory: &Memory,
) -> Result<Option<Block>, DeriveError> {
    let (region, steps, begin) = (block.region(), wanted.stride(), *wanted.region().start());
    let (end, last) = (region.end(), wanted.region().end());
    let (mut start, mut count, mut first) = (begin, begin, begin);
    for dim in 0..region.ndims() {
        // Which of the elements that are taken are the block's: from `from` to before `until`.
        let from = region.start()[dim].saturating_sub(begin[dim]).div_ceil(steps[dim]);
        let until = end[dim].min(last[dim]).saturating_sub(begin[dim]).div_ceil(steps[dim]);
        (start[dim], count[dim]) = (from, until.saturating_sub(from));
        first[dim] = begin[dim].saturating_add(from.saturating_mul(steps[dim]));
    }
    let kept = Region::new(start, count)?;
    if kept.is_empty() {
        return Ok(None);
    }
    let mut extent = end;
    for dim in 0..region.ndims() {
        extent[dim] = end[dim].min(last[dim]).saturating_sub(first[dim]);
    }
    let taken = StridedRegion::new(Region::new(first, extent)?, *steps)?;
    let size = block.element_bytes()?;
    let mut bytes = memory.room(kept.element_count(), size)?;
    let (from, to) = (DenseArray::new(*region, block.order()), DenseArray::new(taken, block.order()));
    copy(block.bytes(), &from, &mut bytes, &to, &taken, size)?;
    Block::shared(kept, block.form(), block.order(), Arc::new(bytes)).map(Some)
}
