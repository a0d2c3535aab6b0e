//! What ranks put of one variable, in pages of neighbouring ranks: a change of one rank touches one page.
//!
//! A page has as many ranks as a part of the layout: 256. So a rank that changes costs one part of the hash.

use crate::id::{BlockId, Rank};
use crate::layout::parts::{PART_RANKS, PartHash};

/// What one rank put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Put {
    pub(super) rank: Rank,
    /// What it says the variable is: an index into the variable's meanings.
    pub(super) meaning: u32,
    pub(super) blocks: u32,
    /// How many numbers the blocks take.
    numbers: usize,
}

/// What neighbouring ranks that agree put.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) meaning: u32,
    /// Blocks of each rank; none if each put one.
    pub(super) block_counts: Option<&'a [u32]>,
    pub(super) numbers: &'a [u64],
    /// How many numbers a block has.
    pub(super) each: usize,
}

/// The puts of the ranks of one part of the layout.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    /// By rising rank.
    pub(super) puts: Vec<Put>,
    /// Of all blocks, in that order.
    pub(super) numbers: Vec<u64>,
    /// The hash of the part, if nothing changed since it was laid out.
    pub(super) hash: Option<PartHash>,
}

impl Piece<'_> {
    fn puts(&self) -> impl Iterator<Item = Put> + '_ {
        (0..self.count).map(|at| {
            let blocks =
                self.block_counts.map_or(1, |counts| counts.get(at as usize).copied().unwrap_or_default());
            let rank = Rank(self.first.saturating_add(at));
            Put { rank, meaning: self.meaning, blocks, numbers: blocks as usize * self.each }
        })
    }

    /// The part of the first `count` ranks, and the rest.
    pub(super) fn split(self, count: u32) -> (Self, Self) {
        let ranks = count as usize;
        let (front, back) = match self.block_counts {
            Some(counts) => {
                let (front, back) = counts.split_at(ranks.min(counts.len()));
                (Some(front), Some(back))
            }
            None => (None, None),
        };
        let blocks = front.map_or(ranks, |counts| counts.iter().map(|&count| count as usize).sum());
        let (numbers, others) = self.numbers.split_at((blocks * self.each).min(self.numbers.len()));
        let rest = Self {
            first: self.first.saturating_add(count),
            count: self.count - count,
            block_counts: back,
            numbers: others,
            ..self
        };
        (Self { count, block_counts: front, numbers, ..self }, rest)
    }

    /// The parts that lie in one page each, with the page's number.
    pub(super) fn by_page(self) -> impl Iterator<Item = (usize, Self)> {
        let mut left = Some(self).filter(|piece| piece.count > 0);
        std::iter::from_fn(move || {
            let piece = left.take()?;
            let room = PART_RANKS - piece.first % PART_RANKS;
            let (here, rest) = piece.split(piece.count.min(room));
            left = Some(rest).filter(|piece| piece.count > 0);
            Some(((here.first / PART_RANKS) as usize, here))
        })
    }
}

impl Page {
    /// Takes a piece, which lies in this page, in place of what its ranks put before. Gives what that was, by rank, or
    /// nothing if it was the same.
    pub(super) fn replace(&mut self, piece: &Piece<'_>) -> Option<Vec<Put>> {
        let (places, numbers) = self.places(piece.first, piece.count);
        let same = self.numbers.get(numbers.clone()) == Some(piece.numbers)
            && self.puts[places.clone()].iter().copied().eq(piece.puts());
        if same {
            return None;
        }
        self.hash = None;
        self.numbers.splice(numbers, piece.numbers.iter().copied());
        Some(self.puts.splice(places, piece.puts()).collect())
    }

    /// Forgets what those ranks put; gives what that was.
    pub(super) fn remove(&mut self, first: u32, count: u32) -> Vec<Put> {
        let (places, numbers) = self.places(first, count);
        if places.is_empty() {
            return Vec::new();
        }
        self.hash = None;
        self.numbers.drain(numbers);
        self.puts.drain(places).collect()
    }

    /// Where the puts of those ranks are, and their numbers.
    fn places(&self, first: u32, count: u32) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let from = self.puts.partition_point(|put| put.rank.0 < first);
        let to = self.puts.partition_point(|put| put.rank.0 < first.saturating_add(count)).max(from);
        let before: usize = self.puts[..from].iter().map(|put| put.numbers).sum();
        let within: usize = self.puts[from..to].iter().map(|put| put.numbers).sum();
        (from..to, before..before + within)
    }

    /// Every block with its numbers, by rank and then by index.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (BlockId, &[u64])> {
        let mut left = self.numbers.as_slice();
        let blocks = self.puts.iter().flat_map(|put| {
            let each = put.numbers.checked_div(put.blocks as usize).unwrap_or_default();
            (0..put.blocks).map(move |index| (BlockId::new(put.rank, index), each))
        });
        blocks.map(move |(block, each)| {
            let (numbers, rest) = left.split_at(each.min(left.len()));
            left = rest;
            (block, numbers)
        })
    }

    /// How many blocks there are.
    pub(super) fn block_count(&self) -> usize {
        self.puts.iter().map(|put| put.blocks as usize).sum()
    }
}
