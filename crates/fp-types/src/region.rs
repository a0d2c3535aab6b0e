//! A corner and an extent: the part of an array that a block holds or a subscriber asks for.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dims::Dims;
use crate::order::MemoryOrder;
use crate::shape::Shape;

/// The elements with `start <= coordinate < start + count` in every dimension.
///
/// Ends fit into 64 bits and the element count into 63; regions that break this cannot be built, nor
/// deserialised. A region of no dimensions is one element, the scalar; a region with a count of 0 is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "(Dims, Dims)", try_from = "(Dims, Dims)")]
pub struct Region {
    start: Dims,
    count: Dims,
}

/// Why a corner and an extent make no region.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegionError {
    /// Corner and extent differ in their number of dimensions.
    #[error("start {start} and count {count} differ in their number of dimensions")]
    DimensionCount {
        /// The corner.
        start: Box<Dims>,
        /// The extent.
        count: Box<Dims>,
    },
    /// The end in one dimension is past 64 bits (or, after a move, below 0).
    #[error("dimension {dim} cannot start at {start} and count {count}: out of the range of coordinates")]
    OutOfRange {
        /// The dimension, from 0.
        dim: usize,
        /// The corner in that dimension.
        start: u64,
        /// The extent in that dimension.
        count: u64,
    },
    /// More than 2^63 elements.
    #[error("a region of count {count} has more than 2^63 elements")]
    TooLarge {
        /// The extent.
        count: Dims,
    },
}

impl Region {
    /// The region at `start` that extends `count` elements in each dimension.
    pub fn new(start: impl Into<Dims>, count: impl Into<Dims>) -> Result<Self, RegionError> {
        let (start, count) = (start.into(), count.into());
        if start.ndims() != count.ndims() {
            return Err(RegionError::DimensionCount { start: start.into(), count: count.into() });
        }
        let overflowing = start.iter().zip(count.iter()).position(|(s, c)| s.checked_add(*c).is_none());
        if let Some(dim) = overflowing {
            return Err(RegionError::OutOfRange { dim, start: start[dim], count: count[dim] });
        }
        count.bounded_product().map(|_| Self { start, count }).ok_or(RegionError::TooLarge { count })
    }

    /// All of an array of that shape.
    pub fn whole(shape: &Shape) -> Self {
        Self { start: shape.dims().zeros_like(), count: *shape.dims() }
    }

    /// The one element at `point`; a coordinate of `u64::MAX` has none.
    pub fn of_point(point: &Dims) -> Result<Self, RegionError> {
        Self::new(*point, point.ones_like())
    }

