//! A spatial index over many regions: a packed R-tree.
//!
//! The regions are sorted along a Hilbert curve through their centres, large ones apart from small ones, and
//! every [`FANOUT`] neighbours share a bounding region, level over level. Nodes are flat arrays without pointers;
//! leaves refer to the list that was indexed, so a million regions cost a few megabytes beside the list itself.

mod hilbert;

use std::ops::ControlFlow;

use crate::region::Region;
use crate::regions::RegionList;

/// How many regions, or nodes of the level below, a node covers.
const FANOUT: usize = 16;

/// Up to this many regions are looked through one by one, without a tree.
const SCAN_LIMIT: usize = 16;

/// The tree over a list of regions. Empty regions are not in it: nothing touches them.
#[derive(Clone, Debug)]
pub(crate) struct SpatialIndex {
    /// Positions in the list, in the order of the leaves.
    order: Vec<u32>,
    /// The bounding regions of each level: groups of `FANOUT` positions first, the root's children last.
    levels: Vec<RegionList>,
}

impl SpatialIndex {
    /// Indexes a list of fewer than 2^32 regions.
    pub(crate) fn build(regions: &RegionList) -> Self {
        let filled = (0..regions.len()).filter(|&position| !regions.is_empty_at(position));
        let mut order: Vec<u32> = filled.map(|position| position as u32).collect();
        if order.len() <= SCAN_LIMIT {
            return Self { order, levels: Vec::new() };
        }
        hilbert::sort(regions, &mut order);
        let mut levels = vec![cover_leaves(regions, &order)];
        while let Some(below) = levels.last().filter(|level| level.len() > FANOUT) {
            let above = cover_level(below);
            levels.push(above);
        }
        Self { order, levels }
    }

    /// Calls `visit` with the position of every region that has an element of `region`, in no particular order,
    /// until it breaks off.
    pub(crate) fn visit_touching(
        &self,
        regions: &RegionList,
        region: &Region,
        mut visit: impl FnMut(usize) -> ControlFlow<()>,
    ) {
        if region.is_empty() || region.ndims() != regions.ndims() {
            return;
        }
        let end = region.end();
        let bounds = (region.start().as_slice(), end.as_slice());
        let _ = match self.levels.len().checked_sub(1) {
            None => visit_leaf(regions, &self.order, bounds, &mut visit),
            Some(top) => {
                let roots = 0..self.levels[top].len();
                self.visit_nodes(regions, top, roots, bounds, &mut visit)
            }
        };
    }

    /// The positions of all regions that have an element of `region`, rising.
    pub(crate) fn touching(&self, regions: &RegionList, region: &Region) -> Vec<usize> {
        let mut found = Vec::new();
        self.visit_touching(regions, region, |position| {
            found.push(position);
            ControlFlow::Continue(())
        });
        found.sort_unstable();
        found
    }

    /// Visits those of the nodes of one level that the bounds touch.
    fn visit_nodes(
        &self,
        regions: &RegionList,
        level: usize,
        nodes: std::ops::Range<usize>,
        bounds: (&[u64], &[u64]),
        visit: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for node in nodes.filter(|&node| self.levels[level].overlaps(node, bounds.0, bounds.1)) {
            let first = node * FANOUT;
            match level.checked_sub(1) {
                Some(below) => {
                    let children = first..self.levels[below].len().min(first + FANOUT);
                    self.visit_nodes(regions, below, children, bounds, visit)?;
                }
                None => {
                    let leaf = &self.order[first..self.order.len().min(first + FANOUT)];
                    visit_leaf(regions, leaf, bounds, visit)?;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// Visits those of the positions whose regions the bounds touch.
fn visit_leaf(
    regions: &RegionList,
    positions: &[u32],
    bounds: (&[u64], &[u64]),
    visit: &mut impl FnMut(usize) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut touched = positions.iter().map(|&position| position as usize);
    touched.try_for_each(|position| {
        if regions.overlaps(position, bounds.0, bounds.1) {
            visit(position)
        } else {
            ControlFlow::Continue(())
        }
    })
}

/// The lowest level: one bounding region for every `FANOUT` regions.
fn cover_leaves(regions: &RegionList, order: &[u32]) -> RegionList {
    let mut covers = RegionList::new(regions.ndims());
    for leaf in order.chunks(FANOUT) {
        covers.push(&cover(regions, leaf.iter().map(|&position| position as usize)));
    }
    covers
}

/// The level above another: one bounding region for every `FANOUT` of it.
fn cover_level(below: &RegionList) -> RegionList {
    let mut covers = RegionList::new(below.ndims());
    for first in (0..below.len()).step_by(FANOUT) {
        covers.push(&cover(below, first..below.len().min(first + FANOUT)));
    }
    covers
}

/// The smallest region that covers all of those; there is at least one.
fn cover(regions: &RegionList, mut positions: impl Iterator<Item = usize>) -> Region {
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
