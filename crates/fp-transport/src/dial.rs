//! Dialling: one candidate after the other, each proved with real bytes, straight-line code with one deadline.

mod attempt;
mod dialling;

pub use dialling::{DialStep, Dialling};

use crate::contact::Contact;
use crate::hello::{Purpose, Refusal, Token};
use crate::identity::ProcessId;
use crate::link::Link;
use crate::negotiation::{Listed, Reason};
use crate::tls::TlsIdentity;
use crate::transport_kind::TransportKind;
use crate::transport_policy::TransportPolicy;
use crate::verbs::Domain;
use attempt::{Failure, attempt};
use std::time::{Duration, Instant};

/// How to dial.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DialOptions {
    /// The epoch that must answer. `None`: any.
    pub epoch: Option<u128>,
    /// The token to show.
    pub token: Option<Token>,
    /// What the link is for. Default control.
    pub purpose: Purpose,
    /// Which transports may be used. Default all.
    pub policy: TransportPolicy,
    /// When to give up.
    pub deadline: Instant,
    /// The longest that a tcp connection may take to come about. Default: until the deadline.
    pub connect_timeout: Option<Duration>,
    /// TLS, over tcp. Default none.
    pub tls: Option<TlsIdentity>,
    /// What links over verbs share. Default: one of this dial's own.
    pub domain: Domain,
    /// Who this process says it is. Only tests change it.
    pub process: ProcessId,
}

impl DialOptions {
    /// The defaults, with this deadline.
    pub fn new(deadline: Instant) -> DialOptions {
        DialOptions {
            epoch: None,
            token: None,
            purpose: Purpose::Control,
            policy: TransportPolicy::default(),
            deadline,
            connect_timeout: None,
            tls: None,
            domain: Domain::new(),
            process: ProcessId::own(),
        }
    }

    /// Sets the epoch that must answer.
    #[must_use]
    pub fn with_epoch(mut self, epoch: Option<u128>) -> Self {
        self.epoch = epoch;
        self
    }

    /// Sets the longest that a tcp connection may take to come about.
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Until when a tcp connection that is begun now may come about.
    fn connect_deadline(&self) -> Instant {
        self.connect_timeout.map_or(self.deadline, |timeout| self.deadline.min(Instant::now() + timeout))
    }

    /// Sets the token to show.
    #[must_use]
    pub fn with_token(mut self, token: Option<Token>) -> Self {
        self.token = token;
        self
    }

    /// Sets what the link is for.
    #[must_use]
    pub fn with_purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = purpose;
        self
    }

    /// Sets which transports may be used.
    #[must_use]
    pub fn with_policy(mut self, policy: TransportPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets TLS for tcp.
    #[must_use]
    pub fn with_tls(mut self, tls: Option<TlsIdentity>) -> Self {
        self.tls = tls;
        self
    }

    /// Sets what links over verbs share.
    #[must_use]
    pub fn with_domain(mut self, domain: Domain) -> Self {
        self.domain = domain;
        self
    }

    /// Sets who this process says it is.
    #[must_use]
    pub fn with_process(mut self, process: ProcessId) -> Self {
        self.process = process;
        self
    }
}

/// Why there is no link, with the reason for each candidate that was tried.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DialError {
    /// The listener does not want this rank, over whatever transport.
    #[error("{contact} refused: {refusal}{}", Listed(.refused))]
    Refused {
        /// Who was dialled.
        contact: Box<Contact>,
        /// Why it refused.
        refusal: Refusal,
        /// Candidates that failed before.
        refused: Vec<(TransportKind, Reason)>,
    },
    /// No candidate worked.
    #[error("no transport to {contact}{}", Listed(.refused))]
    NoTransport {
        /// Who was dialled.
        contact: Box<Contact>,
        /// Why not, for each candidate.
        refused: Vec<(TransportKind, Reason)>,
    },
    /// A candidate that applies did not work, and the policy forbids to fall back.
    #[error("the policy forbids a fallback to reach {contact}{}", Listed(.refused))]
    FallbackForbidden {
        /// Who was dialled.
        contact: Box<Contact>,
        /// Why not, for each candidate; the last is the one that should have worked.
        refused: Vec<(TransportKind, Reason)>,
    },
    /// The deadline is over.
    #[error("the deadline is over while waiting for {waiting_for} of {contact}{}", Listed(.refused))]
    Deadline {
        /// Who was dialled.
        contact: Box<Contact>,
        /// What was waited for.
        waiting_for: &'static str,
        /// Candidates that failed before.
        refused: Vec<(TransportKind, Reason)>,
    },
}

