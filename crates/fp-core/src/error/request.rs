//! Why nobody knows that a simulation took what it was asked for.

use crate::error::misuse::Misuse;
use crate::error::place::within;
use fp_proto::steering::{SteeringOutcome, SteeringRefusal};
use fp_types::{Rank, StepId};
use std::time::Duration;

/// Why a request was not applied, or is not known to be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The publisher's lead refused it: the simulation never saw it.
    #[error("stream {stream:?}, parameter {parameter:?}: {refusal}")]
    Refused {
        /// The stream.
        stream: String,
        /// What was asked for.
        parameter: String,
        /// Why.
        refusal: SteeringRefusal,
    },
    /// A publisher rank declined it; others may have taken it.
    #[error(
        "stream {stream:?}, parameter {parameter:?}: publisher rank {rank} declined it at step {step}: {reason}"
    )]
    Declined {
        /// The stream.
        stream: String,
        /// What was asked for.
        parameter: String,
        /// The step at which all ranks saw it.
        step: StepId,
        /// The lowest rank that declined it.
        rank: Rank,
        /// Why, in its words.
        reason: String,
    },
    /// No answer came in time. The simulation may still take it, at a step that it has not begun.
    #[error(
        "stream {stream:?}, parameter {parameter:?}: no answer within {waited:?}; the simulation may still take it, in one \
         of its next steps"
    )]
    NoAnswer {
        /// The stream.
        stream: String,
        /// What was asked for.
        parameter: String,
        /// How long it waited.
        waited: Duration,
    },
    /// The publisher did not say what can be asked for. Nothing was asked.
    #[error("stream {stream:?}: its publisher did not tell its parameters within {waited:?}, or is gone")]
    NoParameters {
        /// The stream.
        stream: String,
        /// How long it waited.
        waited: Duration,
    },
    /// The stream ended, or its publisher was lost, before there was an answer: nobody knows whether it was taken.
    #[error(
        "stream {stream:?}, parameter {parameter:?}: the stream ended before there was an answer; it may have been taken"
    )]
    Over {
        /// The stream.
        stream: String,
        /// What was asked for.
        parameter: String,
    },
    /// It was handed on, and nobody will hear what became of it. The simulation may have taken it.
    #[error(
        "stream {stream:?}, parameter {parameter:?}: nobody knows whether the simulation took it: {reason}"
    )]
    Unanswered {
        /// The stream.
        stream: String,
        /// What was asked for.
        parameter: String,
        /// Why, in the words of whoever handed it on.
        reason: String,
    },
    /// The call makes no sense.
    #[error("{}", within(stream, source))]
    Misuse {
        /// The stream.
        stream: String,
        /// Which mistake.
        r#source: Misuse,
    },
}

impl RequestError {
    /// The same for who asked by way of another stream ([`RequestDelegate`](crate::RequestDelegate)).
    pub fn into_outcome(self) -> SteeringOutcome {
        match self {
            Self::Refused { refusal, .. } => SteeringOutcome::Refused(refusal),
            Self::Declined { step, rank, reason, .. } => SteeringOutcome::Declined { step, rank, reason },
            Self::Unanswered { reason, .. } => SteeringOutcome::Unanswered { reason },
            Self::NoAnswer { .. } | Self::Over { .. } => {
                SteeringOutcome::Unanswered { reason: self.to_string() }
            }
            Self::NoParameters { .. } | Self::Misuse { .. } => {
                SteeringOutcome::Refused(SteeringRefusal::Unreachable { reason: self.to_string() })
            }
        }
    }
}
