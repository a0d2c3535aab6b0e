//! One link to a meeting place, over which one thing is asked after the other. Straight-line code with deadlines.

use crate::connection::dialled::{self, PATIENCE, Unmet};
use crate::error::rendezvous::RendezvousError;
use crate::rendezvous::address::MeetingAddress;
use fp_proto::meeting::{EPOCH, LIMIT_REPLY_BYTES, Reply, Request};
use fp_transport::{FrameLimits, Link, LinkError, OutFrame, TlsIdentity, Token};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

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
        let place = self.address.to_string();
        let (host_and_port, token) = (self.address.host_and_port(), self.token.as_ref());
        match dialled::link(host_and_port, EPOCH, token, self.tls.as_ref()) {
            Ok(mut link) => {
                let head_bytes = LIMIT_REPLY_BYTES as u32;
                link.set_frame_limits(FrameLimits { head_bytes, body_bytes: 0 });
                Ok(Conversation { place, link })
            }
            Err(Unmet::Away(why)) => Err(RendezvousError::Away { place, why }),
            Err(Unmet::NotLetIn(why)) => Err(RendezvousError::NotLetIn { place, why }),
            Err(Unmet::Another(why)) => Err(RendezvousError::NoPlace { place, why }),
        }
    }

    /// Asks one thing over a link of its own.
    pub(crate) fn ask_once(&self, request: &Request) -> Result<Reply, RendezvousError> {
        self.dial()?.ask(request)
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
