//! Facts about streams and variables, and what stands for a field that is not there.

use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

/// The longest unit, description, or text of an attribute, in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 16;

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AttributeValue {
    /// A truth value.
    Bool(bool),
    /// A signed number.
    Integer(i64),
    /// An unsigned number.
    Unsigned(u64),
    /// A real number.
    Real(Real),
    /// A text.
    Text(String),
    /// Opaque bytes.
    Bytes(Vec<u8>),
    /// Several signed numbers.
    Integers(Vec<i64>),
    /// Several real numbers.
    Reals(Vec<Real>),
    /// Several texts, such as the names of an enumeration.
    Texts(Vec<String>),
}

/// A real number. It is equal to another if all its bits are, so schemas with a NaN in them equal themselves.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Real(pub f64);

impl PartialEq for Real {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Real {}

impl Hash for Real {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl From<f64> for Real {
    fn from(number: f64) -> Self {
        Self(number)
    }
}

/// Declares from which types a value is made.
macro_rules! attribute_from {
    ($($source:ty => $variant:ident),* $(,)?) => {
        $(impl From<$source> for AttributeValue {
            fn from(value: $source) -> Self {
                Self::$variant(value.into())
            }
        })*
    };
}

attribute_from! {
    bool => Bool,
    i32 => Integer,
    i64 => Integer,
    u32 => Unsigned,
    u64 => Unsigned,
    f64 => Real,
    &str => Text,
    String => Text,
    Vec<u8> => Bytes,
    Vec<i64> => Integers,
    Vec<String> => Texts,
}

impl From<Vec<f64>> for AttributeValue {
    fn from(numbers: Vec<f64>) -> Self {
        Self::Reals(numbers.into_iter().map(Real).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_equal_themselves() {
        assert_eq!(AttributeValue::from(f64::NAN), AttributeValue::from(f64::NAN));
        assert_ne!(AttributeValue::from(0.0), AttributeValue::from(-0.0));
    }
}
