//! What a process and a meeting place say to each other (`docs/protocol.md`, section 16), and the leases that the place
//! keeps. A meeting place is a rendezvous that is no directory.
//!
//! A process asks, the place answers, one answer for each request in order. Both sides know each other by an epoch that
//! no stream has.

pub mod table;

use crate::codec::{DecodeError, from_bytes, to_bytes};
use crate::config::ContactText;
use fp_types::{Epoch, validate_name};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The epoch of every meeting place: a stream refuses it, and a meeting place refuses all others.
pub const EPOCH: u128 = u128::from_be_bytes(*b"flexpath meeting");

/// How often a lease is renewed.
pub const RENEWAL: Duration = Duration::from_secs(1);

/// How long a lease lasts that is not renewed.
pub const LEASE: Duration = Duration::from_secs(10);

/// How long a place that has just begun waits for those who were registered before. Until then nobody can believe that
/// a name is free.
pub const SETTLING: Duration = Duration::from_secs(2);

/// Most entries of a place.
pub const LIMIT_ENTRIES: usize = 4096;

/// Most entries of one name.
pub const LIMIT_OF_NAME: usize = 64;

/// Most entries of one link.
pub const LIMIT_OF_GUEST: usize = 16;

/// Longest request in bytes: a name, an epoch and a contact.
pub const LIMIT_REQUEST_BYTES: usize = 2048;

/// Longest reply in bytes: as many entries as a place may have, each as long as it may be.
pub const LIMIT_REPLY_BYTES: usize = 8 << 20;

/// Longest contact in bytes.
const LIMIT_CONTACT_BYTES: usize = 1024;

/// An entry of a meeting place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The name of a stream, or of a subscriber cohort.
    pub name: String,
    /// The epoch of that opening.
    pub epoch: Epoch,
    /// Where its lead is.
    pub contact: ContactText,
}

/// What a process asks of a meeting place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// To keep this entry for as long as a lease lasts; the same again renews it.
    Register(Entry),
    /// To forget an entry that came over this link.
    Withdraw {
        /// Its name.
        name: String,
        /// Its epoch.
        epoch: Epoch,
    },
    /// To list the entries of a name.
    Lookup {
        /// The name.
        name: String,
    },
    /// To list all entries.
    List,
}

/// Why a meeting place does not do what it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decline {
    /// It has as many entries as it may have.
    Full,
    /// The name has as many as it may have.
    NameFull,
    /// The link has as many as it may have.
    GuestFull,
    /// The entry is somebody else's.
    Another,
    /// More links than it may have, or than it has room for.
    Crowded,
    /// More requests than one link may make in a second.
    TooFast,
}

/// What a meeting place answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// The entry is kept, or was withdrawn.
    Done,
    /// The entries that were asked for.
    Listed {
        /// Whether those who were registered before it began have had the time to come back.
        settled: bool,
        /// By name and epoch.
        entries: Vec<Entry>,
    },
    /// Nothing was done.
    Declined(Decline),
}

impl std::fmt::Display for Decline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Full => write!(f, "it has {LIMIT_ENTRIES} entries, and no room for more"),
            Self::NameFull => write!(f, "the name has {LIMIT_OF_NAME} entries, and no room for more"),
            Self::GuestFull => write!(f, "this link has {LIMIT_OF_GUEST} entries, and may not have more"),
            Self::Another => f.write_str("that entry is somebody else's"),
            Self::Crowded => f.write_str("it has as many links as it can serve"),
            Self::TooFast => f.write_str("it was asked too often over one link"),
        }
    }
}

impl Entry {
    fn check(&self) -> Result<(), DecodeError> {
        check_name(&self.name)?;
        let fits = self.contact.0.len() <= LIMIT_CONTACT_BYTES;
        if fits { Ok(()) } else { Err(DecodeError::OutOfBounds("Entry.contact")) }
    }
}

fn check_name(name: &str) -> Result<(), DecodeError> {
    validate_name(name).map_err(|_| DecodeError::OutOfBounds("Entry.name"))
}

impl Request {
    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        to_bytes(self).into_vec()
    }

    /// The request of these bytes.
    ///
    /// # Errors
    /// If they are not exactly one request within its bounds.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let request = from_bytes::<Self, LIMIT_REQUEST_BYTES>(bytes)?;
        match &request {
            Self::Register(entry) => entry.check()?,
            Self::Withdraw { name, .. } | Self::Lookup { name } => check_name(name)?,
            Self::List => {}
        }
        Ok(request)
    }
}

impl Reply {
    /// The bytes.
    pub fn encode(&self) -> Vec<u8> {
        to_bytes(self).into_vec()
    }

    /// The reply of these bytes.
    ///
    /// # Errors
    /// If they are not exactly one reply within its bounds.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let reply = from_bytes::<Self, LIMIT_REPLY_BYTES>(bytes)?;
        if let Self::Listed { entries, .. } = &reply {
            if entries.len() > LIMIT_ENTRIES {
                return Err(DecodeError::OutOfBounds("Reply.entries"));
            }
            entries.iter().try_for_each(Entry::check)?;
        }
        Ok(reply)
    }

    /// What is wrong with it as the answer to a request; `None`: nothing.
    pub fn lie(&self, request: &Request) -> Option<String> {
        match (self, request) {
            (Self::Declined(_), _) => None,
            (Self::Done, Request::Register(_) | Request::Withdraw { .. }) => None,
            (Self::Listed { .. }, Request::List) => None,
            (Self::Listed { entries, .. }, Request::Lookup { name }) => {
                let other = entries.iter().find(|entry| entry.name != *name)?;
                Some(format!("an entry of {:?}, asked for {name:?}", other.name))
            }
            (Self::Done, _) => Some("no entries, asked for some".to_owned()),
            (Self::Listed { .. }, _) => Some("entries, asked for none".to_owned()),
        }
    }
}
