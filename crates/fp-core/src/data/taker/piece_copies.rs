//! How the pieces of a plan are copied to their places, worked out once and kept in little memory. A plan may have very
//! many, and each step copies all of them.

use fp_types::{CopyError, MemoryOrder, PartRuns, Piece, Plan, RunPattern};
use smallvec::SmallVec;

/// Patterns among which that of the next piece is looked for: boxes that are cut alike follow one another.
const RECENT_PATTERNS: usize = 8;

/// No pattern: a piece of points.
const NONE: u32 = u32::MAX;

/// Pieces whose order is thought about, and how long their runs are at most: of longer ones few lines of memory are in
/// common.
const MANY_PIECES: usize = 64;
const LIMIT_RUN_BYTES: u64 = 1024;

/// Pieces beside one another that are copied together, at most: each is a stream of memory.
const LIMIT_BESIDE: usize = 64;

/// Runs at least this long are received straight to their places; shorter ones aside, and copied.
pub(crate) const SCATTER_BYTES: u64 = 512;

/// One piece: which pattern its runs have, and where the first of them is in the block and in the array, in bytes.
struct PieceCopy {
    block: u32,
    /// Which of the ranks that have blocks of the plan, by rising rank.
    owner: u32,
    pattern: u32,
    start: (u64, u64),
}

/// The pieces of a plan, in its order.
pub(crate) struct PieceCopies {
    copies: SmallVec<[PieceCopy; 1]>,
    patterns: SmallVec<[RunPattern; 1]>,
    owners: usize,
    /// All pieces by their places in the array, if they are many and short.
    order: Vec<u32>,
    /// Whether each is a whole block, and those of each rank lie in the array in the order of the plan.
    come_in_order: bool,
}

impl PieceCopies {
    /// Those of a plan, from blocks in one memory order to an array in another. `element_size` is in bytes.
    pub(crate) fn of(plan: &Plan, (from, to): (MemoryOrder, MemoryOrder), element_size: usize) -> Self {
        let copies = SmallVec::with_capacity(plan.pieces.len());
        let patterns = SmallVec::new();
        let mut all = Self { copies, patterns, owners: 0, order: Vec::new(), come_in_order: false };
        let mut rank = None;
        for piece in &plan.pieces {
            all.owners += usize::from(rank.replace(piece.block.rank) != Some(piece.block.rank));
            let known = match plan.runs(piece, from, to) {
                Ok(PartRuns::Elements(runs)) => RunPattern::of(&runs, element_size),
                Ok(PartRuns::Points { .. }) | Err(_) => None,
            };
            let offset = piece.destination_offset.checked_mul(element_size as u64);
            let known = known.and_then(|(pattern, (source, destination))| {
                Some((pattern, (source, destination.checked_add(offset?)?)))
            });
            let (pattern, start) =
                known.map_or((NONE, (0, 0)), |(pattern, start)| (all.number(pattern), start));
            let owner = u32::try_from(all.owners - 1).unwrap_or(NONE);
            all.copies.push(PieceCopy { block: piece.block.index, owner, pattern, start });
        }
        if all.copies.len() >= MANY_PIECES {
            all.order = all.by_place();
            let is_whole = |(number, piece): (usize, &Piece)| all.is_short(number) && piece.is_whole_block();
            all.come_in_order = plan.pieces.iter().enumerate().all(is_whole) && all.is_order_of_each();
        }
        all
    }

    /// Whether those of each rank lie in the array in the order of the plan.
    fn is_order_of_each(&self) -> bool {
        let mut last = vec![None; self.owners];
        let rises = |piece: &u32| {
            let last = self.owner(*piece as usize).and_then(|owner| last.get_mut(owner));
            last.is_some_and(|last| last.replace(*piece) < Some(*piece))
        };
        self.order.iter().all(rises)
    }

    /// The number of a pattern, which is added if it is none of the last ones.
    fn number(&mut self, pattern: RunPattern) -> u32 {
        let recent = self.patterns.iter().enumerate().rev().take(RECENT_PATTERNS);
        let found = recent.filter(|(_, known)| **known == pattern).map(|(number, _)| number).next();
        let number = found.unwrap_or_else(|| {
            self.patterns.push(pattern);
            self.patterns.len() - 1
        });
        u32::try_from(number).unwrap_or(NONE)
    }

