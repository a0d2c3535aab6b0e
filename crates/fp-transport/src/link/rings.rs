//! The rings of a link between two processes that share memory: small frames without body and descriptors go through
//! them, in the order of all frames, and cost a system call only where the peer waits on its descriptor.
//!
//! Each direction has a ring of its own, offered by its sender after a few frames, so that links of short life have
//! none. A sender is either at the ring or at the socket. It leaves the ring with a mark in it, for a frame that must
//! go by the socket or finds no room, and comes back with a word on the socket once nothing waits there. A receiver
//! follows the marks, so frames keep their order. A peer without room for a ring never accepts one, and all goes on by
//! the socket.
//!
//! The bell is a word on the socket: the descriptor is readable when there is something, as without rings. Whoever
//! looks at the rings by itself for a while says so with [`Link::arm`], and the peer rings no more.

use super::{Link, LinkError};
use crate::frame::{InFrame, OutFrame};
use crate::memory::ring::{RingError, RingOffer, RingReceiver, RingSender, RingWatch, Taken};
use crate::socket::wait_for;
use rustix::event::PollFlags;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

/// Frames after which a ring is offered.
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
    armed: bool,
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
            other => LinkError::Lost(io::Error::other(other)),
        }
    }
}

fn misplaced(what: &'static str) -> LinkError {
    LinkError::Malformed { what, value: 1, limit: 0 }
}

impl Link {
    /// Sends through the ring what can go that way; `false`: it is to go by the socket.
    pub(super) fn send_by_ring(&mut self, frame: &OutFrame) -> Result<bool, LinkError> {
        let idle = self.outbox.is_empty();
        let Sending::Open { ring, inside } = &mut self.rings.sending else { return Ok(false) };
        if self.outbox.has_ended() {
            return Ok(false);
        }
        let fits = frame.body.is_empty() && frame.descriptors.is_empty();
        if *inside {
            if !fits || !ring.try_send(&frame.head)? {
                ring.leave();
                *inside = false;
            } else if ring.wants_bell()? && idle {
                // Whatever waits to be sent makes the peer's descriptor readable as well.
                self.outbox.push(OutFrame::of_rings(word::BELL, Vec::new()), true)?;
            }
            return Ok(*inside);
        }
        if fits && idle && ring.has_half_its_room()? && ring.try_send(&frame.head)? {
            *inside = true;
            ring.told();
            self.outbox.push(OutFrame::of_rings(word::ENTER, Vec::new()), true)?;
        }
        Ok(*inside)
    }

    /// Counts a frame that went by the socket, and offers a ring after some.
    pub(super) fn offer_ring(&mut self) {
        let Sending::Unasked { frames } = &mut self.rings.sending else { return };
        *frames += 1;
        if *frames < OFFER_AFTER {
            return;
        }
        self.rings.sending = Sending::Never;
        if !self.transport().passes_descriptors() || self.is_faulty() {
            return;
        }
        match RingOffer::new(CAPACITY_BYTES) {
            Ok((offer, data)) => {
                if self.push_of_rings(word::OFFER, data) {
                    self.rings.sending = Sending::Offered(offer);
                }
            }
            Err(error) => tracing::debug!(%error, "no ring: all goes by the socket"),
        }
    }

    /// Whether frames may go by a ring, in any direction.
    pub(super) fn has_rings(&self) -> bool {
        self.rings.receiving.is_some()
            || matches!(self.rings.sending, Sending::Offered(_) | Sending::Open { .. })
    }

    fn is_faulty(&self) -> bool {
        #[cfg(feature = "testing")]
        return self.faults.is_set();
        #[cfg(not(feature = "testing"))]
        false
    }

    fn push_of_rings(&mut self, word: u8, descriptor: OwnedFd) -> bool {
        self.outbox.push(OutFrame::of_rings(word, vec![Arc::new(descriptor)]), true).is_ok()
    }

    pub(super) fn next_in_ring(&mut self) -> Result<Option<InFrame>, LinkError> {
        let Some(Receiving { ring, inside: inside @ true }) = &mut self.rings.receiving else {
            return Ok(None);
        };
        let mut head = Vec::new();
        match ring.take(&mut head)? {
            Taken::Frame if head.len() > self.limits.head_bytes as usize => {
                let (value, limit) = (head.len() as u64, self.limits.head_bytes.into());
                return Err(LinkError::Malformed { what: "head length", value, limit });
            }
            Taken::Frame => return Ok(Some(InFrame { head, body_len: 0, descriptors: Vec::new() })),
            Taken::Leave => *inside = false,
            Taken::Nothing => {}
        }
        Ok(None)
    }

    /// While the sender is at the ring, nothing of the link's user comes by the socket.
    pub(super) fn may_come_by_socket(&self) -> Result<(), LinkError> {
        match &self.rings.receiving {
            Some(Receiving { inside: true, .. }) => Err(misplaced("frame on the socket beside the ring")),
            _ => Ok(()),
        }
    }