    /// The elements of an array that are at most `reach` away from the one at `point`, in each dimension. There are fewer at
    /// the edges of the array. None if it has no element at `point`.
    ///
    /// ```
    /// use fp_types::{Dims, Region, Shape};
    ///
    /// let shape = Shape::new([64, 64])?;
    /// let near = Region::around(&Dims::from([12, 63]), 2, &shape);
    /// assert_eq!(near, Some(Region::new([10, 61], [5, 3])?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn around(point: &Dims, reach: u64, shape: &Shape) -> Option<Self> {
        let whole = Self::whole(shape);
        whole.contains_point(point).then(|| {
            let low = point.zip_with(point, |at, _| at.saturating_sub(reach));
            let high = point
                .zip_with(shape.dims(), |at, extent| at.saturating_add(reach).saturating_add(1).min(extent));
            Self::between(low, high)
        })
    }

    /// From corners that are known to lie inside a valid region; `high` is clamped to `low`.
    pub(crate) fn between(low: Dims, high: Dims) -> Self {
        Self { start: low, count: high.zip_with(&low, u64::saturating_sub) }
    }

    /// The lowest corner.
    pub fn start(&self) -> &Dims {
        &self.start
    }

    /// The extent.
    pub fn count(&self) -> &Dims {
        &self.count
    }

    /// One past the highest corner, in each dimension.
    pub fn end(&self) -> Dims {
        self.start.zip_with(&self.count, |start, count| start + count)
    }

    /// How many dimensions there are.
    pub fn ndims(&self) -> usize {
        self.start.ndims()
    }

    /// How many elements there are; 1 without dimensions.
    pub fn element_count(&self) -> u64 {
        self.count.product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.count.contains(&0)
    }

    /// Whether the region, empty or not, lies inside an array of that shape.
    pub fn fits(&self, shape: &Shape) -> bool {
        let ends = self.end();
        self.ndims() == shape.ndims()
            && ends.iter().zip(shape.dims().iter()).all(|(end, extent)| end <= extent)
    }

    /// Whether the element at `point` belongs to the region.
    pub fn contains_point(&self, point: &Dims) -> bool {
        let inside = |dim: usize| (self.start[dim]..self.start[dim] + self.count[dim]).contains(&point[dim]);
        point.ndims() == self.ndims() && (0..self.ndims()).all(inside)
    }

    /// Whether every element of `other` belongs to this region; an empty region is contained in any of its kind.
    pub fn contains(&self, other: &Region) -> bool {
        let (ends, others) = (self.end(), other.end());
        let inside = |dim: usize| self.start[dim] <= other.start[dim] && others[dim] <= ends[dim];
        self.ndims() == other.ndims() && (other.is_empty() || (0..self.ndims()).all(inside))
    }

    /// Whether the two have an element in common.
    pub fn overlaps(&self, other: &Region) -> bool {
        self.intersection(other).is_some()
    }

    /// The elements that both have, if there are any.
    pub fn intersection(&self, other: &Region) -> Option<Region> {
        if self.ndims() != other.ndims() {
            return None;
        }
        let low = self.start.zip_with(&other.start, u64::max);
        let high = self.end().zip_with(&other.end(), u64::min);
        let common = Self::between(low, high);
        (!common.is_empty()).then_some(common)
    }

    /// The elements of this region that are not in `other`, as at most two disjoint regions a dimension.
    pub fn subtract(&self, other: &Region) -> Vec<Region> {
        let mut rest = Vec::new();
        self.subtract_into(other, &mut rest);
        rest
    }

    /// As [`subtract`](Self::subtract), appended to `rest`. Empty regions are never appended.
    pub fn subtract_into(&self, other: &Region, rest: &mut Vec<Region>) {
        let Some(common) = self.intersection(other) else {
            rest.extend((!self.is_empty()).then_some(*self));
            return;
        };
        let (mut low, mut high, common_end) = (self.start, self.end(), common.end());
        for dim in 0..self.ndims() {
            if low[dim] < common.start[dim] {
                let mut end = high;
                end[dim] = common.start[dim];
                rest.push(Self::between(low, end));
            }
            if common_end[dim] < high[dim] {
                let mut start = low;
                start[dim] = common_end[dim];
                rest.push(Self::between(start, high));
            }
            (low[dim], high[dim]) = (common.start[dim], common_end[dim]);
        }
    }

    /// The region moved so that the coordinate `from` becomes `to`: global coordinates to a block's own and back.
    pub fn translate(&self, from: &Dims, to: &Dims) -> Result<Region, RegionError> {
        if from.ndims() != self.ndims() || to.ndims() != self.ndims() {
            return Err(RegionError::DimensionCount { start: (*from).into(), count: (*to).into() });
        }
        let mut start = self.start;
        for dim in 0..self.ndims() {
            let moved = i128::from(start[dim]) - i128::from(from[dim]) + i128::from(to[dim]);
            let out_of_range = RegionError::OutOfRange { dim, start: start[dim], count: self.count[dim] };
            start[dim] = u64::try_from(moved).map_err(|_| out_of_range)?;
        }
        Self::new(start, self.count)
    }

    /// Where the element at `point` lies, in elements from the region's first, if the region is packed densely.
    pub fn linear_offset(&self, point: &Dims, order: MemoryOrder) -> Option<u64> {
        if !self.contains_point(point) {
            return None;
        }
        let strides = dense_strides(&self.count, order);
        Some((0..self.ndims()).map(|dim| (point[dim] - self.start[dim]) * strides[dim]).sum())
    }
}

