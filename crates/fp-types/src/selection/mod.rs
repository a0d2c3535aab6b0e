//! What a subscriber asks of a variable.

mod expression;
mod parse;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use expression::{Position, SelectionExpression, Slice};
pub use parse::ParseSelectionError;

use crate::dims::Dims;
use crate::id::{BlockId, Rank};
use crate::region::Region;
use crate::shape::Shape;
use crate::stride::StridedRegion;

/// Which elements of a variable a subscriber wants.
///
/// ```
/// # use fp_types as flexpath;
/// use flexpath::{Region, Selection};
///
/// let part = Selection::Region(Region::new([0, 2], [4, 2])?);
/// # let _ = part;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Selection {
    /// Everything: the whole of a global or joined array; all blocks of a local one, one after another.
    All,
    /// A region of a global or joined array, in global coordinates.
    Region(Region),
    /// Every k-th element of a region, packed densely at the subscriber.
    Strided(StridedRegion),
    /// Single elements, in the order given; a point may occur more than once.
    Points(Vec<Dims>),
    /// One block, as it was put, whoever else covers its region.
    Block(BlockId),
    /// All blocks that a rank put, as they were put, one after another.
    Rank(Rank),
}

/// Why a selection does not go with a shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// Another number of dimensions than the array has.
    #[error("the selection has {selected} dimensions, but the array is of shape {shape}")]
    DimensionCount {
        /// The selection's number of dimensions.
        selected: usize,
        /// The array's shape.
        shape: Shape,
    },
    /// The region reaches past the array.
    #[error("dimension {dim}: {start}:{} (start {start}, count {count}) reaches past the extent {extent}", start.saturating_add(*count))]
    OutOfBounds {
        /// The dimension, from 0.
        dim: usize,
        /// Where the selection starts in that dimension.
        start: u64,
        /// How far it extends.
        count: u64,
        /// The array's extent in that dimension.
        extent: u64,
    },
    /// A position counted from the end, as in `-5`, lies before the first element.
    #[error("dimension {dim}: -{from_end} lies before the first of {extent} elements")]
    BeforeStart {
        /// The dimension, from 0.
        dim: usize,
        /// How far from the end it was to be.
        from_end: u64,
        /// The array's extent in that dimension.
        extent: u64,
    },
    /// A slice ends before it starts.
    #[error("dimension {dim}: the slice ends at {end}, before its start {start}")]
    EndBeforeStart {
        /// The dimension, from 0.
        dim: usize,
        /// Where the slice starts.
        start: u64,
        /// Where the slice ends.
        end: u64,
    },
    /// A stride of 0.
    #[error("dimension {dim}: the stride is 0")]
    ZeroStride {
        /// The dimension, from 0.
        dim: usize,
    },
    /// One of the points has another number of dimensions than the array.
    #[error("point {position}, {point}, does not go with an array of shape {shape}")]
    PointDimensionCount {
        /// Which of the points, from 0.
        position: usize,
        /// The point.
        point: Box<Dims>,
        /// The array's shape.
        shape: Box<Shape>,
    },
    /// One of the points lies outside the array.
    #[error("point {position}, {point}, lies outside an array of shape {shape}")]
    PointOutOfBounds {
        /// Which of the points, from 0.
        position: usize,
        /// The point.
        point: Box<Dims>,
        /// The array's shape.
        shape: Box<Shape>,
    },
}

impl Selection {
    /// Checks that every element asked for exists in an array of that shape.
    ///
    /// Whether a block or a rank exists is known by the layout alone: [`plan`](crate::plan()) checks that.
    pub fn validate(&self, shape: &Shape) -> Result<(), SelectionError> {
        match self {
            Self::All | Self::Block(_) | Self::Rank(_) => Ok(()),
            Self::Region(region) => validate_region(region, shape),
            Self::Strided(strided) => validate_region(strided.region(), shape),
            Self::Points(points) => validate_points(points, shape),
        }
    }

    /// The shape of what arrives: the selected extent, every stride taken out; for points, their number.
    ///
    /// None for a block or a rank: that depends on the layout.
    pub fn result_shape(&self, shape: &Shape) -> Result<Option<Shape>, SelectionError> {
        self.validate(shape)?;
        let dims = match self {
            Self::All => *shape.dims(),
            Self::Region(region) => *region.count(),
            Self::Strided(strided) => strided.counts(),
            Self::Points(points) => [points.len() as u64].into(),
            Self::Block(_) | Self::Rank(_) => return Ok(None),
        };
        Ok(Shape::new(dims).ok())
    }

