//! What goes wrong with records and files of them.

use fp_types::StepId;
use std::io;
use std::path::{Path, PathBuf};

/// What is wrong with bytes that should be a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Damage {
    /// They end too early.
    #[error("it ends in the midst of {0}")]
    Cut(&'static str),
    /// They begin otherwise than a frame does.
    #[error("no step record begins here")]
    NoRecord,
    /// They are of a format of another version.
    #[error("it is of version {found} of the format, and this program reads version {known}")]
    Version {
        /// The version of the bytes.
        found: u8,
        /// The one that this program reads.
        known: u8,
    },
    /// Bytes are not as they were written.
    #[error("the checksum of {0} is another one: bytes have changed since they were written")]
    Checksum(&'static str),
    /// They mean nothing valid.
    #[error("{0}")]
    Invalid(String),
}

/// Why a record was not written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpoolError {
    /// The system failed.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        r#source: io::Error,
    },
    /// The bytes are not those of a record.
    #[error("at byte {offset}: {damage}")]
    Damaged {
        /// Where the frame begins that is damaged.
        offset: u64,
        /// What is wrong.
        damage: Damage,
    },
    /// The description of a step has no place in a record.
    #[error("step {step}: its variables cannot be kept: {why}")]
    Unkept {
        /// The step.
        step: StepId,
        /// Why.
        why: String,
    },
    /// A block is of a variable that the step does not have.
    #[error("step {step}: a block is of variable {variable}, and the step has {count}, counted from 0")]
    NoSuchVariable {
        /// The step.
        step: StepId,
        /// The number of the variable.
        variable: u32,
        /// How many there are.
        count: usize,
    },
    /// A step is longer than whoever reads it lets it be.
    #[error("step {step}: it takes more than the {limit_bytes} bytes that there are for it")]
    TooLong {
        /// The step.
        step: StepId,
        /// How many there are.
        limit_bytes: u64,
    },
    /// Another process writes to the file.
    #[error("another process writes to it")]
    InUse,
    /// The same, of a file.
    #[error("{}: {source}", path.display())]
    InFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        r#source: Box<Self>,
    },
}

impl SpoolError {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }

    /// Names the file with which something is wrong.
    pub(crate) fn in_file(path: &Path) -> impl Fn(Self) -> Self {
        move |source| Self::InFile { path: path.to_owned(), source: Box::new(source) }
    }
}
