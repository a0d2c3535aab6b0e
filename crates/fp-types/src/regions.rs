//! Many regions of equally many dimensions, held flat.

use crate::dims::Dims;
use crate::region::Region;

/// A list of regions as corners in one vector: `2 * ndims` numbers each, so that a million of them stay small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegionList {
    ndims: usize,
    len: usize,
    /// For each region its start, then its end.
    corners: Vec<u64>,
}

impl RegionList {
    pub(crate) fn new(ndims: usize) -> Self {
        Self { ndims, len: 0, corners: Vec::new() }
    }

    /// Room for that many regions more, so that filling does not move them about.
    pub(crate) fn reserve(&mut self, regions: usize) {
        self.corners.reserve(regions * 2 * self.ndims);
    }

    /// Appends a region, which must have the list's number of dimensions.
    pub(crate) fn push(&mut self, region: &Region) {
        debug_assert_eq!(region.ndims(), self.ndims);
        self.corners.extend_from_slice(region.start());
        self.corners.extend_from_slice(&region.end());
        self.len += 1;
    }

    /// Appends the region between two corners of the list's number of dimensions.
    pub(crate) fn push_corners(&mut self, start: &[u64], end: impl Iterator<Item = u64>) {
        self.corners.extend_from_slice(start);
        self.corners.extend(end);
        self.len += 1;
        debug_assert_eq!(self.corners.len(), 2 * self.len * self.ndims);
    }

    /// Those of the regions at `positions`, in that order.
    pub(crate) fn part(&self, positions: &[u32]) -> Self {
        let mut corners = Vec::with_capacity(positions.len() * 2 * self.ndims);
        for &position in positions {
            corners.extend_from_slice(&self.corners[2 * position as usize * self.ndims..][..2 * self.ndims]);
        }
        Self { ndims: self.ndims, len: positions.len(), corners }
    }

    pub(crate) fn ndims(&self) -> usize {
        self.ndims
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The region at `position`, which must exist.
    pub(crate) fn region(&self, position: usize) -> Region {
        let corner = |corner: &[u64]| Dims::from_slice(corner).unwrap_or_default();
        Region::between(corner(self.start(position)), corner(self.end(position)))
    }

    /// The lowest corner of the region at `position`.
    pub(crate) fn start(&self, position: usize) -> &[u64] {
        &self.corners[2 * position * self.ndims..][..self.ndims]
    }

    /// One past the highest corner of the region at `position`.
    pub(crate) fn end(&self, position: usize) -> &[u64] {
        &self.corners[(2 * position + 1) * self.ndims..][..self.ndims]
    }

    /// Whether the region at `position` has an element between the corners. Without dimensions it always has.
    pub(crate) fn overlaps(&self, position: usize, start: &[u64], end: &[u64]) -> bool {
        let corners = &self.corners[2 * position * self.ndims..][..2 * self.ndims];
        let (own_start, own_end) = corners.split_at(self.ndims);
        (0..self.ndims).all(|dim| own_start[dim].max(start[dim]) < own_end[dim].min(end[dim]))
    }

    /// Whether the region at `position` has no element.
    pub(crate) fn is_empty_at(&self, position: usize) -> bool {
        self.start(position).iter().zip(self.end(position)).any(|(start, end)| start == end)
    }
}
