//! What a selection of a variable means under one table: kept, as a table stays the same for many steps.

use crate::data::taker::piece_copies::PieceCopies;
use crate::records::made::Made;
use fp_proto::data::BlockPart;
use fp_proto::subscriber::AttachmentId;
use fp_transform::Block;
use fp_types::{
    CopyError, GapPolicy, Layout, MemoryOrder, Part, PartRuns, Piece, Plan, PlanError, Region, SelectedPoint,
    Selection, StepTable, TableId, VariableDef, plan,
};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Plans that are kept; when there are more, all are forgotten and made again as needed.
const LIMIT_PLANS: usize = 4096;

/// Plans that are found by comparing.
const RECENT_PLANS: usize = 8;

/// More than a part of a block takes in a request, and than one of its points does: numbers of at most nine bytes.
const PART_BYTES: usize = 16 + 9 * 3 * fp_types::MAX_DIMS;

const POINT_BYTES: usize = 16 + 9 * fp_types::MAX_DIMS;

/// A plan with what is needed to carry it out.
pub(crate) struct FetchPlan {
    pub(crate) def: Arc<VariableDef>,
    pub(crate) plan: Plan,
    /// Elements of the subscriber's array.
    pub(crate) elements: u64,
    pub(crate) element_size: usize,
    /// How the elements lie in the subscriber's array.
    pub(crate) destination_order: MemoryOrder,
    /// The blocks, where they need not be fetched: those of the plan have rank 0 and are counted from 0.
    pub(crate) here: Option<Arc<[Block]>>,
    /// The records, where a transform made them here.
    pub(crate) made: Option<Arc<Made>>,
    /// The pieces as their owners are asked for them: counted from the corner of the block.
    pub(crate) wanted: Vec<BlockPart>,
    /// How the pieces are copied, once one was.
    pub(crate) copies: OnceLock<PieceCopies>,
}

impl FetchPlan {
    /// Copies the fixed parts of the selected records.
    fn fill_made(&self, made: &Made, destination: &mut [u8]) -> Result<(), CopyError> {
        let (order, to, size) = (made.def.order, self.destination_order, self.element_size);
        self.plan.pieces.iter().try_for_each(|piece| {
            let Some(block) = made.blocks.get(&piece.block) else { return Ok(()) };
            let fixed = block.bytes.get(..block.count.saturating_mul(size)).unwrap_or_default();
            self.plan.copy_piece(piece, fixed, order, destination, to, size)
        })
    }

    /// Fills the array from blocks that are here, if they are; otherwise says that it did not.
    pub(crate) fn fill_here(&self, destination: &mut [u8]) -> Option<Result<(), fp_types::CopyError>> {
        if let Some(made) = &self.made {
            return Some(self.fill_made(made, destination));
        }
        let blocks = self.here.as_ref()?;
        let copy = |piece: &fp_types::Piece| {
            let Some(block) = blocks.get(piece.block.index as usize) else { return Ok(()) };
            let (order, to, size) = (block.order(), self.destination_order, self.element_size);
            self.plan.copy_piece(piece, block.bytes(), order, destination, to, size)
        };
        Some(self.plan.pieces.iter().try_for_each(copy))
    }
}

impl FetchPlan {
    /// The plan for a selection of what lies so: at least the blocks that it touches.
    pub(crate) fn of_layout(
        def: Arc<VariableDef>,
        layout: &Layout,
        key: &PlanKey,
    ) -> Result<Self, PlanError> {
        let policy = if key.fill { GapPolicy::Fill } else { GapPolicy::Error };
        let plan = plan(layout, &key.selection, policy)?;
        let wanted = plan.pieces.iter().map(|piece| wanted(&key.variable, piece)).collect();
        let element_size = def.element_bytes().unwrap_or(1);
        let destination_order = key.order;
        Ok(Self {
            elements: plan.element_count(),
            def,
            plan,
            element_size,
            destination_order,
            here: None,
            made: None,
            wanted,
            copies: OnceLock::new(),
        })
    }

