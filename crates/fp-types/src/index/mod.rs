//! A spatial index over many regions: a packed R-tree.
//!
//! The regions are sorted along a Hilbert curve through their centres, large ones apart from small ones. Every few
//! neighbours share a bounding region, level over level. Nodes are flat arrays without pointers. Leaves hold copies of
//! their regions side by side, so that a look-up reads memory in a few straight stretches.

mod hilbert;

use std::ops::{ControlFlow, Range};

use crate::region::Region;
use crate::regions::RegionList;

/// How many nodes of the level below a node covers.
const FANOUT: usize = 16;

/// How many regions a leaf covers.
const LEAF: usize = 8;

/// Up to this many regions are looked through one by one, without a tree.
const SCAN_LIMIT: usize = 16;

/// The tree over a list of regions. Empty regions are not in it: nothing touches them.
#[derive(Clone, Debug)]
pub(crate) struct SpatialIndex {
    /// Positions in the list, in the order of the leaves.
    order: Vec<u32>,
    /// The regions in that order.
    regions: RegionList,
    /// The bounding regions of each level: leaves first, the root's children last.
    levels: Vec<RegionList>,
}

impl SpatialIndex {
    /// Indexes a list of fewer than 2^32 regions.
    pub(crate) fn build(regions: &RegionList) -> Self {
        let filled = (0..regions.len()).filter(|&position| !regions.is_empty_at(position));
        let mut order: Vec<u32> = filled.map(|position| position as u32).collect();
        if order.len() <= SCAN_LIMIT {
            return Self { regions: regions.part(&order), order, levels: Vec::new() };
        }
        hilbert::sort(regions, &mut order);
        let regions = regions.part(&order);
        let mut levels = vec![cover_level(&regions, LEAF)];
        while let Some(below) = levels.last().filter(|level| level.len() > FANOUT) {
            let above = cover_level(below, FANOUT);
            levels.push(above);
        }
        Self { order, regions, levels }
    }

    /// Calls `visit` with the position of every region that has an element of `region`, until it breaks off.
    ///
    /// The order means nothing, but runs backwards. Of a pile of equal regions the last comes first, and that is the
    /// one that a search for later regions wants.
    pub(crate) fn visit_touching(&self, region: &Region, mut visit: impl FnMut(usize) -> ControlFlow<()>) {
        if region.is_empty() || region.ndims() != self.regions.ndims() {
            return;
        }
        let end = region.end();
        let bounds = (region.start().as_slice(), end.as_slice());
        let _ = match self.levels.len().checked_sub(1) {
            None => self.visit_leaf(0..self.order.len(), bounds, &mut visit),
            Some(top) => self.visit_nodes(top, 0..self.levels[top].len(), bounds, &mut visit),
        };
    }

    /// The positions of all regions that have an element of `region`, rising.
    pub(crate) fn touching(&self, region: &Region) -> Vec<usize> {
        let mut found = Vec::new();
        self.visit_touching(region, |position| {
            found.push(position);
            ControlFlow::Continue(())
        });
        found.sort_unstable();
        found
    }

    /// Visits those of the nodes of one level that the bounds touch.
    fn visit_nodes(
        &self,
        level: usize,
        nodes: Range<usize>,
        bounds: (&[u64], &[u64]),
        visit: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for node in nodes.rev().filter(|&node| self.levels[level].overlaps(node, bounds.0, bounds.1)) {
            match level.checked_sub(1) {
                Some(below) => {
                    let children = node * FANOUT..self.levels[below].len().min((node + 1) * FANOUT);
                    self.visit_nodes(below, children, bounds, visit)?;
                }
                None => {
                    let leaf = node * LEAF..self.order.len().min((node + 1) * LEAF);
                    self.visit_leaf(leaf, bounds, visit)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Visits those of the regions of one leaf that the bounds touch.
    fn visit_leaf(
        &self,
        places: Range<usize>,
        bounds: (&[u64], &[u64]),
        visit: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        places.rev().try_for_each(|place| {
            let touched = self.regions.overlaps(place, bounds.0, bounds.1);
            if touched { visit(self.order[place] as usize) } else { ControlFlow::Continue(()) }
        })
    }
}

/// The level above another, or above the regions: one bounding region for every so many.
fn cover_level(below: &RegionList, fanout: usize) -> RegionList {
    let mut covers = RegionList::new(below.ndims());
    for first in (0..below.len()).step_by(fanout) {
        covers.push(&cover(below, first..below.len().min(first + fanout)));
    }
    covers
}

/// The smallest region that covers all of those; there is at least one.
fn cover(regions: &RegionList, mut positions: Range<usize>) -> Region {
    let Some(first) = positions.next().map(|position| regions.region(position)) else {
        return Region::between(Default::default(), Default::default());
    };
    let (mut start, mut end) = (*first.start(), first.end());
    for position in positions {
        start.iter_mut().zip(regions.start(position)).for_each(|(low, other)| *low = (*low).min(*other));
        end.iter_mut().zip(regions.end(position)).for_each(|(high, other)| *high = (*high).max(*other));
    }
    Region::between(start, end)
}
