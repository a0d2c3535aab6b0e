//! What is asked of a simulation: a number, a pause, or that it goes on.

use crate::simulator::content::PARAMETER;
use fp_proto::parameter::{Parameter, ParameterKind};
use fp_proto::steering::{SteeringOutcome, SteeringRefusal, SteeringRequest, Urgency};
use fp_types::{AttributeValue, Rank, Real, StepId};
use std::time::Duration;

const PAUSE: &str = "pause";
const RESUME: &str = "resume";
/// How many requests a simulation takes within a second: fewer than some are asked for.
pub(crate) const REQUESTS_PER_SECOND: u32 = 8;
/// The longest pause that a simulation makes.
pub(crate) const LONGEST: Duration = Duration::from_millis(40);

/// What a subscriber asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A number, which no other request has.
    Value(u64),
    /// What no simulation takes.
    Wrong,
    Pause(Duration),
    Resume,
}

impl Asked {
    /// The request of that number: few are pauses, and few are nonsense.
    pub(crate) fn of(number: u64) -> Self {
        match number {
            number if number.is_multiple_of(11) => Self::Wrong,
            number if number.is_multiple_of(7) => Self::Pause(Duration::from_millis(1 + number % 40)),
            number if number.is_multiple_of(13) => Self::Resume,
            number => Self::Value(number),
        }
    }

    /// How it travels.
    pub(crate) fn sent(self) -> (&'static str, AttributeValue) {
        match self {
            Self::Value(number) => (PARAMETER, AttributeValue::Unsigned(number)),
            Self::Wrong => (PARAMETER, AttributeValue::Unsigned(u64::from(u32::MAX))),
            Self::Pause(at_most) => (PAUSE, AttributeValue::Real(Real(at_most.as_secs_f64()))),
            Self::Resume => (RESUME, AttributeValue::Bool(true)),
        }
    }
}

/// How soon the request of that number is to be seen.
pub(crate) fn urgency_of(number: u64) -> Urgency {
    if number.is_multiple_of(3) { Urgency::Now } else { Urgency::Ahead }
}

/// What every simulation takes.
pub(crate) fn parameters() -> Vec<Parameter> {
    let number = ParameterKind::Integer { least: 0, greatest: i64::from(u32::MAX) - 1 };
    let pause = ParameterKind::Pause { longest: LONGEST };
    [(PARAMETER, number), (PAUSE, pause), (RESUME, ParameterKind::Resume)]
        .map(|(name, kind)| Parameter { name: name.to_owned(), kind, text: String::new() })
        .into()
}

/// What somebody else says to a request that is handed on. Of the stream that it came by he knows nothing.
pub(crate) fn answered_elsewhere(name: &str, value: &AttributeValue) -> SteeringOutcome {
    let number = if let AttributeValue::Unsigned(number) = value { *number } else { 0 };
    let (step, reason) = (StepId(number), format!("{name} {value}"));
    match number % 5 {
        0 | 1 => SteeringOutcome::Applied { step },
        2 => SteeringOutcome::Declined { step, rank: Rank(number as u32 % 7), reason },
        3 => SteeringOutcome::Refused(SteeringRefusal::Unreachable { reason }),
        _ => SteeringOutcome::Unanswered { reason },
    }
}

/// The number that is asked for; 0 if it is none.
pub(crate) fn value_of(request: &SteeringRequest) -> u64 {
    if let AttributeValue::Integer(value) = request.value {
        u64::try_from(value).unwrap_or_default()
    } else {
        0
    }
}
