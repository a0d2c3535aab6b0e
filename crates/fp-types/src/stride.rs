//! Every k-th element of a region.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dims::Dims;
use crate::region::{Region, RegionError};
use crate::shape::Shape;

/// The elements `start + i * stride` of a region, in each dimension.
///
/// Kept in one canonical form, so that equal element sets are equal values. The region is cut after the last element
/// taken. Where one element (or none) is taken of a dimension, the stride there is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "(Region, Dims)", try_from = "(Region, Dims)")]
pub struct StridedRegion {
    region: Region,
    stride: Dims,
}

/// Why a stride does not go with a region.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StrideError {
    /// Region and stride differ in their number of dimensions.
    #[error("region {region} and stride {stride} differ in their number of dimensions")]
    DimensionCount {
        /// The region.
        region: Box<Region>,
        /// The stride.
        stride: Box<Dims>,
    },
    /// A stride of 0.
    #[error("the stride of dimension {dim} is 0")]
    Zero {
        /// The dimension, from 0.
        dim: usize,
    },
}

impl StridedRegion {
    /// Every `stride`-th element of `region`, from its first corner on.
    pub fn new(region: Region, stride: impl Into<Dims>) -> Result<Self, StrideError> {
        let stride = stride.into();
        if region.ndims() != stride.ndims() {
            return Err(StrideError::DimensionCount { region: region.into(), stride: stride.into() });
        }
        match stride.iter().position(|&stride| stride == 0) {
            Some(dim) => Err(StrideError::Zero { dim }),
            None => Ok(Self::canonical(region, stride)),
        }
    }

    /// Cuts the region after its last element taken. All strides are at least 1.
    fn canonical(region: Region, mut stride: Dims) -> Self {
        let mut end = region.end();
        for dim in 0..region.ndims() {
            let taken = region.count()[dim].div_ceil(stride[dim]);
            let covered = if taken > 1 { (taken - 1) * stride[dim] + 1 } else { taken };
            end[dim] = region.start()[dim] + covered;
            stride[dim] = if taken > 1 { stride[dim] } else { 1 };
        }
        Self { region: Region::between(*region.start(), end), stride }
    }

    /// Every element of `region`.
    pub fn dense(region: Region) -> Self {
        Self { region, stride: region.start().ones_like() }
    }

    /// The region that covers the elements, from the first to the last.
    pub fn region(&self) -> &Region {
        &self.region
    }

    /// The distance between elements in each dimension, at least 1.
    pub fn stride(&self) -> &Dims {
        &self.stride
    }

    /// How many dimensions there are.
    pub fn ndims(&self) -> usize {
        self.region.ndims()
    }

    /// Whether every element of the covering region is taken.
    pub fn is_dense(&self) -> bool {
        self.stride.iter().all(|&stride| stride == 1)
    }

    /// How many elements are taken in each dimension.
    pub fn counts(&self) -> Dims {
        self.region.count().zip_with(&self.stride, u64::div_ceil)
    }

    /// How many elements are taken.
    pub fn element_count(&self) -> u64 {
        self.counts().product()
    }

    /// Whether no element is taken.
    pub fn is_empty(&self) -> bool {
        self.region.is_empty()
    }

    /// Whether the element at `point` is taken.
    pub fn contains_point(&self, point: &Dims) -> bool {
        let on_stride = |dim: usize| (point[dim] - self.region.start()[dim]).is_multiple_of(self.stride[dim]);
        self.region.contains_point(point) && (0..self.ndims()).all(on_stride)
    }

    /// The elements taken that lie inside `region`, if there are any.
    pub fn intersection(&self, region: &Region) -> Option<StridedRegion> {
        self.indices_inside(region).map(|indices| self.at_indices(&indices))
    }

    /// The elements taken that lie outside `region`, as disjoint strided regions.
    pub fn subtract(&self, region: &Region) -> Vec<StridedRegion> {
        let all = Region::between(self.stride.zeros_like(), self.counts());
        let rest = match self.indices_inside(region) {
            Some(inside) => all.subtract(&inside),
            None if all.is_empty() => Vec::new(),
            None => vec![all],
        };
        rest.iter().map(|indices| self.at_indices(indices)).collect()
    }

