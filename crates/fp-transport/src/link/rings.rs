//! The rings of a link between two processes that share memory. Small frames without body and descriptors go through
//! them, in the order of all frames. They cost a system call only where the peer waits on its descriptor.
//!
//! Each direction has a ring of its own, offered by its sender after a few frames, so that links of short life have
//! none. A sender is either at the ring or at the socket. A frame that must go by the socket, or finds no room, makes
//! the sender leave the ring: it leaves a mark there. The sender comes back with a word on the socket once nothing
//! waits there. A receiver follows the marks, so frames keep their order. A peer without room for a ring never accepts
//! one, and all goes on by the socket.
//!
//! The bell is a word on the socket: the descriptor is readable when there is something, as without rings. Whoever
//! looks at the rings by itself for a while says so with [`super::Link::arm`], and the peer rings no more.

use super::error::LinkError;
use super::outbox::Outbox;
use crate::channel::Channel;
use crate::frame::{FrameLimits, InFrame, OutFrame, at_most};
use crate::memory::ring::{RingError, RingOffer, RingReceiver, RingSender, RingWatch, Taken};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Frames after which a ring is offered. Not from the first one: attaching to 64 ranks became slower, as most of those
/// links carry a handful of frames.
const OFFER_AFTER: u32 = 8;
/// Bytes of a ring: its longest frame takes a little less than half.
const CAPACITY_BYTES: usize = 16 << 10;

/// Words of frames about rings.
mod word {
    /// There is something in the ring.
    pub(super) const BELL: u8 = 0;
    /// A ring is offered; its data segment is with it.
    pub(super) const OFFER: u8 = 1;
    /// The ring is accepted; its control segment is with it.
    pub(super) const ACCEPT: u8 = 2;
    /// What follows is in the ring, up to its next mark of leaving.
    pub(super) const ENTER: u8 = 3;
}

pub(super) struct Rings {
    sending: Sending,
    receiving: Option<Receiving>,
    pub(super) armed: bool,
}

impl Default for Rings {
    fn default() -> Self {
        Self { sending: Sending::Unasked { frames: 0 }, receiving: None, armed: true }
    }
}

enum Sending {
    /// So many frames went by the socket.
    Unasked {
        frames: u32,
    },
    Offered(RingOffer),
    Open {
        ring: RingSender,
        /// Whether frames go into the ring now, and not by the socket.
        inside: bool,
    },
    /// No memory for a ring.
    Never,
}

struct Receiving {
    ring: RingReceiver,
    inside: bool,
}

impl From<RingError> for LinkError {
    fn from(error: RingError) -> Self {
        match error {
            RingError::Malformed { what, value, limit } => LinkError::Malformed { what, value, limit },
            error @ (RingError::Memory(_) | RingError::Capacity { .. }) => {
                LinkError::Lost(io::Error::other(error))
            }
        }
    }
}

fn misplaced(what: &'static str) -> LinkError {
    LinkError::Malformed { what, value: 1, limit: 0 }
}

impl Rings {
    /// Sends through the ring what can go that way; `false`: it is to go by the socket.
    /// `head`: the frame, if it is a head alone.
    pub(super) fn send(
        &mut self,
        head: Option<&[u8]>,
        outbox: &mut Outbox,
        channel: &mut Channel,
    ) -> Result<bool, LinkError> {
        let idle = outbox.is_empty();
        let Sending::Open { ring, inside } = &mut self.sending else { return Ok(false) };
        if outbox.ended {
            return Ok(false);
        }
        let put = |ring: &mut RingSender| head.map_or(Ok(false), |head| ring.try_send(head));
        if *inside {
            if !put(ring)? {
                ring.leave();
                *inside = false;
            } else if ring.wants_bell()? && idle {
                // Whatever waits to be sent makes the peer's descriptor readable as well.
                outbox.send_word(word::BELL, channel)?;
            }
            return Ok(*inside);
        }
        if head.is_some() && idle && ring.has_half_its_room()? && put(ring)? {
            *inside = true;
            ring.told();
            outbox.push(OutFrame::of_rings(word::ENTER, Vec::new()), true)?;
        }
        Ok(*inside)
    }

    /// Counts a frame that went by the socket, and offers a ring after some, where one is possible.
    pub(super) fn offer(&mut self, outbox: &mut Outbox, possible: bool) {
        let Sending::Unasked { frames } = &mut self.sending else { return };
        *frames += 1;
        if *frames < OFFER_AFTER {
            return;
        }
        self.sending = Sending::Never;
        if !possible {
            return;
        }
        match RingOffer::new(CAPACITY_BYTES) {
            Ok((offer, data)) => {
                if push_of_rings(outbox, word::OFFER, data) {
                    self.sending = Sending::Offered(offer);
                }
            }
            Err(error) => tracing::debug!(%error, "no ring: all goes by the socket"),
        }
    }

