//! The part of an array that one rank labels, and what was labelled of it.

use crate::plane::Rows;

/// Planes of an array that follow one another: those of one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaneRange {
    /// The first plane: its coordinate in dimension 0.
    pub first: u64,
    /// How many there are.
    pub planes: u64,
}

impl PlaneRange {
    /// The range of planes of a rank, where so many ranks share an array of that extent in dimension 0. Slabs differ by a plane at
    /// most. Some are empty where there are more ranks than planes.
    pub fn of_rank(rank: u32, ranks: u32, extent: u64) -> Self {
        let (rank, ranks) = (u128::from(rank), u128::from(ranks.max(1)));
        let begin = |rank: u128| (u128::from(extent) * rank / ranks) as u64;
        Self { first: begin(rank), planes: begin(rank + 1) - begin(rank) }
    }
}

/// What was labelled of one step: the runs of its regions.
#[derive(Debug)]
pub(crate) struct Labels {
    pub(crate) step: u64,
    pub(crate) extents: Vec<u64>,
    pub(crate) slab: PlaneRange,
    pub(crate) rows: Rows,
}
