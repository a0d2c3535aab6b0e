//! The sending end.

use super::super::memory_map::Mapping;
use super::super::peer_segment::{MapOptions, MappedSegment};
use super::super::segment::sealed_memfd;
use super::sending_end::SendingEnd;
use super::{RingError, data};
use crate::page::PAGE_BYTES;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

/// A ring that its receiver has not opened yet.
#[derive(Debug)]
pub struct RingOffer {
    mapping: Mapping,
    capacity_words: u64,
}

/// The end that puts frames in.
#[derive(Debug)]
pub struct RingSender {
    end: SendingEnd<Mapping, MappedSegment>,
}

impl RingOffer {
    /// A ring that holds frames of `capacity_bytes` together (rounded up to a power of two). Also gives the descriptor
    /// of its data segment, for the receiver.
    ///
    /// # Errors
    /// [`RingError::Capacity`], [`RingError::Memory`].
    pub fn new(capacity_bytes: usize) -> Result<(RingOffer, OwnedFd), RingError> {
        if !(64..=1 << 30).contains(&capacity_bytes) {
            return Err(RingError::Capacity { capacity_bytes: capacity_bytes as u64 });
        }
        let capacity_bytes = capacity_bytes.next_power_of_two();
        let len = (data::FRAMES_WORD * 8 + capacity_bytes).next_multiple_of(PAGE_BYTES);
        let (fd, mapping) = sealed_memfd(len)?;
        let capacity_words = capacity_bytes as u64 / 8;
        mapping.words()[data::MAGIC_WORD].store(data::MAGIC, Ordering::Relaxed);
        mapping.words()[data::CAPACITY_WORD].store(capacity_words, Ordering::Release);
        Ok((RingOffer { mapping, capacity_words }, fd))
    }

    /// Takes the receiver's control segment.
    ///
    /// # Errors
    /// [`RingError::Memory`], if the descriptor is not what a receiver makes.
    pub fn accepted(self, control: OwnedFd) -> Result<RingSender, RingError> {
        let options = MapOptions::default().with_prefault(true);
        let control = MappedSegment::map(control, PAGE_BYTES as u64, options)?;
        let RingOffer { mapping, capacity_words } = self;
        Ok(RingSender { end: SendingEnd::new(mapping, control, capacity_words) })
    }
}

impl RingSender {
    /// Longest frame in bytes.
    pub fn frame_limit_bytes(&self) -> usize {
        self.end.frame_limit_bytes()
    }

    /// Puts one frame in. `false`: there is no room now, or never will be for so long a one.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub fn try_send(&mut self, frame: &[u8]) -> Result<bool, RingError> {
        self.end.try_send(frame)
    }

    /// Says that what follows goes another way, until the receiver is told to read here again.
    pub fn leave(&mut self) {
        self.end.leave();
    }

    /// Whether at least half of the ring is free.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub fn has_half_its_room(&mut self) -> Result<bool, RingError> {
        self.end.has_half_its_room()
    }

    /// Whether the receiver waits for a bell and has read all that the last one was for. Then it is to be rung, and
    /// counts as rung.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub fn wants_bell(&mut self) -> Result<bool, RingError> {
        self.end.wants_bell()
    }

    /// The receiver is told by other means to read all that is here.
    pub fn told(&mut self) {
        self.end.told();
    }
}

#[cfg(any(test, feature = "testing"))]
impl RingSender {
    /// Writes anything, as a hostile sender would.
    pub fn scribble(&self, head: u64, words: &[u64]) {
        self.end.scribble(head, words);
    }
}
