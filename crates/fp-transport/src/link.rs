//! A link: frames over a connected socket, the same for every transport.
//!
//! Nothing here blocks but the methods that take a deadline. Whoever holds the link drives it: `recv` until it says
//! `None`, and `flush` while `wants_write`. In between the holder waits until the descriptor is readable, or also
//! writable while there is something to flush. `recv` reads ahead, so a wait without having drained it may wait for
//! bytes that are here.

mod body_cursor;
mod deadlines;
mod error;
mod inbox;
mod memory_registrar;
mod outbox;
mod remote;
mod rings;

#[cfg(feature = "testing")]
pub use crate::channel::Faults;
pub use error::LinkError;
pub use memory_registrar::MemoryRegistrar;
pub use outbox::Flushed;

use crate::channel::Channel;
use crate::frame::{FrameLimits, InFrame, OutFrame};
use crate::hello::PROOF_LEN;
use crate::identity::PeerIdentity;
use crate::memory::ProcessWatch;
use crate::memory::ring::RingWatch;
use crate::negotiation::Negotiated;
use crate::transport_kind::TransportKind;
use inbox::{Inbox, Parsed};
use outbox::Outbox;
use rings::Rings;
use std::fmt;
use std::io::IoSliceMut;
use std::os::fd::{AsFd, BorrowedFd};

/// Most bytes that one call of `flush` or `recv_body` moves, so that a fast peer cannot keep the caller for ever.
pub const CALL_LIMIT_BYTES: usize = 8 << 20;
/// Default bound of the bytes that wait in a link.
pub const SEND_LIMIT_BYTES: u64 = 64 << 20;

/// A live connection to a peer. Dropping it closes it without waiting; what the kernel has taken is still delivered.
pub struct Link {
    channel: Channel,
    pub(crate) handshaken: Handshaken,
    limits: FrameLimits,
    outbox: Outbox,
    inbox: Inbox,
    rings: Rings,
    /// What is sent waits for a flush, to go together.
    gathers: bool,
    /// Whether the last call asked the socket, which tells of what it has left.
    asked: bool,
    #[cfg(feature = "testing")]
    made_up_registrar: Option<MemoryRegistrar>,
}

/// What a handshake found out.
pub(crate) struct Handshaken {
    pub(crate) negotiated: Negotiated,
    pub(crate) peer: PeerIdentity,
    pub(crate) peer_state: u8,
    pub(crate) version: u16,
    pub(crate) watch: Option<ProcessWatch>,
}

impl Link {
    pub(crate) fn new(mut channel: Channel, handshaken: Handshaken) -> Link {
        channel.settle();
        if !handshaken.negotiated.transport.passes_descriptors() {
            channel.pass_no_descriptors();
        }
        Link {
            channel,
            handshaken,
            limits: FrameLimits::default(),
            outbox: Outbox::new(SEND_LIMIT_BYTES),
            inbox: Inbox::default(),
            rings: Rings::default(),
            gathers: false,
            asked: false,
            #[cfg(feature = "testing")]
            made_up_registrar: None,
        }
    }

    /// The last words of a handshake go first. Frames that are sent go behind them, all together at the first flush.
    pub(crate) fn begin_with(&mut self, words: &[u8]) {
        self.outbox.push_words(words);
        self.gathers = true;
    }

    /// As [`Link::begin_with`], for who dialled: frames that come are heard after the listener has said that the proof is
    /// right.
    pub(crate) fn begin_with_proof(&mut self, proof: &[u8; PROOF_LEN]) {
        self.begin_with(proof);
        self.inbox.awaits_reply = true;
    }

    /// Writes as much as the socket takes now, unless what is sent is gathered.
    fn flush_unless_gathering(&mut self) -> Result<(), LinkError> {
        if self.gathers { Ok(()) } else { self.outbox.flush(&mut self.channel).map(|_| ()) }
    }

    /// The transport that was agreed.
    pub fn transport(&self) -> TransportKind {
        self.handshaken.negotiated.transport
    }

    /// Whether both ends are in one process, with one copy of the library.
    pub fn is_inproc(&self) -> bool {
        self.transport() == TransportKind::Inproc
    }

