//! The sending end.

use super::super::memory_map::Mapping;
use super::super::peer_segment::{MapOptions, MappedSegment};
use super::super::segment::sealed_memfd;
use super::{RingError, control, data, frame_limit_bytes, frame_words, malformed, parts};
use crate::page::PAGE_BYTES;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// A ring that its receiver has not opened yet.
#[derive(Debug)]
pub struct RingOffer {
    mapping: Mapping,
    capacity_words: u64,
}

/// The end that puts frames in.
#[derive(Debug)]
pub struct RingSender {
    mapping: Mapping,
    control: MappedSegment,
    capacity_words: u64,
    head: u64,
    /// What the receiver was last seen to have read: the real value is this or more.
    tail: u64,
    /// Up to where the receiver was told to read.
    told: u64,
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
        Ok(RingSender { mapping, control, capacity_words, head: 0, tail: 0, told: 0 })
    }
}

impl RingSender {
    /// Longest frame in bytes.
    pub fn frame_limit_bytes(&self) -> usize {
        frame_limit_bytes(self.capacity_words) as usize
    }

    /// Puts one frame in. `false`: there is no room now, or never will be for so long a one.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub fn try_send(&mut self, frame: &[u8]) -> Result<bool, RingError> {
        // One word is always left for the mark of leaving.
        let needed = frame_words(frame.len() as u64);
        if frame.len() > self.frame_limit_bytes() || !self.has_room(needed + 1)? {
            return Ok(false);
        }
        self.store(frame);
        self.publish(needed);
        Ok(true)
    }

    /// Says that what follows goes another way, until the receiver is told to read here again.
    pub fn leave(&mut self) {
        self.word(self.head).store(data::LEAVE, Ordering::Relaxed);
        self.publish(1);
    }

    /// Whether at least half of the ring is free.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub fn has_half_its_room(&mut self) -> Result<bool, RingError> {
        self.has_room(self.capacity_words / 2)
    }

    /// Whether the receiver waits for a bell and has read all that the last one was for. Then it is to be rung, and
    /// counts as rung.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub fn wants_bell(&mut self) -> Result<bool, RingError> {
        fence(Ordering::SeqCst);
        if self.control.words()[control::ARMED_WORD].load(Ordering::Relaxed) == 0 {
            return Ok(false);
        }
        self.tail = self.read_tail()?;
        let wants = self.tail >= self.told;
        if wants {
            self.told = self.head;
        }
        Ok(wants)
    }

    /// The receiver is told by other means to read all that is here.
    pub fn told(&mut self) {
        self.told = self.head;
    }

    fn publish(&mut self, words: u64) {
        self.head += words;
        self.mapping.words()[data::HEAD_WORD].store(self.head, Ordering::Release);
    }

    fn has_room(&mut self, needed: u64) -> Result<bool, RingError> {
        if self.head - self.tail + needed > self.capacity_words {
            self.tail = self.read_tail()?;
        }
        Ok(self.head - self.tail + needed <= self.capacity_words)
    }

    fn read_tail(&self) -> Result<u64, RingError> {
        let tail = self.control.words()[control::TAIL_WORD].load(Ordering::Acquire);
        if tail < self.tail || tail > self.head {
            return malformed("position of the receiver", tail, self.head);
        }
        Ok(tail)
    }

    fn store(&self, frame: &[u8]) {
        let (whole, rest) = frame.as_chunks::<8>();
        self.word(self.head).store(frame.len() as u64, Ordering::Relaxed);
        let (before, after) = parts(self.mapping.words(), self.capacity_words, self.head + 1, whole.len());
        let (first, second) = whole.split_at(before.len());
        for (words, chunks) in [(before, first), (after, second)] {
            for (word, chunk) in words.iter().zip(chunks) {
                word.store(u64::from_le_bytes(*chunk), Ordering::Relaxed);
            }
        }
        if !rest.is_empty() {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            self.word(self.head + 1 + whole.len() as u64).store(u64::from_le_bytes(bytes), Ordering::Relaxed);
        }
    }

    fn word(&self, position: u64) -> &AtomicU64 {
        &self.mapping.words()[data::FRAMES_WORD + (position & (self.capacity_words - 1)) as usize]
    }
}

#[cfg(any(test, feature = "testing"))]
impl RingSender {
    /// Writes anything, as a hostile sender would.
    pub fn scribble(&self, head: u64, words: &[u64]) {
        for (position, word) in words.iter().enumerate() {
            self.word(position as u64).store(*word, Ordering::Relaxed);
        }
        self.mapping.words()[data::HEAD_WORD].store(head, Ordering::Release);
    }
}
