//! What is compared with a number: a measure, where it lies, or what became of it over some steps.

use std::fmt;

use super::{Measure, Statistic};

/// What is compared with a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// `max(T)`: a measure of the step.
    Of(Measure),
    /// `argmax(T)[0]`: where the least or the greatest element lies, along one dimension of the whole global array.
    PlaceOf {
        /// The least or the greatest element.
        measure: Measure,
        /// Which dimension, from 0.
        dim: u8,
    },
    /// `change(max(T))`: how much more it is than in the step that was measured before. There is none in the first.
    ChangeOf(Box<Quantity>),
    /// `window(mean(T), 10, max)`: what is made of it in the last so many steps that have it, this one among them. There
    /// is none before there were so many.
    WindowOf {
        /// What is taken of each step.
        of: Box<Quantity>,
        /// How many steps: 1 to 64.
        steps: u8,
        /// What is made of these.
        by: WindowStatistic,
    },
}

/// What is made of a number in several steps. Of NaN it is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WindowStatistic {
    /// The least.
    Minimum,
    /// The greatest.
    Maximum,
    /// The sum, from the oldest on.
    Sum,
    /// That sum, divided by the number of steps.
    Mean,
    /// The greatest less the least.
    Range,
}

impl WindowStatistic {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Minimum, Self::Maximum, Self::Sum, Self::Mean, Self::Range];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Minimum => "min",
            Self::Maximum => "max",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Range => "range",
        }
    }

    /// What is made of these numbers, of which the first is the oldest.
    pub(super) fn of(self, numbers: &[f64]) -> f64 {
        if numbers.iter().any(|number| number.is_nan()) {
            return f64::NAN;
        }
        let least = || numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = || numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum = || numbers.iter().sum::<f64>();
        match self {
            Self::Minimum => least(),
            Self::Maximum => greatest(),
            Self::Sum => sum(),
            Self::Mean => sum() / numbers.len() as f64,
            Self::Range => greatest() - least(),
        }
    }
}

impl Quantity {
    /// The measure.
    pub fn measure(&self) -> &Measure {
        match self {
            Self::Of(measure) | Self::PlaceOf { measure, .. } => measure,
            Self::ChangeOf(of) | Self::WindowOf { of, .. } => of.measure(),
        }
    }

    pub(super) fn measure_mut(&mut self) -> &mut Measure {
        match self {
            Self::Of(measure) | Self::PlaceOf { measure, .. } => measure,
            Self::ChangeOf(of) | Self::WindowOf { of, .. } => of.measure_mut(),
        }
    }

    /// Whether it looks at earlier steps.
    pub fn has_memory(&self) -> bool {
        match self {
            Self::Of(_) | Self::PlaceOf { .. } => false,
            Self::ChangeOf(_) | Self::WindowOf { .. } => true,
        }
    }

    /// Whether it is one number, of which there is a change: no truth value, and no bracket.
    pub(super) fn is_one_number(&self) -> bool {
        match self {
            Self::Of(measure) => {
                !measure.statistic().is_truth() && !matches!(measure.statistic(), Statistic::Quantile { .. })
            }
            Self::PlaceOf { .. } | Self::ChangeOf(_) | Self::WindowOf { .. } => true,
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Of(measure) => write!(f, "{measure}"),
            Self::PlaceOf { measure, dim } => write!(f, "arg{measure}[{dim}]"),
            Self::ChangeOf(of) => write!(f, "change({of})"),
            Self::WindowOf { of, steps, by } => write!(f, "window({of}, {steps}, {})", by.word()),
        }
    }
}
