//! Why a bench failed.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use fp_core::diagnosis::ProbeError;
use fp_core::rendezvous::RendezvousError;
use fp_core::{BeginError, CloseError, CohortError, OpenError, PutError, ReadError, TokenFileError};

use super::content::Wrong;
use crate::failure::Failure;

/// Why a bench failed, as its user sees it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchFailure {
    /// A directory or a process cannot be made.
    #[error("bench: cannot {what}: {source}")]
    Start {
        /// What was tried.
        what: &'static str,
        /// Why not.
        r#source: io::Error,
    },
    /// There is no RDMA to measure.
    #[error("bench: no RDMA here: {0}. `flexpath doctor` says more")]
    NoRdma(Box<ProbeError>),
    /// A rank's process ended before its work was done.
    #[error("bench: {who} (process {id}) ended with {status}{}", said(errors))]
    Ended {
        /// Which rank.
        who: String,
        /// Its process.
        id: u32,
        /// How.
        status: ExitStatus,
        /// What it complained of.
        errors: String,
    },
    /// A rank's process said something that is no answer.
    #[error(
        "bench: {who} (process {id}) said {line:?}, which is no answer; are there two versions of this command?"
    )]
    NoAnswer {
        /// Which rank.
        who: String,
        /// Its process.
        id: u32,
        /// What it said.
        line: String,
    },
    /// It took too long.
    #[error("bench: not done within {timeout:?}: still waiting for {}. Fewer --steps, or a longer --timeout", waiting.join(", "))]
    TooLong {
        /// How long it might take.
        timeout: Duration,
        /// The ranks that are not done.
        waiting: Vec<String>,
    },
    /// A rank did not do all its steps, and said nothing of it.
    #[error("bench: a rank did less than it was told to; are there two versions of this command?")]
    Incomplete,
    /// The user wants to stop.
    #[error("bench: interrupted")]
    Interrupted,
    /// A role failed, in its own process.
    #[error("{0}")]
    Role(RoleFailure),
}

impl From<RoleFailure> for BenchFailure {
    fn from(error: RoleFailure) -> Self {
        Self::Role(error)
    }
}

impl From<Box<ProbeError>> for BenchFailure {
    fn from(error: Box<ProbeError>) -> Self {
        Self::NoRdma(error)
    }
}

impl From<BenchFailure> for Failure {
    fn from(failure: BenchFailure) -> Self {
        Self::Bench(Box::new(failure))
    }
}

fn said(errors: &str) -> String {
    if errors.is_empty() { String::new() } else { format!(": {}", errors.trim_end()) }
}

/// Why a rank failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RoleFailure {
    /// The task is none.
    #[error("no task of a bench: {0}; this command is for `flexpath bench` itself")]
    Task(serde_json::Error),
    /// The rendezvous cannot be used.
    #[error(transparent)]
    Rendezvous(#[from] RendezvousError),
    /// The run's token cannot be read.
    #[error(transparent)]
    Token(#[from] TokenFileError),
    /// A rank outside its cohort.
    #[error(transparent)]
    Cohort(#[from] CohortError),
    /// The array cannot be described.
    #[error("the array: {0}")]
    Array(String),
    /// The stream does not open.
    #[error(transparent)]
    Open(#[from] Box<OpenError>),
    /// No subscriber came.
    #[error("no subscriber within {0:?}")]
    NoSubscriber(Duration),
    /// A step does not begin.
    #[error(transparent)]
    Begin(#[from] Box<BeginError>),
    /// A block cannot be put.
    #[error(transparent)]
    Put(#[from] Box<PutError>),
    /// A step cannot be read.
    #[error(transparent)]
    Read(#[from] Box<ReadError>),
    /// The stream does not close in order.
    #[error(transparent)]
    Close(#[from] CloseError),
    /// No step came.
    #[error("step {step}: it did not come within {timeout:?}")]
    NoStep {
        /// The step.
        step: u64,
        /// How long it was waited for.
        timeout: Duration,
    },
    /// The stream ended too early.
    #[error("the stream ended before step {step}: {reason}")]
    EndedEarly {
        /// The step.
        step: u64,
        /// Why.
        reason: String,
    },
    /// Another step came than should.
    #[error("step {came}: it came where {wanted} was to come")]
    OtherStep {
        /// What came.
        came: u64,
        /// What should.
        wanted: u64,
    },
    /// An element is not what was published.
    #[error(
        "WRONG DATA in step {step}: element {} of the subscriber's array has the bits {:#x} instead of {:#x}",
        wrong.at, wrong.found, wrong.wanted
    )]
    Wrong {
        /// The step.
        step: u64,
        /// The element.
        wrong: Wrong,
    },
    /// The other side did not say that it has a step.
    #[error("cannot {what}: {source}")]
    Tell {
        /// What was tried.
        what: &'static str,
        /// Why not.
        r#source: io::Error,
    },
    /// A thread of a rank panicked.
    #[error("a rank's thread panicked")]
    Panicked,
}

impl From<serde_json::Error> for RoleFailure {
    fn from(error: serde_json::Error) -> Self {
        Self::Task(error)
    }
}

macro_rules! boxed {
    ($($error:ident),*) => {
        $(impl From<$error> for RoleFailure {
            fn from(error: $error) -> Self {
                Box::new(error).into()
            }
        })*
    };
}

boxed!(OpenError, BeginError, PutError, ReadError);