    /// The pieces by their places in the array, if they are all short runs, one after the other there.
    fn by_place(&self) -> Vec<u32> {
        let is_short = |copy: &PieceCopy| {
            let pattern = self.patterns.get(copy.pattern as usize);
            pattern.is_some_and(|pattern| pattern.run_bytes() <= LIMIT_RUN_BYTES)
        };
        if !self.copies.iter().all(is_short) {
            return Vec::new();
        }
        let mut order: Vec<u32> = (0..).take(self.copies.len()).collect();
        order.sort_by_key(|&piece| self.copies.get(piece as usize).map(|copy| copy.start.1));
        order
    }

    /// That order, if it is to be kept and the pieces are of so many ranks.
    pub(crate) fn order_of(&self, owners: usize) -> Option<&[u32]> {
        (self.owners == owners && !self.order.is_empty()).then_some(&self.order)
    }

    /// The same, if what each rank answers comes in that order, block by block.
    pub(crate) fn order_of_answers(&self, owners: usize) -> Option<&[u32]> {
        self.order_of(owners).filter(|_| self.come_in_order)
    }

    /// Which of its ranks a piece is of, by rising rank.
    pub(crate) fn owner(&self, piece: usize) -> Option<usize> {
        self.copies.get(piece).map(|copy| copy.owner as usize)
    }

    /// How the runs of a piece repeat; `None` if its elements are no runs.
    fn pattern(&self, piece: usize) -> Option<&RunPattern> {
        self.patterns.get(self.copies.get(piece)?.pattern as usize)
    }

    /// Whether a piece has several runs, which are short.
    pub(crate) fn is_short(&self, piece: usize) -> bool {
        self.pattern(piece).is_some_and(|pattern| {
            pattern.run_bytes() < SCATTER_BYTES && pattern.run_bytes() < pattern.len_bytes()
        })
    }

    /// How many bytes are copied of a piece; none of one that is no runs.
    pub(crate) fn len_bytes(&self, piece: u32) -> usize {
        self.pattern(piece as usize).map_or(0, |pattern| pattern.len_bytes() as usize)
    }

    /// The number of a piece's block on its rank.
    pub(crate) fn block(&self, piece: usize) -> Option<u32> {
        self.copies.get(piece).map(|copy| copy.block)
    }

    /// How many of the first of these pieces lie beside one another in the array and are cut alike, so that they are copied
    /// together; at least one.
    pub(crate) fn beside(&self, pieces: &[u32]) -> usize {
        let copy = |piece: &u32| self.copies.get(*piece as usize);
        let Some(first) = pieces.first().and_then(copy) else { return pieces.len().min(1) };
        let Some(pattern) = self.patterns.get(first.pattern as usize).filter(|pattern| pattern.has_rows())
        else {
            return 1;
        };
        let mut end = first.start.1;
        let is_next = |copy: &&PieceCopy| {
            let begins = end;
            end = begins.saturating_add(pattern.run_bytes());
            copy.pattern == first.pattern && copy.start.1 == begins
        };
        pieces.iter().take(LIMIT_BESIDE).map_while(copy).take_while(is_next).count()
    }

    /// Copies such pieces out of their blocks into the array, all of each, and says how many bytes that was.
    pub(crate) fn copy_beside(
        &self,
        pieces: &[u32],
        blocks: &[&[u8]],
        destination: &mut [u8],
    ) -> Result<usize, CopyError> {
        let copy = |piece: &u32| self.copies.get(*piece as usize);
        let Some(first) = pieces.first().and_then(copy) else { return Ok(0) };
        let Some(pattern) = self.patterns.get(first.pattern as usize) else { return Ok(0) };
        let copies = pieces.iter().filter_map(copy).zip(blocks);
        let sources: SmallVec<[(&[u8], u64); LIMIT_BESIDE]> =
            copies.map(|(copy, block)| (*block, copy.start.0)).collect();
        pattern.copy_beside(&sources, destination, first.start.1)?;
        Ok(pattern.len_bytes() as usize * sources.len())
    }

