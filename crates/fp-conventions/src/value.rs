//! The value of a scalar, as rules look at it.

use std::fmt;

/// The value of a scalar of all ranks.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarValue {
    /// A text.
    Text(String),
    /// A number of any integer type.
    Integer(i128),
    /// A number of any real type.
    Real(f64),
}

impl fmt::Display for ScalarValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "the text {text:?}"),
            Self::Integer(number) => write!(f, "the integer {number}"),
            Self::Real(number) => write!(f, "the real number {number:?}"),
        }
    }
}
