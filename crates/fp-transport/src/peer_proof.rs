//! What a listener knows for sure of who dialled it.

use crate::hello::TokenHash;
use std::fmt;
use std::net::IpAddr;

/// What a link proves of who dialled, beyond what the peer says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerProof {
    /// The DNS names of its certificate: over tcp with TLS only.
    pub certificate_names: Vec<String>,
    /// Which token it showed.
    pub token: ShownToken,
    /// Where it is, in words: its process and user, or its address.
    pub place: String,
    /// With whose connections its own are counted.
    pub origin: Origin,
}

/// Where connections come from that are counted together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A user of this host.
    User(u32),
    /// Another host, or this one by way of its network.
    Address(IpAddr),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(uid) => write!(f, "user {uid}"),
            Self::Address(address) => write!(f, "{address}"),
        }
    }
}

/// The token that a dialler showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownToken {
    /// None that the listener knows.
    None,
    /// That of the run.
    Run(TokenHash),
    /// One of those that the listener takes beside it.
    Listed(TokenHash),
}

impl PeerProof {
    /// Its user, as the kernel says: over inproc and shm only.
    pub fn uid(&self) -> Option<u32> {
        if let Origin::User(uid) = self.origin { Some(uid) } else { None }
    }

    /// Who it is, in words.
    pub fn describe(&self) -> String {
        match self.certificate_names.as_slice() {
            [] => self.place.clone(),
            names => format!("{} with a certificate for {}", self.place, names.join(", ")),
        }
    }
}
