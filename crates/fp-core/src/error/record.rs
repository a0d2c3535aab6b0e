//! Why records cannot be had.

use crate::error::record_block::RecordBlockError;
use fp_types::Dtype;
use fp_types::record::{ConvertError, RecordError, ValueError};

/// Why records cannot be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordProblem {
    /// The variable is of other elements.
    #[error("its elements are {0}, no records")]
    NoRecords(Dtype),
    /// The Rust type is no record type, or not laid out as one.
    #[error(transparent)]
    Type(#[from] RecordBlockError),
    /// The bytes that came are no such records.
    #[error(transparent)]
    Bytes(#[from] ValueError),
    /// A value that is none of its type, such as a text that is no UTF-8.
    #[error(transparent)]
    Value(#[from] fp_types::record::RecordReadError),
    /// A value that cannot be converted.
    #[error(transparent)]
    Convert(#[from] ConvertError),
}

impl From<RecordError> for RecordProblem {
    fn from(error: RecordError) -> Self {
        Self::Type(error.into())
    }
}
