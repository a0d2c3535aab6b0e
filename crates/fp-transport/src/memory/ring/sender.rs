//! The sending end.

use super::super::mapping::{Mapping, PAGE_BYTES};
use super::super::segment::sealed_memfd;
use super::{RingError, control, data, frame_limit_bytes, frame_words};
use crate::memory::MapOptions;
use crate::memory::mapped::MappedSegment;
use rustix::thread::futex;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// The end that puts frames in.
#[derive(Debug)]
pub struct RingSender {
    mapping: Mapping,
    control: Option<MappedSegment>,
    capacity_words: u64,
    head: u64,
    /// What the receiver was last seen to have read: the real value is this or more.
    tail: u64,
}

impl RingSender {
    /// A ring that holds frames of `capacity_bytes` together (rounded up to a power of two), and the descriptor of
    /// its data segment for the receiver.
    ///
    /// # Errors
    /// [`RingError::Capacity`], [`RingError::Memory`].
    pub fn new(capacity_bytes: usize) -> Result<(RingSender, OwnedFd), RingError> {
        if !(64..=1 << 30).contains(&capacity_bytes) {
            return Err(RingError::Capacity { capacity_bytes: capacity_bytes as u64 });
        }
        let capacity_bytes = capacity_bytes.next_power_of_two();
        let len = (data::FRAMES_WORD * 8 + capacity_bytes).next_multiple_of(PAGE_BYTES);
        let (fd, mapping) = sealed_memfd(len)?;
        let capacity_words = capacity_bytes as u64 / 8;
        mapping.words()[data::MAGIC_WORD].store(data::MAGIC, Ordering::Relaxed);
        mapping.words()[data::CAPACITY_WORD].store(capacity_words, Ordering::Release);
        Ok((RingSender { mapping, control: None, capacity_words, head: 0, tail: 0 }, fd))
    }

    /// Takes the receiver's control segment.
    ///
    /// # Errors
    /// [`RingError::Memory`], if the descriptor is not what a receiver makes.
    pub fn attach(&mut self, control: OwnedFd) -> Result<(), RingError> {
        let options = MapOptions::default().with_prefault(true);
        self.control = Some(MappedSegment::map(control, PAGE_BYTES as u64, options)?);
        Ok(())
    }

    /// Longest frame in bytes.
    pub fn frame_limit_bytes(&self) -> usize {
        frame_limit_bytes(self.capacity_words) as usize
    }

    /// Puts one frame in and wakes the receiver if it sleeps. `false`: there is no room now.
    ///
    /// # Errors
    /// [`RingError::TooLarge`], [`RingError::Malformed`].
    pub fn try_send(&mut self, frame: &[u8]) -> Result<bool, RingError> {
        let limit_bytes = self.frame_limit_bytes();
        if frame.len() > limit_bytes {
            return Err(RingError::TooLarge { len_bytes: frame.len(), limit_bytes });
        }
        let needed = frame_words(frame.len() as u64);
        if !self.has_room(needed)? {
            return Ok(false);
        }
        self.store(frame);
        self.head += needed;
        self.mapping.words()[data::HEAD_WORD].store(self.head, Ordering::Release);
        self.ring_bell();
        Ok(true)
    }

    fn has_room(&mut self, needed: u64) -> Result<bool, RingError> {
        if self.head - self.tail + needed > self.capacity_words {
            self.tail = self.read_tail()?;
        }
        Ok(self.head - self.tail + needed <= self.capacity_words)
    }

    fn read_tail(&self) -> Result<u64, RingError> {
        let Some(control) = &self.control else { return Ok(0) };
        let tail = control.words()[control::TAIL_WORD].load(Ordering::Acquire);
        if tail < self.tail || tail > self.head {
            return Err(RingError::Malformed {
                what: "position of the receiver",
                value: tail,
                limit: self.head,
            });
        }
        Ok(tail)
    }

    fn store(&self, frame: &[u8]) {
        let (whole, rest) = frame.as_chunks::<8>();
        self.word(self.head).store(frame.len() as u64, Ordering::Relaxed);
        let mut position = self.head + 1;
        for bytes in whole {
            self.word(position).store(u64::from_le_bytes(*bytes), Ordering::Relaxed);
            position += 1;
        }
        if !rest.is_empty() {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            self.word(position).store(u64::from_le_bytes(bytes), Ordering::Relaxed);
        }
    }

    fn word(&self, position: u64) -> &AtomicU64 {
        &self.mapping.words()[data::FRAMES_WORD + (position & (self.capacity_words - 1)) as usize]
    }

    /// Wakes the receiver if it sleeps. The fence orders the position before the look at the flag; the receiver has
    /// the same fence between its flag and its look at the position.
    fn ring_bell(&self) {
        let Some(sequence) = self.mapping.futex_word(data::SEQUENCE_WORD) else { return };
        sequence.fetch_add(1, Ordering::Release);
        fence(Ordering::SeqCst);
        if self.receiver_sleeps() {
            // A failure to wake cannot be repaired here; the receiver's deadline bounds the harm.
            let _ = futex::wake(sequence, futex::Flags::empty(), 1);
        }
    }

    /// Whether the receiver sleeps in [`super::RingReceiver::wait`] now.
    pub fn receiver_sleeps(&self) -> bool {
        let flag = self.control.as_ref().and_then(|control| control.futex_word(control::SLEEPING_WORD));
        flag.is_some_and(|flag| flag.load(Ordering::Relaxed) != 0)
    }
}

#[cfg(test)]
impl RingSender {
    /// Writes anything, as a hostile sender would.
    pub(super) fn scribble(&self, head: u64, words: &[u64]) {
        for (position, word) in words.iter().enumerate() {
            self.word(position as u64).store(*word, Ordering::Relaxed);
        }
        self.mapping.words()[data::HEAD_WORD].store(head, Ordering::Release);
    }
}
