//! What steps of several streams are joined by: the number of the step, a scalar, or an attribute.

use std::cmp::Ordering;
use std::fmt;

use fp_core::{AttributeValue, Dtype, Element, ReadError, StepReader, VariableInfo};
use half::{bf16, f16};

/// Where the key of a step is found.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum KeyOf {
    /// The number of the step.
    #[default]
    Step,
    /// The value of the global scalar of that name.
    Scalar(String),
    /// The attribute of that name, of whichever variables have it; they must agree.
    Attribute(String),
}

impl fmt::Display for KeyOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step => f.write_str("the number of the step"),
            Self::Scalar(name) => write!(f, "the scalar {name:?}"),
            Self::Attribute(name) => write!(f, "the attribute {name:?}"),
        }
    }
}

/// What a step is joined by: a number, compared exactly, also an integer with a real one. It is never NaN.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Key {
    /// An integer.
    Integer(i128),
    /// A real number, and no NaN.
    Real(f64),
}

impl Key {
    /// A real number as a key; `None` for NaN.
    pub fn real(number: f64) -> Option<Self> {
        (!number.is_nan()).then_some(Self::Real(number))
    }
}

macro_rules! integers {
    ($($kind:ty),*) => {
        $(impl From<$kind> for Key {
            fn from(number: $kind) -> Self {
                Self::Integer(number.into())
            }
        })*
    };
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64, i128);

/// How an integer compares with a real number that is no NaN. Nothing is rounded: the whole part fits, or is further
/// out than any integer.
fn compare_with_real(integer: i128, real: f64) -> Ordering {
    // 2^127, which a double has exactly, and the least integer is its negative.
    const LIMIT: f64 = -(i128::MIN as f64);
    if real >= LIMIT {
        return Ordering::Less;
    }
    if real < -LIMIT {
        return Ordering::Greater;
    }
    let whole = real.floor();
    integer.cmp(&(whole as i128)).then(whole.total_cmp(&real))
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (*self, *other) {
            (Self::Integer(one), Self::Integer(other)) => one.cmp(&other),
            (Self::Integer(one), Self::Real(other)) => compare_with_real(one, other),
            (Self::Real(one), Self::Integer(other)) => compare_with_real(other, one).reverse(),
            // Adding zero makes the negative one positive: they are the same key.
            (Self::Real(one), Self::Real(other)) => (one + 0.0).total_cmp(&(other + 0.0)),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Real(number) => number.fmt(f),
        }
    }
}

/// Why a step has no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// There is no such scalar.
    #[error("it has no scalar {name:?}: name a global scalar that every step of the stream has")]
    NoScalar {
        /// The scalar.
        name: String,
    },
    /// No variable has the attribute.
    #[error("no variable has the attribute {name:?}: name one that is set with Variable::with_attribute")]
    NoAttribute {
        /// The attribute.
        name: String,
    },
    /// Variables have the attribute, with different values.
    #[error("variables {names:?} have the attribute {attribute:?} with different values, {values:?}")]
    Differs {
        /// The attribute.
        attribute: String,
        /// Two of the variables.
        names: [String; 2],
        /// Their values.
        values: [String; 2],
    },
    /// It is no number.
    #[error("{of} is {found}, and no number that steps can be ordered by")]
    NoNumber {
        /// What was to be the key.
        of: KeyOf,
        /// What it is.
        found: String,
    },
    /// It could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// The key of a step. Only attributes are asked for, and only when they are not known.
pub(crate) async fn key(step: &StepReader, of: &KeyOf) -> Result<Key, KeyFault> {
    match of {
        KeyOf::Step => Ok(step.step().0.into()),
        KeyOf::Scalar(name) => scalar(step, name),
        KeyOf::Attribute(name) => attribute(having(&step.variables_async().await?, name), name),
    }
}

fn scalar(step: &StepReader, name: &str) -> Result<Key, KeyFault> {
    let Some(dtype) = step.scalar_dtype(name) else {
        return Err(KeyFault::NoScalar { name: name.to_owned() });
    };
    let of = KeyOf::Scalar(name.to_owned());
    let found = |found: String| KeyFault::NoNumber { of, found };
    match dtype {
        Dtype::I8 => integer::<i8>(step, name),
        Dtype::I16 => integer::<i16>(step, name),
        Dtype::I32 => integer::<i32>(step, name),
        Dtype::I64 => integer::<i64>(step, name),
        Dtype::U8 | Dtype::Bool => integer::<u8>(step, name),
        Dtype::U16 => integer::<u16>(step, name),
        Dtype::U32 => integer::<u32>(step, name),
        Dtype::U64 => integer::<u64>(step, name),
        Dtype::F16 => real(step.scalar::<f16>(name)?.to_f64(), found),
        Dtype::BF16 => real(step.scalar::<bf16>(name)?.to_f64(), found),
        Dtype::F32 => real(step.scalar::<f32>(name)?.into(), found),
        Dtype::F64 => real(step.scalar(name)?, found),
        other @ (Dtype::C32 | Dtype::C64 | Dtype::String | Dtype::Bytes) => {
            Err(found(format!("of type {other}")))
        }
    }
}

