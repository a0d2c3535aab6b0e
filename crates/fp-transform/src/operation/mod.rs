//! The operations that make up derivations.
//!
//! Those that leave each element where it is, or drop some, work block by block. Those that bring elements together
//! give what is whole. The rest is a [`Partial`](crate::Partial) that is merged over all ranks before it is finished.

mod average;
mod deployed;
mod elementwise;
mod extreme;
mod histogram;
mod local;
mod points;
mod reduction;
mod relation;
mod written;

pub(crate) use average::{Cells, averages, finish_averages};
pub use deployed::ModuleCall;
pub(crate) use elementwise::elementwise;
pub(crate) use extreme::{Located, locate};
pub use histogram::Bins;
pub(crate) use histogram::Counts;
pub(crate) use local::{cast, taken};
pub(crate) use points::{Found, find};
pub(crate) use reduction::{Statistic, extreme, reduce};
pub(crate) use relation::{Related, relate};

use std::fmt;

use fp_types::{
    Comparison, Dims, Dtype, MemoryOrder, Position, Region, Selection, SelectionError, SelectionExpression,
    Shape, Slice, StridedRegion,
};

use crate::alignment::lead;
use crate::block::ArrayType;
use crate::error::DeriveError;
use crate::expression::Expression;
use crate::numbers::{Kind, computed, is_real, kind};

/// The most bins of a histogram.
pub const MAX_BINS: u32 = 1 << 20;

/// One operation of a derivation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Operation {
    /// To another element type: real numbers are rounded to the nearest, or to the end of an integer's range.
    Cast(Dtype),
    /// `element * factor + offset`: from one unit to another.
    Scale {
        /// What elements are multiplied by.
        factor: f64,
        /// What is added then.
        offset: f64,
    },
    /// The same elements with the other dimension running fastest.
    Reorder(MemoryOrder),
    /// The elements whose global index is a multiple of the stride, in each dimension.
    Stride(Dims),
    /// The elements of a region, with or without strides, as `[0:10, ::2]` selects them. Their global index begins at
    /// 0 there.
    Slice(SelectionExpression),
    /// The mean of each region of that extent, from the global index 0 on; the last ones may be smaller.
    Average(Dims),
    /// The length of the vectors whose components are the inputs; of one complex input the absolute value.
    Magnitude,
    /// An expression over the inputs.
    Compute(Expression),
    /// One number (or, of a histogram, one array) of all elements.
    Reduce(Reduction),
    /// Global index and value of the elements that compare so with a number.
    Points {
        /// How they compare.
        comparison: Comparison,
        /// With what.
        threshold: f64,
    },
    /// The least or the greatest element: the lowest global index that has it, and its value.
    Locate(Extreme),
    /// What two variables have to do with one another, element by element.
    Relate(Relation),
    /// A module that somebody hands over, or a registered function, on each block.
    Module(ModuleCall),
}

/// What all elements are brought together to.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reduction {
    /// The least element, of the elements' type; NaN if any is, and -0 before 0.
    Minimum,
    /// The greatest element.
    Maximum,
    /// The sum: `f64`, rounded once; of integers `i64` or `u64`.
    Sum,
    /// The mean: the exact sum, rounded and divided.
    Mean,
    /// The variance of all elements (not of a sample), from exact sums.
    Variance,
    /// How many elements lie in each of `bins` intervals of equal width, as `u64`. After them come how many lie below,
    /// how many above, and how many are NaN. An interval has its lower end, the last one both.
    Histogram {
        /// The lower end of the first.
        low: f64,
        /// The upper end of the last.
        high: f64,
        /// How many, at most [`MAX_BINS`].
        bins: u32,
    },
    /// How many elements compare so with a number, as `u64`.
    Count {
        /// How they compare.
        comparison: Comparison,
        /// With what.
        threshold: f64,
    },
    /// Whether any element compares so, as a truth value. Of no elements none does.
    Any {
        /// How they compare.
        comparison: Comparison,
        /// With what.
        threshold: f64,
    },
    /// Whether all elements compare so, as a truth value. Of no elements all do.
    All {
        /// How they compare.
        comparison: Comparison,
        /// With what.
        threshold: f64,
    },
}

/// One end of what elements are ordered by: -0 comes before 0, and NaN is beyond either end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extreme {
    /// The least element.
    Least,
    /// The greatest element.
    Greatest,
}

