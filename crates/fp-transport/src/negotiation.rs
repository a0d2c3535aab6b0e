//! Which transport was agreed for a link, and why not the others.

use crate::hello::Refusal;
use crate::identity::ProcessId;
use crate::tls::TlsFailure;
use crate::transport_kind::TransportKind;
use crate::verbs::VerbsTrouble;
use std::fmt;
use std::io;

/// What makes a rank reachable from other hosts.
const LISTEN_ADVICE: &str = "have it listen on an address that others reach (the option Listen or with_tcp, or \
                             FLEXPATH_LISTEN), with a token or TLS";

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
    /// The peer is on another host, and listens on that host's loopback alone.
    #[error("it listens on the loopback of another host alone: {LISTEN_ADVICE}")]
    LoopbackElsewhere,
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

    /// Whether somebody answered, whose credentials or configuration do not go with those of this side.
    pub fn is_about_credentials(&self) -> bool {
        match self {
            Reason::Tls(failure) => failure.is_about_credentials(),
            Reason::Refused(refusal) => {
                matches!(refusal, Refusal::Token | Refusal::TlsNeeded | Refusal::TlsAbsent)
            }
            Reason::NotAllowed
            | Reason::OtherProcess
            | Reason::OtherCopy
            | Reason::OtherHost
            | Reason::LoopbackElsewhere
            | Reason::HostUnknown
            | Reason::NoEndpoint
            | Reason::NoSeals
            | Reason::Uid { .. }
            | Reason::OverflowUid { .. }
            | Reason::Io { .. }
            | Reason::OtherAnswered { .. }
            | Reason::BadAnswer
            | Reason::Probe { .. }
            | Reason::Verbs(_) => false,
        }
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

impl Negotiated {
    /// What is used, and why nothing better is, as two texts.
    pub fn told(&self) -> (String, String) {
        let used = Self { refused: Vec::new(), ..self.clone() }.to_string();
        let reason = Listed(&self.refused).to_string();
        (used, reason.trim_start_matches("; ").to_owned())
    }
}

impl fmt::Display for Negotiated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "transport={}{}", self.transport, if self.encrypted { "+tls" } else { "" })?;
        if !self.detail.is_empty() {
            write!(f, " {}", self.detail)?;
        }
        write!(f, "{}", Listed(&self.refused))
    }
}

/// Candidates that were not taken, as messages list them.
pub(crate) struct Listed<'a>(pub(crate) &'a [(TransportKind, Reason)]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(kind, reason)| write!(f, "; {kind} refused: {reason}"))
    }
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
        let told = ("transport=tcp 127.0.0.1:4000".to_owned(), "shm refused: other host".to_owned());
        assert_eq!(negotiated.told(), told);
        let encrypted = Negotiated { encrypted: true, refused: vec![], ..negotiated };
        assert_eq!(encrypted.to_string(), "transport=tcp+tls 127.0.0.1:4000");
    }

    #[test]
    fn who_is_refused_for_its_credentials_need_not_try_again() {
        let rejected = TlsFailure::Rejected { alert: "UnknownCA".into(), certificate: "own.pem".into() };
        let (authority, name, error) = ("authority.pem".into(), "peer".into(), "expired".to_owned());
        let untrusted = TlsFailure::Untrusted { error: error.clone(), authority, name };
        let of_credentials = [rejected, untrusted, TlsFailure::NotTls]
            .map(Reason::Tls)
            .into_iter()
            .chain([Refusal::Token, Refusal::TlsNeeded, Refusal::TlsAbsent].map(Reason::Refused));
        for reason in of_credentials {
            assert!(reason.is_about_credentials(), "{reason}");
        }
        let broken = [TlsFailure::TooLong { limit_bytes: 9 }, TlsFailure::Broken { error }].map(Reason::Tls);
        for reason in broken.into_iter().chain([Reason::Refused(Refusal::Busy), Reason::OtherHost]) {
            assert!(!reason.is_about_credentials(), "{reason}");
        }
    }
}
