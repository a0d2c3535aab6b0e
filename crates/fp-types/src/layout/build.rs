//! Builds layouts: sorts blocks, checks them against the shape.

use super::parts::{LayoutWriter, part_of};
use super::{Layout, MAX_BLOCKS};
use crate::dims::{Dims, MAX_DIMS};
use crate::id::BlockId;
use crate::region::{Region, RegionError};
use crate::shape::Shape;

/// Why blocks make no layout.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// A block reaches past the shape, or has another number of dimensions.
    #[error("block {} of rank {}, {region}, lies outside shape {shape}", block.index, block.rank)]
    OutsideShape {
        /// The block.
        block: BlockId,
        /// Its region.
        region: Box<Region>,
        /// The global extent.
        shape: Box<Shape>,
    },
    /// A block of a local or joined array has another number of dimensions than the variable.
    #[error("block {} of rank {} has count {count}, but the array has {ndims} dimensions", block.index, block.rank)]
    DimensionCount {
        /// The block.
        block: BlockId,
        /// Its extent.
        count: Dims,
        /// How many dimensions it should have.
        ndims: usize,
    },
    /// The same rank gave the same index to two blocks.
    #[error("rank {} put block {} twice", block.rank, block.index)]
    DuplicateBlock {
        /// The block.
        block: BlockId,
    },
    /// More than [`MAX_BLOCKS`] blocks.
    #[error("{blocks} blocks, but a layout has at most {MAX_BLOCKS}")]
    TooManyBlocks {
        /// How many were given, as far as they were counted.
        blocks: usize,
    },
    /// More dimensions than arrays can have.
    #[error("{ndims} dimensions, but arrays have at most {MAX_DIMS}")]
    TooManyDims {
        /// How many were asked for.
        ndims: usize,
    },
    /// The joined dimension is none of the array's.
    #[error("dimension {joined_dim} cannot be joined: the array has {ndims} dimensions")]
    NoSuchDimension {
        /// The dimension to be joined, from 0.
        joined_dim: usize,
        /// How many there are.
        ndims: usize,
    },
    /// Two blocks of a joined array differ in a dimension that is not joined.
    #[error(
        "block {} of rank {} has count {count}, block {} of rank {} has {other_count}: joined along dimension \
         {joined_dim}, all others must agree", block.index, block.rank, other.index, other.rank
    )]
    JoinedExtents {
        /// The first block that disagrees.
        block: BlockId,
        /// Its extent.
        count: Box<Dims>,
        /// The array's first block.
        other: BlockId,
        /// That block's extent.
        other_count: Box<Dims>,
        /// The joined dimension, from 0.
        joined_dim: usize,
    },
    /// A block, or the joined array up to it, is too large to be counted.
    #[error("block {} of rank {}: {error}", block.index, block.rank)]
    TooLarge {
        /// The block at which the count overflows.
        block: BlockId,
        /// How it does.
        error: RegionError,
    },
}

impl Layout {
    /// The layout of a global scalar or array: every block is a region of the same shape. Blocks may overlap,
    /// leave gaps, be empty, and come in any order.
    pub fn global(
        shape: Shape,
        blocks: impl IntoIterator<Item = (BlockId, Region)>,
    ) -> Result<Layout, LayoutError> {
        let blocks = sorted(blocks)?;
        let outside = blocks.iter().find(|(_, region)| !region.fits(&shape));
        match outside.copied() {
            Some((block, region)) => {
                Err(LayoutError::OutsideShape { block, region: region.into(), shape: shape.into() })
            }
            None => Ok(Self::assemble(shape.ndims(), Some(shape), &blocks)),
        }
    }

    /// The layout of local arrays, or of one scalar a rank (`ndims` 0): every block is an array of its own, of
    /// that extent.
    pub fn local(
        ndims: usize,
        blocks: impl IntoIterator<Item = (BlockId, Dims)>,
    ) -> Result<Layout, LayoutError> {
        let mut regions = Vec::new();
        for (block, count) in sorted(blocks)? {
            check_ndims(block, count, ndims)?;
            let region = Region::new(count.zeros_like(), count);
            regions.push((block, region.map_err(|error| LayoutError::TooLarge { block, error })?));
        }
        check_ndims_exist(ndims)?;
        Ok(Self::assemble(ndims, None, &regions))
    }

    /// The layout of sorted blocks that have been checked.
    pub(super) fn assemble(ndims: usize, shape: Option<Shape>, blocks: &[(BlockId, Region)]) -> Self {
        let mut writer = LayoutWriter::new(ndims, blocks.len());
        for part in blocks.chunk_by(|(one, _), (other, _)| part_of(one.rank) == part_of(other.rank)) {
            part.iter().for_each(|(block, region)| {
                writer.push(*block, region.start(), region.end().iter().copied())
            });
            writer.end_part(None);
        }
        writer.finish(shape)
    }

