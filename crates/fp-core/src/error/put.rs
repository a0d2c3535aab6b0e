//! Why a put failed.

use crate::error::misuse::Misuse;
use crate::error::place::within;
use fp_proto::outcome::LossReason;
use fp_transport::MemoryError;
use fp_types::{Rank, StepId};

/// Why a put, or the end of a step, failed. The step goes on unless it says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PutError {
    /// The caller's mistake.
    #[error("{}", within(stream, source))]
    Misuse {
        /// The stream.
        stream: String,
        /// Which.
        r#source: Misuse,
    },
    /// There is no memory for the block.
    #[error("stream {stream:?}, step {step}, variable {variable:?}: {source}")]
    Memory {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// Why.
        r#source: MemoryError,
    },
    /// A stored block had to be in memory, and could not be read.
    #[error(
        "stream {stream:?}, step {step}, variable {variable:?}: its stored bytes cannot be read: {source}"
    )]
    Unreadable {
        /// The stream.
        stream: String,
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// Why.
        r#source: std::io::Error,
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
}
