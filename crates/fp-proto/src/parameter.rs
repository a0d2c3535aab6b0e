//! What a simulation lets be asked for: its parameters, and the values that they take (`docs/protocol.md`, section 18).

use crate::bounds::{LIMIT_NAME_BYTES, LIMIT_STEERING_TEXT_BYTES};
use fp_types::{AttributeValue, Real};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Parameters that a stream may have.
pub const LIMIT_PARAMETERS: usize = 256;
/// Bytes of what a parameter is, for people.
pub const LIMIT_PARAMETER_TEXT_BYTES: usize = 255;

/// What values a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParameterKind {
    /// A real number of that range, its ends included. A whole number is one too.
    Real {
        /// The least.
        least: Real,
        /// The greatest.
        greatest: Real,
    },
    /// A whole number of that range, its ends included.
    Integer {
        /// The least.
        least: i64,
        /// The greatest.
        greatest: i64,
    },
    /// A truth value.
    Bool,
    /// A text of at most 1,024 bytes.
    Text,
    /// No value: it is only asked for, such as *checkpoint*. It travels as `true`.
    Signal,
    /// All ranks stop before one step. The value is for how many seconds at most, or `true` for the longest time.
    Pause {
        /// The longest.
        #[serde(with = "crate::millis")]
        longest: Duration,
    },
    /// All ranks that are paused go on at once. No value, as of a signal.
    Resume,
}

/// What a simulation lets be asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What values it takes.
    pub kind: ParameterKind,
    /// What it is, for people: a unit, what it changes. Empty where nobody said.
    pub text: String,
}

/// Why a parameter cannot be declared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// Its name is empty, or too long.
    #[error("its name has {len} bytes: a name has 1 to {LIMIT_NAME_BYTES}")]
    Name {
        /// Bytes of the name.
        len: usize,
    },
    /// Its text is too long.
    #[error("its text has {len} bytes, and {LIMIT_PARAMETER_TEXT_BYTES} at most are told")]
    Text {
        /// Bytes of the text.
        len: usize,
    },
    /// Its range is empty.
    #[error("it takes {kind}, and there is none")]
    Range {
        /// What it takes.
        kind: ParameterKind,
    },
}

impl Parameter {
    /// Whether it can be declared.
    ///
    /// # Errors
    /// What of it is too long, or empty.
    pub fn check(&self) -> Result<(), ParameterError> {
        let (name, text) = (self.name.len(), self.text.len());
        if !(1..=LIMIT_NAME_BYTES).contains(&name) {
            return Err(ParameterError::Name { len: name });
        }
        if text > LIMIT_PARAMETER_TEXT_BYTES {
            return Err(ParameterError::Text { len: text });
        }
        if self.kind.is_empty() {
            return Err(ParameterError::Range { kind: self.kind.clone() });
        }
        Ok(())
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.kind)?;
        if self.text.is_empty() { Ok(()) } else { write!(f, "; {}", self.text) }
    }
}

impl fmt::Display for ParameterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Real { least: Real(least), greatest: Real(greatest) } => {
                write!(f, "a number from {least:?} to {greatest:?}")
            }
            Self::Integer { least, greatest } => write!(f, "a whole number from {least} to {greatest}"),
            Self::Bool => f.write_str("true or false"),
            Self::Text => write!(f, "a text of at most {LIMIT_STEERING_TEXT_BYTES} bytes"),
            Self::Signal | Self::Resume => f.write_str("no value"),
            Self::Pause { longest } => {
                write!(
                    f,
                    "a number of seconds, more than 0 and at most {:?}, or no value",
                    longest.as_secs_f64()
                )
            }
        }
    }
}

impl ParameterKind {
    /// Whether no value is of its range.
    fn is_empty(&self) -> bool {
        match self {
            // Nothing lies between numbers one of which is none.
            Self::Real { least, greatest } => !(least.0..=greatest.0).contains(&least.0),
            Self::Integer { least, greatest } => least > greatest,
            Self::Pause { longest } => longest.is_zero(),
            Self::Bool | Self::Text | Self::Signal | Self::Resume => false,
        }
    }