    /// Whether its bytes are enciphered (TLS), which costs copies: see `docs/transports.md`.
    pub fn is_encrypted(&self) -> bool {
        self.channel.is_encrypted()
    }

    /// What was agreed, and why nothing better.
    pub fn negotiated(&self) -> &Negotiated {
        &self.handshaken.negotiated
    }

    /// Who is at the other end.
    pub fn peer(&self) -> &PeerIdentity {
        &self.handshaken.peer
    }

    /// The state byte of the listener's reply (0 on the accepting side).
    pub fn peer_state(&self) -> u8 {
        self.handshaken.peer_state
    }

    /// The protocol version that was agreed.
    pub fn version(&self) -> u16 {
        self.handshaken.version
    }

    /// A watch of the peer's process, over shm. It was opened while the link was alive, so the number was the peer's
    /// own.
    pub fn watch(&self) -> Option<&ProcessWatch> {
        self.handshaken.watch.as_ref()
    }

    /// Sets the most bytes that may wait to be sent (default [`SEND_LIMIT_BYTES`]). One frame always may.
    pub fn set_send_limit_bytes(&mut self, limit_bytes: u64) {
        self.outbox.limit_bytes = limit_bytes;
    }

    /// Sets what is accepted of the peer.
    pub fn set_frame_limits(&mut self, limits: FrameLimits) {
        self.limits = limits;
    }

    /// Queues a frame and writes as much as the socket takes now.
    ///
    /// A frame larger than the queue's limit is taken when nothing else waits.
    ///
    /// # Errors
    /// [`LinkError::Full`] and [`LinkError::TooLarge`]: the frame was not taken, the link is sound.
    /// [`LinkError::Closed`], [`LinkError::Lost`]: nothing more can be sent; what the peer sent can still be received.
    pub fn send(&mut self, frame: OutFrame) -> Result<(), LinkError> {
        let fits = frame.body.is_empty() && frame.descriptors.is_empty();
        if !self.rings.send(fits.then_some(&*frame.head), &mut self.outbox, &mut self.channel)? {
            let passes_descriptors = self.transport().passes_descriptors();
            self.outbox.push(frame, passes_descriptors)?;
            self.offer_ring();
        }
        self.flush_unless_gathering()
    }

    /// As [`Link::send`], of a frame that is a head alone.
    ///
    /// # Errors
    /// As [`Link::send`].
    pub fn send_head(&mut self, head: &[u8]) -> Result<(), LinkError> {
        if !self.rings.send(Some(head), &mut self.outbox, &mut self.channel)? {
            self.outbox.send_head(head, &mut self.channel)?;
            self.offer_ring();
        }
        self.flush_unless_gathering()
    }

    fn offer_ring(&mut self) {
        let possible = self.transport().passes_descriptors() && !self.channel.has_faults();
        self.rings.offer(&mut self.outbox, possible);
    }

    /// Writes as much of what waits as the socket takes now.
    ///
    /// # Errors
    /// [`LinkError::Closed`], [`LinkError::Lost`]: nothing more can be sent; what waited is discarded.
    pub fn flush(&mut self) -> Result<Flushed, LinkError> {
        self.gathers = false;
        self.outbox.flush(&mut self.channel)
    }

    /// Whether [`Link::send`] would take a frame of `wire_len` bytes now ([`OutFrame::wire_len`]).
    pub fn has_room(&self, wire_len: u64) -> bool {
        self.outbox.has_room(wire_len)
    }

    /// Bytes that wait to be written.
    pub fn queued_bytes(&self) -> u64 {
        self.outbox.queued_bytes
    }

    /// Whether something waits to be written: wait for the descriptor to be writable, then flush.
    pub fn wants_write(&self) -> bool {
        !self.gathers && self.outbox.wants_write(&self.channel)
    }

    /// Says that nothing more will be sent: the peer reads [`LinkError::Closed`] after what was written. Flush first;
    /// what still waits is discarded.
    pub fn end_sending(&mut self) {
        self.outbox.discard();
        self.channel.end_sending();
    }

    /// The bytes of the last frame's body that are still to be received.
    pub fn body_remaining(&self) -> u64 {
        self.inbox.body_remaining
    }

