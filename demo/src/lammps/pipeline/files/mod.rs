//! The pipeline coupled without this library: HDF5 files on disk, as a careful user would do it.
//!
//! Each rank of a part writes a file of its own for each step, under a name that nobody looks for. It renames the file
//! when it is complete, so what has its name can be read. A last file says how many steps there were. Whoever takes
//! steps is woken by the file system (inotify) and never looks in a loop. It gives up at a deadline, naming the file
//! that did not come.
//!
//! ```text
//! EXCHANGE/atoms/step-000007.2-of-4.h5     step 7 of rank 2 of 4
//! EXCHANGE/atoms/end.2-of-4                the number of steps, as text
//! ```
//!
//! Nothing is told to the file system about the disk (no `fsync`). On one machine the data is read from memory, which
//! is the best that files can do. Nothing is ever deleted, and nobody waits for anybody who reads.

mod inlet;
mod outlet;
mod wait;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub(super) use inlet::{FilesInlet, Stored};
pub(super) use outlet::{FilesOutlet, Storing};

/// Why files could not couple two parts.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// HDF5 refused something.
    #[error("{}: {source}", path.display())]
    Hdf5 {
        /// The file.
        path: PathBuf,
        /// What HDF5 says.
        r#source: hdf5_metno::Error,
    },
    /// The file system refused something.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        r#source: std::io::Error,
    },
    /// A file did not come: whoever writes it is slow, stuck or dead.
    #[error("{} did not appear within {waited:?}, nor the end of its stream", path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// No rank has put this variable.
    #[error("{}: step {step} has no variable {variable}", folder.display())]
    NoVariable {
        /// The stream's folder.
        folder: PathBuf,
        /// The step, from 0.
        step: u64,
        /// The variable.
        variable: String,
    },
    /// A last file that says no number.
    #[error("{}: {text:?} is no number of steps", path.display())]
    NoNumber {
        /// The file.
        path: PathBuf,
        /// What it holds.
        text: String,
    },
}

impl FilesError {
    fn hdf5(path: &Path) -> impl FnOnce(hdf5_metno::Error) -> Self {
        let path = path.to_owned();
        |source| FilesError::Hdf5 { path, source }
    }

    fn io<E: Into<std::io::Error>>(path: &Path) -> impl FnOnce(E) -> Self {
        let path = path.to_owned();
        |source| FilesError::Io { path, source: source.into() }
    }
}

/// The name of one rank's file of one step.
fn step_file(folder: &Path, step: u64, rank: u32, ranks: u32) -> PathBuf {
    folder.join(format!("step-{step:06}.{rank}-of-{ranks}.h5"))
}

/// The name of one rank's last file.
fn end_file(folder: &Path, rank: u32, ranks: u32) -> PathBuf {
    folder.join(format!("end.{rank}-of-{ranks}"))
}

/// The name of a file that is not complete. No two ranks have the same.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".unfinished");
    PathBuf::from(name)
}

#[cfg(test)]
mod tests;
