//! One link to a meeting place, over which one thing is asked after the other. Straight-line code with deadlines.

use crate::error::rendezvous::RendezvousError;
use crate::rendezvous::address::MeetingAddress;
use fp_proto::meeting::{EPOCH, LIMIT_REPLY_BYTES, Reply, Request};
use fp_transport::{
    Contact, DialError, DialOptions, Endpoint, FrameLimits, Link, LinkError, OutFrame, Purpose, Reason,
    Refusal, TlsIdentity, Token, TransportKind, TransportPolicy, dial,
};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// How long a meeting place may take to be dialled, and again to answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// A meeting place, and what it is shown.
#[derive(Clone, Debug)]
pub(crate) struct Meeting {
    pub(crate) address: MeetingAddress,
    pub(crate) token: Option<Token>,
    pub(crate) tls: Option<TlsIdentity>,
}

/// A link to it.
pub(crate) struct Conversation {
    place: String,
    link: Link,
}

impl Meeting {
    /// Dials the place, and believes nobody who is none.
    pub(crate) fn dial(&self) -> Result<Conversation, RendezvousError> {
        let (place, deadline) = (self.address.to_string(), Instant::now() + PATIENCE);
        let found = self.address.resolve(deadline);
        let found = found.map_err(|why| RendezvousError::Away { place: place.clone(), why })?;
        let endpoint = if self.tls.is_some() { Endpoint::Tls } else { Endpoint::Tcp };
        let mut last = RendezvousError::Away { place: place.clone(), why: "it has no address".to_owned() };
        for address in found {
            let mut contact = Contact::from_address(address);
            contact.endpoints = vec![endpoint(address)];
            match dial(&contact, &self.options(deadline)) {
                Ok(mut link) => {
                    let head_bytes = LIMIT_REPLY_BYTES as u32;
                    link.set_frame_limits(FrameLimits { head_bytes, body_bytes: 0 });
                    return Ok(Conversation { place, link });
                }
                Err(error) => last = judge(place.clone(), &error),
            }
        }
        Err(last)
    }

    fn options(&self, deadline: Instant) -> DialOptions {
        DialOptions::new(deadline)
            .with_purpose(Purpose::Control)
            .with_epoch(Some(EPOCH))
            .with_token(self.token.clone())
            .with_tls(self.tls.clone())
            .with_policy(TransportPolicy::only(TransportKind::Tcp))
    }

    /// Asks one thing over a link of its own.
    pub(crate) fn ask_once(&self, request: &Request) -> Result<Reply, RendezvousError> {
        self.dial()?.ask(request)
    }
}

/// What it means that a place could not be dialled: nobody is there, it does not want us, or it is none.
fn judge(place: String, error: &DialError) -> RendezvousError {
    let no_place = |why: &str| RendezvousError::NoPlace { place: place.clone(), why: why.to_owned() };
    let reason = error.refused().iter().find(|(kind, _)| *kind == TransportKind::Tcp);
    match (error, reason.map(|(_, reason)| reason)) {
        (DialError::Refused { refusal: Refusal::Epoch { .. }, .. }, _) => {
            no_place("a rank of a stream answers there, or another command of Flexpath")
        }
        (DialError::Refused { refusal, .. }, _) => {
            RendezvousError::NotLetIn { why: refusal.to_string(), place }
        }
        (DialError::Deadline { waiting_for, .. }, _) if *waiting_for == "a tcp connection" => {
            RendezvousError::Away { why: format!("no answer within {PATIENCE:?}"), place }
        }
        (DialError::Deadline { .. }, _) => {
            let why = format!(
                "it took the connection, and said nothing for {PATIENCE:?}; is it another program's port?"
            );
            RendezvousError::Away { place, why }
        }
        (_, Some(Reason::BadAnswer)) => no_place("who answers there does not speak Flexpath's language"),
        (_, Some(reason)) if reason.is_about_credentials() => {
            RendezvousError::NotLetIn { why: reason.to_string(), place }
        }
        (_, Some(reason @ Reason::Tls(_))) => no_place(&reason.to_string()),
        (_, Some(reason)) => RendezvousError::Away { why: reason.to_string(), place },
        (error, None) => RendezvousError::Away { why: error.to_string(), place },
    }
}

impl Conversation {
    /// Asks, and waits for the answer.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Reply, RendezvousError> {
        let deadline = Instant::now() + PATIENCE;
        let sent = self.link.send_all(OutFrame::new(request.encode()), deadline);
        // Who turned us away before we asked said why, and that is here to be read.
        let frame = self.link.recv_deadline(deadline);
        let frame = frame.map_err(|error| self.lost(sent.err().unwrap_or(error)))?;
        let reply = Reply::decode(&frame.head).map_err(|error| self.lies(error.to_string()))?;
        match (reply.lie(request), reply) {
            (Some(lie), _) => Err(self.lies(format!("it answered with {lie}"))),
            (None, Reply::Declined(decline)) => {
                Err(RendezvousError::Declined { place: self.place.clone(), why: decline.to_string() })
            }
            (None, reply) => Ok(reply),
        }
    }

    /// Looks whether the place is still there. It says nothing unasked.
    pub(crate) fn check(&mut self) -> Result<(), RendezvousError> {
        match self.link.recv() {
            Ok(None) => Ok(()),
            Ok(Some(_)) => Err(self.lies("it spoke unasked".to_owned())),
            Err(error) => Err(self.lost(error)),
        }
    }

    fn lies(&self, what: String) -> RendezvousError {
        RendezvousError::Misbehaved { place: self.place.clone(), what }
    }

    fn lost(&self, error: LinkError) -> RendezvousError {
        let (place, why) = (self.place.clone(), error.to_string());
        if matches!(error, LinkError::Malformed { .. } | LinkError::BodyPending { .. }) {
            return RendezvousError::Misbehaved { place, what: why };
        }
        RendezvousError::Away { place, why }
    }
}

impl AsFd for Conversation {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
    }
}
