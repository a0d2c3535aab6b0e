//! What subscribers ask of a simulation while it runs: values of parameters that it declared, and what becomes of them
//! (`docs/protocol.md`, section 18).

use crate::access::Denial;
use crate::bounds::{LIMIT_NAME_BYTES, LIMIT_STEERING_TEXT_BYTES};
use crate::parameter::{LIMIT_PARAMETERS, Parameter, ParameterKind};
use fp_types::{AttributeValue, Rank, Real, StepId};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Weak;
use std::time::Duration;

/// Requests of a stream that may be under way at one time.
pub const LIMIT_STEERING: usize = 16;
/// The same where they are handed on. Whoever answers them lets as many values be under way, and as many resumes. So what has
/// a simulation go on is not held up by what waits for that.
pub const LIMIT_DELEGATED: usize = 2 * LIMIT_STEERING;

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

impl SteeringEffect {
    /// What a request for a value that a parameter takes does.
    pub(crate) fn of(kind: &ParameterKind, value: &AttributeValue) -> Self {
        match (kind, value) {
            (ParameterKind::Pause { longest }, AttributeValue::Real(Real(seconds))) => {
                Self::Pause { at_most: Duration::try_from_secs_f64(*seconds).unwrap_or(*longest) }
            }
            (ParameterKind::Resume, _) => Self::Resume,
            _ => Self::Value,
        }
    }
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

/// Whether somebody waits for the answer to a request that was handed on.
#[derive(Clone, Debug)]
pub struct Awaited(pub(crate) Weak<SteeringRequest>);

impl Awaited {
    /// Whether somebody still does.
    pub fn is_so(&self) -> bool {
        self.0.strong_count() > 0
    }
}

impl PartialEq for Awaited {
    fn eq(&self, other: &Self) -> bool {
        self.0.ptr_eq(&other.0)
    }
}

impl Eq for Awaited {}

/// Why a request never reaches the simulation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SteeringRefusal {
    /// No parameter is called so.
    Unknown {
        /// Those that there are.
        known: Vec<Parameter>,
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
    /// So many came within a second as may.
    TooOften {
        /// How many.
        per_second: u32,
    },
    /// It was to be handed on, and could not be.
    Unreachable {
        /// Why.
        reason: String,
    },
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
    /// It was handed on, and nobody will hear what became of it.
    Unanswered {
        /// Why.
        reason: String,
    },
}

impl fmt::Display for SteeringRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { known } if known.is_empty() => {
                f.write_str("the publisher takes no requests: it declares no parameter")
            }
            Self::Unknown { known } => {
                let names: Vec<_> = known.iter().map(|parameter| parameter.name.as_str()).collect();
                write!(f, "the publisher has no such parameter, but {}", names.join(", "))
            }
            Self::Value { takes } => write!(f, "the parameter takes {takes}"),
            Self::Busy { limit } => {
                write!(f, "{limit} requests are under way, and no more may be: ask again later")
            }
            Self::TooOften { per_second } => {
                write!(f, "the publisher takes {per_second} requests a second at most: ask again in a second")
            }
            Self::Closing => f.write_str("the publisher is closing, and takes no requests"),
            Self::Unreachable { reason } => write!(f, "the request does not reach the simulation: {reason}"),
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
            Self::Unanswered { reason } => write!(f, "nobody knows whether the simulation took it: {reason}"),
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
    /// The same with reasons that are not too long.
    pub(crate) fn cut(mut self) -> Self {
        if let Self::Declined { reason, .. }
        | Self::Refused(SteeringRefusal::Unreachable { reason })
        | Self::Unanswered { reason } = &mut self
        {
            *reason = cut(std::mem::take(reason));
        }
        self
    }

    /// Whether no text in it is longer, and no list, than one that this crate writes may be.
    pub(crate) fn is_within_bounds(&self) -> bool {
        match self {
            Self::Refused(SteeringRefusal::Unknown { known }) => {
                known.len() <= LIMIT_PARAMETERS && known.iter().all(|parameter| parameter.check().is_ok())
            }
            Self::Refused(SteeringRefusal::Value { takes }) => takes.len() <= LIMIT_STEERING_TEXT_BYTES,
            Self::Refused(SteeringRefusal::Denied(denial)) => denial.is_within_bounds(),
            Self::Declined { reason, .. }
            | Self::Refused(SteeringRefusal::Unreachable { reason })
            | Self::Unanswered { reason } => reason.len() <= LIMIT_STEERING_TEXT_BYTES,
            #[rustfmt::skip]
            Self::Refused(
                SteeringRefusal::Busy { .. } | SteeringRefusal::TooOften { .. } | SteeringRefusal::Closing,
            ) | Self::Applied { .. } | Self::Over => true,
        }
    }
}
