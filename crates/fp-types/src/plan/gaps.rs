//! Finds what no owner covers.

use super::{MAX_PIECES, PlanError};
use crate::region::Region;

/// Up to so many owners are subtracted one by one; more are divided by a cut first.
const SUBTRACT_LIMIT: usize = 8;

/// The parts of `selected` that none of the disjoint `owned` regions covers, disjoint, by lowest corner.
///
/// As owned regions are disjoint, counting elements tells whether anything is missing, here and in every part that is
/// looked at on the way. Where all is covered, nothing is done but the count.
pub(super) fn find(selected: &Region, owned: &[(usize, Region)]) -> Result<Vec<Region>, PlanError> {
    let owned: Vec<Region> = owned.iter().map(|(_, region)| *region).collect();
    let mut gaps = Vec::new();
    let mut open = vec![(*selected, owned)];
    while let Some((region, owned)) = open.pop() {
        if covered(&owned) == u128::from(region.element_count()) {
            continue;
        }
        match cut(&region, &owned) {
            Some((below, above)) => open.extend([clip(below, &owned), clip(above, &owned)]),
            None => subtract_all(region, &owned, &mut gaps),
        }
        if gaps.len() > MAX_PIECES {
            return Err(PlanError::TooManyPieces);
        }
    }
    gaps.sort_unstable();
    Ok(gaps)
}

/// How many elements disjoint regions have in all.
fn covered(owned: &[Region]) -> u128 {
    owned.iter().map(|region| u128::from(region.element_count())).sum()
}

/// What a few regions, inside `region`, leave of it.
fn subtract_all(region: Region, owned: &[Region], gaps: &mut Vec<Region>) {
    let mut rest = vec![region];
    for other in owned {
        rest = rest.iter().flat_map(|part| part.subtract(other)).collect();
    }
    gaps.append(&mut rest);
}

/// The owned regions cut to `region`.
fn clip(region: Region, owned: &[Region]) -> (Region, Vec<Region>) {
    (region, owned.iter().filter_map(|other| other.intersection(&region)).collect())
}

/// Cuts `region` in two along the dimension in which most owned regions end inside it, at the middle one of
/// those ends. None where there are few of them: cutting on would gain nothing.
fn cut(region: &Region, owned: &[Region]) -> Option<(Region, Region)> {
    if owned.len() <= SUBTRACT_LIMIT {
        return None;
    }
    let edges = (0..region.ndims()).map(|dim| (dim, inner_edges(region, owned, dim)));
    let (dim, mut edges) = edges.max_by_key(|(_, edges)| edges.len())?;
    let middle = edges.len() / 2;
    let (_, &mut edge, _) = (!edges.is_empty()).then(|| edges.select_nth_unstable(middle))?;
    let (mut below_end, mut above_start) = (region.end(), *region.start());
    (below_end[dim], above_start[dim]) = (edge, edge);
    Some((Region::between(*region.start(), below_end), Region::between(above_start, region.end())))
}

/// Where owned regions start or end strictly inside `region`, in one dimension.
fn inner_edges(region: &Region, owned: &[Region], dim: usize) -> Vec<u64> {
    let (start, end) = (region.start()[dim], region.end()[dim]);
    let edges = owned.iter().flat_map(|other| [other.start()[dim], other.end()[dim]]);
    edges.filter(|&edge| start < edge && edge < end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand cells of a grid; a few are missing, the rest are found covered by counting alone.
    #[test]
    fn a_few_missing_cells_of_many_are_found() -> Result<(), Box<dyn std::error::Error>> {
        let whole = Region::new([0; 3], [40; 3])?;
        let mut missing = Vec::new();
        let mut owned = Vec::new();
        for cell in 0..1000u64 {
            let start = [cell / 100, cell / 10 % 10, cell % 10].map(|index| index * 4);
            let region = Region::new(start, [4; 3])?;
            if matches!(cell, 0 | 555 | 556 | 999) {
                missing.push(region)
            } else {
                owned.push((cell as usize, region))
            }
        }
        let gaps = find(&whole, &owned)?;
        let count: u64 = gaps.iter().map(Region::element_count).sum();
        assert_eq!(count, 4 * 64);
        assert!(gaps.iter().all(|gap| !owned.iter().any(|(_, region)| region.overlaps(gap))));
        assert!(missing.iter().all(|cell| gaps.iter().any(|gap| gap.overlaps(cell))));
        assert_eq!(gaps[0].start(), whole.start());
        Ok(())
    }
}
