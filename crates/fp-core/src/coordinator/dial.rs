//! How a handle dials, and the mailbox with a descriptor through which other threads tell it what became of something.

use crate::rendezvous::registrar::News;
use fp_proto::effect::DialTicket;
use fp_proto::message::ChangeId;
use fp_proto::steering::SteeringOutcome;
use fp_transport::{
    Contact, DialError, DialOptions, DialStep, Dialling, Domain, Link, Purpose, TlsIdentity, Token,
    TransportKind, TransportPolicy,
};
use fp_types::Epoch;
use rustix::event::{EventfdFlags, eventfd};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a connection to an entry of the rendezvous may take to come about. A host that is there accepts it by itself,
/// whatever its processes do. That is time for the first two attempts that are lost to be made again.
const ENTRY_TIMEOUT: Duration = Duration::from_millis(3500);

/// What became of a dial, of what a meeting place was asked, or of a request that was handed on.
pub(crate) enum Letter {
    Dialled(DialTicket, Box<Link>),
    /// With the reason, if the contact could be read at all.
    Failed(DialTicket, Option<Box<DialError>>),
    Met(News),
    /// Somebody else has answered a request that was handed on.
    Answered(ChangeId, SteeringOutcome),
}

/// Where other threads leave letters for whoever drives.
pub(crate) struct Mailbox {
    letters: Mutex<Vec<Letter>>,
    bell: OwnedFd,
}

impl Mailbox {
    pub(crate) fn new() -> std::io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { letters: Mutex::new(Vec::new()), bell })
    }

    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    pub(crate) fn post(&self, letter: Letter) {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner).push(letter);
        self.ring();
    }

    /// Has whoever drives look, without a letter.
    pub(crate) fn ring(&self) {
        // The counter can only be full if it was rung already.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    #[cfg(test)]
    pub(crate) fn is_rung(&self) -> bool {
        let mut bell = [rustix::event::PollFd::new(&self.bell, rustix::event::PollFlags::IN)];
        rustix::event::poll(&mut bell, Some(&rustix::time::Timespec::default())).is_ok_and(|ready| ready == 1)
    }

    pub(crate) fn take(&self) -> Vec<Letter> {
        let mut count = [0u8; 8];
        let _ = rustix::io::read(&self.bell, &mut count);
        std::mem::take(&mut *self.letters.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How this handle dials.
#[derive(Clone)]
pub(crate) struct Dial {
    pub(crate) policy: TransportPolicy,
    pub(crate) token: Option<Token>,
    pub(crate) tls: Option<TlsIdentity>,
    /// What the links of this handle share over verbs.
    pub(crate) domain: Domain,
    pub(crate) timeout: Duration,
}

impl Dial {
    /// Begins to dial a control link.
    pub(crate) fn begin(&self, contact: &Contact, epoch: Option<Epoch>) -> DialStep {
        let deadline = Instant::now() + self.timeout;
        Dialling::begin(contact, self.options(Purpose::Control, epoch, deadline))
    }

    /// Dials, on this thread.
    pub(crate) fn link(
        &self,
        contact: &Contact,
        purpose: Purpose,
        epoch: Option<Epoch>,
        deadline: Instant,
    ) -> Result<Link, fp_transport::DialError> {
        fp_transport::dial(contact, &self.options(purpose, epoch, deadline))
    }

    fn options(&self, purpose: Purpose, epoch: Option<Epoch>, deadline: Instant) -> DialOptions {
        let is_entry = purpose == Purpose::Control && epoch.is_some();
        DialOptions::new(deadline)
            .with_connect_timeout(is_entry.then_some(ENTRY_TIMEOUT))
            .with_purpose(purpose)
            .with_epoch(epoch.map(|epoch| epoch.0))
            .with_token(self.token.clone())
            .with_tls(self.tls.clone())
            .with_domain(self.domain.clone())
            .with_policy(self.policy_for(purpose))
    }

    /// RDMA is for payload: control has few bytes, and would hold locked memory for them. It goes that way only where
    /// the policy has nothing else.
    fn policy_for(&self, purpose: Purpose) -> TransportPolicy {
        let mut policy = self.policy.clone();
        let others = policy.allow.iter().any(|kind| *kind != TransportKind::Verbs);
        if purpose != Purpose::Data && others {
            policy.allow.retain(|kind| *kind != TransportKind::Verbs);
        }
        policy
    }
}
