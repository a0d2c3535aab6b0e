//! A link: frames over a connected socket, the same for every transport.
//!
//! Nothing here blocks but the methods that take a deadline. Whoever holds the link drives it: `recv` until it says
//! `None`, `flush` while `wants_write`, and in between wait on the descriptor (readable; writable too while there is
//! something to flush). `recv` reads ahead, so a wait without having drained it may wait for bytes that are here.

#[cfg(feature = "testing")]
mod faults;
mod inbox;
mod outbox;
mod remote;
mod rings;
mod waiting;

#[cfg(feature = "testing")]
pub use faults::Faults;

use crate::channel::Channel;
use crate::frame::{BadHeader, FrameLimits, InFrame, OutFrame};
use crate::identity::PeerIdentity;
use crate::memory::ProcessWatch;
use crate::negotiate::{Negotiated, TransportKind};
use inbox::Inbox;
use outbox::Outbox;
use rings::Rings;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// Most bytes that one call of `flush` or `recv_body` moves, so that a fast peer cannot keep the caller for ever.
pub const CALL_LIMIT_BYTES: usize = 8 << 20;
/// Default bound of the bytes that wait in a link.
pub const SEND_LIMIT_BYTES: u64 = 64 << 20;

/// An error of a link. After [`LinkError::Malformed`], [`LinkError::Closed`] and [`LinkError::Lost`] it is of no more
/// use in that direction.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The frame was not taken: the queue has no room now.
    #[error("the link's queue is full: {queued_bytes} bytes queued, limit {limit_bytes}")]
    Full {
        /// Bytes that wait.
        queued_bytes: u64,
        /// Most bytes that may wait.
        limit_bytes: u64,
    },
    /// The peer sent what cannot be.
    #[error("malformed frame: {what} is {value}, limit {limit}")]
    Malformed {
        /// What is wrong.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The largest value it may have.
        limit: u64,
    },
    /// The frame was not taken: it is larger than a frame may be.
    #[error("the frame's {what} is {value}, limit {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The largest value it may have.
        limit: u64,
    },
    /// The last frame's body must be received or skipped first.
    #[error("{remaining_bytes} bytes of the last frame's body are still to be received")]
    BodyPending {
        /// Bytes of the body that are left.
        remaining_bytes: u64,
    },
    /// Descriptors came that this process has no room for.
    #[error("descriptors were lost on the way in: the limit of open files is {limit:?}")]
    DescriptorsLost {
        /// `RLIMIT_NOFILE`, where there is one.
        limit: Option<u64>,
    },
    /// The peer closed the link between two frames.
    #[error("the peer closed the link")]
    Closed,
    /// The connection broke, or the peer went in the middle of a frame.
    #[error("the link was lost: {0}")]
    Lost(#[source] io::Error),
    /// The deadline is over.
    #[error("the deadline is over while waiting for {waiting_for}")]
    Deadline {
        /// What was waited for.
        waiting_for: &'static str,
    },
}

impl From<BadHeader> for LinkError {
    fn from(BadHeader { what, value, limit }: BadHeader) -> Self {
        LinkError::Malformed { what, value, limit }
    }
}

/// Whether everything was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flushed {
    /// Nothing waits.
    All,
    /// Something waits until the descriptor is writable (or for the next call, after much was written).
    Pending,
}

/// A live connection to a peer. Dropping it closes it without waiting; what the kernel has taken is still delivered.
pub struct Link {
    channel: Channel,
    negotiated: Negotiated,
    peer: PeerIdentity,
    peer_state: u8,
    version: u16,
    watch: Option<ProcessWatch>,
    limits: FrameLimits,
    outbox: Outbox,
    inbox: Inbox,
    rings: Rings,
    #[cfg(feature = "testing")]
    faults: faults::FaultState,
}

/// What a handshake found out.
pub(crate) struct Handshaken {
    pub(crate) channel: Channel,
    pub(crate) negotiated: Negotiated,
    pub(crate) peer: PeerIdentity,
    pub(crate) peer_state: u8,
    pub(crate) version: u16,
    pub(crate) watch: Option<ProcessWatch>,
}

impl Link {
    pub(crate) fn new(mut done: Handshaken) -> Link {
        done.channel.settle();
        Link {
            channel: done.channel,
            negotiated: done.negotiated,
            peer: done.peer,
            peer_state: done.peer_state,
            version: done.version,
            watch: done.watch,
            limits: FrameLimits::default(),
            outbox: Outbox::new(SEND_LIMIT_BYTES),
            inbox: Inbox::default(),
            rings: Rings::default(),
            #[cfg(feature = "testing")]
            faults: faults::FaultState::default(),
        }
    }

    /// The transport that was agreed.
    pub fn transport(&self) -> TransportKind {
        self.negotiated.transport
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
        &self.negotiated
    }

    /// Who is at the other end.
    pub fn peer(&self) -> &PeerIdentity {
        &self.peer
    }

    /// The state byte of the listener's reply (0 on the accepting side).
    pub fn peer_state(&self) -> u8 {
        self.peer_state
    }

    /// The protocol version that was agreed.
    pub fn version(&self) -> u16 {
        self.version
    }

    /// A watch of the peer's process, over shm: opened while the link was alive, so the number was its own.
    pub fn watch(&self) -> Option<&ProcessWatch> {
        self.watch.as_ref()
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
        if !self.send_by_ring(&frame)? {
            let passes_descriptors = self.transport().passes_descriptors();
            self.outbox.push(frame, passes_descriptors)?;
            self.offer_ring();
        }
        self.flush().map(|_| ())
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
        !self.outbox.is_empty() || (self.channel.wants_write() && !self.outbox.has_ended())
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
        self.inbox.has_frame() || self.channel.has_buffered() || self.ring_has_frames()
    }

    /// The next frame of those that are here already, without asking the kernel; what has come to the socket meanwhile
    /// makes the descriptor readable.
    ///
    /// # Errors
    /// As [`Link::recv`].
    pub fn recv_here(&mut self) -> Result<Option<InFrame>, LinkError> {
        loop {
            if self.inbox.body_remaining > 0 {
                return Err(LinkError::BodyPending { remaining_bytes: self.inbox.body_remaining });
            }
            let frame = self.next_without_asking()?;
            if frame.is_some() || self.ring_is_empty_for_sure()? {
                return Ok(frame);
            }
        }
    }

    /// The next frame, or `None` if it is not here yet. The last frame's body must have been taken.
    ///
    /// # Errors
    /// [`LinkError::Closed`], [`LinkError::Lost`], [`LinkError::Malformed`], [`LinkError::BodyPending`],
    /// [`LinkError::DescriptorsLost`].
    pub fn recv(&mut self) -> Result<Option<InFrame>, LinkError> {
        self.next_frame()
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
        if !self.outbox.has_ended() {
            self.channel.farewell();
        }
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("negotiated", &self.negotiated)
            .field("peer", &self.peer)
            .field("queued_bytes", &self.outbox.queued_bytes)
            .field("body_remaining", &self.inbox.body_remaining)
            .finish()
    }
}

/// What the system's errors mean for a link.
fn broken(error: io::Error) -> LinkError {
    match error.kind() {
        io::ErrorKind::BrokenPipe => LinkError::Closed,
        _ => LinkError::Lost(error),
    }
}