    /// Whether `recv` has something to return without asking the kernel for more: a whole frame, or what cannot be one.
    pub fn has_buffered(&self) -> bool {
        self.inbox.has_frame() || self.channel.has_buffered() || self.rings.have_frames()
    }

    /// The next frame of those that are here already, without asking the kernel. What has come to the socket meanwhile
    /// makes the descriptor readable.
    ///
    /// # Errors
    /// As [`Link::recv`].
    pub fn recv_here(&mut self) -> Result<Option<InFrame>, LinkError> {
        let mut frame = InFrame::default();
        Ok(self.recv_here_into(&mut frame)?.then_some(frame))
    }

    /// As [`Link::recv_here`], with the memory of an earlier frame; whether there was one.
    ///
    /// # Errors
    /// As [`Link::recv`].
    pub fn recv_here_into(&mut self, into: &mut InFrame) -> Result<bool, LinkError> {
        // After the last of those that are here.
        if self.inbox.is_idle() {
            let empty = self.rings.are_empty_for_sure();
            if self.inbox.ending(empty)? {
                return Ok(false);
            }
        }
        loop {
            if self.inbox.body_remaining > 0 {
                return Err(LinkError::BodyPending { remaining_bytes: self.inbox.body_remaining });
            }
            let came = self.next_without_asking(into)?;
            if came || self.rings.are_empty_for_sure()? {
                return Ok(came);
            }
        }
    }

    /// The next frame, or `None` if it is not here yet. The last frame's body must have been taken.
    ///
    /// # Errors
    /// [`LinkError::Closed`], [`LinkError::Lost`], [`LinkError::Malformed`], [`LinkError::BodyPending`],
    /// [`LinkError::DescriptorsLost`].
    pub fn recv(&mut self) -> Result<Option<InFrame>, LinkError> {
        let mut frame = InFrame::default();
        Ok(self.recv_into(&mut frame)?.then_some(frame))
    }

    /// As [`Link::recv`], with the memory of an earlier frame; whether there was one.
    ///
    /// # Errors
    /// As [`Link::recv`].
    pub fn recv_into(&mut self, into: &mut InFrame) -> Result<bool, LinkError> {
        if self.inbox.body_remaining > 0 {
            return Err(LinkError::BodyPending { remaining_bytes: self.inbox.body_remaining });
        }
        let mut reads = true;
        self.asked = false;
        loop {
            if self.next_without_asking(into)? {
                return Ok(true);
            }
            // One read is enough: what is left makes the descriptor readable, and a peer that sends without end does
            // not keep the caller. But what was read ahead the kernel does not know of.
            if reads {
                self.asked = !self.channel.reads_ahead();
                reads = self.read_once()? && !self.asked;
            } else if self.rings.are_empty_for_sure()? {
                return Ok(false);
            }
        }
    }

    /// Whether the last [`Link::recv_into`] asked the socket. What that has left makes the descriptor readable again: it
    /// suffices to take what is here ([`Link::recv_here_into`]), and to wait.
    pub fn has_asked(&self) -> bool {
        self.asked
    }

    /// The next frame of those that are here already, in a ring or in the buffer.
    fn next_without_asking(&mut self, into: &mut InFrame) -> Result<bool, LinkError> {
        loop {
            if self.inbox.ended {
                return Err(LinkError::Closed);
            }
            let from_ring = self.rings.next(&self.limits, into);
            if self.inbox.ending(from_ring)? {
                return Ok(true);
            }
            let admitted = self.inbox.hear_reply();
            if self.inbox.is_empty() || !self.inbox.ending(admitted)? {
                return Ok(false);
            }
            let descriptors_pass = self.transport().passes_descriptors();
            let parsed = self.inbox.parse(&self.limits, descriptors_pass);
            match self.inbox.ending(parsed)? {
                Some(Parsed::Frame(frame)) => {
                    let in_order = self.rings.check_socket_frame();
                    *into = frame;
                    return self.inbox.ending(in_order).map(|()| true);
                }
                Some(Parsed::OfRings(frame)) => {
                    let agreed = self.rings.agree(frame, &mut self.outbox, &mut self.channel);
                    self.inbox.ending(agreed)?;
                }
                Some(Parsed::Nothing) => {}
                None => return Ok(false),
            }
        }
    }

