//! Walks through regions row by row: along the last dimension, in which row-major elements are neighbours.

use fp_types::{Dims, MemoryOrder, Region};

use crate::block::Block;

/// Hands over every coordinate of the region's first `ndims` dimensions, in row-major order; the others stay at the
/// region's start.
pub(crate) fn for_each_corner(region: &Region, ndims: usize, mut take: impl FnMut(&Dims)) {
    if region.is_empty() {
        return;
    }
    let (mut point, end) = (*region.start(), region.end());
    loop {
        take(&point);
        let mut dim = ndims;
        loop {
            if dim == 0 {
                return;
            }
            dim -= 1;
            point[dim] += 1;
            if point[dim] < end[dim] {
                break;
            }
            point[dim] = region.start()[dim];
        }
    }
}

/// Hands over the rows of `part` of a row-major block: where each starts, and its bytes.
pub(crate) fn for_each_row(block: &Block, part: &Region, mut take: impl FnMut(&Dims, &[u8])) {
    let size = block.dtype().size_bytes().unwrap_or(1);
    let row_len = part.count().last().map_or(1, |&count| count as usize) * size;
    for_each_corner(part, part.ndims().saturating_sub(1), |point| {
        let offset = block.region().linear_offset(point, MemoryOrder::RowMajor);
        let bytes = offset.and_then(|offset| block.bytes().get(offset as usize * size..)?.get(..row_len));
        if let Some(row) = bytes {
            take(point, row);
        }
    });
}