    /// Copies pieces in this order out of their blocks, as far as these are known. Says how many bytes that was.
    pub(crate) fn copy_in_order<'b>(
        &self,
        pieces: &[u32],
        mut block: impl FnMut(u32) -> Option<&'b [u8]>,
        destination: &mut [u8],
    ) -> Result<usize, CopyError> {
        let (mut copied, mut rest) = (0, pieces);
        while !rest.is_empty() {
            let beside = rest.iter().take(self.beside(rest));
            let blocks: SmallVec<[&[u8]; LIMIT_BESIDE]> = beside.map_while(|piece| block(*piece)).collect();
            // At least one: of a block that is not known nothing is copied.
            let (beside, behind) = rest.split_at(blocks.len().max(1));
            rest = behind;
            copied += self.copy_beside(beside, &blocks, destination)?;
        }
        Ok(copied)
    }

    /// Copies a piece out of its block into the array, all of each, and says how many bytes that was; `None` if its
    /// elements are no runs.
    pub(crate) fn copy(
        &self,
        piece: usize,
        block: &[u8],
        destination: &mut [u8],
    ) -> Option<Result<usize, CopyError>> {
        let copy = self.copies.get(piece)?;
        let pattern = self.patterns.get(copy.pattern as usize)?;
        let copied = pattern.copy(block, destination, copy.start);
        Some(copied.map(|()| pattern.len_bytes() as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_types::{BlockId, GapPolicy, Layout, Rank, Region, Selection, Shape};

    const SIDE: u64 = 4;
    const ALONG: u64 = 9;
    const ELEMENT: usize = 8;

    /// All boxes of a square array, which so many ranks have in turns.
    fn copies(ranks: u64) -> PieceCopies {
        let block = |number: u64| {
            let id = BlockId { rank: Rank((number % ranks) as u32), index: (number / ranks) as u32 };
            let corner = [number / ALONG * SIDE, number % ALONG * SIDE];
            (id, Region::new(corner, [SIDE; 2]).expect("a region"))
        };
        let shape = Shape::new([SIDE * ALONG; 2]).expect("a shape");
        let layout = Layout::global(shape, (0..ALONG * ALONG).map(block)).expect("a layout");
        let plan = fp_types::plan(&layout, &Selection::All, GapPolicy::Error).expect("a plan");
        PieceCopies::of(&plan, (MemoryOrder::RowMajor, MemoryOrder::RowMajor), ELEMENT)
    }

    #[test]
    fn boxes_beside_one_another_are_copied_row_by_row() {
        for ranks in [1, 2, 3] {
            let copies = copies(ranks);
            let order = copies.order_of(ranks as usize).expect("they are many and short");
            let blocks: Vec<Vec<u8>> = (0..order.len())
                .map(|piece| {
                    (0..ELEMENT * (SIDE * SIDE) as usize).map(|at| (at * 5 + piece * 3) as u8).collect()
                })
                .collect();
            let mut expected = vec![0; ELEMENT * (SIDE * ALONG * SIDE * ALONG) as usize];
            let mut found = expected.clone();
            let (mut rest, mut copied) = (order, 0);
            while !rest.is_empty() {
                let (beside, behind) = rest.split_at(copies.beside(rest));
                rest = behind;
                assert_eq!(beside.len() as u64, ALONG, "a row of boxes, of {ranks} ranks");
                let of: Vec<&[u8]> = beside.iter().map(|piece| &blocks[*piece as usize][..]).collect();
                copied += copies.copy_beside(beside, &of, &mut found).expect("they fit");
                for (piece, block) in beside.iter().zip(of) {
                    copies.copy(*piece as usize, block, &mut expected).expect("runs").expect("it fits");
                }
            }
            assert_eq!(copied, expected.len());
            assert_eq!(found, expected, "{ranks} ranks");
        }
    }

    #[test]
    fn where_a_block_is_too_short_nothing_is_copied() {
        let copies = copies(2);
        let order = copies.order_of(2).expect("they are many and short");
        let (whole, short) = (vec![1; ELEMENT * 16], vec![1; ELEMENT * 16 - 1]);
        let mut array = vec![0; ELEMENT * (SIDE * ALONG * SIDE * ALONG) as usize];
        assert!(copies.copy_beside(&order[..3], &[&whole, &whole, &short], &mut array).is_err());
        assert!(array.iter().all(|byte| *byte == 0));
    }
}
