//! What changed in a step, over any number of ranks, by variable: each definition once, blocks as plain numbers.
//!
//! A million particles' counts are then two vectors of numbers and no more. They are merged up a tree by appending, and
//! [`TableBuilder`](super::TableBuilder) takes them as they are.
//!
//! It holds columns, not an entry for each rank with its definitions: that cost the lead 2 to 5 µs a rank. Nor does it
//! hold deltas against the step before: a lead that refused a step would have to take them back
//! (`docs/decisions/0008-reports-say-what-changed.md`).

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use serde::{Deserialize, Serialize};

use super::{Contribution, ContributionError, VariablePut};
use crate::hash::CanonicalHasher;
use crate::id::Rank;
use crate::region::Region;
use crate::schema::{ArrayKind, VariableDef, encode_variable};
use crate::shape::Shape;

/// What goes before the content in the hash of what a column means. It never leaves the process.
const DOMAIN: &str = "flexpath column 2";

/// Neighbouring ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RankRange {
    /// The lowest of them.
    pub first: Rank,
    /// How many they are, at least one.
    pub count: u32,
}

/// What those ranks put that put something else than in the step before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutChanges {
    /// The ranks, each once. Of a variable without a column for one of them, that one puts nothing any more.
    pub ranks: Vec<RankRange>,
    /// What they put, by variable. A variable has several columns if ranks disagree on it.
    pub columns: Vec<PutColumn>,
}

/// What ranks that agree on a variable put of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutColumn {
    /// What the variable is.
    pub def: VariableDef,
    /// The global extent: of global arrays, and of them alone.
    pub shape: Option<Shape>,
    /// The ranks, each once.
    pub ranks: Vec<RankRange>,
    /// How many blocks each of them put, in the order of `ranks`; empty if each put one.
    pub block_counts: Vec<u32>,
    /// The blocks, rank after rank in the order of `ranks`. A block of a global array is start and count in each
    /// dimension. One of a local or joined array is the count alone, one of a scalar nothing.
    pub numbers: Vec<u64>,
}

/// Why changes mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PutChangesError {
    /// Ranges of ranks do not rise, or they touch, overlap, are empty, or pass the last rank that there can be.
    #[error("ranges of ranks are out of order")]
    Ranges,
    /// A column tells of a rank that is not among those that changed.
    #[error("a column tells of a rank that did not change")]
    Stranger,
    /// A column has more or fewer counts or numbers than its ranks' blocks.
    #[error("a column's numbers are not those of its blocks")]
    Numbers,
    /// One rank has two columns of one variable.
    #[error("a rank has two columns of one variable")]
    Twice,
    /// More ranks and blocks, over all columns, than the limit.
    #[error("too many blocks")]
    TooMany,
}

impl PutChanges {
    /// What one rank put.
    ///
    /// # Errors
    /// If a variable occurs twice, or a block is none of its variable's. Such a block has other dimensions, or is of a
    /// local or joined array and not at 0. All else is for the lead to judge.
    pub fn of(rank: Rank, contribution: &Contribution) -> Result<Self, ContributionError> {
        contribution.check_names()?;
        let ranks = vec![RankRange { first: rank, count: 1 }];
        let columns = contribution.variables.iter().map(|put| PutColumn::of(&ranks, put));
        let mut changes = Self { columns: columns.collect::<Result<_, _>>()?, ranks: ranks.clone() };
        changes.sort();
        Ok(changes)
    }

    /// Whether no rank put anything else than before.
    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// How many blocks there are, over all variables.
    pub fn block_count(&self) -> u64 {
        self.columns.iter().map(PutColumn::block_count).fold(0, u64::saturating_add)
    }

    /// How many ranks and blocks are told of, over all columns: what it takes to go through them.
    pub fn item_count(&self) -> u64 {
        let of = |column: &PutColumn| column.rank_count().saturating_add(column.block_count());
        self.columns.iter().map(of).fold(count(&self.ranks), u64::saturating_add)
    }

    /// Adds what other ranks put. The ranges are in order again after [`Self::sort`].
    pub fn append(&mut self, other: PutChanges) {
        if self.is_empty() {
            *self = other;
            return;
        }
        self.ranks.extend(other.ranks);
        let mut known: Option<BTreeMap<[u8; 16], usize>> = None;
        for (position, column) in other.columns.into_iter().enumerate() {
            // Ranks that agree have their variables in the same places; those that do not are looked up.
            if let Some(known) = self.columns.get_mut(position).filter(|known| known.is_like(&column)) {
                known.append(column);
                continue;
            }
            let places = known.get_or_insert_with(|| places(&self.columns));
            match places.entry(meaning(&column.def, column.shape.as_ref())) {
                Entry::Occupied(place) => self.columns[*place.get()].append(column),
                Entry::Vacant(place) => {
                    place.insert(self.columns.len());
                    self.columns.push(column);
                }
            }
        }
    }