    /// How many elements arrive; none for a block or a rank: that depends on the layout.
    pub fn element_count(&self, shape: &Shape) -> Result<Option<u64>, SelectionError> {
        Ok(self.result_shape(shape)?.map(|shape| shape.element_count()))
    }
}

/// Checks a region against a shape, dimension by dimension.
fn validate_region(region: &Region, shape: &Shape) -> Result<(), SelectionError> {
    if region.ndims() != shape.ndims() {
        return Err(SelectionError::DimensionCount { selected: region.ndims(), shape: *shape });
    }
    let ends = region.end();
    let past = ends.iter().zip(shape.dims().iter()).position(|(end, extent)| end > extent);
    past.map_or(Ok(()), |dim| {
        let (start, count, extent) = (region.start()[dim], region.count()[dim], shape.dims()[dim]);
        Err(SelectionError::OutOfBounds { dim, start, count, extent })
    })
}

/// Checks points against a shape.
fn validate_points(points: &[Dims], shape: &Shape) -> Result<(), SelectionError> {
    let whole = Region::whole(shape);
    for (position, &point) in points.iter().enumerate() {
        if point.ndims() != shape.ndims() {
            return Err(SelectionError::PointDimensionCount {
                position,
                point: point.into(),
                shape: (*shape).into(),
            });
        }
        if !whole.contains_point(&point) {
            return Err(SelectionError::PointOutOfBounds {
                position,
                point: point.into(),
                shape: (*shape).into(),
            });
        }
    }
    Ok(())
}

/// Printed as [`SelectionExpression`] reads it: `[...]`, `[0:10, 5:20:2]`, `[points (1, 2) (3, 4)]`,
/// `[block 3.0]`, `[rank 3]`.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("[...]"),
            Self::Region(region) => fmt::Display::fmt(region, f),
            Self::Strided(strided) => fmt::Display::fmt(strided, f),
            Self::Points(points) => write_points(points, f),
            Self::Block(block) => write!(f, "[block {block}]"),
            Self::Rank(rank) => write!(f, "[rank {rank}]"),
        }
    }
}

/// Writes `[points (1, 2) (3, 4)]`.
fn write_points(points: &[Dims], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("[points")?;
    for point in points {
        let coordinates: Vec<String> = point.iter().map(u64::to_string).collect();
        write!(f, " ({})", coordinates.join(", "))?;
    }
    f.write_str("]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_dimension_and_the_values() {
        let shape = Shape::new([10, 20]).unwrap();
        let past = Selection::Region(Region::new([0, 15], [10, 6]).unwrap());
        let expected = SelectionError::OutOfBounds { dim: 1, start: 15, count: 6, extent: 20 };
        assert_eq!(past.validate(&shape), Err(expected.clone()));
        assert_eq!(expected.to_string(), "dimension 1: 15:21 (start 15, count 6) reaches past the extent 20");
        let flat = Selection::Region(Region::new([0], [10]).unwrap());
        assert!(matches!(flat.validate(&shape), Err(SelectionError::DimensionCount { selected: 1, .. })));
        let point = Dims::from([10, 0]);
        let points = Selection::Points(vec![[9, 19].into(), point]);
        assert_eq!(
            points.validate(&shape),
            Err(SelectionError::PointOutOfBounds { position: 1, point: point.into(), shape: shape.into() })
        );
    }

    #[test]
    fn results_have_the_selected_extent() {
        let shape = Shape::new([10, 20]).unwrap();
        let count =
            |selection: Selection| selection.result_shape(&shape).map(|found| found.map(|s| *s.dims()));
        assert_eq!(count(Selection::All), Ok(Some([10, 20].into())));
        let strided = StridedRegion::new(Region::new([0, 5], [10, 15]).unwrap(), [3, 2]).unwrap();
        assert_eq!(count(Selection::Strided(strided)), Ok(Some([4, 8].into())));
        assert_eq!(count(Selection::Points(vec![[1, 2].into(); 3])), Ok(Some([3].into())));
        assert_eq!(count(Selection::Rank(Rank(3))), Ok(None));
        assert_eq!(Selection::Strided(strided).element_count(&shape), Ok(Some(32)));
    }
}
