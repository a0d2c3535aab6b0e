//! Merges the parts of all ranks: joins regions by the faces of ranges of planes, and brings their sums together.

use fp_transform::ExactMoments;

use crate::extrema::Extrema;
use crate::feature::{Feature, Merged, Whole};
use crate::forest::{Forest, Winding};
use crate::grid::Grid;
use crate::label::moves;
use crate::part::{Part, PartError, RegionPart};
use crate::plane::{Joining, Rows};
use crate::spread::Spread;
use crate::statistics::Column;
use crate::threshold::Threshold;
use crate::track::{TrackedStep, Tracker};

/// Merges the parts of one step after another, and tracks their features. It is the state of one rank alone.
#[derive(Debug)]
pub struct Merger {
    threshold: Threshold,
    tracker: Tracker,
    /// Of the last step, by rank and region: the place of the feature.
    of_region: Vec<Vec<u32>>,
}

impl Merger {
    /// Of elements that compare so. What is correlated are these two columns.
    pub fn new(threshold: Threshold, correlated: (Column, Column)) -> Self {
        Self { threshold, tracker: Tracker::new(correlated), of_region: Vec::new() }
    }

    /// Merges the parts of all ranks, by rank. The grid is that with which they were made.
    ///
    /// # Errors
    /// Parts of different steps or arrays; ranges of planes that do not make up the array.
    pub fn merge(&mut self, grid: &Grid, parts: &[Part]) -> Result<TrackedStep, PartError> {
        check(grid, parts)?;
        let merged = merged(grid, &self.threshold, parts);
        self.of_region.clone_from(&merged.of_region);
        Ok(self.tracker.advance(merged, parts))
    }

    /// Which feature of the last step a region of a rank is of: its place among them.
    pub(crate) fn feature_of(&self, rank: usize, region: u32) -> Option<usize> {
        self.of_region.get(rank)?.get(region as usize).map(|&feature| feature as usize)
    }

    /// Lets go of all features: those of the next step are born. With `anew` ids begin at 1 again.
    pub fn forget(&mut self, anew: bool) {
        self.tracker.forget(anew);
    }
}

fn check(grid: &Grid, parts: &[Part]) -> Result<(), PartError> {
    let Some(lead) = parts.first() else { return Ok(()) };
    let mut wanted = 0;
    for (rank, part) in parts.iter().enumerate() {
        if part.step != lead.step || part.extents != grid.extents() {
            let (step, extents, wanted_step) = (part.step, part.extents.clone(), lead.step);
            let wanted = grid.extents().to_vec();
            return Err(PartError::Other { rank, step, extents, wanted_step, wanted });
        }
        if part.first != wanted {
            return Err(PartError::Planes { rank, first: part.first, wanted });
        }
        wanted = wanted.saturating_add(part.planes);
    }
    let extent = grid.extents()[0];
    let rank = parts.len();
    if wanted == extent { Ok(()) } else { Err(PartError::Planes { rank, first: wanted, wanted: extent }) }
}

fn merged(grid: &Grid, threshold: &Threshold, parts: &[Part]) -> Merged {
    let regions: Vec<&RegionPart> = parts.iter().flat_map(|part| &part.regions).collect();
    let mut forest = joined(grid, parts, regions.len());
    for (node, region) in regions.iter().enumerate().filter(|(_, region)| region.wraps != 0) {
        forest.note_wraps(node as u32, region.wraps);
    }
    // A root is the first of its regions, and so has the first element.
    let (mut members, mut names) = (Vec::<Vec<(usize, Winding)>>::new(), vec![0u32; regions.len()]);
    for node in 0..regions.len() {
        let (root, winding) = forest.find(node as u32);
        if root as usize == node {
            names[node] = members.len() as u32;
            members.push(Vec::new());
        }
        names[node] = names[root as usize];
        members[names[node] as usize].push((node, winding));
    }
    let feature = |of: &Vec<(usize, Winding)>| {
        let wraps = forest.wraps(of[0].0 as u32);
        one(grid, threshold, of.iter().map(|&(node, winding)| (regions[node], winding)), wraps)
    };
    let features = members.iter().map(feature).collect();
    let mut names = names.into_iter();
    let of_region = parts.iter().map(|part| names.by_ref().take(part.regions.len()).collect()).collect();
    Merged { features, of_region }
}

/// Joins regions of neighbouring ranges of planes.
fn joined(grid: &Grid, parts: &[Part], regions: usize) -> Forest {
    let (mut forest, joining) = (Forest::new(regions), Joining::new(grid));
    let mut base = 0;
    let mut slabs: Vec<[Rows; 2]> = Vec::new();
    for part in parts {
        if part.planes > 0 {
            slabs.push(part.faces.each_ref().map(|rows| numbered(rows, base)));
        }
        base += part.regions.len() as u32;
    }
    for pair in slabs.windows(2) {
        joining.join_across(&mut forest, (&pair[0][1], 0), (&pair[1][0], 0), 0);
    }
    if let (true, Some(first), Some(last)) = (grid.is_periodic(0), slabs.first(), slabs.last()) {
        joining.join_across(&mut forest, (&last[1], 0), (&first[0], 0), -1);
    }
    forest
}

/// The rows of a face, with the numbers that its regions have among those of all ranks.
fn numbered(rows: &Rows, base: u32) -> Rows {
    let mut rows = rows.clone();
    rows.runs_mut().iter_mut().for_each(|run| run.node += base);
    rows
}

/// One feature of its regions.
fn one<'p>(
    grid: &Grid,
    threshold: &Threshold,
    regions: impl Iterator<Item = (&'p RegionPart, Winding)>,
    wraps: u8,
) -> Feature {
    let (moved, placed, first) = (Spread::NONE, Spread::NONE, u64::MAX);
    let (extrema, is_above) = (Extrema::of(f64::NAN, u64::MAX), threshold.is_above());
    let mut whole = Whole { moved, placed, wraps, first, extrema, is_above };
    let mut values: Option<ExactMoments> = None;
    for (region, winding) in regions {
        whole.moved.add(&region.moved.moved(moves(grid, winding)));
        whole.placed.add(&region.placed);
        whole.first = whole.first.min(region.first);
        // Regions come in the order of their first elements, but their extrema do not.
        match &mut values {
            Some(values) => {
                whole.extrema.merge(&region.extrema);
                values.merge(&region.values.moments());
            }
            None => (whole.extrema, values) = (region.extrema, Some(region.values.moments())),
        }
    }
    Feature::new(grid, &whole, &values.unwrap_or_default())
}
