//! Facts about streams and variables, and what stands for a field that is not there.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

/// As a person writes it: a text in quotes, several in brackets, and of bytes only how many.
impl fmt::Display for AttributeValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(f),
            Self::Integer(number) => number.fmt(f),
            Self::Unsigned(number) => number.fmt(f),
            Self::Real(Real(number)) => write!(f, "{number:?}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Integers(numbers) => write!(f, "{numbers:?}"),
            Self::Reals(numbers) => f.debug_list().entries(numbers.iter().map(|number| number.0)).finish(),
            Self::Texts(texts) => write!(f, "{texts:?}"),
        }
    }
}

/// A real number. It is equal to another if all its bits are, so schemas with a NaN in them equal themselves. In formats for
/// people, such as JSON, it is a text. JSON has no number for all of them, and its readers round.
#[derive(Clone, Copy, Debug, Default)]
pub struct Real(pub f64);

impl Serialize for Real {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match out.is_human_readable() {
            true => out.collect_str(&format_args!("{:?}", self.0)),
            false => out.serialize_f64(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Real {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match from.is_human_readable() {
            true => String::deserialize(from)?.parse().map(Self).map_err(Error::custom),
            false => f64::deserialize(from).map(Self),
        }
    }
}

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
    fn values_are_shown_as_they_are_written() {
        let shown = |value: AttributeValue| value.to_string();
        assert_eq!(shown(true.into()), "true");
        assert_eq!((shown((-3).into()), shown(2.0.into())), ("-3".to_owned(), "2.0".to_owned()));
        assert_eq!(shown("a \"b\"".into()), "\"a \\\"b\\\"\"");
        assert_eq!(shown(vec![1.0, 2.5].into()), "[1.0, 2.5]");
        assert_eq!(shown(vec![0_u8; 3].into()), "3 bytes");
    }

    #[test]
    fn numbers_that_are_none_equal_themselves() {
        assert_eq!(AttributeValue::from(f64::NAN), AttributeValue::from(f64::NAN));
        assert_ne!(AttributeValue::from(0.0), AttributeValue::from(-0.0));
    }
}