    /// The value as the simulation gets it, if the parameter takes it.
    pub(crate) fn admit(&self, value: AttributeValue) -> Option<AttributeValue> {
        let number = match value {
            AttributeValue::Integer(number) => Some(number as f64),
            AttributeValue::Unsigned(number) => Some(number as f64),
            AttributeValue::Real(Real(number)) => Some(number),
            #[rustfmt::skip]
            AttributeValue::Bool(_) | AttributeValue::Text(_) | AttributeValue::Bytes(_)
            | AttributeValue::Integers(_) | AttributeValue::Reals(_) | AttributeValue::Texts(_) => None,
        };
        match (self, &value) {
            (Self::Real { least, greatest }, _) => {
                let number = number.filter(|number| (least.0..=greatest.0).contains(number))?;
                Some(AttributeValue::Real(Real(number)))
            }
            (Self::Integer { least, greatest }, AttributeValue::Integer(number)) => {
                (least..=greatest).contains(&number).then_some(value)
            }
            (Self::Integer { least, greatest }, AttributeValue::Unsigned(number)) => {
                let number =
                    i64::try_from(*number).ok().filter(|number| (*least..=*greatest).contains(number))?;
                Some(AttributeValue::Integer(number))
            }
            (Self::Bool, AttributeValue::Bool(_)) => Some(value),
            (Self::Text, AttributeValue::Text(text)) => {
                (text.len() <= LIMIT_STEERING_TEXT_BYTES).then_some(value)
            }
            (Self::Signal | Self::Resume, AttributeValue::Bool(true)) => Some(value),
            (Self::Pause { longest }, AttributeValue::Bool(true)) => {
                Some(AttributeValue::Real(Real(longest.as_secs_f64())))
            }
            (Self::Pause { longest }, _) => {
                let seconds = number.filter(|seconds| *seconds > 0.0 && *seconds <= longest.as_secs_f64())?;
                Some(AttributeValue::Real(Real(seconds)))
            }
            (Self::Integer { .. } | Self::Bool | Self::Text | Self::Signal | Self::Resume, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_take_values_of_their_kind_and_range() {
        let real = ParameterKind::Real { least: Real(-1.0), greatest: Real(2.0) };
        let whole = ParameterKind::Integer { least: -3, greatest: 3 };
        let number = |number: f64| AttributeValue::Real(Real(number));
        assert_eq!(real.admit(AttributeValue::Integer(2)), Some(number(2.0)));
        assert_eq!(real.admit(number(-1.0)), Some(number(-1.0)));
        for refused in
            [number(2.5), number(f64::NAN), AttributeValue::Unsigned(3), AttributeValue::Bool(true)]
        {
            assert_eq!(real.admit(refused.clone()), None, "{refused:?}");
        }
        assert_eq!(whole.admit(AttributeValue::Unsigned(3)), Some(AttributeValue::Integer(3)));
        for refused in [AttributeValue::Integer(-4), AttributeValue::Unsigned(u64::MAX), number(1.0)] {
            assert_eq!(whole.admit(refused.clone()), None, "{refused:?}");
        }
        let text = |len: usize| AttributeValue::Text("a".repeat(len));
        assert!(
            ParameterKind::Text.admit(text(1024)).is_some()
                && ParameterKind::Text.admit(text(1025)).is_none()
        );
        assert!(ParameterKind::Bool.admit(AttributeValue::Bool(false)).is_some());
        assert_eq!(real.to_string(), "a number from -1.0 to 2.0");
    }

    #[test]
    fn what_nobody_could_ask_for_is_not_declared() {
        let parameter =
            |name: &str, kind, text: usize| Parameter { name: name.to_owned(), kind, text: "t".repeat(text) };
        let real = |least, greatest| ParameterKind::Real { least: Real(least), greatest: Real(greatest) };
        let check = |parameter: Parameter| parameter.check();
        assert_eq!(check(parameter("level", real(0.0, 0.0), 255)), Ok(()));
        assert_eq!(check(parameter("", ParameterKind::Bool, 0)), Err(ParameterError::Name { len: 0 }));
        let long = "n".repeat(256);
        assert_eq!(check(parameter(&long, ParameterKind::Bool, 0)), Err(ParameterError::Name { len: 256 }));
        assert_eq!(
            check(parameter("level", ParameterKind::Bool, 256)),
            Err(ParameterError::Text { len: 256 })
        );
        let none = ParameterKind::Pause { longest: Duration::ZERO };
        let whole = ParameterKind::Integer { least: 1, greatest: 0 };
        for kind in [real(1.0, 0.0), real(f64::NAN, 1.0), real(0.0, f64::NAN), whole, none] {
            let refused = check(parameter("level", kind.clone(), 0));
            assert_eq!(refused, Err(ParameterError::Range { kind }));
        }
        let told = parameter("level", whole_numbers(), 0);
        assert_eq!(told.to_string(), "level: a whole number from 0 to 3");
        let described = Parameter { text: "of the tank, in m".to_owned(), ..told };
        assert_eq!(described.to_string(), "level: a whole number from 0 to 3; of the tank, in m");
    }

    fn whole_numbers() -> ParameterKind {
        ParameterKind::Integer { least: 0, greatest: 3 }
    }
}