    /// The layout of those of the blocks at `positions`, which rise.
    pub(super) fn part(&self, positions: &[usize]) -> Self {
        let blocks: Vec<_> = positions.iter().map(|&position| self.block_at(position)).collect();
        Self::assemble(self.ndims, self.shape, &blocks)
    }
}

/// Sorts by block id, refusing too many blocks and one id twice.
pub(super) fn sorted<T>(
    blocks: impl IntoIterator<Item = (BlockId, T)>,
) -> Result<Vec<(BlockId, T)>, LayoutError> {
    let mut blocks: Vec<(BlockId, T)> = blocks.into_iter().take(MAX_BLOCKS + 1).collect();
    if blocks.len() > MAX_BLOCKS {
        return Err(LayoutError::TooManyBlocks { blocks: blocks.len() });
    }
    if !blocks.is_sorted_by_key(|(block, _)| *block) {
        blocks.sort_by_key(|(block, _)| *block);
    }
    let twice = blocks.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0);
    twice.map_or(Ok(blocks), |block| Err(LayoutError::DuplicateBlock { block }))
}

/// Checks that arrays can have so many dimensions.
pub(super) fn check_ndims_exist(ndims: usize) -> Result<(), LayoutError> {
    if ndims > MAX_DIMS { Err(LayoutError::TooManyDims { ndims }) } else { Ok(()) }
}

/// Checks a block's number of dimensions.
pub(super) fn check_ndims(block: BlockId, count: Dims, ndims: usize) -> Result<(), LayoutError> {
    if count.ndims() == ndims { Ok(()) } else { Err(LayoutError::DimensionCount { block, count, ndims }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Rank;

    fn block(rank: u32, index: u32) -> BlockId {
        BlockId::new(Rank(rank), index)
    }

    fn region(start: [u64; 2], count: [u64; 2]) -> Region {
        Region::new(start, count).unwrap()
    }

    #[test]
    fn equal_content_is_equal_however_it_was_built() {
        let shape = Shape::new([4, 4]).unwrap();
        let blocks = [(block(0, 0), region([0, 0], [2, 4])), (block(1, 0), region([2, 0], [2, 4]))];
        let forward = Layout::global(shape, blocks).unwrap();
        let backward = Layout::global(shape, blocks.into_iter().rev()).unwrap();
        assert_eq!((&forward, forward.id()), (&backward, backward.id()));
        let other_shape = Layout::global(Shape::new([4, 5]).unwrap(), blocks).unwrap();
        assert_ne!(forward.id(), other_shape.id());
    }

    #[test]
    fn ids_never_change() {
        let shape = Shape::new([4, 4]).unwrap();
        let global = Layout::global(shape, [(block(1, 2), region([2, 0], [2, 4]))]).unwrap();
        let local = Layout::local(1, [(block(3, 0), [5].into())]).unwrap();
        assert_eq!(global.id().to_string(), "44083a30de0be7e3604ab1a8d342c8a4");
        assert_eq!(local.id().to_string(), "5489cf16689e8d10362819c03ee3bdfe");
    }

    #[test]
    fn errors_name_the_block() {
        let shape = Shape::new([4, 4]).unwrap();
        let outside = Layout::global(shape, [(block(7, 1), region([3, 0], [2, 4]))]).unwrap_err();
        assert_eq!(outside.to_string(), "block 1 of rank 7, [3:5, 0:4], lies outside shape [4, 4]");
        let inside = region([0, 0], [1, 1]);
        let twice =
            Layout::global(shape, [(block(7, 1), inside), (block(2, 0), inside), (block(7, 1), inside)]);
        assert_eq!(twice, Err(LayoutError::DuplicateBlock { block: block(7, 1) }));
        let local = Layout::local(2, [(block(0, 0), [1, 2].into()), (block(1, 0), [3].into())]);
        let expected = LayoutError::DimensionCount { block: block(1, 0), count: [3].into(), ndims: 2 };
        assert_eq!(local, Err(expected));
        assert_eq!(Layout::local(9, []), Err(LayoutError::TooManyDims { ndims: 9 }));
    }

    #[test]
    fn blocks_are_found_by_id_rank_and_region() {
        let shape = Shape::new([4, 4]).unwrap();
        let blocks = [
            (block(5, 0), region([0, 0], [2, 4])),
            (block(5, 1), region([2, 0], [1, 4])),
            (block(9, 0), region([3, 0], [1, 4])),
        ];
        let layout = Layout::global(shape, blocks).unwrap();
        assert_eq!(layout.region_of(block(5, 1)), Some(blocks[1].1));
        assert_eq!(layout.region_of(block(6, 0)), None);
        assert_eq!(layout.blocks_of(Rank(5)).collect::<Vec<_>>(), blocks[..2]);
        assert_eq!(layout.blocks_of(Rank(6)).count(), 0);
        assert_eq!(layout.touching(&region([2, 1], [2, 1])).collect::<Vec<_>>(), blocks[1..]);
        assert_eq!(layout.clone(), layout);
    }
}
