//! Selections as users write them, open ends and all, before the shape is known.

use std::fmt;

use super::{Selection, SelectionError};
use crate::dims::{Dims, MAX_DIMS};
use crate::id::{BlockId, Rank};
use crate::region::{Region, RegionError};
use crate::shape::Shape;
use crate::stride::StridedRegion;

/// A selection as it is written: `[0:10, ::2]`, `[-1, :]`, `[points (1, 2)]`, `[block 3.0]`, `[rank 3]`, `[...]`.
///
/// Ends may be left out or counted from the end; [`resolve`](Self::resolve) fills them in for a shape. The rules are
/// Python's but for four. There is one slice for each dimension. A position outside the array is an error and not cut
/// off. Strides are positive. A single position keeps its dimension, with an extent of 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SelectionExpression {
    /// `[...]`, or nothing at all.
    All,
    /// One slice for each dimension, at most eight.
    Slices(Vec<Slice>),
    /// `[points (1, 2) (3, 4)]`.
    Points(Vec<Dims>),
    /// `[block 3.0]`.
    Block(BlockId),
    /// `[rank 3]`.
    Rank(Rank),
}

/// One dimension of a [`SelectionExpression`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Slice {
    /// `start:end:stride`; what is left out is 0, the extent and 1.
    Range {
        /// The first position.
        start: Option<Position>,
        /// One past the last position.
        end: Option<Position>,
        /// Every how-manieth element.
        stride: u64,
    },
    /// One position: an extent of 1.
    Single(Position),
}

/// A position in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Position {
    /// `5`: counted from the start.
    FromStart(u64),
    /// `-5`: counted from the end.
    FromEnd(u64),
}

impl SelectionExpression {
    /// The selection that this means in an array of that shape, checked against it.
    pub fn resolve(&self, shape: &Shape) -> Result<Selection, SelectionError> {
        let selection = match self {
            Self::All => Selection::All,
            Self::Slices(slices) => return resolve_slices(slices, shape),
            Self::Points(points) => Selection::Points(points.clone()),
            Self::Block(block) => Selection::Block(*block),
            Self::Rank(rank) => Selection::Rank(*rank),
        };
        selection.validate(shape)?;
        Ok(selection)
    }
}

/// Resolves a list of slices to a region, with stride if there is one.
fn resolve_slices(slices: &[Slice], shape: &Shape) -> Result<Selection, SelectionError> {
    if slices.len() != shape.ndims() || slices.len() > MAX_DIMS {
        return Err(SelectionError::DimensionCount { selected: slices.len(), shape: *shape });
    }
    let zeros = shape.dims().zeros_like();
    let (mut start, mut count, mut stride) = (zeros, zeros, zeros);
    for (dim, slice) in slices.iter().enumerate() {
        let extent = shape.dims()[dim];
        (start[dim], count[dim], stride[dim]) = slice.resolve(dim, extent)?;
    }
    // Slices inside a shape are always a region; the error stands for what cannot happen.
    let impossible =
        |_: RegionError| SelectionError::DimensionCount { selected: slices.len(), shape: *shape };
    let region = Region::new(start, count).map_err(impossible)?;
    if stride.iter().all(|&stride| stride == 1) {
        return Ok(Selection::Region(region));
    }
    let zero = stride.iter().position(|&stride| stride == 0);
    let strided = StridedRegion::new(region, stride);
    strided.map(Selection::Strided).map_err(|_| SelectionError::ZeroStride { dim: zero.unwrap_or_default() })
}

impl Slice {
    /// Start, count and stride in a dimension of that extent.
    fn resolve(&self, dim: usize, extent: u64) -> Result<(u64, u64, u64), SelectionError> {
        let (first, last, stride) = match *self {
            Self::Range { start, end, stride } => (start, end, stride),
            Self::Single(position) => return position.resolve_single(dim, extent).map(|start| (start, 1, 1)),
        };
        let start = first.map_or(Ok(0), |position| position.resolve(dim, extent))?;
        let end = last.map_or(Ok(extent), |position| position.resolve(dim, extent))?;
        if start > extent || end > extent {
            let count = end.saturating_sub(start);
            return Err(SelectionError::OutOfBounds { dim, start, count, extent });
        }
        let count = end.checked_sub(start).ok_or(SelectionError::EndBeforeStart { dim, start, end })?;
        Ok((start, count, stride))
    }
}

impl Position {
    /// The position counted from the start.
    fn resolve(self, dim: usize, extent: u64) -> Result<u64, SelectionError> {
        match self {
            Self::FromStart(position) => Ok(position),
            Self::FromEnd(from_end) => {
                extent.checked_sub(from_end).ok_or(SelectionError::BeforeStart { dim, from_end, extent })
            }
        }
    }

    /// The position counted from the start, at which there must be an element.
    fn resolve_single(self, dim: usize, extent: u64) -> Result<u64, SelectionError> {
        let start = self.resolve(dim, extent)?;
        let inside = (start < extent).then_some(start);
        inside.ok_or(SelectionError::OutOfBounds { dim, start, count: 1, extent })
    }
}

impl fmt::Display for SelectionExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("[...]"),
            Self::Points(points) => super::write_points(points, f),
            Self::Block(block) => write!(f, "[block {block}]"),
            Self::Rank(rank) => write!(f, "[rank {rank}]"),
            Self::Slices(slices) => {
                let slices: Vec<String> = slices.iter().map(Slice::to_string).collect();
                write!(f, "[{}]", slices.join(", "))
            }
        }
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (start, end, stride) = match self {
            Self::Single(position) => return fmt::Display::fmt(position, f),
            Self::Range { start, end, stride } => (start, end, *stride),
        };
        start.map_or(Ok(()), |position| fmt::Display::fmt(&position, f))?;
        f.write_str(":")?;
        end.map_or(Ok(()), |position| fmt::Display::fmt(&position, f))?;
        if stride == 1 { Ok(()) } else { write!(f, ":{stride}") }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FromStart(position) => write!(f, "{position}"),
            Self::FromEnd(position) => write!(f, "-{position}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(text: &str) -> Result<String, SelectionError> {
        let shape = Shape::new([10, 20]).unwrap();
        let expression: SelectionExpression = text.parse().unwrap();
        expression.resolve(&shape).map(|selection| selection.to_string())
    }

    #[test]
    fn open_ends_are_filled_in() {
        let meaning = |text, meaning: &str| assert_eq!(resolved(text).as_deref(), Ok(meaning));
        meaning("[:, :]", "[0:10, 0:20]");
        meaning("[3:, ::2]", "[3:10, 0:19:2]");
        meaning("[-1, -5:-2]", "[9:10, 15:18]");
        meaning("[4,:7]", "[4:5, 0:7]");
        meaning("[...]", "[...]");
        meaning("[2:2, 20:]", "[2:2, 20:20]");
    }

    #[test]
    fn positions_outside_are_errors() {
        let refused = |text, error| assert_eq!(resolved(text), Err(error));
        refused("[0:11, :]", SelectionError::OutOfBounds { dim: 0, start: 0, count: 11, extent: 10 });
        refused("[10, :]", SelectionError::OutOfBounds { dim: 0, start: 10, count: 1, extent: 10 });
        refused("[:, -21:]", SelectionError::BeforeStart { dim: 1, from_end: 21, extent: 20 });
        refused("[5:3, :]", SelectionError::EndBeforeStart { dim: 0, start: 5, end: 3 });
        refused("[:, ::0]", SelectionError::ZeroStride { dim: 1 });
        let shape = Shape::new([10, 20]).unwrap();
        refused("[:]", SelectionError::DimensionCount { selected: 1, shape });
    }
}
