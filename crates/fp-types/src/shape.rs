//! The global extent of an array.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dims::Dims;

/// The global extent of an array, one number for each dimension; no dimensions at all is a scalar.
///
/// Extents may be 0. The product of those that are not 0 fits into 63 bits: every offset can be computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "Dims", try_from = "Dims")]
pub struct Shape(Dims);

/// A shape of more elements than can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an array of shape {dims} has more than 2^63 elements")]
pub struct ShapeTooLarge {
    /// The extents that were given.
    pub dims: Dims,
}

impl Shape {
    /// The shape of a scalar: no dimensions, one element.
    pub fn scalar() -> Self {
        Self::default()
    }

    /// An array of those extents.
    pub fn new(dims: impl Into<Dims>) -> Result<Self, ShapeTooLarge> {
        let dims = dims.into();
        dims.bounded_product().map(|_| Self(dims)).ok_or(ShapeTooLarge { dims })
    }

    /// The extents.
    pub fn dims(&self) -> &Dims {
        &self.0
    }

    /// How many dimensions there are.
    pub fn ndims(&self) -> usize {
        self.0.ndims()
    }

    /// How many elements there are: 1 for a scalar, 0 if any extent is 0.
    pub fn element_count(&self) -> u64 {
        self.0.product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.0.contains(&0)
    }
}

impl From<Shape> for Dims {
    fn from(shape: Shape) -> Dims {
        shape.0
    }
}

impl TryFrom<Dims> for Shape {
    type Error = ShapeTooLarge;

    fn try_from(dims: Dims) -> Result<Self, ShapeTooLarge> {
        Self::new(dims)
    }
}

/// Printed as `[256, 256]`; a scalar as `[]`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_go_past_32_bits() -> Result<(), ShapeTooLarge> {
        let shape = Shape::new([1 << 33, 3])?;
        assert_eq!((shape.element_count(), shape.ndims()), (3 << 33, 2));
        assert_eq!(Shape::scalar().element_count(), 1);
        assert!(Shape::new([5, 0])?.is_empty() && !Shape::scalar().is_empty());
        Ok(())
    }

    #[test]
    fn shapes_that_cannot_be_counted_are_refused() {
        let dims = Dims::from([1 << 40, 1 << 40]);
        assert_eq!(Shape::new(dims), Err(ShapeTooLarge { dims }));
        assert!(Shape::new([0, 1 << 40, 1 << 40]).is_err());
    }
}
