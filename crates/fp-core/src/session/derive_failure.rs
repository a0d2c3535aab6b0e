//! Why a publisher rank could not derive what was asked of it.

use crate::error::PutError;
use crate::options::functions::CallProblem;
use fp_transform::{DeriveError, MAX_OVERRUNS, ModuleHash, PolicyRefusal, PoolError};

/// Why a rank could not derive.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{variable:?} is no global array ({kind}), and others are not derived from")]
    Kind { variable: String, kind: String },
    #[error("it put {present:?} but no block of {missing:?}")]
    Missing { present: String, missing: String },
    #[error("it ran for too long {MAX_OVERRUNS} times, and is not done any more")]
    Refused,
    #[error("deployed code: {0}")]
    NotAdmitted(#[from] PolicyRefusal),
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
