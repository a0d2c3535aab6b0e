//! Why an analysis ends before its stream does.

use fp_core::{
    BeginError, CloseError, CohortError, EndReason, OpenError, PutError, ReadError, VariableError,
};

use crate::gather::GatherFailure;
use crate::grid::GridError;
use crate::part::PartError;

/// Why an analysis ends before its stream does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// More ranks than there can be, or a rank that is none of them.
    #[error(transparent)]
    Cohort(#[from] CohortError),
    /// A stream cannot be opened.
    #[error(transparent)]
    Open(Box<OpenError>),
    /// The stream cannot be read any more.
    #[error(transparent)]
    Read(Box<ReadError>),
    /// The variable has no features.
    #[error("stream {stream:?}, step {step}, variable {variable:?}: {what}")]
    Variable {
        /// The stream.
        stream: String,
        /// The step.
        step: u64,
        /// The variable.
        variable: String,
        /// Why not.
        what: String,
    },
    /// The array has no features.
    #[error("stream {stream:?}, step {step}, variable {variable:?}: {source}")]
    Grid {
        /// The stream.
        stream: String,
        /// The step.
        step: u64,
        /// The variable.
        variable: String,
        /// Why not.
        r#source: GridError,
    },
    /// The stream has ended, and not because its publisher closed it.
    #[error("stream {stream:?}: {reason}")]
    Ended {
        /// The stream.
        stream: String,
        /// Why.
        reason: EndReason,
    },
    /// The parts of the ranks did not come together.
    #[error("step {step}: the parts of the ranks do not come together: {source}")]
    Gather {
        /// The step.
        step: u64,
        /// Why.
        r#source: GatherFailure,
    },
    /// The parts of the ranks are not of one step.
    #[error("step {step}: {source}")]
    Part {
        /// The step.
        step: u64,
        /// Why.
        r#source: PartError,
    },
    /// A step of the features' stream cannot be begun.
    #[error(transparent)]
    Begin(Box<BeginError>),
    /// Something of a step cannot be published.
    #[error(transparent)]
    Put(Box<PutError>),
    /// Something of a step has no variable.
    #[error(transparent)]
    Definition(#[from] VariableError),
    /// A stream cannot be left in order.
    #[error(transparent)]
    Close(Box<CloseError>),
    /// A rank of this process panicked.
    #[error("rank {rank} of the analysis panicked")]
    Panicked {
        /// Which.
        rank: u32,
    },
}

macro_rules! boxed {
    ($($kind:ident($error:ty)),*) => {
        $(
            impl From<$error> for AnalysisError {
                fn from(error: $error) -> Self {
                    Self::$kind(Box::new(error))
                }
            }
        )*
    };
}

boxed!(Open(OpenError), Read(ReadError), Begin(BeginError), Put(PutError), Close(CloseError));
