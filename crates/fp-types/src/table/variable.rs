//! One variable, as all ranks put it last: what they say it is, and their blocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::builder::ApplyError;
use super::changes::{PutColumn, RankRange, Segment, meaning};
use super::compose::{Agreed, ComposeError, PutDifference, difference};
use super::contribution::{ContributionError, check_agreed};
use super::pages::{Page, Piece, Put};
use crate::dims::Dims;
use crate::id::Rank;
use crate::layout::parts::PART_RANKS;
use crate::region::Region;
use crate::schema::ArrayKind;

/// What the ranks put of one variable.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    /// What ranks say the variable is; those that no rank says any more are in `unused`.
    meanings: Vec<Meaning>,
    known: BTreeMap<[u8; 16], u32>,
    unused: Vec<u32>,
    pub(super) pages: Vec<Page>,
}

#[derive(Clone, Debug)]
struct Meaning {
    agreed: Agreed,
    key: [u8; 16],
    /// Ranks that say so.
    ranks: usize,
}

impl Variable {
    pub(super) fn new(cohort_size: u32) -> Self {
        let pages = vec![Page::default(); cohort_size.div_ceil(PART_RANKS) as usize];
        Self { meanings: Vec::new(), known: BTreeMap::new(), unused: Vec::new(), pages }
    }

    /// Whether no rank puts it.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Takes what the ranks of sorted ranges put: the columns that there are of it. Says whether that was anything new,
    /// and adds whom it refused.
    pub(super) fn apply(
        &mut self,
        ranges: &[RankRange],
        columns: &[PutColumn],
        refused: &mut Vec<(Rank, ApplyError)>,
    ) -> bool {
        let mut pieces: Vec<Piece<'_>> = Vec::new();
        for column in columns {
            if let Err(error) = check_agreed(&column.def, column.shape) {
                refused.extend(column.ranks.iter().map(|range| refusal(range.first, error.clone())));
                continue;
            }
            let meaning = self.meaning_of(column);
            column
                .segments()
                .for_each(|segment| valid_pieces(column, meaning, &segment, &mut pieces, refused));
        }
        pieces.sort_unstable_by_key(|piece| piece.first);
        let mut touched: Vec<u32> = pieces.iter().map(|piece| piece.meaning).collect();
        let changed = self.take(ranges, &pieces, &mut touched);
        touched.sort_unstable();
        touched.dedup();
        touched.into_iter().for_each(|meaning| self.forget_unsaid(meaning));
        changed
    }

