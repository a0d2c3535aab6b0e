//! What is told with a step of why its subscriber gets it.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Comparison;
use crate::attribute::Real;
use crate::id::Rank;
use std::cmp::Ordering;

/// Longest text of why something was not measured, in bytes.
pub const LIMIT_REASON_BYTES: usize = 256;
/// Longest name of a measure, in bytes.
const LIMIT_MEASURE_BYTES: usize = 4096;

/// A number, exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MeasuredNumber {
    /// Of integers with a sign.
    Signed(i64),
    /// Of integers without one, counts, and truth values as 0 and 1.
    Unsigned(u64),
    /// Of real numbers, means and variances.
    Real(Real),
    /// Of a quantile: it is no less than the one, and no more than the other. They may be infinite, and are NaN if an
    /// element is.
    Bracket {
        /// What it is at least.
        low: Real,
        /// What it is at most.
        high: Real,
    },
}

impl MeasuredNumber {
    /// The number, rounded to 53 bits; of a bracket the lower end.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Bracket { low: Real(low), .. } => low,
            Self::Signed(number) => number as f64,
            Self::Unsigned(number) => number as f64,
            Self::Real(Real(number)) => number,
        }
    }

    /// The same, but of a bracket the upper end.
    pub fn upper_f64(self) -> f64 {
        match self {
            Self::Bracket { high: Real(high), .. } => high,
            Self::Signed(_) | Self::Unsigned(_) | Self::Real(_) => self.as_f64(),
        }
    }

    fn as_integer(self) -> Option<i128> {
        match self {
            Self::Signed(number) => Some(number.into()),
            Self::Unsigned(number) => Some(number.into()),
            Self::Real(_) | Self::Bracket { .. } => None,
        }
    }

    /// Whether it compares so with a threshold: exactly, also where an integer has more than 53 bits. NaN never does. A
    /// bracket does if both its ends do.
    pub fn compares(self, comparison: Comparison, threshold: f64) -> bool {
        let Some(integer) = self.as_integer() else {
            return [self.as_f64(), self.upper_f64()].iter().all(|end| comparison.holds(*end, threshold));
        };
        // Beyond this no integer of 64 bits lies, and below it each whole number has a conversion that changes nothing.
        if threshold.is_nan() || threshold.abs() >= 2f64.powi(65) {
            return comparison.holds(0.0, threshold);
        }
        let order = integer.cmp(&(threshold.floor() as i128));
        let is_between = order == Ordering::Equal && threshold.fract() != 0.0;
        comparison.allows(if is_between { Ordering::Less } else { order })
    }

    /// How much more it is than another number, rounded to 53 bits.
    pub fn above(self, other: Self) -> f64 {
        match (self.as_integer(), other.as_integer()) {
            (Some(one), Some(other)) => (one - other) as f64,
            _ => self.as_f64() - other.as_f64(),
        }
    }
}

impl fmt::Display for MeasuredNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signed(number) => number.fmt(f),
            Self::Unsigned(number) => number.fmt(f),
            Self::Real(Real(number)) => write!(f, "{number:?}"),
            Self::Bracket { low: Real(low), high: Real(high) } => write!(f, "{low:?}..{high:?}"),
        }
    }
}

/// Why there is no number.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Unmeasured {
    /// The lowest rank that did not measure.
    pub rank: Rank,
    /// Why, in words.
    pub reason: String,
}

impl fmt::Display for Unmeasured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "publisher rank {} did not measure: {}", self.rank, self.reason)
    }
}

/// A number of a step.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Measured {
    /// What was measured, as it is written: `max(T[0:64, :])`.
    pub measure: String,
    /// The number; `None` if no rank put an element of it.
    pub number: Option<MeasuredNumber>,
    /// Of a least or a greatest element of a global array: where it is, one index for each dimension of the whole array. Of
    /// several the first in row-major order.
    pub place: Option<Vec<u64>>,
}