impl DialError {
    /// Who was dialled.
    pub fn contact(&self) -> Option<&Contact> {
        match self {
            DialError::Refused { contact, .. }
            | DialError::NoTransport { contact, .. }
            | DialError::FallbackForbidden { contact, .. }
            | DialError::Deadline { contact, .. } => Some(contact),
        }
    }

    /// Whether somebody there has no room now, and may have some soon.
    pub fn is_busy(&self) -> bool {
        let busy = |reason: &Reason| matches!(reason, Reason::Refused(Refusal::Busy));
        self.refused().iter().any(|(_, reason)| busy(reason))
    }

    /// The candidates that failed, each with its reason.
    pub fn refused(&self) -> &[(TransportKind, Reason)] {
        match self {
            DialError::Refused { refused, .. }
            | DialError::NoTransport { refused, .. }
            | DialError::FallbackForbidden { refused, .. }
            | DialError::Deadline { refused, .. } => refused,
        }
    }
}

/// Dials a contact: the first candidate of the policy that proves itself becomes the link, and keeps the reasons of
/// the others. Blocks the calling thread, at most until the deadline.
///
/// # Errors
/// [`DialError`].
pub fn dial(contact: &Contact, options: &DialOptions) -> Result<Link, DialError> {
    Candidates::of(contact, options.clone()).dial()
}

/// The candidates of a dial that were not tried yet, and why the others did not become a link.
#[derive(Debug)]
pub struct Candidates {
    contact: Box<Contact>,
    options: DialOptions,
    /// How many of the policy's were tried.
    tried: usize,
    refused: Vec<(TransportKind, Reason)>,
}

impl Candidates {
    fn of(contact: &Contact, options: DialOptions) -> Self {
        let refused = not_allowed(&options.policy);
        Self { contact: Box::new(contact.clone()), options, tried: 0, refused }
    }

    fn next(&self) -> Option<TransportKind> {
        self.options.policy.allow.get(self.tried).copied()
    }

    /// Goes on with these as [`dial`] does.
    ///
    /// # Errors
    /// [`DialError`].
    pub fn dial(mut self) -> Result<Link, DialError> {
        while let Some(kind) = self.next() {
            match attempt(&self.contact, &self.options, kind) {
                Ok(mut link) => {
                    link.handshaken.negotiated.refused = self.refused;
                    return Ok(link);
                }
                Err(failure) => self = self.without(kind, failure)?,
            }
        }
        Err(self.exhausted())
    }

    /// Those behind one that failed, unless there is no use in trying them.
    fn without(mut self, kind: TransportKind, failure: Failure) -> Result<Self, DialError> {
        let reason = match failure {
            Failure::Candidate(reason) => reason,
            Failure::Final(refusal) => {
                return Err(DialError::Refused { contact: self.contact, refusal, refused: self.refused });
            }
            Failure::Deadline(waiting_for) => return Err(self.late(waiting_for)),
        };
        let forbidden = self.options.policy.forbid_fallback && !reason.is_inapplicable();
        self.refused.push((kind, reason));
        if forbidden {
            return Err(DialError::FallbackForbidden { contact: self.contact, refused: self.refused });
        }
        self.tried += 1;
        Ok(self)
    }

    fn late(self, waiting_for: &'static str) -> DialError {
        DialError::Deadline { contact: self.contact, waiting_for, refused: self.refused }
    }

    fn exhausted(self) -> DialError {
        DialError::NoTransport { contact: self.contact, refused: self.refused }
    }
}

/// Transports better than those that the policy lists: that they were not even tried should be seen.
fn not_allowed(policy: &TransportPolicy) -> Vec<(TransportKind, Reason)> {
    let best = policy.allow.iter().min();
    let better = |kind: &TransportKind| Some(kind) < best && !policy.allow.contains(kind);
    TransportKind::ALL.into_iter().filter(better).map(|kind| (kind, Reason::NotAllowed)).collect()
}
