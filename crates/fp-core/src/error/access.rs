//! Why an access list cannot be used: then nothing is opened, rather than opened wide.

use fp_transport::TokenFileError;
use std::io;
use std::path::PathBuf;

/// Why a file gives no access list.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccessError {
    /// It cannot be read.
    #[error("the access list {} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        r#source: io::Error,
    },
    /// Others than its owner can write it, so anybody could let himself in.
    #[error("others can write the access list {path}, of mode {mode:o}: `chmod go-w {path}` keeps it to its owner", path = path.display())]
    Writable {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It belongs to another user, who can write it.
    #[error("the access list {} belongs to user {owner}, not to user {own} who publishes, nor to root", path.display())]
    OtherOwner {
        /// The file.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// The user of this process.
        own: u32,
    },
    /// Something in it is wrong.
    #[error("{}, line {line}: {what}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong, and what is expected.
        what: String,
    },
    /// A token that it names cannot be read.
    #[error("{}, line {line}: {source}", path.display())]
    Token {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// Why.
        r#source: TokenFileError,
    },
}
