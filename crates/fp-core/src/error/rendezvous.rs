//! Why a rendezvous cannot be used.

use fp_transport::{TlsError, TokenFileError};
use std::io;
use std::path::PathBuf;

/// The environment variable that names the rendezvous: a directory, or the address of a meeting place.
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
        r#source: io::Error,
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
    #[error("cannot write the rendezvous entry {}: {source}; make room or give write access there, or set {DIRECTORY_VARIABLE} to a directory that every rank can write to", path.display())]
    Write {
        /// The entry.
        path: PathBuf,
        /// Why.
        r#source: io::Error,
    },
    /// A rendezvous of a kind that there is not.
    #[error(
        "{given:?} is no rendezvous: there is no kind {scheme:?}. It is a directory, or the address of a meeting place: tcp://HOST:PORT"
    )]
    Scheme {
        /// What was given.
        given: String,
        /// What stands before `://`.
        scheme: String,
    },
    /// No address of a meeting place.
    #[error(
        "{given:?} is no address of a meeting place: that is tcp://HOST:PORT, as `flexpath meet` prints it"
    )]
    Address {
        /// What was given.
        given: String,
    },
    /// Nobody answers at the meeting place, or no more.
    #[error(
        "the meeting place {place} cannot be asked: {why}. Is `flexpath meet` running there, and is the address right ({DIRECTORY_VARIABLE}, or an option)?"
    )]
    Away {
        /// Its address.
        place: String,
        /// Why.
        why: String,
    },
    /// It does not let this process in.
    #[error(
        "the meeting place {place} does not let this process in: {why}. It wants the token and the TLS that `flexpath meet` was started with"
    )]
    NotLetIn {
        /// Its address.
        place: String,
        /// Why.
        why: String,
    },
    /// Somebody else answers at its address.
    #[error("there is no meeting place at {place}: {why}. Name the address that `flexpath meet` prints")]
    NoPlace {
        /// Its address.
        place: String,
        /// Who.
        why: String,
    },
    /// It says what no meeting place says.
    #[error("the meeting place {place} misbehaved: {what}. It is not to be trusted, or of another version")]
    Misbehaved {
        /// Its address.
        place: String,
        /// What it did.
        what: String,
    },
    /// It does not do what it was asked for.
    #[error("the meeting place {place} has no room for this process: {why}")]
    Declined {
        /// Its address.
        place: String,
        /// Why.
        why: String,
    },
    /// The token for it cannot be read.
    #[error(transparent)]
    Token(#[from] TokenFileError),
    /// TLS towards it cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl RendezvousError {
    /// Whether somebody answered, and asking again would give the same.
    pub(crate) fn is_final(&self) -> bool {
        match self {
            Self::NotLetIn { .. } | Self::NoPlace { .. } | Self::Misbehaved { .. } => true,
            Self::Missing { .. }
            | Self::Directory { .. }
            | Self::Foreign { .. }
            | Self::Write { .. }
            | Self::Scheme { .. }
            | Self::Address { .. }
            | Self::Away { .. }
            | Self::Declined { .. }
            | Self::Token(_)
            | Self::Tls(_) => false,
        }
    }
}
