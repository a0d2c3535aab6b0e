//! Which blocks send which elements for a selection: a pure function of layout and selection.
//!
//! Every element has exactly one owner. Where blocks overlap, the higher rank wins, and among blocks of one rank
//! the later put: the greater [`BlockId`]. Elements that no block holds are gaps: an error, or regions to be
//! filled, as the caller asks. The work is proportional to the blocks touched (times the logarithm of their
//! number), not to the layout.

mod gaps;
mod owners;
mod part;
mod points;

use serde::{Deserialize, Serialize};

pub use part::{Part, PartRuns, SelectedPoint};

use crate::id::BlockId;
use crate::layout::Layout;
use crate::order::MemoryOrder;
use crate::region::Region;
use crate::regions::RegionList;
use crate::runs::{CopyError, DenseArray, RunsError};
use crate::selection::{Selection, SelectionError};
use crate::shape::Shape;
use crate::stride::StridedRegion;

/// The most pieces, or gaps, that a plan may be cut into.
pub const MAX_PIECES: usize = 1 << 22;

/// What to do about elements that no block holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GapPolicy {
    /// They are an error.
    #[default]
    Error,
    /// They are listed in [`Plan::gaps`], for the caller to fill.
    Fill,
}

/// Which blocks send which elements, and where those go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// What to take from which block, in the order of block ids. No element occurs twice.
    pub pieces: Vec<Piece>,
    /// What no block holds; empty under [`GapPolicy::Error`].
    pub gaps: Vec<Part>,
    /// How the subscriber's array holds what arrives.
    pub destination: Destination,
}

/// What to take from one block.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Piece {
    /// The block.
    pub block: BlockId,
    /// What that block holds: its memory is this region, dense.
    pub block_region: Region,
    /// Which of its elements to take.
    pub part: Part,
    /// Where, in elements, the memory of this piece starts at the destination: 0 unless that is
    /// [`Destination::Blocks`].
    pub destination_offset: u64,
}

/// How the subscriber's array holds what arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there is one in a plan, and it is copied freely")]
pub enum Destination {
    /// The elements selected, each at its place among them.
    Elements(StridedRegion),
    /// So many points, in the order of the selection.
    Points(u64),
    /// Whole blocks one after another, with so many elements in all. Each is dense and starts at its piece's
    /// `destination_offset`.
    Blocks(u64),
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The selection does not go with the array.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// Regions and points mean nothing where each block is an array of its own.
    #[error(
        "{selection} selects by global coordinates, but every block is a local array: select a block, a rank or all"
    )]
    LocalArray {
        /// The selection.
        selection: Box<Selection>,
    },
    /// The block selected was not put.
    #[error("rank {} put no block {}", block.rank, block.index)]
    NoSuchBlock {
        /// The block.
        block: BlockId,
    },
    /// Nobody put some of the elements.
    #[error("{missing} of {selected} elements were put by no rank; the first of them are {first}")]
    Gap {
        /// The first missing region, by its lowest corner; parts of it that follow may be named apart.
        first: Box<StridedRegion>,
        /// How many elements are missing.
        missing: u64,
        /// How many were selected.
        selected: u64,
    },
    /// Overlaps cut the plan into more than [`MAX_PIECES`].
    #[error("overlapping blocks cut the selection into more than {MAX_PIECES} pieces")]
    TooManyPieces,
    /// The blocks selected hold more elements in all than can be counted.
    #[error("the blocks selected hold more than 2^63 elements in all")]
    TooLarge,
}

/// The plan for a selection. `layout` has all blocks, or at least those that [`Layout::restricted_to`] the selection
/// leaves.
pub fn plan(layout: &Layout, selection: &Selection, gap_policy: GapPolicy) -> Result<Plan, PlanError> {
    match (selection, layout.shape()) {
        (Selection::Block(block), _) => {
            let region = layout.region_of(*block).ok_or(PlanError::NoSuchBlock { block: *block })?;
            whole_blocks([(*block, region)])
        }
        (Selection::Rank(rank), _) => whole_blocks(layout.blocks_of(*rank)),
        (Selection::All, None) => whole_blocks(layout.blocks()),
        (_, None) => Err(PlanError::LocalArray { selection: selection.clone().into() }),
        (_, Some(shape)) => plan_global(layout, shape, selection, gap_policy),
    }
}