    /// Elements of the subscriber's array.
    pub(crate) fn element_count(&self) -> u64 {
        self.elements
    }

    /// Bytes of the subscriber's array.
    pub(crate) fn len_bytes(&self) -> Option<usize> {
        usize::try_from(self.elements).ok()?.checked_mul(self.element_size)
    }

    /// Copies a piece out of its block into the subscriber's array, all of each. Says how many bytes that was.
    pub(crate) fn copy_piece(
        &self,
        piece: usize,
        block: &[u8],
        destination: &mut [u8],
    ) -> Result<usize, CopyError> {
        if let Some(copied) = self.copies().copy(piece, block, destination) {
            return copied;
        }
        let Some(of_plan) = self.plan.pieces.get(piece) else { return Ok(0) };
        let (order, size) = (self.order(), self.element_size);
        self.plan.copy_piece(of_plan, block, order, destination, self.destination_order, size)?;
        Ok(of_plan.element_count() as usize * size)
    }

    /// Whether a piece is all of its block, and has rows that are worth no reading for themselves.
    pub(crate) fn is_short_and_whole(&self, piece: usize) -> bool {
        self.copies().is_short(piece) && self.plan.pieces.get(piece).is_some_and(Piece::is_whole_block)
    }

    /// How its pieces are copied.
    pub(crate) fn copies(&self) -> &PieceCopies {
        let orders = || (self.order(), self.destination_order);
        self.copies.get_or_init(|| PieceCopies::of(&self.plan, orders(), self.element_size))
    }

    /// The variable as its owners know it.
    pub(crate) fn variable(&self) -> Option<&str> {
        self.wanted.first().map(|wanted| wanted.variable.as_str())
    }

    /// The block's memory order.
    pub(crate) fn order(&self) -> MemoryOrder {
        self.def.order
    }

    /// The one block that has the selection as a contiguous part, and that part in bytes.
    pub(crate) fn contiguous(&self) -> Option<(&Piece, std::ops::Range<usize>)> {
        let [piece] = &self.plan.pieces[..] else { return None };
        if !self.plan.gaps.is_empty() || piece.element_count() != self.plan.element_count() {
            return None;
        }
        let PartRuns::Elements(runs) = self.plan.runs(piece, self.order(), self.destination_order).ok()?
        else {
            return None;
        };
        let run = runs.single()?;
        let start = usize::try_from(run.source_offset).ok()?.checked_mul(self.element_size)?;
        let len = usize::try_from(run.len).ok()?.checked_mul(self.element_size)?;
        Some((piece, start..start + len))
    }
}

/// What a plan is kept under.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PlanKey {
    /// Tables of two epochs may be the same, but not where their owners are.
    pub(crate) epoch: Option<AttachmentId>,
    pub(crate) table: TableId,
    pub(crate) variable: String,
    pub(crate) selection: Selection,
    pub(crate) fill: bool,
    /// How the elements lie in the subscriber's array. Nothing that travels says it: the copy to their place
    /// transposes.
    pub(crate) order: MemoryOrder,
}

/// What a plan is looked up by where the selection is known: as [`PlanKey`], borrowed.
pub(crate) struct PlanQuery<'a> {
    pub(crate) epoch: Option<AttachmentId>,
    pub(crate) table: TableId,
    pub(crate) variable: &'a str,
    pub(crate) selection: &'a Selection,
    pub(crate) fill: bool,
    pub(crate) order: MemoryOrder,
}

impl PlanQuery<'_> {
    fn is(&self, key: &PlanKey) -> bool {
        (self.table, self.epoch, self.fill, self.order) == (key.table, key.epoch, key.fill, key.order)
            && self.variable == key.variable
            && *self.selection == key.selection
    }
}

/// Plans that were made before.
#[derive(Default)]
pub(crate) struct FetchPlans {
    inner: Mutex<Known>,
}

