//! Which transport a pair of ranks uses, and why not the others.

use crate::hello::Refusal;
use crate::identity::ProcessId;
use crate::tls::TlsFailure;
use crate::verbs::VerbsTrouble;
use std::fmt;
use std::io;
use std::str::FromStr;

/// A kind of link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum TransportKind {
    /// Within one process and one copy of the library: payload handles cross.
    Inproc,
    /// Within one host: segments are mapped by the peer.
    Shm,
    /// Between RDMA devices: frames by queue pairs, payload by one-sided READs.
    Verbs,
    /// Anywhere: bytes through a socket.
    Tcp,
}

impl TransportKind {
    /// All of them, best first.
    pub const ALL: [TransportKind; 4] =
        [TransportKind::Inproc, TransportKind::Shm, TransportKind::Verbs, TransportKind::Tcp];

    /// As printed and as written in `FLEXPATH_TRANSPORTS`.
    pub fn name(self) -> &'static str {
        match self {
            TransportKind::Inproc => "inproc",
            TransportKind::Shm => "shm",
            TransportKind::Verbs => "verbs",
            TransportKind::Tcp => "tcp",
        }
    }

    /// Why this transport is not enciphered where TLS is configured.
    pub(crate) fn without_tls(self) -> &'static str {
        match self {
            TransportKind::Inproc => "without TLS: same process",
            TransportKind::Shm => "without TLS: same host and user",
            TransportKind::Verbs | TransportKind::Tcp => "",
        }
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            TransportKind::Inproc => 1,
            TransportKind::Shm => 2,
            TransportKind::Tcp => 3,
            TransportKind::Verbs => 4,
        }
    }

    /// Whether both ends can have the same memory before them.
    pub fn shares_memory(self) -> bool {
        matches!(self, TransportKind::Inproc | TransportKind::Shm)
    }

    /// Whether descriptors can go with a frame.
    pub(crate) fn passes_descriptors(self) -> bool {
        self.shares_memory()
    }

    pub(crate) fn from_code(code: u8) -> Option<TransportKind> {
        TransportKind::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

impl fmt::Display for TransportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a candidate was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The policy does not list it.
    #[error("not allowed by the policy")]
    NotAllowed,
    /// The peer is another process.
    #[error("other process")]
    OtherProcess,
    /// The peer is another copy of the library in this process, or this is a forked child.
    #[error("another copy of the library")]
    OtherCopy,
    /// The peer is on another host or in another network namespace.
    #[error("other host")]
    OtherHost,
    /// The contact does not say which host it is on.
    #[error("host not known")]
    HostUnknown,
    /// The contact lists no endpoint for it.
    #[error("the contact has no endpoint for it")]
    NoEndpoint,
    /// The kernel of this side cannot seal shared memory.
    #[error("the kernel has no F_SEAL_FUTURE_WRITE")]
    NoSeals,
    /// The peer runs as another user.
    #[error("user {theirs} there, {ours} here")]
    Uid {
        /// Effective user of this process.
        ours: u32,
        /// User of the peer, as the kernel says.
        theirs: u32,
    },
    /// A user that is shown as the overflow id may be anybody.
    #[error("user not known in this user namespace (overflow uid {uid})")]
    OverflowUid {
        /// The overflow id.
        uid: u32,
    },
    /// Nobody could be dialled there, or the connection broke during the probe.
    #[error("{doing}: {error}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        error: String,
    },
    /// Somebody else answered at that address.
    #[error("process {found} answered instead of {expected}")]
    OtherAnswered {
        /// The process of the contact.
        expected: ProcessId,
        /// The process that answered.
        found: ProcessId,
    },
    /// The answer was none that a listener of any version gives.
    #[error("the answer was no hello of Flexpath")]
    BadAnswer,
    /// The bytes of the probe did not come through.
    #[error("the probe failed: {what}")]
    Probe {
        /// What did not.
        what: String,
    },
    /// TLS is configured here, and did not come about with this peer.
    #[error("{0}")]
    Tls(TlsFailure),
    /// RDMA does not work here, or not with this peer.
    #[error("{0}")]
    Verbs(VerbsTrouble),
    /// The peer refused this candidate.
    #[error("{0}")]
    Refused(Refusal),
}

impl Reason {
    /// Whether the candidate never applied to this pair, so that passing it over is no fallback.
    pub fn is_inapplicable(&self) -> bool {
        matches!(
            self,
            Reason::NotAllowed
                | Reason::OtherProcess
                | Reason::OtherCopy
                | Reason::OtherHost
                | Reason::HostUnknown
                | Reason::NoEndpoint
        )
    }