/// The plan for a selection by global coordinates.
fn plan_global(
    layout: &Layout,
    shape: &Shape,
    selection: &Selection,
    gap_policy: GapPolicy,
) -> Result<Plan, PlanError> {
    selection.validate(shape)?;
    match selection {
        Selection::Region(region) => plan_elements(layout, StridedRegion::dense(*region), gap_policy),
        Selection::Strided(strided) => plan_elements(layout, *strided, gap_policy),
        Selection::Points(selected) => points::plan_points(layout, selected, gap_policy),
        Selection::All | Selection::Block(_) | Selection::Rank(_) => {
            plan_elements(layout, StridedRegion::dense(Region::whole(shape)), gap_policy)
        }
    }
}

/// The plan for a (strided) region. All is worked out in indices of the elements selected, where strides are gone.
fn plan_elements(layout: &Layout, elements: StridedRegion, gap_policy: GapPolicy) -> Result<Plan, PlanError> {
    let mut positions = Vec::new();
    let mut touched = RegionList::new(elements.ndims());
    for position in layout.positions_touching(elements.region()) {
        if let Some(indices) = elements.indices_inside(&layout.block_at(position).1) {
            positions.push(position);
            touched.push(&indices);
        }
    }
    let owned = owners::resolve(&touched)?;
    let selected = Region::between(elements.stride().zeros_like(), elements.counts());
    let gaps = gaps::find(&selected, &owned)?;
    if let (Some(first), GapPolicy::Error) = (gaps.first(), gap_policy) {
        let missing = gaps.iter().map(Region::element_count).sum();
        let first = elements.at_indices(first).into();
        return Err(PlanError::Gap { first, missing, selected: elements.element_count() });
    }
    let piece = |(touched, indices): &(usize, Region)| {
        let (block, block_region) = layout.block_at(positions[*touched]);
        Piece { block, block_region, part: Part::of(elements.at_indices(indices)), destination_offset: 0 }
    };
    let pieces = owned.iter().map(piece).collect();
    let gaps = gaps.iter().map(|indices| Part::of(elements.at_indices(indices))).collect();
    Ok(Plan { pieces, gaps, destination: Destination::Elements(elements) })
}

/// The plan that takes blocks as they were put, one after another.
fn whole_blocks(blocks: impl IntoIterator<Item = (BlockId, Region)>) -> Result<Plan, PlanError> {
    let mut end = 0u64;
    let mut pieces = Vec::new();
    for (block, region) in blocks {
        pieces.push(Piece {
            block,
            block_region: region,
            part: Part::Region(region),
            destination_offset: end,
        });
        end = end.checked_add(region.element_count()).ok_or(PlanError::TooLarge)?;
    }
    i64::try_from(end).map_err(|_| PlanError::TooLarge)?;
    Ok(Plan { pieces, gaps: Vec::new(), destination: Destination::Blocks(end) })
}

impl Plan {
    /// How many elements the destination has, gaps included.
    pub fn element_count(&self) -> u64 {
        match &self.destination {
            Destination::Elements(elements) => elements.element_count(),
            Destination::Points(count) | Destination::Blocks(count) => *count,
        }
    }

    /// The shape of what arrives. For elements it is the selected extent without strides, for points their number, and
    /// for a block that comes alone its extent. For several blocks, or scalars of several ranks, it is one dimension of
    /// all elements.
    pub fn result_shape(&self) -> Shape {
        let dims = match (self.destination, &self.pieces[..]) {
            (Destination::Elements(elements), _) => elements.counts(),
            (Destination::Blocks(_), [only]) if only.block_region.ndims() > 0 => *only.block_region.count(),
            (Destination::Points(count) | Destination::Blocks(count), _) => [count].into(),
        };
        Shape::new(dims).unwrap_or_default()
    }