impl FetchPlans {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, key: &PlanKey) -> Option<Arc<FetchPlan>> {
        let mut known = self.lock();
        let planned = known.plans.get(key).cloned()?;
        if known.recent.iter().all(|(recent, _)| recent != key) {
            known.recent.truncate(RECENT_PLANS - 1);
            known.recent.push_front((key.clone(), planned.clone()));
        }
        Some(planned)
    }

    /// One of those that were looked up last.
    pub(crate) fn find_recent(&self, asked: &PlanQuery<'_>) -> Option<Arc<FetchPlan>> {
        let known = self.lock();
        known.recent.iter().find(|(key, _)| asked.is(key)).map(|(_, planned)| planned.clone())
    }

    pub(crate) fn keep(&self, key: PlanKey, planned: Arc<FetchPlan>) {
        let mut known = self.lock();
        if known.plans.len() >= LIMIT_PLANS {
            *known = Known::default();
        }
        known.plans.insert(key, planned);
    }
}

#[derive(Default)]
struct Known {
    plans: HashMap<PlanKey, Arc<FetchPlan>>,
    /// Those that were looked up last: most steps have the same few again, and need no hash.
    recent: VecDeque<(PlanKey, Arc<FetchPlan>)>,
}

/// The variables that users know.
pub(crate) fn names(table: &StepTable) -> Vec<String> {
    let known = table.entries().iter().filter(|entry| entry.def.is_public());
    known.map(|entry| entry.def.name.clone()).collect()
}

/// A piece as its owner knows it.
fn wanted(variable: &str, piece: &Piece) -> BlockPart {
    let (start, zero) = (piece.block_region.start(), piece.block_region.start().zeros_like());
    let part = match &piece.part {
        Part::Region(region) => Part::Region(moved(region, start, &zero)),
        Part::Strided(strided) => Part::Strided(strided.translate(start, &zero).unwrap_or(*strided)),
        Part::Points(points) => Part::Points(points.iter().map(|point| from_corner(point, start)).collect()),
    };
    BlockPart { variable: variable.to_owned(), block: piece.block.index, part }
}

fn moved(region: &Region, start: &fp_types::Dims, zero: &fp_types::Dims) -> Region {
    // A part lies inside its block, so counting from the block's corner cannot fail.
    region.translate(start, zero).unwrap_or(*region)
}

fn from_corner(point: &SelectedPoint, start: &fp_types::Dims) -> SelectedPoint {
    let mut local = point.point;
    local.iter_mut().zip(start.iter()).for_each(|(at, start)| *at = at.saturating_sub(*start));
    SelectedPoint { position: point.position, point: local }
}

/// Bytes that a piece takes in a request, at most.
pub(crate) fn request_bytes(piece: &BlockPart) -> usize {
    let points = if let Part::Points(points) = &piece.part { points.len() } else { 0 };
    piece.variable.len() + PART_BYTES + POINT_BYTES * points
}

pub(crate) fn element_count(planned: &FetchPlan) -> usize {
    usize::try_from(planned.elements).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_proto::data::DataMessage;
    use fp_types::{Dims, MAX_DIMS, StepId, StridedRegion};

    /// Too low, and a request becomes longer than a frame may be; far too high, and there are many.
    #[test]
    fn what_a_piece_takes_in_a_request_is_known_before() {
        let far = Dims::from([1 << 40; MAX_DIMS]);
        let region = Region::new(far, [200; MAX_DIMS]).expect("it can be counted");
        let strided = StridedRegion::new(region, far).expect("strides");
        let points = |count: u64| (0..count).map(|at| SelectedPoint { position: u64::MAX - at, point: far });
        let parts =
            [Part::Strided(strided), Part::Points(points(1).collect()), Part::Points(points(500).collect())];
        for part in parts {
            let piece = BlockPart { variable: "x".repeat(200), block: u32::MAX, part };
            let len_bytes =
                |pieces| DataMessage::Fetch { request: 0, step: StepId(0), pieces }.encode().len();
            let taken = len_bytes(vec![piece.clone()]) - len_bytes(Vec::new());
            let known = request_bytes(&piece);
            assert!((taken..=2 * taken + PART_BYTES).contains(&known), "{known} are known of {taken} bytes");
        }
    }
}
