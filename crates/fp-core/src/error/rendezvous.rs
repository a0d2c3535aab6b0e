//! Why a rendezvous directory cannot be used.

use std::io;
use std::path::PathBuf;

/// The environment variable that names the directory.
pub const DIRECTORY_VARIABLE: &str = "FLEXPATH_RENDEZVOUS";

/// Why the rendezvous cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RendezvousError {
    /// The directory that was named is not there.
    #[error("there is no rendezvous directory {}: name one that is there, or make it (mkdir -p), once for all ranks and subscribers; only the one that is used without {DIRECTORY_VARIABLE} is made by itself", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// The directory cannot be made or entered.
    #[error("rendezvous directory {}: {source}; set {DIRECTORY_VARIABLE} to a directory that every rank can write to", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The directory in the temporary directory is somebody else's.
    #[error("rendezvous directory {} belongs to user {owner} with mode {mode:o}, not to this user alone; set {DIRECTORY_VARIABLE}", path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// Its mode.
        mode: u32,
    },
    /// An entry cannot be written.
    #[error("cannot write the rendezvous entry {}: {source}", path.display())]
    Write {
        /// The entry.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