    /// Goes through the ranks that changed: what has a piece is put, the others put nothing. Adds the meanings that
    /// fewer ranks say than before.
    fn take(&mut self, ranges: &[RankRange], pieces: &[Piece<'_>], fewer: &mut Vec<u32>) -> bool {
        let mut pieces = pieces.iter().peekable();
        let mut changed = false;
        for range in ranges {
            let (mut at, end) = (range.first.0, range.first.0.saturating_add(range.count));
            while let Some(piece) = pieces.next_if(|piece| piece.first < end) {
                // Input that was checked has no pieces that overlap, nor any between the ranges.
                if piece.first >= at && piece.count <= end - piece.first {
                    changed |= self.remove(at, piece.first - at, fewer);
                    changed |= self.replace(*piece, fewer);
                    at = piece.first + piece.count;
                }
            }
            changed |= self.remove(at, end - at, fewer);
        }
        changed
    }

    fn replace(&mut self, piece: Piece<'_>, fewer: &mut Vec<u32>) -> bool {
        let mut changed = false;
        for (page, piece) in piece.by_page() {
            let Some(before) = self.pages.get_mut(page).and_then(|page| page.replace(&piece)) else {
                continue;
            };
            changed = true;
            self.meanings[piece.meaning as usize].ranks += piece.count as usize;
            self.unsay(&before, fewer);
        }
        changed
    }

    fn remove(&mut self, first: u32, count: u32, fewer: &mut Vec<u32>) -> bool {
        let mut changed = false;
        let nothing = Piece { first, count, meaning: 0, block_counts: None, numbers: &[], each: 0 };
        for (page, ranks) in nothing.by_page() {
            let Some(page) = self.pages.get_mut(page) else { continue };
            let before = page.remove(ranks.first, ranks.count);
            changed |= !before.is_empty();
            self.unsay(&before, fewer);
        }
        changed
    }

    /// Forgets what those ranks said.
    fn unsay(&mut self, before: &[Put], fewer: &mut Vec<u32>) {
        for put in before {
            self.meanings[put.meaning as usize].ranks -= 1;
            if fewer.last() != Some(&put.meaning) {
                fewer.push(put.meaning);
            }
        }
    }

    fn forget_unsaid(&mut self, at: u32) {
        let meaning = &self.meanings[at as usize];
        if meaning.ranks == 0 && self.known.remove(&meaning.key).is_some() {
            self.unused.push(at);
        }
    }

    fn meaning_of(&mut self, column: &PutColumn) -> u32 {
        let key = meaning(&column.def, column.shape.as_ref());
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let agreed = Agreed { def: Arc::new(column.def.clone()), shape: column.shape };
        let meaning = Meaning { agreed, key, ranks: 0 };
        let at = match self.unused.pop() {
            Some(at) => {
                self.meanings[at as usize] = meaning;
                at
            }
            None => {
                self.meanings.push(meaning);
                self.meanings.len() as u32 - 1
            }
        };
        self.known.insert(key, at);
        at
    }

    /// What all ranks agree that the variable is.
    pub(super) fn agreed(&self, name: &str) -> Result<Option<&Agreed>, ComposeError> {
        let mut puts = self.pages.iter().flat_map(|page| &page.puts);
        let Some(first) = puts.next() else { return Ok(None) };
        let agreed = &self.meanings[first.meaning as usize].agreed;
        if self.known.len() > 1
            && let Some(second) = puts.find(|put| put.meaning != first.meaning)
        {
            let other = &self.meanings[second.meaning as usize].agreed;
            let difference =
                difference(agreed, other).unwrap_or(PutDifference::Shape(agreed.shape, other.shape));
            return Err(ComposeError::Disagreement {
                variable: name.to_owned(),
                first: first.rank,
                second: second.rank,
                difference: Box::new(difference),
            });
        }
        Ok(Some(agreed))
    }
}

fn refusal(rank: Rank, error: ContributionError) -> (Rank, ApplyError) {
    (rank, ApplyError::Contribution { rank, error })
}

/// The pieces of a segment whose blocks go with the column; ranks with others are refused.
fn valid_pieces<'a>(
    column: &PutColumn,
    meaning: u32,
    segment: &Segment<'a>,
    pieces: &mut Vec<Piece<'a>>,
    refused: &mut Vec<(Rank, ApplyError)>,
) {
    let each = column.numbers_each();
    let RankRange { first, count } = segment.range;
    let Segment { block_counts, numbers, .. } = *segment;
    let mut rest = Piece { first: first.0, count, meaning, block_counts, numbers, each };
    while let Some((ranks, error)) = first_invalid(column, &rest) {
        let (valid, from) = rest.split(ranks);
        pieces.extend(Some(valid).filter(|piece| piece.count > 0));
        refused.push(refusal(Rank(from.first), error));
        rest = from.split(1).1;
    }
    pieces.extend(Some(rest).filter(|piece| piece.count > 0));
}

/// How many ranks come before the first with a block that does not go with the column, and what is wrong with it.
fn first_invalid(column: &PutColumn, piece: &Piece<'_>) -> Option<(u32, ContributionError)> {
    if piece.each == 0 {
        return None;
    }
    let position = piece.numbers.chunks_exact(piece.each).position(|block| !allows(column, block))?;
    let (mut rank, mut index) = (0, position);
    for &count in piece.block_counts.unwrap_or_default() {
        if index < count as usize {
            break;
        }
        (rank, index) = (rank + 1, index - count as usize);
    }
    if piece.block_counts.is_none() {
        (rank, index) = (position as u32, 0);
    }
    let (variable, index) = (column.def.name.clone(), index as u32);
    let block = &piece.numbers[position * piece.each..][..piece.each];
    let region = region(column, block).map(Box::new);
    let error = match region {
        Some(region) => {
            ContributionError::Block { variable, index, region, shape: column.shape.map(Box::new) }
        }
        None => ContributionError::Uncountable { variable, index },
    };
    Some((rank, error))
}

/// Whether a block can be counted and lies inside the shape, if there is one.
fn allows(column: &PutColumn, block: &[u64]) -> bool {
    match (column.def.kind, column.shape) {
        (ArrayKind::GlobalArray, Some(shape)) => {
            let (start, count) = block.split_at(block.len() / 2);
            let inside = |((&start, &count), &extent): ((&u64, &u64), &u64)| {
                start.checked_add(count).is_some_and(|end| end <= extent)
            };
            start.iter().zip(count).zip(shape.dims().iter()).all(inside)
        }
        _ => {
            let product =
                block.iter().filter(|&&count| count > 0).try_fold(1u64, |product, &n| product.checked_mul(n));
            product.is_some_and(|product| i64::try_from(product).is_ok())
        }
    }
}

fn region(column: &PutColumn, block: &[u64]) -> Option<Region> {
    let placed = column.def.kind == ArrayKind::GlobalArray;
    let (start, count) = block.split_at(if placed { block.len() / 2 } else { 0 });
    let count = Dims::from_slice(count).ok()?;
    let start = if placed { Dims::from_slice(start).ok()? } else { count.zeros_like() };
    Region::new(start, count).ok()
}
