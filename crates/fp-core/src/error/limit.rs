//! Why the process's bound of bytes cannot be read.

/// The variable of the environment that sets the process's bound.
pub(crate) const VARIABLE: &str = "FLEXPATH_LIMIT_BYTES";

/// `FLEXPATH_LIMIT_BYTES` is no number of bytes.
#[derive(Debug, thiserror::Error)]
#[error("{VARIABLE}={value:?} is no number of bytes: give digits alone, as in 1073741824")]
#[non_exhaustive]
pub struct LimitError {
    /// What it is.
    pub value: String,
}
