//! Why waiting for the release of steps failed.

use crate::error::misuse::Misuse;
use crate::error::place::within;
use fp_proto::outcome::LossReason;
use fp_types::Rank;
use std::time::Duration;

/// Why a publisher does not know that all was released.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// Steps were still held when the time was up.
    #[error("stream {stream:?}: waited {waited:?} for steps to be released: {held}")]
    Held {
        /// The stream.
        stream: String,
        /// How long it waited.
        waited: Duration,
        /// Which subscription holds which steps.
        held: String,
    },
    /// A rank of the own cohort is lost.
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
