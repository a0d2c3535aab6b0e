//! Why a target does not take a step.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use fp_core::StepId;

/// Why a target does not take a step.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SinkError {
    /// The target as such is of no use.
    #[error("{0}")]
    Target(String),
    /// The format cannot hold a variable as it is.
    #[error("step {step}, variable {variable:?}: {why}")]
    Variable {
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// What does not fit, and what to do about it.
        why: String,
    },
    /// The format cannot hold a step as it is.
    #[error("step {step}: {why}")]
    Step {
        /// The step.
        step: StepId,
        /// What does not fit, and what to do about it.
        why: String,
    },
    /// A file or folder cannot be written.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        r#source: io::Error,
    },
    /// The library of the format does not write a file.
    #[error("{}: {source}", path.display())]
    Format {
        /// Which file or folder.
        path: PathBuf,
        /// Why.
        r#source: Box<dyn Error + Send + Sync>,
    },
    /// A database does not do what is asked.
    #[error("{place}: {query} {why}")]
    Database {
        /// Its host and port.
        place: String,
        /// What was asked.
        query: String,
        /// What it says, or what is wrong with the connection.
        why: String,
    },
    /// A rank ended in the middle: a fault of ours.
    #[error("a rank broke off, as the lines above say: please report this")]
    Panic,
    /// Ranks are not at the same step: a fault of ours.
    #[error("rank {rank} has step {own}, and rank 0 step {other}: please report this")]
    Apart {
        /// Which.
        rank: u32,
        /// Its step.
        own: StepId,
        /// That of rank 0.
        other: StepId,
    },
    /// A rank left before it had written its parts.
    #[error("step {step}: not committed, as a rank has left the stream before it wrote its parts")]
    Left {
        /// Of this step.
        step: StepId,
    },
    /// A part does not fit into memory.
    #[error(
        "step {step}, variable {variable:?}: no memory for a part of {len_bytes} bytes: take more --ranks, or --cast f32"
    )]
    Memory {
        /// The step.
        step: StepId,
        /// The variable.
        variable: String,
        /// What it takes.
        len_bytes: usize,
    },
}

impl SinkError {
    /// For what goes wrong with a file.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::File { path: path.to_owned(), source }
    }

    /// For what the library of a format says of a file.
    pub(crate) fn format<E: Error + Send + Sync + 'static>(path: &Path) -> impl FnOnce(E) -> Self + '_ {
        |source| Self::Format { path: path.to_owned(), source: Box::new(source) }
    }
}
