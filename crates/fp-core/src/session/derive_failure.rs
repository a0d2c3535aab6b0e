//! Why a publisher rank could not derive what was asked of it.

use crate::error::PutError;
use crate::options::functions::CallProblem;
use crate::value::derivation_inputs::MixedInputs;
use fp_transform::{DeriveError, MAX_OVERRUNS, ModuleHash, PolicyRefusal, PoolError};

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
