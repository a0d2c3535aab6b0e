//! Gives every element one owner: the last of the regions that hold it.

use std::ops::ControlFlow;

use super::{MAX_PIECES, PlanError};
use crate::index::SpatialIndex;
use crate::region::Region;
use crate::regions::RegionList;

/// What each region owns, as disjoint regions with the position of their owner, by rising position. A region owns
/// itself whole where no later one overlaps it; that costs one look-up and no subtraction.
pub(super) fn resolve(regions: &RegionList) -> Result<Vec<(usize, Region)>, PlanError> {
    let index = SpatialIndex::build(regions);
    let mut owned = Vec::with_capacity(regions.len());
    let mut later = Vec::new();
    for position in 0..regions.len() {
        let region = regions.region(position);
        let whole_lost = find_later(&index, regions, position, &region, &mut later);
        if later.is_empty() {
            owned.push((position, region));
        } else if !whole_lost {
            let rest = subtract_all(region, regions, &later)?;
            owned.extend(rest.into_iter().map(|part| (position, part)));
        }
        if owned.len() > MAX_PIECES {
            return Err(PlanError::TooManyPieces);
        }
    }
    Ok(owned)
}

/// Collects the positions of later regions that overlap this one, rising. Tells whether one of them holds all of it
/// (then the list is incomplete).
fn find_later(
    index: &SpatialIndex,
    regions: &RegionList,
    position: usize,
    region: &Region,
    later: &mut Vec<usize>,
) -> bool {
    let mut whole_lost = false;
    later.clear();
    index.visit_touching(region, |other| {
        if other > position {
            later.push(other);
            whole_lost = regions.region(other).contains(region);
        }
        if whole_lost { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    later.sort_unstable();
    whole_lost
}

/// What is left of a region without all of those others.
fn subtract_all(region: Region, regions: &RegionList, others: &[usize]) -> Result<Vec<Region>, PlanError> {
    let mut rest = vec![region];
    let mut next = Vec::new();
    for &other in others {
        let other = regions.region(other);
        rest.iter().for_each(|part| part.subtract_into(&other, &mut next));
        std::mem::swap(&mut rest, &mut next);
        next.clear();
        if rest.len() > MAX_PIECES {
            return Err(PlanError::TooManyPieces);
        }
    }
    Ok(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_covered_whole_owns_nothing() -> Result<(), Box<dyn std::error::Error>> {
        let mut regions = RegionList::new(1);
        for (start, count) in [(2, 3), (0, 4), (1, 8)] {
            regions.push(&Region::new([start], [count])?);
        }
        let expected = [(1, Region::new([0], [1])?), (2, Region::new([1], [8])?)];
        assert_eq!(resolve(&regions)?, expected);
        Ok(())
    }

    /// Twenty thousand times the same region: only the last owns it, and finding that is not quadratic.
    #[test]
    fn piles_of_equal_regions_are_resolved_quickly() -> Result<(), Box<dyn std::error::Error>> {
        let mut regions = RegionList::new(2);
        let region = Region::new([5, 5], [3, 3])?;
        (0..20_000).for_each(|_| regions.push(&region));
        assert_eq!(resolve(&regions)?, [(19_999, region)]);
        Ok(())
    }
}
