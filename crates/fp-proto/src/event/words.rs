//! What events tell of, in words, for logs and for callers in other languages.

use super::{CloseOutcome, MemberEnd, StepRejection};
use std::fmt;

impl fmt::Display for MemberEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Left => f.write_str("left"),
            Self::Lost(reason) => write!(f, "is lost: {reason}"),
            Self::Expelled => f.write_str("was expelled: the publisher would wait for it no longer"),
            Self::Denied => f.write_str("was detached: it asked for more than the access list lets it"),
        }
    }
}

impl fmt::Display for StepRejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Abandoned { rank } => write!(f, "rank {rank} abandoned it"),
            Self::Disagreement { what } => f.write_str(what),
        }
    }
}

impl fmt::Display for CloseOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean => f.write_str("closed: everything was released"),
            Self::Held(held) => write!(f, "closed, but {} subscriptions held steps still", held.len()),
            Self::Lost { rank, reason } => write!(f, "closed after the loss of rank {rank}: {reason}"),
        }
    }
}