    /// The runs that bring a piece of this plan from its block to the subscriber's array.
    ///
    /// `source_order` is the order in which the block was put, `destination_order` the one the subscriber wants.
    pub fn runs<'a>(
        &self,
        piece: &'a Piece,
        source_order: MemoryOrder,
        destination_order: MemoryOrder,
    ) -> Result<PartRuns<'a>, RunsError> {
        let source = DenseArray::new(piece.block_region, source_order);
        let destination = match self.destination {
            Destination::Elements(elements) => DenseArray::new(elements, destination_order),
            Destination::Points(_) | Destination::Blocks(_) => {
                DenseArray::new(piece.block_region, destination_order)
            }
        };
        piece.part.runs(&source, &destination)
    }

    /// Copies a piece of this plan out of its block (`source`, all of it) into the subscriber's array
    /// (`destination`, all of it). `element_size` is in bytes. On an error nothing was written.
    pub fn copy_piece(
        &self,
        piece: &Piece,
        source: &[u8],
        source_order: MemoryOrder,
        destination: &mut [u8],
        destination_order: MemoryOrder,
        element_size: usize,
    ) -> Result<(), CopyError> {
        let runs = self.runs(piece, source_order, destination_order)?;
        let len_bytes = destination.len();
        let start = usize::try_from(u128::from(piece.destination_offset) * element_size as u128).ok();
        let rest = start.and_then(|start| destination.get_mut(start..));
        let needed_bytes = u128::from(self.element_count()) * element_size as u128;
        let rest = rest.ok_or(CopyError::DestinationTooShort { needed_bytes, len_bytes })?;
        runs.copy(source, rest, element_size)
    }

    /// Writes `element`, the bytes of one element, to every gap of the subscriber's array.
    pub fn fill_gaps(
        &self,
        destination: &mut [u8],
        destination_order: MemoryOrder,
        element: &[u8],
    ) -> Result<(), CopyError> {
        let needed_bytes = u128::from(self.element_count()) * element.len() as u128;
        if (destination.len() as u128) < needed_bytes {
            return Err(CopyError::DestinationTooShort { needed_bytes, len_bytes: destination.len() });
        }
        let Destination::Elements(elements) = self.destination else {
            return part::fill_points(&self.gaps, destination, element);
        };
        let array = DenseArray::new(elements, destination_order);
        self.gaps.iter().try_for_each(|gap| gap.fill(&array, destination, element))
    }
}

impl Piece {
    /// How many elements the piece brings.
    pub fn element_count(&self) -> u64 {
        self.part.element_count()
    }

    /// The whole of its block, if the piece is that.
    pub fn is_whole_block(&self) -> bool {
        self.part == Part::Region(self.block_region)
    }