    /// Whether frames may go by a ring, in any direction.
    pub(super) fn are_open(&self) -> bool {
        self.receiving.is_some() || matches!(self.sending, Sending::Offered(_) | Sending::Open { .. })
    }

    /// Takes the next frame that came by the ring, if it has one.
    pub(super) fn next(&mut self, limits: &FrameLimits, into: &mut InFrame) -> Result<bool, LinkError> {
        let Some(Receiving { ring, inside: inside @ true }) = &mut self.receiving else {
            return Ok(false);
        };
        match ring.take(&mut into.head)? {
            Taken::Frame => {
                at_most("head length", into.head.len() as u64, limits.head_bytes.into())?;
                into.body_len = 0;
                into.descriptors.clear();
                return Ok(true);
            }
            Taken::Leave => *inside = false,
            Taken::Nothing => {}
        }
        Ok(false)
    }

    /// While the sender is at the ring, nothing of the link's user comes by the socket.
    pub(super) fn check_socket_frame(&self) -> Result<(), LinkError> {
        match &self.receiving {
            Some(Receiving { inside: true, .. }) => Err(misplaced("frame on the socket beside the ring")),
            _ => Ok(()),
        }
    }

    /// Hears a frame about rings, and answers it.
    pub(super) fn agree(
        &mut self,
        frame: InFrame,
        outbox: &mut Outbox,
        channel: &mut Channel,
    ) -> Result<(), LinkError> {
        let descriptor = frame.descriptors.into_iter().next();
        match (frame.head.first().copied(), descriptor) {
            (Some(word::BELL), None) => Ok(()),
            (Some(word::ENTER), None) => self.enter(),
            (Some(word::OFFER), Some(data)) => self.accept(data, outbox, channel),
            (Some(word::ACCEPT), Some(control)) => self.open(control),
            _ => Err(misplaced("word about rings")),
        }
    }

    /// What follows is in the ring.
    fn enter(&mut self) -> Result<(), LinkError> {
        match &mut self.receiving {
            Some(Receiving { inside: inside @ false, .. }) => {
                *inside = true;
                Ok(())
            }
            _ => Err(misplaced("word that a ring is entered")),
        }
    }

    /// The ring that was offered is accepted.
    fn open(&mut self, control: OwnedFd) -> Result<(), LinkError> {
        let Sending::Offered(offer) = std::mem::replace(&mut self.sending, Sending::Never) else {
            return Err(misplaced("word that a ring is accepted"));
        };
        match offer.accepted(control) {
            Ok(ring) => self.sending = Sending::Open { ring, inside: false },
            Err(RingError::Memory(error)) => {
                tracing::debug!(%error, "no ring: all goes by the socket")
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn accept(&mut self, data: OwnedFd, outbox: &mut Outbox, channel: &mut Channel) -> Result<(), LinkError> {
        if self.receiving.is_some() {
            return Err(misplaced("second ring"));
        }
        match RingReceiver::open(data) {
            Ok((ring, control)) => {
                ring.arm(self.armed);
                if push_of_rings(outbox, word::ACCEPT, control) {
                    self.receiving = Some(Receiving { ring, inside: false });
                }
                // That nothing can be sent any more is told to who sends; what came can still be received.
                let _ = outbox.flush(channel);
                Ok(())
            }
            Err(error @ RingError::Malformed { .. }) => Err(error.into()),
            Err(error) => {
                tracing::debug!(%error, "no ring: all goes by the socket");
                Ok(())
            }
        }
    }

    /// The ring that the sender is at.
    fn inside(&self) -> Option<&RingReceiver> {
        self.receiving.as_ref().filter(|receiving| receiving.inside).map(|receiving| &receiving.ring)
    }

    pub(super) fn have_frames(&self) -> bool {
        self.inside().is_some_and(RingReceiver::has_news)
    }

    /// Whether the ring has nothing, and the peer will ring for what comes.
    pub(super) fn are_empty_for_sure(&mut self) -> Result<bool, LinkError> {
        let inside = self.receiving.as_mut().filter(|receiving| receiving.inside);
        Ok(inside.map_or(Ok(true), |receiving| receiving.ring.is_empty_for_sure())?)
    }

    pub(super) fn watch(&self) -> Option<RingWatch> {
        self.inside().map(RingReceiver::watch)
    }

    /// Says whether the peer rings the bell.
    pub(super) fn arm(&mut self, armed: bool) {
        self.armed = armed;
        if let Some(receiving) = &self.receiving {
            receiving.ring.arm(armed);
        }
    }

    /// Writes anything into the ring, as a hostile peer would.
    #[cfg(feature = "testing")]
    pub(super) fn scribble(&mut self, head: u64, words: &[u64]) {
        if let Sending::Open { ring, .. } = &self.sending {
            ring.scribble(head, words);
        }
    }
}

fn push_of_rings(outbox: &mut Outbox, word: u8, descriptor: OwnedFd) -> bool {
    outbox.push(OutFrame::of_rings(word, vec![Arc::new(descriptor)]), true).is_ok()
}
