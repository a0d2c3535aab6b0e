//! Why a transform gave nothing.

use fp_transform::{CallError, DeriveError};
use fp_types::record::{ConvertError, ValueError};

/// Why transforms gave nothing. Only that get fails, and those in the same step that asked for the same.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TransformProblem {
    /// A transform failed, panicked, ran too long, or is refused.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The last transform gave something else than one array of records.
    #[error("{found}, instead of one array of records")]
    NoRecords {
        /// What it gave.
        found: String,
    },
    /// Bytes that are no such records.
    #[error("what {of} gave: {source}")]
    Value {
        /// Who gave them.
        of: &'static str,
        /// Why they are none.
        r#source: ValueError,
    },
    /// A value that cannot be converted, before the first transform or after the last.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// Records that make no array.
    #[error(transparent)]
    Array(#[from] DeriveError),
    /// The publisher was to do it, and did not.
    #[error("{what}")]
    Publisher {
        /// Why not, where each rank that failed has its own reason.
        what: String,
    },
    /// It was to be done here, and cannot be.
    #[error("{what}")]
    Subscriber {
        /// Why not.
        what: String,
    },
    /// Somebody else asked for the same at the same time.
    #[error("somebody else who asked for the same in this step: {what}")]
    Elsewhere {
        /// What happened there.
        what: String,
    },
}