/// What two variables are brought together to, element by element.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Relation {
    /// The covariance of all elements (not of a sample), from exact sums.
    Covariance,
    /// How many pairs lie in each pair of intervals, as `u64`. Rows are those of the first variable, columns those of
    /// the second. Each has its bins, then one each for what lies below, above, and is NaN.
    Histogram {
        /// Those of the first variable.
        first: Bins,
        /// Those of the second. There are at most [`MAX_BINS`] counts in all.
        second: Bins,
    },
}

/// One array that a derivation gives, as far as it is known before any element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputType {
    /// What it is called beside the others of the derivation: empty, `index` or `value`.
    pub suffix: &'static str,
    /// The element type.
    pub dtype: Dtype,
    /// The shape.
    pub shape: Shape,
    /// Whether the array may turn out shorter, as only the elements decide.
    pub at_most: bool,
}

impl Operation {
    /// Whether it brings together elements of all ranks, so that its results are whole only after all were merged.
    pub fn gathers(&self) -> bool {
        match self {
            Self::Module(call) => call.rows().is_some(),
            Self::Average(_) | Self::Reduce(_) | Self::Points { .. } | Self::Locate(_) | Self::Relate(_) => {
                true
            }
            Self::Cast(_)
            | Self::Scale { .. }
            | Self::Reorder(_)
            | Self::Stride(_)
            | Self::Slice(_)
            | Self::Magnitude
            | Self::Compute(_) => false,
        }
    }

    /// Whether it must know where rows lie along a dimension: those of joined and local arrays are known where the step
    /// is read.
    pub(crate) fn needs_rows(&self, dim: usize) -> bool {
        let is_all = |slice: &Slice| {
            matches!(slice, Slice::Range { start: None | Some(Position::FromStart(0)), end: None, stride: 1 })
        };
        match self {
            Self::Stride(steps) | Self::Average(steps) => steps.get(dim).is_some_and(|step| *step != 1),
            Self::Slice(SelectionExpression::Slices(slices)) => {
                slices.get(dim).is_some_and(|slice| !is_all(slice))
            }
            Self::Slice(_) => true,
            Self::Cast(_)
            | Self::Scale { .. }
            | Self::Reorder(_)
            | Self::Magnitude
            | Self::Compute(_)
            | Self::Reduce(_)
            | Self::Points { .. }
            | Self::Locate(_)
            | Self::Relate(_)
            | Self::Module(_) => false,
        }
    }

    /// Whether what it gathers says where elements lie that go in, and not where results do.
    pub(crate) fn has_places_of_input(&self) -> bool {
        matches!(self, Self::Points { .. } | Self::Locate(_) | Self::Module(_))
    }

    /// Whether its numbers make sense.
    pub(crate) fn check(&self) -> Result<(), DeriveError> {
        let fail = |what| Err(DeriveError::Setting { operation: self.to_string(), what });
        match self {
            Self::Scale { factor, offset } if !factor.is_finite() || !offset.is_finite() => {
                fail("factor and offset must be finite")
            }
            Self::Stride(steps) | Self::Average(steps) if steps.contains(&0) => fail("no extent may be 0"),
            Self::Module(call) => call.fault().map_or(Ok(()), fail),
            Self::Points { threshold, .. }
            | Self::Reduce(
                Reduction::Count { threshold, .. }
                | Reduction::Any { threshold, .. }
                | Reduction::All { threshold, .. },
            ) if threshold.is_nan() => fail("nothing compares with NaN"),
            Self::Reduce(Reduction::Histogram { low, high, bins }) => {
                Bins { low: *low, high: *high, count: *bins }.fault().map_or(Ok(()), fail)
            }
            Self::Relate(Relation::Histogram { first, second }) => match first.fault().or(second.fault()) {
                Some(what) => fail(what),
                None if first.places() * second.places() > u64::from(MAX_BINS) => fail("too many bins"),
                None => Ok(()),
            },
            Self::Slice(SelectionExpression::Slices(slices)) if slices.iter().any(has_no_stride) => {
                fail("no stride may be 0")
            }
            Self::Slice(SelectionExpression::Slices(_)) => Ok(()),
            Self::Slice(_) => fail("slices are wanted, one for each dimension"),
            Self::Cast(_)
            | Self::Scale { .. }
            | Self::Reorder(_)
            | Self::Stride(_)
            | Self::Average(_)
            | Self::Magnitude
            | Self::Compute(_)
            | Self::Reduce(_)
            | Self::Locate(_)
            | Self::Relate(Relation::Covariance)
            | Self::Points { .. } => Ok(()),
        }
    }