    /// Reads once; whether that brought anything. A peer that goes may have left frames in its ring: they are heard
    /// first, and then the end.
    fn read_once(&mut self) -> Result<bool, LinkError> {
        match self.inbox.read_once(&mut self.channel, self.rings.are_open()) {
            Err(LinkError::Closed | LinkError::Lost(_)) if !self.rings.are_empty_for_sure()? => {
                self.inbox.ended = false;
                Ok(false)
            }
            read => Ok(read?.is_some()),
        }
    }

    /// Receives bytes of the body into the runs of `destination`, one after the other, as many as are here (at most
    /// [`CALL_LIMIT_BYTES`]); says how many. 0: none are here, or the body is complete, or there is no room. To go on,
    /// the caller advances its runs (`IoSliceMut::advance_slices`).
    ///
    /// # Errors
    /// [`LinkError::Lost`]: the body will not be completed.
    pub fn recv_body(&mut self, destination: &mut [IoSliceMut<'_>]) -> Result<usize, LinkError> {
        self.inbox.recv_body(&mut self.channel, destination)
    }

    /// Throws bytes of the body away, as many as are here; says how many are left.
    ///
    /// # Errors
    /// As [`Link::recv_body`].
    pub fn skip_body(&mut self) -> Result<u64, LinkError> {
        self.inbox.skip_body(&mut self.channel)
    }

    /// Sees whether the ring has anything new, from any thread; `None` if nothing comes through one now.
    pub fn watch_ring(&self) -> Option<RingWatch> {
        self.rings.watch()
    }

    /// Says whether the peer makes the descriptor readable for what it puts into a ring. It does from the start;
    /// whoever looks by itself for a while spares it the system call. Gives whether an armed link has something here
    /// already, which is to be received before the descriptor is waited for.
    pub fn arm(&mut self, armed: bool) -> bool {
        self.rings.arm(armed);
        // An error is left for `recv` to tell.
        armed && !self.rings.are_empty_for_sure().unwrap_or(false)
    }
}

impl AsFd for Link {
    /// Readable when `recv` may say something new, writable when `flush` may get on.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.channel.as_fd()
    }
}

impl Drop for Link {
    /// Over TLS the peer is told that the end is meant: to be cut off is an error there.
    fn drop(&mut self) {
        if !self.outbox.ended {
            self.channel.farewell();
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("negotiated", self.negotiated())
            .field("peer", self.peer())
            .field("queued_bytes", &self.outbox.queued_bytes)
            .field("body_remaining", &self.inbox.body_remaining)
            .finish()
    }
}

/// What a hostile peer would do that has come so far, and what goes wrong between two that are none.
#[cfg(feature = "testing")]
impl Link {
    /// Makes things go wrong from now on.
    pub fn set_faults(&mut self, faults: Faults) {
        self.channel.set_faults(faults);
    }

    /// From now on memory is registered for its peer with this, as if the link were one of verbs.
    pub fn set_memory_registrar(&mut self, made_up: MemoryRegistrar) {
        self.made_up_registrar = Some(made_up);
    }

    /// Sends bytes that are no frame.
    ///
    /// # Errors
    /// What the system said; a fresh link has room for a few.
    pub fn send_raw(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let sent = self.channel.send(&[std::io::IoSlice::new(bytes)], &[], usize::MAX)?;
        if sent == bytes.len() { Ok(()) } else { Err(std::io::ErrorKind::WriteZero.into()) }
    }

    /// Sends a word about rings.
    ///
    /// # Errors
    /// As [`Link::send`].
    pub fn send_of_rings(
        &mut self,
        word: u8,
        descriptors: Vec<std::sync::Arc<std::os::fd::OwnedFd>>,
    ) -> Result<(), LinkError> {
        self.outbox.push(OutFrame::of_rings(word, descriptors), true)?;
        self.flush().map(|_| ())
    }

    /// Writes anything into the ring.
    pub fn scribble_in_ring(&mut self, head: u64, words: &[u64]) {
        self.rings.scribble(head, words);
    }
}
