//! Where the rows that one rank has of a joined or local array lie among those of all ranks.

use fp_types::{Dims, MemoryOrder, Region, Shape};

/// How far a rank's rows are moved, and along which dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placing {
    ours: Region,
    whole: Region,
    dim: usize,
    first: u64,
}

impl Placing {
    /// A rank with `count` rows along a dimension of an array of that shape, of which the first is row `first`.
    ///
    /// `None` if there is no such dimension, or not as many rows.
    pub(crate) fn new(whole: &Shape, dim: usize, (first, count): (u64, u64)) -> Option<Self> {
        let mut dims = *whole.dims();
        let extent = dims.get_mut(dim)?;
        first.checked_add(count).filter(|end| end <= extent)?;
        *extent = count;
        let ours = Region::new(dims.zeros_like(), dims).ok()?;
        Some(Self { ours, whole: Region::whole(whole), dim, first })
    }

    /// The region of the whole array that a region of the rank's is.
    pub(crate) fn region(&self, region: &Region) -> Option<Region> {
        let inside = region.end().iter().zip(self.ours.count().iter()).all(|(end, count)| end <= count);
        let mut start = *region.start();
        *start.get_mut(self.dim).filter(|_| inside)? += self.first;
        Region::new(start, *region.count()).ok()
    }

    /// The place, in row-major order, of an element of which the place among the rank's is known.
    pub(crate) fn element(&self, place: u64) -> Option<u64> {
        let mut point = corner(place, self.ours.count());
        *point.get_mut(self.dim).filter(|_| place < self.ours.element_count())? += self.first;
        self.whole.linear_offset(&point, MemoryOrder::RowMajor)
    }
}

/// The coordinates of the element at that place of an array of those extents, in row-major order.
pub(crate) fn corner(mut place: u64, extents: &Dims) -> Dims {
    let mut point = extents.zeros_like();
    for dim in (0..extents.ndims()).rev() {
        let extent = extents[dim].max(1);
        (point[dim], place) = (place % extent, place / extent);
    }
    point
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lie_behind_those_of_the_ranks_before() {
        let whole = Shape::new([10, 3]).unwrap();
        let placing = Placing::new(&whole, 0, (4, 2)).unwrap();
        assert_eq!((placing.element(0), placing.element(5), placing.element(6)), (Some(12), Some(17), None));
        let region = Region::new([1, 0], [1, 3]).unwrap();
        assert_eq!(placing.region(&region), Region::new([5, 0], [1, 3]).ok());
        let columns = Placing::new(&whole, 1, (1, 2)).unwrap();
        assert_eq!((columns.element(1), columns.element(2)), (Some(2), Some(4)));
        assert_eq!(Placing::new(&whole, 0, (9, 2)), None);
        assert_eq!(Placing::new(&whole, 2, (0, 1)), None);
    }
}
