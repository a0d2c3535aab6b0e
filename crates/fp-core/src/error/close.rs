//! Why a handle was not closed cleanly.

use crate::error::misuse::Misuse;
use crate::error::place::within;
use fp_proto::outcome::LossReason;
use fp_types::Rank;
use std::time::Duration;

/// Why closing was not clean.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CloseError {
    /// Steps were still held at the deadline.
    #[error("stream {stream:?}: closed after {waited:?} while steps were held: {held}")]
    Held {
        /// The stream.
        stream: String,
        /// How long it waited.
        waited: Duration,
        /// Who held what.
        held: String,
    },
    /// A rank of the own cohort was lost.
    #[error("stream {stream:?}: rank {rank} of the own cohort is lost: {reason}")]
    Lost {
        /// The stream.
        stream: String,
        /// The rank.
        rank: Rank,
        /// How that was noticed.
        reason: LossReason,
    },
    /// The handle belongs to another process.
    #[error("{}", within(stream, source))]
    Misuse {
        /// The stream.
        stream: String,
        /// Which mistake.
        r#source: Misuse,
    },
    /// The coordinator failed.
    #[error("stream {stream:?}: {what}")]
    Coordinator {
        /// The stream.
        stream: String,
        /// What happened.
        what: String,
    },
}
