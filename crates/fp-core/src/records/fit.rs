//! How well the records of a variable fit the type that is wanted.

use fp_transform::TransformPath;
use fp_types::record::{Conversion, Difference, Incompatible, Loss, RecordSchema, differences};
use std::cmp::Ordering;
use std::fmt;

/// A variable that provides the type that was asked for.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Provided {
    /// Its name.
    pub variable: String,
    /// How well its records fit.
    pub fit: Fit,
}

/// How well records fit the type that was asked for, best first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fit {
    /// They are of that very type, or of one that only differs in texts for people: bytes pass untouched.
    Same,
    /// They are converted.
    Converted {
        /// What the types differ in.
        differences: Vec<Difference>,
    },
    /// Transforms that this process knows lead there, by the cheapest path. Where the path begins or ends with another
    /// type of the same meaning, records are converted there.
    Through(TransformPath),
    /// Transforms that the publisher registered lead there. Its ranks make them of their blocks when they are asked
    /// for, and only what comes out crosses.
    ThroughPublisher(TransformPath),
}

impl Fit {
    /// What orders them: the best first, and of paths the cheapest.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (
                Self::Through(one) | Self::ThroughPublisher(one),
                Self::Through(other) | Self::ThroughPublisher(other),
            ) => one.compare(other),
            (one, other) => one.rank().cmp(&other.rank()),
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Same => 0,
            Self::Converted { .. } => 1,
            Self::Through(_) | Self::ThroughPublisher(_) => 2,
        }
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same => f.write_str("as it is"),
            Self::Converted { differences } => {
                f.write_str("converted")?;
                differences.iter().try_for_each(|difference| write!(f, "\n  {difference}"))
            }
            Self::Through(path) => path.fmt(f),
            Self::ThroughPublisher(path) => write!(f, "{path}, by the publisher"),
        }
    }
}

/// How well one type fits the other.
pub(crate) fn fit(found: &RecordSchema, wanted: &RecordSchema) -> Result<Fit, Incompatible> {
    match Conversion::new(found, wanted, Loss::Refused)?.is_identity() {
        true => Ok(Fit::Same),
        false => Ok(Fit::Converted { differences: differences(found, wanted) }),
    }
}
