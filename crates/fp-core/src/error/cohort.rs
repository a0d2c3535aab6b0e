//! Why the environment of a launcher gives no cohort.

/// Why a cohort cannot be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CohortError {
    /// The rank is not below the size, or the size is 0.
    #[error("rank {rank} is outside a cohort of {size}: ranks are 0 to size - 1")]
    OutOfRange {
        /// The rank.
        rank: u32,
        /// The size.
        size: u32,
    },
    /// A launcher's variable is set to something that is no number.
    #[error("environment variable {variable} is {value:?}, not a number")]
    NotANumber {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
    /// A launcher has set the rank but not the size.
    #[error("environment variable {present} is set but {missing} is not")]
    Incomplete {
        /// The one that is set.
        present: &'static str,
        /// The one that is not.
        missing: &'static str,
    },
}