/// Why a subscriber with a condition gets a step: the numbers, or why it could not be judged; and since when that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Judgement {
    /// When the publisher decided the step, by the clock of its lead: microseconds since the Unix epoch.
    pub decided_at_micros: u64,
    /// Why it was not judged. Such a step counts as one that satisfies the condition.
    pub unjudged: Option<Unmeasured>,
    /// What was measured, in the order of the condition's text.
    pub measured: Vec<Measured>,
}

impl Judgement {
    /// The number of a measure, as it is written.
    pub fn number(&self, measure: &str) -> Option<MeasuredNumber> {
        self.measured.iter().find(|measured| measured.measure == measure)?.number
    }

    /// Whether no text in it is longer, and no list, than one that this crate writes may be.
    pub fn is_within_bounds(&self) -> bool {
        let reason = self.unjudged.as_ref().is_none_or(Unmeasured::is_within_bounds);
        let each = |measured: &Measured| {
            let dims = measured.place.as_ref().map_or(0, Vec::len);
            measured.measure.len() <= LIMIT_MEASURE_BYTES && dims <= crate::dims::MAX_DIMS
        };
        reason && self.measured.len() <= super::LIMIT_MEASURES && self.measured.iter().all(each)
    }
}

impl Unmeasured {
    /// Why a rank did not measure, in a text that is not too long.
    pub fn new(rank: Rank, mut reason: String) -> Self {
        reason.truncate(reason.floor_char_boundary(LIMIT_REASON_BYTES));
        Self { rank, reason }
    }

    /// Whether its text is no longer than it may be.
    pub fn is_within_bounds(&self) -> bool {
        self.reason.len() <= LIMIT_REASON_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_compared_exactly() {
        let big = MeasuredNumber::Signed((1 << 53) + 1);
        assert!(
            big.compares(Comparison::Above, 2f64.powi(53))
                && !big.compares(Comparison::AtMost, 2f64.powi(53))
        );
        let three = MeasuredNumber::Unsigned(3);
        assert!(three.compares(Comparison::Below, 3.5) && three.compares(Comparison::Above, 2.5));
        assert!(three.compares(Comparison::AtLeast, 3.0) && !three.compares(Comparison::Above, 3.0));
        assert!(MeasuredNumber::Signed(-3).compares(Comparison::Above, -3.5));
        assert!(
            three.compares(Comparison::Below, f64::INFINITY) && !three.compares(Comparison::Below, -1e300)
        );
        assert!(MeasuredNumber::Unsigned(u64::MAX).compares(Comparison::Below, 2f64.powi(64)));
    }

    #[test]
    fn nothing_compares_with_nan() {
        for comparison in Comparison::ALL {
            assert!(!MeasuredNumber::Real(Real(f64::NAN)).compares(comparison, 0.0));
        }
    }

    #[test]
    fn a_bracket_compares_if_both_ends_do() {
        let bracket = MeasuredNumber::Bracket { low: Real(2.0), high: Real(3.0) };
        let holds = |threshold| Comparison::ALL.map(|comparison| bracket.compares(comparison, threshold));
        assert_eq!([1.0, 2.0].map(holds), [[true, true, false, false], [false, true, false, false]]);
        assert_eq!([3.0, 4.0].map(holds), [[false, false, false, true], [false, false, true, true]]);
        assert_eq!(holds(2.5), [false; 4]);
        assert_eq!(
            (bracket.to_string().as_str(), bracket.as_f64(), bracket.upper_f64()),
            ("2.0..3.0", 2.0, 3.0)
        );
        let unknown = MeasuredNumber::Bracket { low: Real(f64::NAN), high: Real(f64::NAN) };
        assert!(Comparison::ALL.iter().all(|comparison| !unknown.compares(*comparison, 0.0)));
    }

    #[test]
    fn changes_of_integers_are_exact() {
        let number = MeasuredNumber::Unsigned;
        assert_eq!(number(0).above(number(u64::MAX)), -(u64::MAX as f64));
        assert_eq!(number((1 << 60) + 1).above(number(1 << 60)), 1.0);
    }
}
