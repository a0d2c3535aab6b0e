//! What subscribers ask of a simulation while it runs: values of parameters that it declared, and what becomes of them
//! (`docs/protocol.md`, section 18).

use crate::access::Denial;
use crate::bounds::LIMIT_NAME_BYTES;
use fp_types::{AttributeValue, Rank, Real, StepId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Requests of a stream that may be under way at one time.
pub const LIMIT_STEERING: usize = 16;
/// Parameters that a refusal names at most.
pub const LIMIT_PARAMETERS: usize = 256;
/// Bytes of a text that is asked for, or of a reason.
pub const LIMIT_STEERING_TEXT_BYTES: usize = 1024;

/// What values a parameter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        longest: Duration,
    },
    /// All ranks that are paused go on at once. No value, as of a signal.
    Resume,
}

/// What a simulation lets be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What values it takes.
    pub kind: ParameterKind,
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

    /// What a request for a value that it takes does.
    pub(crate) fn effect(&self, value: &AttributeValue) -> SteeringEffect {
        match (self, value) {
            (Self::Pause { longest }, AttributeValue::Real(Real(seconds))) => {
                SteeringEffect::Pause { at_most: Duration::try_from_secs_f64(*seconds).unwrap_or(*longest) }
            }
            (Self::Resume, _) => SteeringEffect::Resume,
            _ => SteeringEffect::Value,
        }
    }
}

/// What a request does on each rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SteeringEffect {
    /// The application sees it when it begins the step.
    Value,
    /// The step does not begin for so long, or until somebody has them go on.
    Pause {
        /// How long at most, on each rank's own clock.
        #[serde(with = "crate::millis")]
        at_most: Duration,
    },
    /// Pauses end, and those that were asked for before are void.
    Resume,
}

/// How soon the simulation shall see a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Urgency {
    /// At a step that no rank can have begun by then; no rank waits for the agreement.
    #[default]
    Ahead,
    /// At the next step that no rank has begun. Ranks do not begin it before they know.
    Now,
}

/// What is asked of a simulation. All ranks see it at the same step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteeringRequest {
    /// The parameter.
    pub name: String,
    /// Its value, of the parameter's kind.
    pub value: AttributeValue,
    /// Who asks: the label of the subscriber.
    pub by: String,
    /// What it does.
    pub effect: SteeringEffect,
    /// How soon.
    pub urgency: Urgency,
}

impl SteeringRequest {
    /// Whether ranks do not begin their next step before they know when it is seen. What has them go on looks at no step.
    pub(crate) fn is_awaited(&self) -> bool {
        self.urgency == Urgency::Now && self.effect != SteeringEffect::Resume
    }
}

/// Why a request never reaches the simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SteeringRefusal {
    /// No parameter is called so.
    Unknown {
        /// Those that there are; cut where there are many.
        known: Vec<String>,
    },
    /// The parameter takes other values.
    Value {
        /// Which.
        takes: String,
    },
    /// As many are under way as may be.
    Busy {
        /// How many.
        limit: u32,
    },
    /// The publisher closes.
    Closing,
    /// The publisher's access list does not allow it.
    Denied(Denial),
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SteeringOutcome {
    /// It never reached the simulation.
    Refused(SteeringRefusal),
    /// All ranks took it at this step.
    Applied {
        /// The step.
        step: StepId,
    },
    /// A rank did not take it; others may have.
    Declined {
        /// The step at which all ranks saw it.
        step: StepId,
        /// The lowest rank that did not take it.
        rank: Rank,
        /// Why, in its words.
        reason: String,
    },
    /// The publisher's lead closed before it saw it. Where ranks end after the same step, none has.
    Over,
}

impl fmt::Display for SteeringRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { known } if known.is_empty() => {
                f.write_str("the publisher takes no requests: it declares no parameter")
            }
            Self::Unknown { known } => {
                write!(f, "the publisher has no such parameter, but {}", known.join(", "))
            }
            Self::Value { takes } => write!(f, "the parameter takes {takes}"),
            Self::Busy { limit } => {
                write!(f, "{limit} requests are under way, and no more may be: ask again later")
            }
            Self::Closing => f.write_str("the publisher is closing, and takes no requests"),
            Self::Denied(denial) => denial.fmt(f),
        }
    }
}

impl fmt::Display for SteeringOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Applied { step } => write!(f, "applied at step {step}"),
            Self::Declined { step, rank, reason } => {
                write!(f, "publisher rank {rank} declined it at step {step}: {reason}")
            }
            Self::Over => f.write_str("the publisher closed before it came to that step"),
        }
    }
}

/// A reason that is not too long.
pub(crate) fn cut(mut reason: String) -> String {
    reason.truncate(reason.floor_char_boundary(LIMIT_STEERING_TEXT_BYTES));
    reason
}

/// Whether a value and its name are no longer than they may be.
pub(crate) fn is_within_bounds(name: &str, value: &AttributeValue) -> bool {
    let fits = match value {
        AttributeValue::Bool(_)
        | AttributeValue::Integer(_)
        | AttributeValue::Unsigned(_)
        | AttributeValue::Real(_) => true,
        AttributeValue::Text(text) => text.len() <= LIMIT_STEERING_TEXT_BYTES,
        AttributeValue::Bytes(_)
        | AttributeValue::Integers(_)
        | AttributeValue::Reals(_)
        | AttributeValue::Texts(_) => false,
    };
    fits && name.len() <= LIMIT_NAME_BYTES
}

impl SteeringOutcome {
    /// Whether no text in it is longer, and no list, than one that this crate writes may be.
    pub(crate) fn is_within_bounds(&self) -> bool {
        match self {
            Self::Refused(SteeringRefusal::Unknown { known }) => {
                known.len() <= LIMIT_PARAMETERS && known.iter().all(|name| name.len() <= LIMIT_NAME_BYTES)
            }
            Self::Refused(SteeringRefusal::Value { takes }) => takes.len() <= LIMIT_STEERING_TEXT_BYTES,
            Self::Refused(SteeringRefusal::Denied(denial)) => denial.is_within_bounds(),
            Self::Declined { reason, .. } => reason.len() <= LIMIT_STEERING_TEXT_BYTES,
            #[rustfmt::skip]
            Self::Refused(SteeringRefusal::Busy { .. } | SteeringRefusal::Closing) | Self::Applied { .. }
            | Self::Over => true,
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
}
