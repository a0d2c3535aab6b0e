//! The content hash of a layout: a hash over the hashes of its parts, the blocks of neighbouring ranks.
//!
//! A part is hashed as it lies around its own first block. So a rank that cuts its block anew changes one part's hash.
//! In a joined array every block behind it moves, and the others' parts move as a whole.

use std::sync::OnceLock;

use super::Layout;
use crate::dims::Dims;
use crate::hash::CanonicalHasher;
use crate::id::{BlockId, LayoutId, Rank};
use crate::regions::RegionList;
use crate::shape::Shape;

/// Ranks of a part: as many parts as ranks in each, where ranks are many. A change of it changes every id.
pub(crate) const PART_RANKS: u32 = 256;
/// What goes before the content in the hashes. A change of the encoding changes the version.
const DOMAIN: &str = "flexpath layout 2";
const PART_DOMAIN: &str = "flexpath layout part 2";

/// The hash of one part: its blocks relative to the start of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartHash([u8; 16]);

/// Which part a rank belongs to.
pub(crate) fn part_of(rank: Rank) -> u32 {
    rank.0 / PART_RANKS
}

/// A layout on its way, block after block by rising id.
pub(crate) struct LayoutWriter {
    blocks: Vec<BlockId>,
    regions: RegionList,
    /// The parts that are hashed: their ranks, where they start, what they are.
    parts: Vec<(u32, Dims, PartHash)>,
    /// The first block that belongs to none of them.
    open: usize,
}

impl LayoutWriter {
    /// For that many blocks of so many dimensions.
    pub(crate) fn new(ndims: usize, blocks: usize) -> Self {
        let mut regions = RegionList::new(ndims);
        regions.reserve(blocks);
        Self { blocks: Vec::with_capacity(blocks), regions, parts: Vec::new(), open: 0 }
    }

    /// Adds a block, whose id is higher than those before, from its lowest corner to one past the highest. Both have
    /// been checked.
    pub(crate) fn push(&mut self, block: BlockId, start: &[u64], end: impl Iterator<Item = u64>) {
        self.blocks.push(block);
        self.regions.push_corners(start, end);
    }

    /// Ends a part: all blocks since the last are of it. Gives its hash, which is `known` if that is.
    pub(crate) fn end_part(&mut self, known: Option<PartHash>) -> Option<PartHash> {
        let first = *self.blocks.get(self.open)?;
        let origin = Dims::from_slice(self.regions.start(self.open)).unwrap_or_default();
        let hash = known.unwrap_or_else(|| self.hash_part(&origin));
        self.parts.push((part_of(first.rank), origin, hash));
        self.open = self.blocks.len();
        Some(hash)
    }

    fn hash_part(&self, origin: &[u64]) -> PartHash {
        let mut hasher = CanonicalHasher::new(PART_DOMAIN);
        hasher.count(self.blocks.len() - self.open);
        for (position, block) in self.blocks.iter().enumerate().skip(self.open) {
            hasher.number_u32(block.rank.0);
            hasher.number_u32(block.index);
            for corner in [self.regions.start(position), self.regions.end(position)] {
                corner.iter().zip(origin).for_each(|(at, from)| hasher.number_u64(at.wrapping_sub(*from)));
            }
        }
        PartHash(hasher.finish())
    }

    /// The layout of the blocks, all of whose parts were ended.
    pub(crate) fn finish(self, shape: Option<Shape>) -> Layout {
        let id = self.content_id(shape.as_ref());
        let Self { blocks, regions, .. } = self;
        Layout { ndims: regions.ndims(), shape, blocks, regions, id, index: OnceLock::new() }
    }

    /// Hashes the canonical encoding: kind, dimensions, shape, number of blocks, then each part with its ranks, start,
    /// hash.
    fn content_id(&self, shape: Option<&Shape>) -> LayoutId {
        let mut hasher = CanonicalHasher::new(DOMAIN);
        hasher.byte(u8::from(shape.is_some()));
        hasher.byte(self.regions.ndims() as u8);
        shape.into_iter().for_each(|shape| hasher.numbers(shape.dims()));
        hasher.count(self.blocks.len());
        for (ranks, origin, PartHash(hash)) in &self.parts {
            hasher.number_u32(*ranks);
            hasher.numbers(origin);
            hasher.bytes(hash);
        }
        LayoutId(hasher.finish())
    }
}
