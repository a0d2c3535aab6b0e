//! Why a publisher rank could not derive what was asked of it.

use crate::error::PutError;
use crate::options::functions::CallProblem;
use crate::value::derivation_inputs::MixedInputs;
use fp_transform::{DeriveError, MAX_OVERRUNS, ModuleHash, PolicyRefusal, PoolError};
use fp_types::record::FieldPathError;
use std::time::Duration;

/// What the owner of a publisher does not allow, in this step or at all.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum NotAllowed {
    #[error(
        "this publisher computes nothing for subscribers: its owner said so (with_derivations, Derivations); derive it where it is read"
    )]
    Forbidden,
    #[error(
        "the {granted:?} that derivations might take of this step were used up by {begun} of them: raise the publisher's derive_budget ({budget:?}) or derive_share_percent ({share_percent}), or derive it where it is read"
    )]
    NoTime { granted: Duration, begun: usize, budget: Duration, share_percent: u32 },
    #[error(
        "it was stopped between two blocks, as the {granted:?} were over that derivations might take of this step: raise the publisher's derive_budget ({budget:?}), or derive it where it is read"
    )]
    Stopped { granted: Duration, budget: Duration },
}

/// Why a rank could not derive.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Mixed(#[from] MixedInputs),
    #[error(
        "{variable:?} was put with rows of {first} and of {other} (dimension {dim} is that of the rows): nothing is derived from these together"
    )]
    Rows { variable: String, dim: usize, first: String, other: String },
    #[error(
        "it put {present:?} but nothing of {missing:?}: a rank that puts one puts all that something is derived from"
    )]
    Missing { present: String, missing: String },
    #[error(
        "{variable:?} is rows of each rank, and none knows where its own lie: measure all of it, or publish it as a global array"
    )]
    RegionOfRows { variable: String },
    #[error("{variable:?}: {source}")]
    Field { variable: String, r#source: FieldPathError },
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
    #[error("it ran for too long {MAX_OVERRUNS} times, and is not done any more")]
    Refused,
    #[error("deployed code: {0}")]
    NotAdmitted(PolicyRefusal),
    #[error("the module {0} was not handed over")]
    NotHandedOver(ModuleHash),
    #[error(transparent)]
    Call(#[from] CallProblem),
    #[error(transparent)]
    Derive(#[from] DeriveError),
    #[error(transparent)]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Put(#[from] Box<PutError>),
}

impl From<PolicyRefusal> for Failure {
    fn from(error: PolicyRefusal) -> Self {
        Self::NotAdmitted(error)
    }
}

impl Failure {
    /// Why a thread did not do it.
    pub(crate) fn of_pool(error: PoolError) -> Self {
        if matches!(error, PoolError::Refused { .. }) { Self::Refused } else { Self::Pool(error) }
    }

    /// What a thread gave, or why it gave nothing.
    pub(crate) fn in_result<T>(result: Result<Result<T, DeriveError>, PoolError>) -> Result<T, Self> {
        Ok(result.map_err(Self::of_pool)??)
    }

    /// Whether the time of the step is used up.
    pub(crate) fn is_out_of_time(&self) -> bool {
        matches!(self, Self::NotAllowed(NotAllowed::NoTime { .. } | NotAllowed::Stopped { .. }))
    }

    /// Whether there is too little of something just now: a subscriber that may derive it itself can do better.
    pub(crate) fn is_shortage(&self) -> bool {
        matches!(self, Self::NotAllowed(_) | Self::Derive(DeriveError::NoRoom { .. }))
    }
}
