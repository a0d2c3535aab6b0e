//! Why a part could not go on.

use std::time::Duration;

/// Why a part could not go on.
#[derive(Debug, thiserror::Error)]
pub enum GtsError {
    /// The launcher's variables make no sense.
    #[error(transparent)]
    Cohort(#[from] flexpath::CohortError),
    /// A stream could not be opened.
    #[error(transparent)]
    Open(#[from] flexpath::OpenError),
    /// What cannot be derived.
    #[error(transparent)]
    Derivation(#[from] flexpath::DerivationError),
    /// A step could not be begun.
    #[error(transparent)]
    Begin(#[from] flexpath::BeginError),
    /// A variable could not be put.
    #[error(transparent)]
    Put(#[from] flexpath::PutError),
    /// A variable could not be taken.
    #[error(transparent)]
    Read(#[from] flexpath::ReadError),
    /// A stream could not be closed in order.
    #[error(transparent)]
    Close(#[from] flexpath::CloseError),
    /// A variable that cannot be.
    #[error(transparent)]
    Variable(#[from] flexpath::VariableError),
    /// A part of an array that cannot be.
    #[error("{count} elements from {first} on are no part of an array")]
    NoPart {
        /// Its first element.
        first: u64,
        /// How many elements.
        count: u64,
    },
    /// Particles that are no records.
    #[error(transparent)]
    Records(#[from] flexpath::RecordBlockError),
    /// The type of particles.
    #[error(transparent)]
    Schema(#[from] flexpath::record::RecordError),
    /// A stream ended, but not because its publisher closed it.
    #[error("stream {stream} has ended: {reason}")]
    Ended {
        /// The stream.
        stream: &'static str,
        /// Why.
        reason: flexpath::EndReason,
    },
    /// No step came.
    #[error("stream {stream}: no step within {waited:?}")]
    NoStep {
        /// The stream.
        stream: &'static str,
        /// How long.
        waited: Duration,
    },
    /// Another step than the one that belongs here.
    #[error("stream {stream} is at step {found:?}, but {expected:?} is wanted")]
    OutOfStep {
        /// The stream.
        stream: &'static str,
        /// The step wanted; none where the stream should be over.
        expected: Option<u64>,
        /// The one that came; none at the stream's end.
        found: Option<u64>,
    },
    /// Another number of elements than there should be.
    #[error("{variable}: {found} elements, but {expected} are wanted")]
    WrongCount {
        /// The variable.
        variable: String,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
}