    pub(super) fn agree_on_rings(&mut self, frame: InFrame) -> Result<(), LinkError> {
        let descriptor = frame.descriptors.into_iter().next();
        match (frame.head.first().copied(), descriptor) {
            (Some(word::BELL), None) => Ok(()),
            (Some(word::ENTER), None) => match &mut self.rings.receiving {
                Some(Receiving { inside: inside @ false, .. }) => {
                    *inside = true;
                    Ok(())
                }
                _ => Err(misplaced("word that a ring is entered")),
            },
            (Some(word::OFFER), Some(data)) => self.accept_ring(data),
            (Some(word::ACCEPT), Some(control)) => {
                let Sending::Offered(offer) = std::mem::replace(&mut self.rings.sending, Sending::Never)
                else {
                    return Err(misplaced("word that a ring is accepted"));
                };
                match offer.accepted(control) {
                    Ok(ring) => self.rings.sending = Sending::Open { ring, inside: false },
                    Err(RingError::Memory(error)) => {
                        tracing::debug!(%error, "no ring: all goes by the socket")
                    }
                    Err(error) => return Err(error.into()),
                }
                Ok(())
            }
            _ => Err(misplaced("word about rings")),
        }
    }

    fn accept_ring(&mut self, data: OwnedFd) -> Result<(), LinkError> {
        if self.rings.receiving.is_some() {
            return Err(misplaced("second ring"));
        }
        match RingReceiver::open(data) {
            Ok((ring, control)) => {
                ring.arm(self.rings.armed);
                if self.push_of_rings(word::ACCEPT, control) {
                    self.rings.receiving = Some(Receiving { ring, inside: false });
                }
                // That nothing can be sent any more is told to who sends; what came can still be received.
                let _ = self.flush();
                Ok(())
            }
            Err(error @ RingError::Malformed { .. }) => Err(error.into()),
            Err(error) => {
                tracing::debug!(%error, "no ring: all goes by the socket");
                Ok(())
            }
        }
    }

    fn inside(&mut self) -> Option<&mut RingReceiver> {
        self.rings
            .receiving
            .as_mut()
            .filter(|receiving| receiving.inside)
            .map(|receiving| &mut receiving.ring)
    }

    pub(super) fn ring_has_frames(&self) -> bool {
        let inside = self.rings.receiving.as_ref().filter(|receiving| receiving.inside);
        inside.is_some_and(|receiving| receiving.ring.has_news())
    }

    /// Whether the ring has nothing, and the peer will ring for what comes.
    pub(super) fn ring_is_empty_for_sure(&mut self) -> Result<bool, LinkError> {
        let empty = self.inside().map_or(Ok(true), RingReceiver::is_empty_for_sure);
        Ok(empty?)
    }

    /// Sees whether the ring has anything new, from any thread; `None` if nothing comes through one now.
    pub fn watch_ring(&self) -> Option<RingWatch> {
        let inside = self.rings.receiving.as_ref().filter(|receiving| receiving.inside);
        inside.map(|receiving| receiving.ring.watch())
    }

    /// Says whether the peer makes the descriptor readable for what it puts into a ring. It does from the start; whoever
    /// looks by itself for a while spares it the system call. Gives whether an armed link has something here already,
    /// which is to be received before the descriptor is waited for.
    pub fn arm(&mut self, armed: bool) -> bool {
        self.rings.arm(armed);
        // An error is left for `recv` to tell.
        armed && !self.ring_is_empty_for_sure().unwrap_or(false)
    }

    /// Waits until something can be received or the deadline is over; says which. Also for a link that is not armed. What
    /// is here already must have been received: a part of a frame is nothing.
    ///
    /// # Errors
    /// What the system said.
    pub fn await_readable(&mut self, deadline: Instant) -> io::Result<bool> {
        if self.channel.stream().is_some_and(|stream| stream.look(deadline)) {
            return Ok(true);
        }
        let armed = self.rings.armed;
        let here = self.arm(true);
        let came = if here { Ok(true) } else { wait_for(self.as_fd(), PollFlags::IN, deadline) };
        self.rings.arm(armed);
        came
    }
}

impl Rings {
    fn arm(&mut self, armed: bool) {
        self.armed = armed;
        if let Some(receiving) = &self.receiving {
            receiving.ring.arm(armed);
        }
    }
}

#[cfg(feature = "testing")]
impl Link {
    /// Sends a word about rings, as a hostile peer would.
    ///
    /// # Errors
    /// As [`Link::send`].
    pub fn send_of_rings(&mut self, word: u8, descriptors: Vec<Arc<OwnedFd>>) -> Result<(), LinkError> {
        self.outbox.push(OutFrame::of_rings(word, descriptors), true)?;
        self.flush().map(|_| ())
    }

    /// Writes anything into the ring, as a hostile peer would.
    pub fn scribble_in_ring(&mut self, head: u64, words: &[u64]) {
        if let Sending::Open { ring, .. } = &self.rings.sending {
            ring.scribble(head, words);
        }
    }
}
