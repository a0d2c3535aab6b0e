//! What a family tells of its members.

use std::fmt;
use std::io;
use std::time::Duration;

use fp_core::rendezvous::RendezvousError;
use fp_core::{Epoch, OpenError, StreamEnding};

/// Why a stream did not become a member.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// It could not be attached to.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// No thread can be started that attaches to it.
    #[error("no thread can be started that attaches to it: {0}")]
    Thread(io::Error),
}

/// Something happened to a family. What is told of a member comes in order with its steps.
#[derive(Debug)]
#[non_exhaustive]
pub enum FamilyEvent {
    /// A stream became a member; its steps follow.
    Came {
        /// The stream.
        member: String,
        /// This opening of it.
        epoch: Option<Epoch>,
    },
    /// A member was opened anew; steps of that opening follow.
    Restarted {
        /// The stream.
        member: String,
        /// The new opening.
        epoch: Option<Epoch>,
    },
    /// A member is no more: it ended, or was lost. All its steps came before.
    Gone {
        /// The stream.
        member: String,
        /// Why.
        ending: StreamEnding,
    },
    /// A stream could not be attached to. It is tried again.
    Refused {
        /// The stream.
        member: String,
        /// Why.
        error: AttachError,
        /// How long it is left alone.
        again_after: Duration,
    },
    /// There is no room for a stream ([`FamilyOptions::with_limit_members`](crate::FamilyOptions::with_limit_members)). It is
    /// taken when a member has gone.
    PassedOver {
        /// The stream.
        member: String,
        /// The most members there may be.
        limit_members: usize,
    },
    /// The rendezvous cannot be looked at. It is tried again, and members go on meanwhile.
    Unseen {
        /// Why.
        error: RendezvousError,
    },
}

impl fmt::Display for FamilyEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Came { member, .. } => write!(f, "stream {member:?}: it is a member now"),
            Self::Restarted { member, .. } => write!(f, "stream {member:?}: it was opened anew"),
            Self::Gone { member, ending } => {
                write!(f, "stream {member:?}: it is no member any more: {}", ending.reason)
            }
            Self::Refused { member, error, again_after } => {
                write!(f, "stream {member:?}: it is no member: {error}; it is tried again in {again_after:?}")
            }
            Self::PassedOver { member, limit_members } => {
                write!(f, "stream {member:?}: it is no member, as there are {limit_members} (limit_members)")
            }
            Self::Unseen { error } => write!(f, "no new members are found: {error}"),
        }
    }
}