    /// The block's memory, as one that holds its region densely in that order.
    pub fn source_array(&self, order: MemoryOrder) -> DenseArray {
        DenseArray::new(self.block_region, order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Rank;

    fn block(rank: u32, index: u32) -> BlockId {
        BlockId::new(Rank(rank), index)
    }

    fn region(start: u64, count: u64) -> Region {
        Region::new([start], [count]).unwrap()
    }

    fn line(extent: u64, blocks: &[(BlockId, Region)]) -> Layout {
        Layout::global(Shape::new([extent]).unwrap(), blocks.iter().copied()).unwrap()
    }

    fn pieces(plan: &Plan) -> Vec<(BlockId, Part)> {
        plan.pieces.iter().map(|piece| (piece.block, piece.part.clone())).collect()
    }

    #[test]
    fn the_higher_rank_and_then_the_later_put_wins() {
        let layout = line(
            10,
            &[(block(0, 0), region(0, 6)), (block(1, 0), region(4, 4)), (block(1, 1), region(7, 3))],
        );
        let plan = plan(&layout, &Selection::All, GapPolicy::Error).unwrap();
        let expected = [
            (block(0, 0), Part::Region(region(0, 4))),
            (block(1, 0), Part::Region(region(4, 3))),
            (block(1, 1), Part::Region(region(7, 3))),
        ];
        assert_eq!(pieces(&plan), expected);
        assert!(plan.pieces[2].is_whole_block() && !plan.pieces[0].is_whole_block());
    }

    #[test]
    fn gaps_are_named_or_listed() {
        let layout = line(10, &[(block(0, 0), region(0, 3)), (block(1, 0), region(5, 3))]);
        let selection = Selection::Region(region(1, 8));
        let error = plan(&layout, &selection, GapPolicy::Error).unwrap_err();
        let message = "3 of 8 elements were put by no rank; the first of them are [3:5]";
        assert_eq!(error.to_string(), message);
        let plan = plan(&layout, &selection, GapPolicy::Fill).unwrap();
        assert_eq!(plan.gaps, [Part::Region(region(3, 2)), Part::Region(region(8, 1))]);
    }

    #[test]
    fn one_block_and_one_rank_come_as_they_were_put() {
        let layout = line(
            10,
            &[(block(0, 0), region(0, 6)), (block(1, 0), region(0, 6)), (block(1, 1), region(7, 3))],
        );
        let covered = plan(&layout, &Selection::Block(block(0, 0)), GapPolicy::Error).unwrap();
        assert_eq!(pieces(&covered), [(block(0, 0), Part::Region(region(0, 6)))]);
        assert_eq!(covered.result_shape(), Shape::new([6]).unwrap());
        let rank = plan(&layout, &Selection::Rank(Rank(1)), GapPolicy::Error).unwrap();
        let offsets: Vec<u64> = rank.pieces.iter().map(|piece| piece.destination_offset).collect();
        assert_eq!((offsets, rank.element_count()), (vec![0, 6], 9));
        let missing = plan(&layout, &Selection::Block(block(2, 0)), GapPolicy::Error);
        assert_eq!(missing, Err(PlanError::NoSuchBlock { block: block(2, 0) }));
        let nothing = plan(&layout, &Selection::Rank(Rank(7)), GapPolicy::Error).unwrap();
        assert_eq!((nothing.pieces.len(), nothing.element_count()), (0, 0));
    }

    #[test]
    fn local_arrays_have_no_global_coordinates() {
        let layout = Layout::local(1, [(block(0, 0), [3].into())]).unwrap();
        let refused = plan(&layout, &Selection::Region(region(0, 1)), GapPolicy::Error).unwrap_err();
        let message = "[0:1] selects by global coordinates, but every block is a local array: select a block, a rank or all";
        assert_eq!(refused.to_string(), message);
        let scalars = Layout::local(0, [(block(0, 0), [].into())]).unwrap();
        let all = plan(&scalars, &Selection::All, GapPolicy::Error).unwrap();
        assert_eq!(all.result_shape(), Shape::new([1]).unwrap(), "one scalar a rank is a list of one");
    }

    #[test]
    fn selections_outside_are_refused() {
        let layout = line(10, &[(block(0, 0), region(0, 10))]);
        let outside = plan(&layout, &Selection::Region(region(8, 3)), GapPolicy::Fill);
        let expected = SelectionError::OutOfBounds { dim: 0, start: 8, count: 3, extent: 10 };
        assert_eq!(outside, Err(PlanError::Selection(expected)));
    }

    #[test]
    fn extents_past_32_bits() {
        let half = 1 << 35;
        let layout = line(2 * half, &[(block(0, 0), region(0, half)), (block(1, 0), region(half, half))]);
        let selection = Selection::Strided(StridedRegion::new(region(half - 4, 8), [3]).unwrap());
        let plan = plan(&layout, &selection, GapPolicy::Error).unwrap();
        let strided = StridedRegion::new(region(half - 4, 4), [3]).unwrap();
        let expected =
            [(block(0, 0), Part::Strided(strided)), (block(1, 0), Part::Region(region(half + 2, 1)))];
        assert_eq!(pieces(&plan), expected);
        let runs = plan.runs(&plan.pieces[0], MemoryOrder::RowMajor, MemoryOrder::RowMajor).unwrap();
        let starts: Vec<u64> =
            runs.series().flat_map(|series| series.iter()).map(|run| run.source_offset).collect();
        assert_eq!(starts, [half - 4, half - 1]);
    }

    #[test]
    fn a_short_array_is_refused_and_left_alone() {
        let layout = line(4, &[(block(0, 0), region(0, 2)), (block(1, 0), region(2, 2))]);
        let plan = plan(&layout, &Selection::All, GapPolicy::Error).unwrap();
        let mut short = [0; 3];
        let order = MemoryOrder::RowMajor;
        let refused = plan.copy_piece(&plan.pieces[1], &[7, 8], order, &mut short, order, 1);
        assert_eq!(refused, Err(CopyError::DestinationTooShort { needed_bytes: 4, len_bytes: 3 }));
        let refused = plan.copy_piece(&plan.pieces[1], &[7], order, &mut [0; 4], order, 1);
        assert_eq!(refused, Err(CopyError::SourceTooShort { needed_bytes: 2, len_bytes: 1 }));
        assert_eq!(short, [0; 3]);
    }
}
