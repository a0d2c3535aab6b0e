//! Blocks of a level over those of the level below.

use fp_types::{Dims, Region};

use crate::finding::Finding;
use crate::mesh::amr::AmrLevel;
use crate::rule::Rule;
use crate::variable::DescribedVariable;

/// Looks at every block of the finer level.
pub(super) fn check(
    (below, coarse): (&DescribedVariable, &AmrLevel),
    (of, fine): (&DescribedVariable, &AmrLevel),
    findings: &mut Vec<Finding>,
) {
    for (block, region) in &of.blocks {
        let Some(own) = own_cells(region, fine).filter(|own| !own.is_empty()) else { continue };
        let Some(under) = under(&own, &fine.ratio) else {
            let what = format!("covers {own}, which are no whole cells of {:?}", below.name());
            let advice = format!("Let blocks begin and end at multiples of {:?}", fine.ratio);
            findings.push(Finding::violation(Rule::AmrWholeCells, what, advice).of(of.name()).at(*block));
            continue;
        };
        if !is_covered(under, below, coarse) {
            let what = format!("lies over {under} of {:?}, where not every cell is in a block", below.name());
            let advice = "Put coarse cells under fine ones too: some tools interpolate there";
            findings.push(Finding::warning(Rule::AmrNesting, what, advice).of(of.name()).at(*block));
        }
    }
}

/// A block's cells along the axes, without ghosts. At the edge of the array there are none.
fn own_cells(region: &Region, level: &AmrLevel) -> Option<Region> {
    let skipped = region.ndims().checked_sub(level.grid.shape.len())?;
    let (ends, mut start, mut count) = (region.end(), Vec::new(), Vec::new());
    for dim in skipped..region.ndims() {
        let extent = level.grid.shape[dim - skipped];
        let low = if region.start()[dim] > 0 { level.ghosts } else { 0 };
        let high = if ends[dim] < extent { level.ghosts } else { 0 };
        start.push(region.start()[dim].saturating_add(low));
        count.push(region.count()[dim].saturating_sub(low).saturating_sub(high));
    }
    Region::new(Dims::from_slice(&start).ok()?, Dims::from_slice(&count).ok()?).ok()
}

/// The cells of the level below that a region covers, if it covers whole ones.
fn under(region: &Region, ratio: &[u64]) -> Option<Region> {
    let is_whole = |numbers: &Dims| numbers.iter().zip(ratio).all(|(number, ratio)| number % ratio == 0);
    if !is_whole(region.start()) || !is_whole(region.count()) {
        return None;
    }
    let divided =
        |numbers: &Dims| numbers.iter().zip(ratio).map(|(number, ratio)| number / ratio).collect::<Vec<_>>();
    let (start, count) = (divided(region.start()), divided(region.count()));
    Region::new(Dims::from_slice(&start).ok()?, Dims::from_slice(&count).ok()?).ok()
}

/// Whether every cell of a region is in a block of the level, by taking away one block after another.
fn is_covered(region: Region, of: &DescribedVariable, level: &AmrLevel) -> bool {
    let mut rest = vec![region];
    for (_, block) in &of.blocks {
        let Some(own) = own_cells(block, level) else { continue };
        if own.overlaps(&region) {
            rest = rest.iter().flat_map(|left| left.subtract(&own)).collect();
        }
        if rest.is_empty() {
            return true;
        }
    }
    rest.is_empty()
}
