//! Why a part of either application could not use its streams.

use std::time::Duration;

/// Why a part could not use its streams.
#[derive(Debug, thiserror::Error)]
pub enum StreamError {
    /// The launcher's variables make no sense.
    #[error(transparent)]
    Cohort(#[from] flexpath::CohortError),
    /// A stream could not be opened.
    #[error(transparent)]
    Open(#[from] flexpath::OpenError),
    /// What cannot be derived or transformed.
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
    /// A type of records that cannot be.
    #[error(transparent)]
    Type(#[from] flexpath::record::RecordError),
    /// Records that cannot be put.
    #[error(transparent)]
    Records(#[from] flexpath::RecordBlockError),
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
}
