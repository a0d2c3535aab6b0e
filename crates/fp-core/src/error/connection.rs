//! Why there is no connection between two processes.

use fp_transport::{ListenError, TlsError, TokenFileError};
use std::io;

/// Why there is no connection between two processes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// No address.
    #[error("{given:?} is no address: that is HOST:PORT, as login1:7000 or 192.0.2.7:7000")]
    Address {
        /// What was given.
        given: String,
    },
    /// Nobody answers there.
    #[error("nobody answers at {place}: {why}")]
    Away {
        /// The address.
        place: String,
        /// Why.
        why: String,
    },
    /// Who answers does not let this process in.
    #[error(
        "{place} does not let this process in: {why}. It wants the token and the TLS that it was started with"
    )]
    NotLetIn {
        /// The address.
        place: String,
        /// Why.
        why: String,
    },
    /// Who answers is not the one that was meant.
    #[error("who answers at {place} is another: {why}")]
    Another {
        /// The address.
        place: String,
        /// Who.
        why: String,
    },
    /// It cannot listen there.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The token cannot be read.
    #[error(transparent)]
    Token(#[from] TokenFileError),
    /// The system failed.
    #[error("the system has no connection left: {0}")]
    System(io::Error),
}

impl ConnectionError {
    /// Whether it may be another time: nobody is there now.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Away { .. } | Self::System(_))
    }
}
