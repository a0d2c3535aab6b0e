//! What is made of an array to one number.

use std::fmt;

use super::Comparison;
use super::written::{write_name, write_number};
use crate::attribute::Real;
use crate::dtype::Dtype;
use crate::name::{NameError, validate_name};
use crate::selection::{SelectionExpression, Slice};

/// What a measure is made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Statistic {
    /// The least element. NaN if one is.
    Minimum,
    /// The greatest element. NaN if one is.
    Maximum,
    /// The sum, rounded once.
    Sum,
    /// The mean, from the exact sum.
    Mean,
    /// The variance of all elements (not of a sample), from exact sums.
    Variance,
    /// The bracket of a quantile, by a histogram of so many bins of equal width: what is certain of it without sorting.
    /// Of `n` elements, of which none is NaN, it is that of the least rank `r` (from 1) with `r / n >= share`.
    Quantile {
        /// Which one: 0 to 1.
        share: Real,
        /// The lower end of the first bin.
        low: Real,
        /// The upper end of the last bin: above `low`, by a finite width.
        high: Real,
        /// How many: 1 to [`LIMIT_QUANTILE_BINS`](super::LIMIT_QUANTILE_BINS).
        bins: u16,
    },
    /// How many elements compare so.
    Count(Comparison, Real),
    /// Whether any element compares so.
    Any(Comparison, Real),
    /// Whether all elements compare so.
    All(Comparison, Real),
}

impl Statistic {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Minimum => "min",
            Self::Maximum => "max",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Variance => "variance",
            Self::Quantile { .. } => "quantile",
            Self::Count(..) => "count",
            Self::Any(..) => "any",
            Self::All(..) => "all",
        }
    }

    /// Whether it is a truth value and no number.
    pub fn is_truth(self) -> bool {
        matches!(self, Self::Any(..) | Self::All(..))
    }

    /// How elements are compared for it.
    pub(super) fn comparing(self) -> Option<(Comparison, Real)> {
        match self {
            Self::Count(comparison, threshold)
            | Self::Any(comparison, threshold)
            | Self::All(comparison, threshold) => Some((comparison, threshold)),
            #[rustfmt::skip]
            Self::Minimum | Self::Maximum | Self::Sum | Self::Mean | Self::Variance | Self::Quantile { .. } => None,
        }
    }
}

/// Where a function comes from whose results are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FunctionOrigin {
    /// It is registered with the publisher: `call(name, T)`.
    Registered,
    /// It is a module that the subscriber hands over: `module(name, T)`.
    HandedOver,
}

impl FunctionOrigin {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Registered => "call",
            Self::HandedOver => "module",
        }
    }
}

/// A function: what it makes of the elements is measured.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MeasuredCall {
    /// Where it comes from.
    pub origin: FunctionOrigin,
    /// What it is registered as. Of a module what the subscriber calls it, and its hash in 64 hex digits once that is known.
    pub name: String,
    /// The type of what it gives; that of the elements if nothing is said.
    pub dtype: Option<Dtype>,
}

/// One number of an array, or of a region of it: `max(T[0:64, :])`. Its text is its name, on every rank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Measure {
    statistic: Statistic,
    call: Option<MeasuredCall>,
    variable: String,
    /// One for each dimension; empty stands for the whole array.
    region: Vec<Slice>,
}

impl Measure {
    /// Of a whole array.
    ///
    /// # Errors
    /// A name that no variable can have.
    pub fn of(statistic: Statistic, variable: impl Into<String>) -> Result<Self, NameError> {
        let variable = variable.into();
        validate_name(&variable)?;
        Ok(Self { statistic, call: None, variable, region: Vec::new() })
    }

    /// Of these elements of it: one slice for each dimension.
    #[must_use]
    pub fn within(mut self, region: Vec<Slice>) -> Self {
        self.region = region;
        self
    }

    /// Of what a function makes of the elements.
    #[must_use]
    pub fn calling(mut self, call: MeasuredCall) -> Self {
        self.call = Some(call);
        self
    }

    /// The function that is called, if one is.
    pub fn call(&self) -> Option<&MeasuredCall> {
        self.call.as_ref()
    }

    /// The module that is called, if one is.
    pub(super) fn module_mut(&mut self) -> Option<&mut MeasuredCall> {
        self.call.as_mut().filter(|call| call.origin == FunctionOrigin::HandedOver)
    }

    /// What it is made by.
    pub fn statistic(&self) -> Statistic {
        self.statistic
    }

    /// Of which array.
    pub fn variable(&self) -> &str {
        &self.variable
    }

    /// Records of which it may be a field, and the path of that. Of `a.b.c` it is `c` of `a.b`, or `b.c` of `a`. What has
    /// the whole name comes before these, and what is longer before what is shorter.
    pub fn may_be_field(&self) -> impl Iterator<Item = (&str, &str)> {
        let dots = self.variable.rmatch_indices('.').map(|(at, _)| at);
        dots.map(|at| (&self.variable[..at], &self.variable[at + 1..]))
            .filter(|(records, _)| !records.is_empty())
    }

    /// The part of the array, if it is not all of it.
    pub fn region(&self) -> Option<SelectionExpression> {
        (!self.region.is_empty()).then(|| SelectionExpression::Slices(self.region.clone()))
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.statistic.word())?;
        if let Some(call) = &self.call {
            write!(f, "{}(", call.origin.word())?;
            write_name(&call.name, f)?;
            f.write_str(", ")?;
        }
        write_name(&self.variable, f)?;
        if let Some(region) = self.region() {
            write!(f, "{region}")?;
        }
        if let Some(call) = &self.call {
            call.dtype.map_or(Ok(()), |dtype| write!(f, ", {dtype}"))?;
            f.write_str(")")?;
        }
        if let Some((comparison, threshold)) = self.statistic.comparing() {
            write!(f, " {} ", comparison.sign())?;
            write_number(threshold, f)?;
        }
        if let Statistic::Quantile { share: Real(share), low: Real(low), high: Real(high), bins } =
            self.statistic
        {
            write!(f, ", {share:?}, {low:?}..{high:?} / {bins}")?;
        }
        f.write_str(")")
    }
}