    /// What the operation gives for arrays of those types: a pure function, for planning.
    ///
    /// # Errors
    /// A wrong number of arrays, or arrays of shapes or elements that the operation does not take.
    pub fn outputs(&self, inputs: &[ArrayType]) -> Result<Vec<OutputType>, DeriveError> {
        let first = self.lead(inputs)?;
        let is_alone = |other: &ArrayType| other.shape.ndims() == 0 && self.takes_values();
        if let Some(other) = inputs.iter().find(|other| other.shape != first.shape && !is_alone(other)) {
            let (operation, first, other) = (self.to_string(), first.shape, other.shape);
            return Err(DeriveError::Shapes { operation, first, other });
        }
        self.check_elements(inputs)?;
        let one = |dtype, shape| Ok(vec![OutputType { suffix: "", dtype, shape, at_most: false }]);
        match self {
            Self::Cast(dtype) => one(*dtype, first.shape),
            Self::Reorder(_) => one(first.dtype, first.shape),
            Self::Scale { .. } | Self::Magnitude | Self::Compute(_) => one(widest(inputs), first.shape),
            Self::Stride(steps) => one(first.dtype, self.thinned(steps, &first.shape)?),
            Self::Slice(_) => one(first.dtype, Shape::new(self.slice_of(&first.shape)?.counts())?),
            Self::Module(call) => Ok(vec![call.output(first)?]),
            Self::Average(steps) => one(computed(first.dtype), self.thinned(steps, &first.shape)?),
            Self::Reduce(reduction) => one(reduction.dtype(first.dtype), reduction.shape()?),
            Self::Relate(relation) => one(relation.dtype(), relation.shape()?),
            Self::Locate(_) => {
                let output =
                    |suffix, dtype| OutputType { suffix, dtype, shape: Shape::scalar(), at_most: false };
                Ok(vec![output("index", Dtype::U64), output("value", first.dtype)])
            }
            Self::Points { .. } => {
                let shape = Shape::new([first.shape.element_count()])?;
                let output = |suffix, dtype| OutputType { suffix, dtype, shape, at_most: true };
                Ok(vec![output("index", Dtype::U64), output("value", first.dtype)])
            }
        }
    }

    /// Whether it takes several arrays, and single numbers among them.
    fn takes_values(&self) -> bool {
        matches!(self, Self::Magnitude | Self::Compute(_) | Self::Module(_))
    }

    /// The array that says of which shape the result is; an error if there are too many or too few.
    fn lead<'a>(&self, inputs: &'a [ArrayType]) -> Result<&'a ArrayType, DeriveError> {
        let (wanted, fits) = if matches!(self, Self::Relate(_)) {
            ("two", inputs.len() == 2)
        } else if self.takes_values() {
            ("one or more", !inputs.is_empty())
        } else {
            ("one", inputs.len() == 1)
        };
        let lead = inputs.get(lead(inputs.iter().map(|input| input.shape.ndims()))).filter(|_| fits);
        lead.ok_or_else(|| DeriveError::Arity { operation: self.to_string(), wanted, count: inputs.len() })
    }

    /// The elements that a slice or a stride takes of an array of that shape.
    pub(crate) fn slice_of(&self, shape: &Shape) -> Result<StridedRegion, DeriveError> {
        if let Self::Stride(steps) = self {
            return Ok(StridedRegion::new(Region::whole(shape), *steps)?);
        }
        let Self::Slice(slices) = self else { return Ok(StridedRegion::dense(Region::whole(shape))) };
        let outside = |source| {
            let (operation, shape, source) = (self.to_string(), *shape, Box::new(source));
            DeriveError::Slice { operation, shape, source }
        };
        match slices.resolve(shape).map_err(outside)? {
            Selection::Region(region) => Ok(StridedRegion::dense(region)),
            Selection::Strided(strided) => Ok(strided),
            Selection::All | Selection::Points(_) | Selection::Block(_) | Selection::Rank(_) => {
                let (selected, shape) = (0, *shape);
                Err(outside(SelectionError::DimensionCount { selected, shape }))
            }
        }
    }

    fn check_elements(&self, inputs: &[ArrayType]) -> Result<(), DeriveError> {
        let is_complex = |dtype| matches!(dtype, Dtype::C32 | Dtype::C64);
        let takes = |dtype| match self {
            Self::Reorder(_) | Self::Stride(_) | Self::Slice(_) | Self::Module(_) => {
                dtype != Dtype::String && dtype != Dtype::Bytes
            }
            Self::Magnitude if inputs.len() == 1 => is_real(dtype) || is_complex(dtype),
            Self::Cast(to) => local::can_cast(dtype, *to),
            Self::Scale { .. }
            | Self::Average(_)
            | Self::Magnitude
            | Self::Compute(_)
            | Self::Reduce(_)
            | Self::Locate(_)
            | Self::Relate(_)
            | Self::Points { .. } => is_real(dtype),
        };
        match inputs.iter().find(|input| !takes(input.dtype)) {
            Some(input) => Err(DeriveError::Elements { operation: self.to_string(), dtype: input.dtype }),
            None => Ok(()),
        }
    }

    /// The shape of what is left of every so many.
    fn thinned(&self, steps: &Dims, shape: &Shape) -> Result<Shape, DeriveError> {
        if steps.ndims() != shape.ndims() {
            let (given, ndims) = (steps.ndims(), shape.ndims());
            return Err(DeriveError::DimensionCount { operation: self.to_string(), given, ndims });
        }
        let mut dims = *shape.dims();
        dims.iter_mut().zip(steps.iter()).for_each(|(extent, step)| *extent = extent.div_ceil(*step));
        Ok(Shape::new(dims)?)
    }
}

