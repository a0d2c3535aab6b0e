//! Joined arrays: blocks laid one after another along one dimension, by rank and then by index.
//!
//! Ranks know only how much they put themselves (particles: every rank's count changes every step). Counts
//! travel; offsets are prefix sums of them, computed by whoever needs the layout.

use super::Layout;
use super::build::{LayoutError, check_ndims, check_ndims_exist, sorted};
use crate::dims::Dims;
use crate::id::BlockId;
use crate::region::{Region, RegionError};
use crate::shape::Shape;

impl Layout {
    /// Joins blocks of those extents along `joined_dim`; in the other dimensions all must agree. The outcome is a
    /// global layout. Without any block the array has no elements.
    pub fn joined(
        ndims: usize,
        joined_dim: usize,
        blocks: impl IntoIterator<Item = (BlockId, Dims)>,
    ) -> Result<Layout, LayoutError> {
        check_ndims_exist(ndims)?;
        if joined_dim >= ndims {
            return Err(LayoutError::NoSuchDimension { joined_dim, ndims });
        }
        let blocks = sorted(blocks)?;
        let mut extent =
            blocks.first().map_or(Dims::filled(ndims, 0).unwrap_or_default(), |(_, count)| *count);
        let mut regions = Vec::with_capacity(blocks.len());
        let mut joined = 0;
        for &(block, count) in &blocks {
            check_ndims(block, count, ndims)?;
            check_others_agree((block, count), blocks[0], joined_dim)?;
            let mut start = count.zeros_like();
            start[joined_dim] = joined;
            let region = Region::new(start, count).map_err(|error| LayoutError::TooLarge { block, error })?;
            joined = region.end()[joined_dim];
            extent[joined_dim] = joined;
            Shape::new(extent).map_err(|_| too_large(block, extent))?;
            regions.push((block, region));
        }
        let shape = Shape::new(extent).unwrap_or_default();
        Ok(Self::assemble(ndims, Some(shape), &regions))
    }
}

/// Checks that two blocks agree in all dimensions but the joined one.
fn check_others_agree(
    (block, count): (BlockId, Dims),
    (other, mut other_count): (BlockId, Dims),
    joined_dim: usize,
) -> Result<(), LayoutError> {
    let original = other_count;
    // The first block's number of dimensions was checked before any other came.
    other_count[joined_dim] = count[joined_dim];
    if count == other_count {
        return Ok(());
    }
    Err(LayoutError::JoinedExtents {
        block,
        count: count.into(),
        other,
        other_count: original.into(),
        joined_dim,
    })
}

/// The error of an array that cannot be counted from that block on.
fn too_large(block: BlockId, count: Dims) -> LayoutError {
    LayoutError::TooLarge { block, error: RegionError::TooLarge { count } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Rank;

    fn block(rank: u32, index: u32) -> BlockId {
        BlockId::new(Rank(rank), index)
    }

    #[test]
    fn offsets_follow_rank_and_index() {
        let counts =
            [(block(2, 0), [5, 3]), (block(0, 1), [1, 3]), (block(0, 0), [4, 3]), (block(1, 0), [0, 3])];
        let layout = Layout::joined(2, 0, counts.map(|(block, count)| (block, count.into()))).unwrap();
        let expected = [(block(0, 0), 0, 4), (block(0, 1), 4, 1), (block(1, 0), 5, 0), (block(2, 0), 5, 5)];
        let expected =
            expected.map(|(block, start, count)| (block, Region::new([start, 0], [count, 3]).unwrap()));
        assert_eq!(layout.blocks().collect::<Vec<_>>(), expected);
        assert_eq!(layout.shape(), Some(&Shape::new([10, 3]).unwrap()));
        assert_eq!(layout, Layout::global(Shape::new([10, 3]).unwrap(), expected).unwrap());
    }

    #[test]
    fn nothing_joined_is_an_empty_array() {
        let layout = Layout::joined(2, 1, []).unwrap();
        assert_eq!(layout.shape(), Some(&Shape::new([0, 0]).unwrap()));
    }

    #[test]
    fn disagreeing_blocks_are_named() {
        let layout = Layout::joined(2, 0, [(block(0, 0), [5, 3].into()), (block(3, 0), [5, 4].into())]);
        let message = layout.unwrap_err().to_string();
        assert_eq!(
            message,
            "block 0 of rank 3 has count [5, 4], block 0 of rank 0 has [5, 3]: joined along dimension 0, \
             all others must agree"
        );
        let wrong = Layout::joined(1, 1, []);
        assert_eq!(wrong, Err(LayoutError::NoSuchDimension { joined_dim: 1, ndims: 1 }));
    }

    #[test]
    fn sums_past_63_bits_are_refused() {
        let half = 1u64 << 62;
        let layout = Layout::joined(1, 0, [(block(0, 0), [half].into()), (block(1, 0), [half].into())]);
        assert!(matches!(layout, Err(LayoutError::TooLarge { block: BlockId { rank: Rank(1), .. }, .. })));
        let wide =
            Layout::joined(1, 0, [(block(0, 0), [1 << 33].into()), (block(1, 0), [1 << 33].into())]).unwrap();
        assert_eq!(wide.shape().map(|shape| shape.element_count()), Some(1 << 34));
    }
}
