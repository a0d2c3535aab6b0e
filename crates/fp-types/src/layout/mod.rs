//! All block regions of a variable over all ranks: an immutable value with a content hash.

mod build;
mod joined;
pub(crate) mod parts;

use std::fmt;
use std::sync::OnceLock;

pub use build::LayoutError;

use crate::id::{BlockId, LayoutId, Rank};
use crate::index::SpatialIndex;
use crate::region::Region;
use crate::regions::RegionList;
use crate::selection::Selection;
use crate::shape::Shape;

/// The most blocks a layout can have.
pub const MAX_BLOCKS: usize = 1 << 26;

/// Which block holds which region of an array, for all ranks that put one; some may have put none, others many.
///
/// Immutable, sorted by block id, equal to any other layout of the same content however that was built. A hash of the
/// content names it. Every step, and every variable cut alike, shares it until it changes.
///
/// A layout is of one of two kinds. **Global** (global scalars and arrays, and joined arrays once joined): there is a
/// shape and every block lies inside it. Blocks may overlap and may leave gaps; [`plan`](crate::plan()) settles both.
/// **Local**: no shape; each block is an array of its own, whose region starts at 0.
#[derive(Clone)]
pub struct Layout {
    ndims: usize,
    shape: Option<Shape>,
    blocks: Vec<BlockId>,
    regions: RegionList,
    id: LayoutId,
    /// Built when a region is first looked up: a rank that only passes the layout on never pays for it.
    index: OnceLock<SpatialIndex>,
}

impl Layout {
    /// The content hash.
    pub fn id(&self) -> LayoutId {
        self.id
    }

    /// The global extent; none for a local layout.
    pub fn shape(&self) -> Option<&Shape> {
        self.shape.as_ref()
    }

    /// How many dimensions every block has.
    pub fn ndims(&self) -> usize {
        self.ndims
    }

    /// How many blocks there are, empty ones included.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// All blocks with their regions, by rank and then by index.
    pub fn blocks(&self) -> impl ExactSizeIterator<Item = (BlockId, Region)> + '_ {
        self.blocks.iter().enumerate().map(|(position, &block)| (block, self.regions.region(position)))
    }

    /// The region of a block, if there is that block.
    pub fn region_of(&self, block: BlockId) -> Option<Region> {
        let position = self.blocks.binary_search(&block).ok()?;
        Some(self.regions.region(position))
    }

    /// The blocks of one rank, by index; none if it put none.
    pub fn blocks_of(&self, rank: Rank) -> impl Iterator<Item = (BlockId, Region)> + '_ {
        self.positions_of(rank).map(|position| self.block_at(position))
    }

    /// The blocks that have an element of `region`, by rank and then by index.
    ///
    /// Takes O(log n + k) for k blocks found among n, once the index is built. On a local layout the regions are
    /// those of unrelated arrays, and the answer means little.
    pub fn touching(&self, region: &Region) -> impl Iterator<Item = (BlockId, Region)> + '_ {
        self.positions_touching(region).into_iter().map(|position| self.block_at(position))
    }

    /// Builds the spatial index now, which is otherwise done when it is first needed.
    pub fn build_index(&self) {
        self.index();
    }

    /// The least part of the layout that yields the same plan for that selection: only blocks that it touches.
    ///
    /// Its id is another one, that of its own content.
    pub fn restricted_to(&self, selection: &Selection) -> Layout {
        let positions: Vec<usize> = match (selection, &self.shape) {
            (Selection::Region(region), Some(_)) => self.positions_touching(region),
            (Selection::Strided(strided), Some(_)) => self.positions_touching(strided.region()),
            (Selection::Points(points), Some(_)) => {
                let regions = points.iter().filter_map(|point| Region::of_point(point).ok());
                let mut touched: Vec<usize> =
                    regions.flat_map(|region| self.positions_touching(&region)).collect();
                touched.sort_unstable();
                touched.dedup();
                touched
            }
            (Selection::Block(block), _) => self.blocks.binary_search(block).into_iter().collect(),
            (Selection::Rank(rank), _) => self.positions_of(*rank).collect(),
            (Selection::All | Selection::Region(_) | Selection::Strided(_) | Selection::Points(_), _) => {
                (0..self.blocks.len()).collect()
            }
        };
        self.part(&positions)
    }

    /// The block at a position in the canonical order.
    pub(crate) fn block_at(&self, position: usize) -> (BlockId, Region) {
        (self.blocks[position], self.regions.region(position))
    }

    /// The positions of a rank's blocks.
    pub(crate) fn positions_of(&self, rank: Rank) -> std::ops::Range<usize> {
        let first = self.blocks.partition_point(|block| block.rank < rank);
        first..self.blocks.partition_point(|block| block.rank <= rank)
    }

    /// The positions of the blocks that have an element of `region`, rising.
    pub(crate) fn positions_touching(&self, region: &Region) -> Vec<usize> {
        self.index().touching(region)
    }

    fn index(&self) -> &SpatialIndex {
        self.index.get_or_init(|| SpatialIndex::build(&self.regions))
    }
}

/// Layouts are equal if their content is.
impl PartialEq for Layout {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
            && (self.ndims, self.shape) == (other.ndims, other.shape)
            && self.blocks == other.blocks
            && self.regions == other.regions
    }
}

impl Eq for Layout {}

impl fmt::Debug for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Layout");
        out.field("id", &self.id).field("shape", &self.shape).field("blocks", &self.blocks.len());
        out.finish_non_exhaustive()
    }
}