impl Reduction {
    /// The element type of the result.
    fn dtype(self, of: Dtype) -> Dtype {
        match (self, kind(of)) {
            (Self::Minimum | Self::Maximum, _) => of,
            (Self::Sum, Kind::Signed) => Dtype::I64,
            (Self::Sum, Kind::Unsigned) | (Self::Histogram { .. } | Self::Count { .. }, _) => Dtype::U64,
            (Self::Any { .. } | Self::All { .. }, _) => Dtype::Bool,
            _ => Dtype::F64,
        }
    }

    /// The shape of the result.
    fn shape(self) -> Result<Shape, DeriveError> {
        match self {
            Self::Histogram { bins, .. } => Ok(Shape::new([u64::from(bins) + 3])?),
            Self::Minimum
            | Self::Maximum
            | Self::Sum
            | Self::Mean
            | Self::Variance
            | Self::Count { .. }
            | Self::Any { .. }
            | Self::All { .. } => Ok(Shape::scalar()),
        }
    }
}

fn has_no_stride(slice: &Slice) -> bool {
    matches!(slice, Slice::Range { stride: 0, .. })
}

/// 32 bits if no input has more, else 64.
fn widest(inputs: &[ArrayType]) -> Dtype {
    let short = inputs.iter().all(|input| computed(input.dtype) == Dtype::F32);
    if short { Dtype::F32 } else { Dtype::F64 }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = |dims: &Dims| dims.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        match self {
            Self::Cast(dtype) => write!(f, "cast({dtype})"),
            Self::Scale { factor, offset } => write!(f, "scale({factor:?}, {offset:?})"),
            Self::Reorder(MemoryOrder::RowMajor) => f.write_str("order(row)"),
            Self::Reorder(MemoryOrder::ColumnMajor) => f.write_str("order(column)"),
            Self::Stride(dims) => write!(f, "stride({})", steps(dims)),
            Self::Average(dims) => write!(f, "average({})", steps(dims)),
            Self::Module(call) => call.fmt(f),
            Self::Magnitude => f.write_str("magnitude"),
            Self::Compute(expression) => write!(f, "compute({expression})"),
            Self::Reduce(reduction) => reduction.fmt(f),
            Self::Locate(Extreme::Least) => f.write_str("argmin"),
            Self::Locate(Extreme::Greatest) => f.write_str("argmax"),
            Self::Relate(relation) => relation.fmt(f),
            Self::Slice(slices) => {
                let text = slices.to_string();
                let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
                write!(f, "slice({})", inside.unwrap_or(&text))
            }
            Self::Points { comparison, threshold } => {
                write!(f, "points({} {threshold:?})", comparison.sign())
            }
        }
    }
}
