//! How a peer came in, and whose connections count together.

use crate::peer_proof::Origin;
use std::fmt;
use std::net::SocketAddr;

/// How a peer came in.
pub(super) enum Via {
    Unix { uid: u32, pid: u32 },
    Tcp { address: SocketAddr },
    Verbs { address: SocketAddr },
}

impl fmt::Display for Via {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Via::Unix { uid, pid } => write!(f, "process {pid} of user {uid}"),
            Via::Tcp { address } | Via::Verbs { address } => write!(f, "{address}"),
        }
    }
}

impl Via {
    /// Whose connection it is.
    pub(super) fn origin(&self) -> Origin {
        match self {
            Via::Unix { uid, .. } => Origin::User(*uid),
            Via::Tcp { address } | Via::Verbs { address } => Origin::Address(address.ip()),
        }
    }
}