    /// Brings ranks into order, neighbours into one range, and columns by name: equal contents are equal, whoever came
    /// first.
    pub fn sort(&mut self) {
        if !in_order(&self.ranks) {
            self.ranks.sort_unstable_by_key(|range| range.first);
            self.ranks = joined(self.ranks.iter().copied());
        }
        self.columns.iter_mut().for_each(PutColumn::sort);
        let by_name = |one: &PutColumn, next: &PutColumn| one.place() <= next.place();
        if !self.columns.is_sorted_by(by_name) {
            self.columns.sort_by(|one, other| one.place().cmp(&other.place()));
        }
    }

    /// Whether this can be taken as something that so many items tell at most. Ranges must be in order, and there must
    /// be numbers for each block. What the numbers mean is not looked at.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self, limit_items: u64) -> Result<(), PutChangesError> {
        let columns = || self.columns.iter().map(|column| &column.ranks);
        if !in_order(&self.ranks) || !columns().all(|ranks| in_order(ranks)) {
            return Err(PutChangesError::Ranges);
        }
        if !columns().all(|ranks| is_within(ranks, &self.ranks)) {
            return Err(PutChangesError::Stranger);
        }
        if !self.columns.iter().all(PutColumn::has_its_numbers) {
            return Err(PutChangesError::Numbers);
        }
        if !self.names_each_once() {
            return Err(PutChangesError::Twice);
        }
        if self.item_count() > limit_items { Err(PutChangesError::TooMany) } else { Ok(()) }
    }
}

impl PutChanges {
    /// Whether each rank has one column at most of each variable.
    fn names_each_once(&self) -> bool {
        let mut by_name: Vec<(&str, &[RankRange])> =
            self.columns.iter().map(|column| (column.def.name.as_str(), column.ranks.as_slice())).collect();
        by_name.sort_unstable_by_key(|(name, _)| *name);
        by_name.chunk_by(|one, other| one.0 == other.0).all(|same| {
            let mut ranges: Vec<RankRange> =
                same.iter().flat_map(|(_, ranges)| ranges.iter().copied()).collect();
            ranges.sort_unstable_by_key(|range| range.first);
            same.len() == 1 || ranges.windows(2).all(|pair| pair[0].last() < pair[1].first)
        })
    }
}

/// Where columns are, by what they mean.
fn places(columns: &[PutColumn]) -> BTreeMap<[u8; 16], usize> {
    let meanings = columns.iter().map(|column| meaning(&column.def, column.shape.as_ref()));
    meanings.zip(0..).collect()
}

/// A hash of what ranks have to agree on about a variable.
pub(super) fn meaning(def: &VariableDef, shape: Option<&Shape>) -> [u8; 16] {
    let mut hasher = CanonicalHasher::new(DOMAIN);
    encode_variable(&mut hasher, def);
    hasher.byte(u8::from(shape.is_some()));
    shape.into_iter().for_each(|shape| hasher.numbers(shape.dims()));
    hasher.finish()
}

impl PutColumn {
    fn of(ranks: &[RankRange], put: &VariablePut) -> Result<Self, ContributionError> {
        let ndims = put.def.ndims();
        let from_zero = |region: &Region| region.start().iter().all(|&start| start == 0);
        let placed = put.def.kind == ArrayKind::GlobalArray;
        let fits = |region: &Region| region.ndims() == ndims && (placed || from_zero(region));
        if let Some(index) = put.blocks.iter().position(|region| !fits(region)) {
            return Err(put.block_error(index));
        }
        let mut numbers = Vec::with_capacity(put.blocks.len() * numbers_each(&put.def));
        for region in &put.blocks {
            if placed {
                numbers.extend_from_slice(region.start());
            }
            numbers.extend_from_slice(region.count());
        }
        let block_counts = if put.blocks.len() == 1 { Vec::new() } else { vec![put.blocks.len() as u32] };
        Ok(Self { def: (*put.def).clone(), shape: put.shape, ranks: ranks.to_vec(), block_counts, numbers })
    }

    /// How many ranks it tells of.
    pub fn rank_count(&self) -> u64 {
        count(&self.ranks)
    }

    /// How many blocks they put.
    pub fn block_count(&self) -> u64 {
        if self.block_counts.is_empty() {
            return self.rank_count();
        }
        self.block_counts.iter().map(|&count| u64::from(count)).sum()
    }

    /// How many numbers a block has.
    pub fn numbers_each(&self) -> usize {
        numbers_each(&self.def)
    }

    /// Where it stands among others: a variable that ranks disagree on has several columns.
    fn place(&self) -> (&str, Option<Rank>) {
        (&self.def.name, self.ranks.first().map(|range| range.first))
    }