    pub(crate) fn io(doing: &'static str, error: io::Error) -> Reason {
        Reason::Io { doing, error: error.to_string() }
    }
}

/// What was agreed for a link. Printed as `transport=tcp 127.0.0.1:4000; shm refused: other host`, and as
/// `transport=tcp+tls 127.0.0.1:4000` where TLS lies under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negotiated {
    /// The transport that is used.
    pub transport: TransportKind,
    /// Whether TLS lies under it.
    pub encrypted: bool,
    /// Its address or name; where TLS is configured and not needed, why not.
    pub detail: String,
    /// The better candidates that were not taken, in the order they were tried. Empty on the accepting side, which
    /// sees only what was taken.
    pub refused: Vec<(TransportKind, Reason)>,
}

impl fmt::Display for Negotiated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "transport={}{}", self.transport, if self.encrypted { "+tls" } else { "" })?;
        if !self.detail.is_empty() {
            write!(f, " {}", self.detail)?;
        }
        for (kind, reason) in &self.refused {
            write!(f, "; {kind} refused: {reason}")?;
        }
        Ok(())
    }
}

/// Which transports may be used, in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransportPolicy {
    /// Candidates, tried in this order.
    pub allow: Vec<TransportKind>,
    /// Whether a candidate that applies to the pair but cannot be used is an error, instead of a reason to try the
    /// next. A candidate that never applied (shm to another host) is passed over all the same.
    pub forbid_fallback: bool,
}

impl Default for TransportPolicy {
    fn default() -> Self {
        TransportPolicy { allow: TransportKind::ALL.to_vec(), forbid_fallback: false }
    }
}

impl TransportPolicy {
    /// Only this transport.
    pub fn only(kind: TransportKind) -> TransportPolicy {
        TransportPolicy { allow: vec![kind], ..TransportPolicy::default() }
    }

    /// Sets whether a fallback is an error.
    #[must_use]
    pub fn with_forbid_fallback(mut self, forbid_fallback: bool) -> Self {
        self.forbid_fallback = forbid_fallback;
        self
    }

    /// From `FLEXPATH_TRANSPORTS`, a list such as `shm,tcp`; the default where it is not set.
    ///
    /// # Errors
    /// [`PolicyError`], naming the word that is no transport.
    pub fn from_environment() -> Result<TransportPolicy, PolicyError> {
        match std::env::var("FLEXPATH_TRANSPORTS") {
            Ok(list) => list.parse(),
            Err(_) => Ok(TransportPolicy::default()),
        }
    }
}

/// A list of transports that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is no transport: a list of inproc, shm, verbs and tcp, such as `shm,tcp`")]
pub struct PolicyError {
    /// The word that is none.
    pub word: String,
}

impl FromStr for TransportPolicy {
    type Err = PolicyError;

    fn from_str(list: &str) -> Result<TransportPolicy, PolicyError> {
        let allow: Result<Vec<_>, _> = list.split(',').map(|word| kind_of(word.trim())).collect();
        Ok(TransportPolicy { allow: allow?, ..TransportPolicy::default() })
    }
}

fn kind_of(word: &str) -> Result<TransportKind, PolicyError> {
    let found = TransportKind::ALL.into_iter().find(|kind| kind.name() == word);
    found.ok_or_else(|| PolicyError { word: word.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_agreed_is_printed_with_the_reasons() {
        let negotiated = Negotiated {
            transport: TransportKind::Tcp,
            encrypted: false,
            detail: "127.0.0.1:4000".into(),
            refused: vec![(TransportKind::Shm, Reason::OtherHost)],
        };
        assert_eq!(negotiated.to_string(), "transport=tcp 127.0.0.1:4000; shm refused: other host");
        let encrypted = Negotiated { encrypted: true, refused: vec![], ..negotiated };
        assert_eq!(encrypted.to_string(), "transport=tcp+tls 127.0.0.1:4000");
    }

    #[test]
    fn a_policy_is_read_from_a_list() {
        let policy: TransportPolicy = "tcp, shm".parse().expect("a list");
        assert_eq!(policy.allow, [TransportKind::Tcp, TransportKind::Shm]);
        assert_eq!("rdma".parse::<TransportPolicy>(), Err(PolicyError { word: "rdma".into() }));
    }
}
