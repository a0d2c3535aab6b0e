//! Operations that a block undergoes by itself: cast, order, stride.

use std::sync::Arc;

use fp_types::record::{ElementConversion, ElementForm, Loss};
use fp_types::{DenseArray, Dims, Dtype, Region, StridedRegion, copy};

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

/// The elements of the block whose global index is a multiple of `steps`; none if there are none.
pub(crate) fn strided(block: &Block, steps: &Dims, memory: &Memory) -> Result<Option<Block>, DeriveError> {
    let region = block.region();
    let (mut start, mut count, mut first) = (*region.start(), *region.count(), *region.start());
    for dim in 0..region.ndims() {
        let begin = region.start()[dim].div_ceil(steps[dim]);
        let end = region.end()[dim].div_ceil(steps[dim]);
        (start[dim], count[dim], first[dim]) = (begin, end - begin, begin.saturating_mul(steps[dim]));
    }
    let kept = Region::new(start, count)?;
    if kept.is_empty() {
        return Ok(None);
    }
    let mut extent = region.end();
    extent.iter_mut().zip(first.iter()).for_each(|(end, first)| *end -= first);
    let taken = StridedRegion::new(Region::new(first, extent)?, *steps)?;
    let size = block.element_bytes()?;
    let mut bytes = memory.room(kept.element_count(), size)?;
    let (from, to) = (DenseArray::new(*region, block.order()), DenseArray::new(taken, block.order()));
    copy(block.bytes(), &from, &mut bytes, &to, &taken, size)?;
    Block::shared(kept, block.form(), block.order(), Arc::new(bytes)).map(Some)
}
