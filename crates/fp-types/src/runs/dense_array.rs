//! How the elements of a region lie densely in memory.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dims::Dims;
use crate::order::MemoryOrder;
use crate::region::{Region, dense_strides};
use crate::stride::StridedRegion;

/// How the elements of a (strided) region lie in memory: packed one beside the other. It has no bytes of its own.
///
/// A block is its region, dense, in the order in which it was put. A subscriber's array is its selection; if that
/// is strided, only the elements taken have a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DenseArray {
    elements: StridedRegion,
    order: MemoryOrder,
}

/// One end of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// Where elements come from.
    Source,
    /// Where elements go to.
    Destination,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "source",
            Self::Destination => "destination",
        })
    }
}

/// Why a part of an array cannot be copied between two dense arrays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {side} holds {holds}, which does not hold all of {part}")]
pub struct RunsError {
    /// Which end lacks elements.
    pub side: Side,
    /// What that end holds.
    pub holds: Box<StridedRegion>,
    /// What was to be copied.
    pub part: Box<StridedRegion>,
}

impl DenseArray {
    /// The elements of a region or strided region, packed densely in that order.
    pub fn new(elements: impl Into<StridedRegion>, order: MemoryOrder) -> Self {
        Self { elements: elements.into(), order }
    }

    /// The elements that have a place here.
    pub fn elements(&self) -> &StridedRegion {
        &self.elements
    }

    /// Their order in memory.
    pub fn order(&self) -> MemoryOrder {
        self.order
    }

    /// How many elements have a place here.
    pub fn element_count(&self) -> u64 {
        self.elements.element_count()
    }

    /// Which element, counted in each dimension, the one at `point` is.
    fn place_of(&self, point: &Dims) -> Dims {
        let start = self.elements.region().start();
        point
            .zip_with(start, u64::wrapping_sub)
            .zip_with(self.elements.stride(), |offset, stride| offset / stride)
    }

    /// Checks that every element of `part` has a place here.
    pub(super) fn check_holds(&self, part: &StridedRegion, side: Side) -> Result<(), RunsError> {
        let covered = self.elements.region().contains(part.region());
        let holds = covered && (part.is_empty() || (0..part.ndims()).all(|dim| self.is_on_stride(part, dim)));
        holds.then_some(()).ok_or(RunsError { side, holds: self.elements.into(), part: (*part).into() })
    }

    /// Whether the elements of `part`, which is covered, have a place in that dimension.
    fn is_on_stride(&self, part: &StridedRegion, dim: usize) -> bool {
        let (start, stride) = (self.elements.region().start()[dim], self.elements.stride()[dim]);
        let one_only = part.region().count()[dim] == 1;
        (part.region().start()[dim] - start).is_multiple_of(stride)
            && (one_only || part.stride()[dim].is_multiple_of(stride))
    }

    /// Where the first element of `part`, which has a place here, lies.
    pub(super) fn offset_of(&self, part: &StridedRegion) -> u64 {
        let strides = dense_strides(&self.elements.counts(), self.order);
        let place = self.place_of(part.region().start());
        place.iter().zip(strides.iter()).map(|(place, stride)| place * stride).sum()
    }

    /// How far apart neighbouring elements of `part`, which have places here, lie in each dimension.
    pub(super) fn strides_of(&self, part: &StridedRegion) -> Dims {
        let strides = dense_strides(&self.elements.counts(), self.order);
        part.stride()
            .zip_with(self.elements.stride(), |theirs, ours| theirs / ours)
            .zip_with(&strides, u64::wrapping_mul)
    }

    /// Where the element at `point` lies, in elements, if it has a place here.
    pub fn offset(&self, point: &Dims) -> Option<u64> {
        let part = Region::of_point(point).ok().filter(|_| self.elements.contains_point(point))?;
        Some(self.offset_of(&part.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided<const N: usize>(start: [u64; N], count: [u64; N], stride: [u64; N]) -> StridedRegion {
        StridedRegion::new(Region::new(start, count).unwrap(), stride).unwrap()
    }

    #[test]
    fn only_elements_on_the_stride_have_a_place() {
        let array = DenseArray::new(strided([2, 1], [9, 7], [4, 3]), MemoryOrder::RowMajor);
        assert_eq!(array.element_count(), 9);
        assert_eq!(array.offset(&[6, 7].into()), Some(5));
        assert_eq!(array.offset(&[6, 6].into()), None);
        let column = DenseArray::new(*array.elements(), MemoryOrder::ColumnMajor);
        assert_eq!(column.offset(&[6, 7].into()), Some(7));
    }

    #[test]
    fn missing_elements_are_named() {
        let array = DenseArray::new(strided([2], [9], [4]), MemoryOrder::RowMajor);
        let part = strided([2], [3], [2]);
        let error = array.check_holds(&part, Side::Destination).unwrap_err();
        assert_eq!(error.to_string(), "the destination holds [2:11:4], which does not hold all of [2:5:2]");
        assert_eq!(array.check_holds(&strided([6], [1], [1]), Side::Source), Ok(()));
        assert_eq!(array.check_holds(&strided([2], [9], [8]), Side::Source), Ok(()));
        assert_eq!(array.check_holds(&strided([2], [0], [1]), Side::Source), Ok(()));
    }
}