/// The distance, in elements, between neighbours in each dimension of a dense array of that extent.
pub(crate) fn dense_strides(count: &Dims, order: MemoryOrder) -> Dims {
    let mut strides = count.ones_like();
    let mut step = 1;
    let mut visit = |dim: usize| {
        strides[dim] = step;
        step *= count[dim].max(1);
    };
    match order {
        MemoryOrder::RowMajor => (0..count.ndims()).rev().for_each(&mut visit),
        MemoryOrder::ColumnMajor => (0..count.ndims()).for_each(&mut visit),
    }
    strides
}

impl From<Region> for (Dims, Dims) {
    fn from(region: Region) -> (Dims, Dims) {
        (region.start, region.count)
    }
}

impl TryFrom<(Dims, Dims)> for Region {
    type Error = RegionError;

    fn try_from((start, count): (Dims, Dims)) -> Result<Self, RegionError> {
        Self::new(start, count)
    }
}

/// Printed as `[0:10, 5:20]`: start and end (not count) of each dimension.
impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.end();
        write!(f, "[")?;
        for dim in 0..self.ndims() {
            let comma = if dim == 0 { "" } else { ", " };
            write!(f, "{comma}{}:{}", self.start[dim], end[dim])?;
        }
        write!(f, "]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region<const N: usize>(start: [u64; N], count: [u64; N]) -> Region {
        Region::new(start, count).unwrap()
    }

    #[test]
    fn corners_and_extents_are_checked() {
        let mixed = Region::new([1], [1, 2]);
        assert!(matches!(mixed, Err(RegionError::DimensionCount { .. })));
        let past = Region::new([0, u64::MAX], [1, 2]);
        assert_eq!(past, Err(RegionError::OutOfRange { dim: 1, start: u64::MAX, count: 2 }));
        let large = Region::new([0, 0], [1 << 32, 1 << 32]);
        assert!(matches!(large, Err(RegionError::TooLarge { .. })));
    }

    #[test]
    fn extents_past_32_bits_keep_their_offsets() {
        let wide = region([1 << 33, 7], [1 << 34, 3]);
        let point = Dims::from([(1 << 33) + (1 << 33), 9]);
        assert_eq!(wide.linear_offset(&point, MemoryOrder::RowMajor), Some((1 << 33) * 3 + 2));
        assert_eq!(wide.linear_offset(&point, MemoryOrder::ColumnMajor), Some((1 << 33) + 2 * (1 << 34)));
        assert_eq!(wide.element_count(), 3 << 34);
        assert_eq!(wide.to_string(), "[8589934592:25769803776, 7:10]");
    }

    #[test]
    fn a_region_without_dimensions_is_one_element() {
        let scalar = Region::whole(&Shape::scalar());
        assert_eq!((scalar.element_count(), scalar.is_empty()), (1, false));
        assert_eq!(scalar.intersection(&scalar), Some(scalar));
        assert_eq!(scalar.subtract(&scalar), []);
        assert_eq!(scalar.linear_offset(&Dims::default(), MemoryOrder::RowMajor), Some(0));
        assert_eq!(scalar.to_string(), "[]");
    }

    #[test]
    fn empty_regions_overlap_nothing() {
        let (empty, full) = (region([2, 2], [0, 5]), region([0, 0], [9, 9]));
        assert!(empty.is_empty() && !full.overlaps(&empty) && full.contains(&empty));
        assert_eq!(empty.subtract(&full), []);
        assert_eq!(full.subtract(&empty), [full]);
    }

    #[test]
    fn translation_checks_both_ends() {
        let block = region([10, 20], [2, 2]);
        let own = block.translate(block.start(), &[0, 0].into());
        assert_eq!(own, Ok(region([0, 0], [2, 2])));
        let below = block.translate(&[11, 0].into(), &[0, 0].into());
        assert_eq!(below, Err(RegionError::OutOfRange { dim: 0, start: 10, count: 2 }));
        assert!(block.translate(&[0, 0].into(), &[u64::MAX - 10, 0].into()).is_err());
    }

    #[test]
    fn fitting_counts_the_end() -> Result<(), crate::shape::ShapeTooLarge> {
        let shape = Shape::new([12, 22])?;
        assert!(region([10, 20], [2, 2]).fits(&shape));
        assert!(!region([10, 20], [2, 3]).fits(&shape));
        assert!(!region([10], [2]).fits(&shape));
        Ok(())
    }
}
