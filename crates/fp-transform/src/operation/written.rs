//! How operations that give a few numbers are written.

use std::fmt;

use fp_types::Comparison;

use super::{Bins, Reduction, Relation};

impl fmt::Display for Reduction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compared = |f: &mut fmt::Formatter<'_>, name, comparison: &Comparison, threshold: &f64| {
            write!(f, "{name}({} {threshold:?})", comparison.sign())
        };
        match self {
            Self::Minimum => f.write_str("min"),
            Self::Maximum => f.write_str("max"),
            Self::Sum => f.write_str("sum"),
            Self::Mean => f.write_str("mean"),
            Self::Variance => f.write_str("variance"),
            Self::Histogram { low, high, bins } => write!(f, "histogram({low:?}, {high:?}, {bins})"),
            Self::Count { comparison, threshold } => compared(f, "count", comparison, threshold),
            Self::Any { comparison, threshold } => compared(f, "any", comparison, threshold),
            Self::All { comparison, threshold } => compared(f, "all", comparison, threshold),
        }
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Covariance => f.write_str("covariance"),
            Self::Histogram { first, second } => write!(f, "histogram2d({first}, {second})"),
        }
    }
}

impl fmt::Display for Bins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}, {:?}, {}", self.low, self.high, self.count)
    }
}