    /// Whether the other tells of the same variable, as the same thing.
    fn is_like(&self, other: &PutColumn) -> bool {
        self.def == other.def && self.shape == other.shape
    }

    fn append(&mut self, other: PutColumn) {
        if !(self.block_counts.is_empty() && other.block_counts.is_empty()) {
            self.fill_block_counts();
            let ones = if other.block_counts.is_empty() { other.rank_count() as usize } else { 0 };
            self.block_counts.extend(other.block_counts);
            self.block_counts.extend(std::iter::repeat_n(1, ones));
        }
        self.ranks.extend(other.ranks);
        self.numbers.extend(other.numbers);
    }

    fn fill_block_counts(&mut self) {
        if self.block_counts.is_empty() {
            self.block_counts = vec![1; self.rank_count() as usize];
        }
    }

    fn sort(&mut self) {
        if in_order(&self.ranks) {
            return;
        }
        let mut segments: Vec<Segment<'_>> = self.segments().collect();
        segments.sort_unstable_by_key(|segment| segment.range.first);
        let ranks = joined(segments.iter().map(|segment| segment.range));
        let mut block_counts = Vec::with_capacity(self.block_counts.len());
        let mut numbers = Vec::with_capacity(self.numbers.len());
        for segment in segments {
            block_counts.extend_from_slice(segment.block_counts.unwrap_or_default());
            numbers.extend_from_slice(segment.numbers);
        }
        (self.ranks, self.block_counts, self.numbers) = (ranks, block_counts, numbers);
    }

    /// What each range put. The column has its numbers.
    pub(super) fn segments(&self) -> impl Iterator<Item = Segment<'_>> {
        let (mut counts, mut numbers) = (self.block_counts.as_slice(), self.numbers.as_slice());
        let each = self.numbers_each();
        self.ranks.iter().map(move |&range| {
            let ranks = range.count as usize;
            let own_counts = (!counts.is_empty()).then(|| split_off(&mut counts, ranks));
            let blocks = own_counts
                .map_or(ranks, |counts: &[u32]| counts.iter().map(|&count| count as usize).sum::<usize>());
            Segment { range, block_counts: own_counts, numbers: split_off(&mut numbers, blocks * each) }
        })
    }

    fn has_its_numbers(&self) -> bool {
        let counted = self.block_counts.is_empty() || self.block_counts.len() as u64 == self.rank_count();
        let numbers = self.block_count().checked_mul(self.numbers_each() as u64);
        counted && numbers == Some(self.numbers.len() as u64)
    }
}

/// What the ranks of one range put.
pub(super) struct Segment<'a> {
    pub(super) range: RankRange,
    /// None if each put one block.
    pub(super) block_counts: Option<&'a [u32]>,
    pub(super) numbers: &'a [u64],
}

impl RankRange {
    /// The highest rank.
    pub fn last(&self) -> Rank {
        Rank(self.first.0.saturating_add(self.count.saturating_sub(1)))
    }
}

/// The first `count` of the items, or as many as there are, taken off the front.
fn split_off<'a, T>(items: &mut &'a [T], count: usize) -> &'a [T] {
    let (front, rest) = items.split_at(count.min(items.len()));
    *items = rest;
    front
}

/// How many numbers say where a block of that variable is.
pub(super) fn numbers_each(def: &VariableDef) -> usize {
    match def.kind {
        ArrayKind::Scalar | ArrayKind::LocalScalar => 0,
        ArrayKind::GlobalArray => 2 * def.ndims(),
        ArrayKind::LocalArray | ArrayKind::JoinedArray { .. } => def.ndims(),
    }
}

fn count(ranges: &[RankRange]) -> u64 {
    ranges.iter().map(|range| u64::from(range.count)).sum()
}

/// Whether ranges rise and none touches the next, is empty or passes the last rank.
fn in_order(ranges: &[RankRange]) -> bool {
    let exists = |range: &RankRange| range.count > 0 && range.first.0.checked_add(range.count).is_some();
    let apart = |pair: &[RankRange]| pair[0].first.0 + pair[0].count < pair[1].first.0;
    ranges.iter().all(exists) && ranges.windows(2).all(apart)
}

/// Sorted ranges, those that touch made one. (What overlaps stays as it is: it is nobody's.)
fn joined(ranges: impl Iterator<Item = RankRange>) -> Vec<RankRange> {
    let mut joined: Vec<RankRange> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if u64::from(last.first.0) + u64::from(last.count) == u64::from(range.first.0) => {
                last.count = last.count.saturating_add(range.count);
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// Whether all ranks of sorted ranges are among those of others.
fn is_within(inner: &[RankRange], outer: &[RankRange]) -> bool {
    let holds = |range: &RankRange| {
        let after = outer.partition_point(|outer| outer.first <= range.first);
        after > 0 && outer[..after].last().is_some_and(|outer| range.last() <= outer.last())
    };
    inner.iter().all(holds)
}