fn integer<T: Element + Into<Key>>(step: &StepReader, name: &str) -> Result<Key, KeyFault> {
    Ok(step.scalar::<T>(name)?.into())
}

fn real(number: f64, fault: impl FnOnce(String) -> KeyFault) -> Result<Key, KeyFault> {
    Key::real(number).ok_or_else(|| fault(number.to_string()))
}

/// The attribute of that name, of the variables that have it, with their names.
fn having<'a>(
    variables: &'a [VariableInfo],
    name: &'a str,
) -> impl Iterator<Item = (&'a str, &'a AttributeValue)> {
    variables.iter().filter_map(move |info| Some((info.def.name.as_str(), info.def.attributes.get(name)?)))
}

/// The value that all variables give the attribute which have it.
fn attribute<'a>(
    mut found: impl Iterator<Item = (&'a str, &'a AttributeValue)>,
    name: &str,
) -> Result<Key, KeyFault> {
    let Some((first, value)) = found.next() else {
        return Err(KeyFault::NoAttribute { name: name.to_owned() });
    };
    let key = key_of_value(value, name)?;
    for (other, another) in found {
        if key_of_value(another, name)? != key {
            let names = [first.to_owned(), other.to_owned()];
            let values = [value.to_string(), another.to_string()];
            return Err(KeyFault::Differs { attribute: name.to_owned(), names, values });
        }
    }
    Ok(key)
}

fn key_of_value(value: &AttributeValue, name: &str) -> Result<Key, KeyFault> {
    let fault = |found: String| KeyFault::NoNumber { of: KeyOf::Attribute(name.to_owned()), found };
    match value {
        AttributeValue::Bool(truth) => Ok(u8::from(*truth).into()),
        AttributeValue::Integer(number) => Ok((*number).into()),
        AttributeValue::Unsigned(number) => Ok((*number).into()),
        AttributeValue::Real(number) => real(number.0, fault),
        other @ (AttributeValue::Text(_)
        | AttributeValue::Bytes(_)
        | AttributeValue::Integers(_)
        | AttributeValue::Reals(_)
        | AttributeValue::Texts(_)) => Err(fault(other.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against integers: reals that are multiples of 1/1024 are one when multiplied.
        #[test]
        fn keys_compare_as_the_numbers_that_they_are(one in -(1_i64 << 50)..1_i64 << 50, near in -3000_i64..3000) {
            let real = |thousandths: i64| Key::Real(thousandths as f64 / 1024.0);
            let thousandths = (one / 1024) * 1024 + near;
            let integer = Key::from(one / 1024);
            prop_assert_eq!(integer.cmp(&real(thousandths)), (one / 1024 * 1024).cmp(&thousandths));
            prop_assert_eq!(real(thousandths).cmp(&integer), thousandths.cmp(&(one / 1024 * 1024)));
            prop_assert_eq!(real(one).cmp(&real(thousandths)), one.cmp(&thousandths));
            prop_assert_eq!(integer.cmp(&near.into()), (one / 1024).cmp(&near));
        }
    }

    #[test]
    fn nothing_is_rounded_at_the_ends() {
        let big = 1_i64 << 53;
        assert!(Key::from(big + 1) > Key::Real(big as f64), "a double has no such number");
        assert!(Key::from(u64::MAX) < Key::Real(u64::MAX as f64), "which is 2^64");
        assert!(Key::from(i128::MAX) < Key::Real(2_f64.powi(127)));
        assert!(Key::from(i128::MIN) == Key::Real(-(2_f64.powi(127))));
        assert!(
            Key::from(i128::MIN) > Key::Real(f64::NEG_INFINITY)
                && Key::from(i128::MAX) < Key::Real(f64::INFINITY)
        );
        assert!(Key::Real(-0.0) == Key::Real(0.0) && Key::Real(-0.0) == Key::from(0));
        assert!(Key::real(f64::NAN).is_none());
    }

    #[test]
    fn an_attribute_is_one_number_whoever_has_it() {
        let key = |of: &[(&str, AttributeValue)]| {
            attribute(of.iter().map(|(name, value)| (*name, value)), "time")
                .map_err(|fault| fault.to_string())
        };
        let [two, half]: [AttributeValue; 2] = [2.0.into(), 2.5.into()];
        assert_eq!(key(&[("a", two.clone()), ("b", 2_i64.into())]), Ok(Key::Integer(2)));
        let differ =
            r#"variables ["a", "b"] have the attribute "time" with different values, ["2.0", "2.5"]"#;
        assert_eq!(key(&[("a", two), ("b", half)]), Err(differ.to_owned()));
        assert!(key(&[]).is_err_and(|fault| fault.starts_with(r#"no variable has the attribute "time""#)));
        let text = r#"the attribute "time" is "noon", and no number that steps can be ordered by"#;
        assert_eq!(key(&[("a", "noon".into())]), Err(text.to_owned()));
        assert!(key(&[("a", f64::NAN.into())]).is_err());
    }
}
