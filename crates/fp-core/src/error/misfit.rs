//! Why a variable does not provide the type that is wanted.

use fp_transform::PathError;
use fp_types::record::Incompatible;
use std::fmt;

/// A variable that does not provide the type that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfit {
    /// The variable that was to provide it is not there, or was not subscribed to; the others are listed.
    NotThere(String, Vec<String>),
    /// Its elements are no records.
    NoRecords(String, String),
    /// Its records have no conversion to that type.
    Incompatible(String, Incompatible),
    /// The same, and the transforms that this process or the publisher knows do not lead there.
    NoPath(String, Incompatible, PathError),
    /// The publisher was asked to send it through a transform of its own, and did not: why.
    NotTransformed(String, String),
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotThere(variable, there) => {
                let there = there.join(", ");
                write!(f, "variable {variable:?} is not there, or not subscribed to; there are {there}")
            }
            Self::NoRecords(variable, dtype) => write!(f, "variable {variable:?} is of {dtype}, no records"),
            Self::Incompatible(variable, why) => write!(f, "variable {variable:?}: {why}"),
            Self::NotTransformed(variable, why) => write!(f, "variable {variable:?}: {why}"),
            Self::NoPath(variable, why, path) => write!(f, "variable {variable:?}: {why}\n  {path}"),
        }
    }
}

pub(crate) fn list(refused: &[Misfit]) -> String {
    refused.iter().map(|refused| format!("\n{refused}")).collect()
}
