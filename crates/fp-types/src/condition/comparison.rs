//! How numbers compare with a threshold.

use std::cmp::Ordering;

/// How an element or a number compares with a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
}

impl Comparison {
    /// All four.
    pub const ALL: [Self; 4] = [Self::Above, Self::AtLeast, Self::Below, Self::AtMost];

    /// How it is written.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
        }
    }

    /// Whether a number compares so with the threshold; NaN never does.
    pub fn holds(self, number: f64, threshold: f64) -> bool {
        match self {
            Self::Above => number > threshold,
            Self::AtLeast => number >= threshold,
            Self::Below => number < threshold,
            Self::AtMost => number <= threshold,
        }
    }

    /// Whether what stands in that order to the threshold compares so.
    pub(crate) fn allows(self, order: Ordering) -> bool {
        match self {
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
        }
    }
}
