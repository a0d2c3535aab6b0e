//! A ring of byte frames between two processes, for announcements that must not cost a system call.
//!
//! One [`RingSender`], one [`RingReceiver`]. Each end writes only to memory of its own, which the other maps read only.
//! The *data* segment (frames, how far they go) belongs to the sender. The *control* segment belongs to the receiver:
//! how far it has read, whether it wants to be woken. A single shared segment could not be sealed against writing, and
//! one end could spoil the other's state. With two sealed ones an end can spoil nothing but its own. A hostile sender
//! can only send nonsense, which the receiver notices. A hostile receiver can only claim nonsense, which the sender
//! notices. Neither makes the other read or write out of bounds, or loop.
//!
//! Setting up takes three calls. [`RingOffer::new`] gives a data descriptor to send. [`RingReceiver::open`] takes it
//! and gives a control descriptor to send back. [`RingOffer::accepted`] takes that one and is the sender.
//!
//! Positions count words of 8 bytes and never wrap (2^64 words); a frame is one word of length and its bytes in whole
//! words. Words are copied with relaxed atomics, since the other process may change them at any time. Memory order: the
//! sender stores words, then the position with release. The receiver loads the position with acquire, then words. For
//! room it is the same in the other direction.
//!
//! The ring wakes nobody: its user has a bell (a socket). [`RingSender::wants_bell`] says when to ring it, at most once
//! until the receiver has read everything that was there. That is Dekker's pattern with a sequentially consistent fence
//! on each side. The sender moves its position, then looks whether the receiver is armed and has read what the last
//! bell was for. The receiver arms itself or moves its position, then looks whether anything is there
//! ([`RingReceiver::is_empty_for_sure`]) before it waits for the bell.
//!
//! The bell is not a futex in the ring, as nobody can wait on it together with descriptors. It is not an eventfd
//! either. That is one descriptor more for each link, which a hostile peer could read empty
//! (`docs/decisions/0004-announcements-go-through-rings.md`).
//!
//! The ends are written over words of any kind. So a model checker can try every order in which they may see each
//! other's words (`interleavings`).

mod receiver;
mod receiving_end;
mod sender;
mod sending_end;
mod words;

pub use receiver::{RingReceiver, RingWatch, Taken};
pub use sender::{RingOffer, RingSender};

use super::error::MemoryError;

/// An error of a ring. After [`RingError::Malformed`] the ring is of no use any more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RingError {
    /// The memory could not be made or mapped.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The other end wrote something that cannot be.
    #[error("the ring is malformed: {what} {value} (limit {limit})")]
    Malformed {
        /// What is wrong.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The largest value it may have.
        limit: u64,
    },
    /// A capacity that is not possible.
    #[error("a ring of {capacity_bytes} bytes is not possible: 64 bytes to 1 GiB")]
    Capacity {
        /// What was asked for.
        capacity_bytes: u64,
    },
}

fn malformed<T>(what: &'static str, value: u64, limit: u64) -> Result<T, RingError> {
    Err(RingError::Malformed { what, value, limit })
}

/// Both ends of a ring within one process.
///
/// # Errors
/// As [`RingOffer::new`] and [`RingReceiver::open`].
#[cfg(test)]
fn pair(capacity_bytes: usize) -> Result<(RingSender, RingReceiver), RingError> {
    let (offer, data) = RingOffer::new(capacity_bytes)?;
    let (receiver, control) = RingReceiver::open(data)?;
    Ok((offer.accepted(control)?, receiver))
}

/// Word indices of the data segment. Each of these has a cache line of its own.
mod data {
    pub(super) const MAGIC_WORD: usize = 0;
    pub(super) const CAPACITY_WORD: usize = 1;
    pub(super) const HEAD_WORD: usize = 8;
    /// First word of the frames: the second page.
    pub(super) const FRAMES_WORD: usize = 512;
    pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"FLXRING1");
    /// Instead of a length: the sender goes on elsewhere.
    pub(super) const LEAVE: u64 = u64::MAX;
}

/// Word indices of the control segment.
mod control {
    pub(super) const TAIL_WORD: usize = 0;
    pub(super) const ARMED_WORD: usize = 8;
}

/// Words that a frame of `len_bytes` takes, its length word included.
fn frame_words(len_bytes: u64) -> u64 {
    1 + len_bytes.div_ceil(8)
}

/// So many words of a ring from a position on: up to its end, and those that go on at its beginning.
fn parts<W>(segment: &[W], capacity_words: u64, position: u64, count: usize) -> (&[W], &[W]) {
    let words = &segment[data::FRAMES_WORD..data::FRAMES_WORD + capacity_words as usize];
    let from = (position & (capacity_words - 1)) as usize;
    let before = count.min(words.len() - from);
    (&words[from..from + before], &words[..count - before])
}

/// Longest frame of a ring: a little less than half of it, so that two always fit.
fn frame_limit_bytes(capacity_words: u64) -> u64 {
    (capacity_words / 2 - 2) * 8
}

#[cfg(test)]
mod interleavings;
#[cfg(test)]
mod tests;
