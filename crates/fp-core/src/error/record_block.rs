//! Why records cannot be put or taken as a Rust type.

use fp_types::record::{EncodeError, RecordError, ValueError};

/// Why records cannot be put.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordBlockError {
    /// The Rust type's record type is not allowed.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The values do not go with their type.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The bytes are no such records.
    #[error(transparent)]
    Value(#[from] ValueError),
    /// The Rust type lies in memory otherwise than its record does.
    #[error(
        "{record:?} does not lie in memory as its record does: it needs #[repr(C)], and no lists, texts or options"
    )]
    NotPlain {
        /// The record type.
        record: String,
    },
}
