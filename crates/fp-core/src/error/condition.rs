//! Why a subscriber goes on with the condition that it had.

use crate::error::misuse::Misuse;
use crate::error::place::within;
use fp_proto::outcome::RefusalReason;
use fp_types::ParseConditionError;
use std::time::Duration;

/// Why another condition does not hold, or is not known to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConditionError {
    /// The text cannot be read, or names a module that was not handed over as the subscriber was opened.
    #[error("stream {stream:?}: {source}")]
    Text {
        /// The stream.
        stream: String,
        /// What is wrong, and where.
        r#source: ParseConditionError,
    },
    /// The publisher cannot judge by it. The condition before holds on.
    #[error("stream {stream:?}: {reason}; the condition before holds on")]
    Refused {
        /// The stream.
        stream: String,
        /// Why.
        reason: RefusalReason,
    },
    /// No answer came in time. The publisher may still judge by it, from a later step on.
    #[error(
        "stream {stream:?}: no answer to another condition within {waited:?}; it may still hold from a later step on"
    )]
    NoAnswer {
        /// The stream.
        stream: String,
        /// How long it waited.
        waited: Duration,
    },
    /// The stream ended, or its publisher was lost, before there was an answer. A publisher that comes back is asked for the
    /// condition before.
    #[error(
        "stream {stream:?}: it ended, or its publisher was lost, before there was an answer to another condition"
    )]
    Over {
        /// The stream.
        stream: String,
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