    /// Which elements taken, counted from the first in each dimension, lie inside `region`.
    pub(crate) fn indices_inside(&self, region: &Region) -> Option<Region> {
        let common = self.region.intersection(region)?;
        let start = self.region.start();
        let index = |corner: Dims| corner.zip_with(start, |c, s| c - s).zip_with(&self.stride, u64::div_ceil);
        let indices = Region::between(index(*common.start()), index(common.end()));
        (!indices.is_empty()).then_some(indices)
    }

    /// The elements of those indices; the inverse of [`indices_inside`](Self::indices_inside).
    pub(crate) fn at_indices(&self, indices: &Region) -> StridedRegion {
        let start = self.region.start();
        let coordinate =
            |index: Dims| index.zip_with(&self.stride, |i, k| i * k).zip_with(start, |o, s| o + s);
        let last = indices.end().map(|end| end.saturating_sub(1));
        let end = coordinate(last).map(|last| last + 1);
        Self::canonical(Region::between(coordinate(*indices.start()), end), self.stride)
    }

    /// Whether the elements taken lie inside an array of that shape.
    pub fn fits(&self, shape: &Shape) -> bool {
        self.region.fits(shape)
    }

    /// Moved so that the coordinate `from` becomes `to`.
    pub fn translate(&self, from: &Dims, to: &Dims) -> Result<StridedRegion, RegionError> {
        Ok(Self { region: self.region.translate(from, to)?, stride: self.stride })
    }
}

impl From<Region> for StridedRegion {
    fn from(region: Region) -> Self {
        Self::dense(region)
    }
}

impl From<StridedRegion> for (Region, Dims) {
    fn from(strided: StridedRegion) -> (Region, Dims) {
        (strided.region, strided.stride)
    }
}

impl TryFrom<(Region, Dims)> for StridedRegion {
    type Error = StrideError;

    fn try_from((region, stride): (Region, Dims)) -> Result<Self, StrideError> {
        Self::new(region, stride)
    }
}

/// Printed as `[0:10, 5:20:2]`: start, end and, where it is not 1, the stride of each dimension.
impl fmt::Display for StridedRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end) = (self.region.start(), self.region.end());
        write!(f, "[")?;
        for dim in 0..self.ndims() {
            let comma = if dim == 0 { "" } else { ", " };
            write!(f, "{comma}{}:{}", start[dim], end[dim])?;
            if self.stride[dim] != 1 {
                write!(f, ":{}", self.stride[dim])?;
            }
        }
        write!(f, "]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided<const N: usize>(start: [u64; N], count: [u64; N], stride: [u64; N]) -> StridedRegion {
        StridedRegion::new(Region::new(start, count).unwrap(), stride).unwrap()
    }

    #[test]
    fn equal_elements_are_equal_values() {
        assert_eq!(strided([5], [15], [2]), strided([5], [16], [2]));
        assert_eq!(strided([5], [3], [7]), strided([5], [1], [1]));
        assert_eq!(strided([5], [0], [7]), strided([5], [0], [1]));
        assert_ne!(strided([5], [4], [3]), strided([5], [3], [3]));
        assert_eq!(strided([0, 5], [10, 15], [1, 2]).to_string(), "[0:10, 5:20:2]");
    }

    #[test]
    fn strides_are_checked() {
        let region = Region::new([0, 0], [4, 4]).unwrap();
        assert_eq!(StridedRegion::new(region, [1, 0]), Err(StrideError::Zero { dim: 1 }));
        assert!(matches!(StridedRegion::new(region, [1]), Err(StrideError::DimensionCount { .. })));
    }

    #[test]
    fn huge_strides_do_not_overflow() {
        let far = strided([3], [1 << 60], [u64::MAX]);
        assert_eq!(far.element_count(), 1);
        let wide = strided([u64::MAX - 9], [9], [4]);
        assert_eq!((wide.element_count(), wide.region().end()), (3, [u64::MAX].into()));
        assert!(wide.contains_point(&[u64::MAX - 1].into()));
    }

    #[test]
    fn the_part_inside_a_region_stays_on_the_stride() {
        let every_third = strided([1], [20], [3]);
        let inside = every_third.intersection(&Region::new([5], [6]).unwrap());
        assert_eq!(inside, Some(strided([7], [4], [3])));
        assert_eq!(every_third.intersection(&Region::new([5], [2]).unwrap()), None);
    }
}
