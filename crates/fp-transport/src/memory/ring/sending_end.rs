//! How frames are put into a ring, whatever its words are.

use super::words::{Word, Words};
use super::{RingError, control, data, frame_limit_bytes, frame_words, malformed, parts};
use std::sync::atomic::Ordering;

/// The state of an end that puts frames in.
#[derive(Debug)]
pub(super) struct SendingEnd<D, C> {
    data: D,
    control: C,
    capacity_words: u64,
    head: u64,
    /// What the receiver was last seen to have read: the real value is this or more.
    tail: u64,
    /// Up to where the receiver was told to read.
    told: u64,
}

/// Stores as many chunks into words, eight at a time where there are so many.
fn store_words<W: Word>(words: &[W], chunks: &[[u8; 8]]) {
    let ((eights, words), (octets, chunks)) = (words.as_chunks::<8>(), chunks.as_chunks::<8>());
    for (words, chunks) in eights.iter().zip(octets) {
        for at in 0..8 {
            words[at].store(u64::from_le_bytes(chunks[at]), Ordering::Relaxed);
        }
    }
    for (word, chunk) in words.iter().zip(chunks) {
        word.store(u64::from_le_bytes(*chunk), Ordering::Relaxed);
    }
}

impl<D: Words, C: Words> SendingEnd<D, C> {
    pub(super) fn new(data: D, control: C, capacity_words: u64) -> Self {
        Self { data, control, capacity_words, head: 0, tail: 0, told: 0 }
    }

    /// Longest frame in bytes.
    pub(super) fn frame_limit_bytes(&self) -> usize {
        frame_limit_bytes(self.capacity_words) as usize
    }

    /// Puts one frame in. `false`: there is no room now, or never will be for so long a one.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub(super) fn try_send(&mut self, frame: &[u8]) -> Result<bool, RingError> {
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
    pub(super) fn leave(&mut self) {
        self.word(self.head).store(data::LEAVE, Ordering::Relaxed);
        self.publish(1);
    }

    /// Whether at least half of the ring is free.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub(super) fn has_half_its_room(&mut self) -> Result<bool, RingError> {
        self.has_room(self.capacity_words / 2)
    }

    /// Whether the receiver waits for a bell and has read all that the last one was for. Then it is to be rung, and
    /// counts as rung.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub(super) fn wants_bell(&mut self) -> Result<bool, RingError> {
        C::Word::fence();
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
    pub(super) fn told(&mut self) {
        self.told = self.head;
    }

    fn publish(&mut self, words: u64) {
        self.head += words;
        self.data.words()[data::HEAD_WORD].store(self.head, Ordering::Release);
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
        let (before, after) = parts(self.data.words(), self.capacity_words, self.head + 1, whole.len());
        let (first, second) = whole.split_at(before.len());
        store_words(before, first);
        if !after.is_empty() {
            store_words(after, second);
        }
        if !rest.is_empty() {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            self.word(self.head + 1 + whole.len() as u64).store(u64::from_le_bytes(bytes), Ordering::Relaxed);
        }
    }

    fn word(&self, position: u64) -> &D::Word {
        &self.data.words()[data::FRAMES_WORD + (position & (self.capacity_words - 1)) as usize]
    }
}

#[cfg(any(test, feature = "testing"))]
impl<D: Words, C: Words> SendingEnd<D, C> {
    /// Writes anything, as a hostile sender would.
    pub(super) fn scribble(&self, head: u64, words: &[u64]) {
        for (position, word) in words.iter().enumerate() {
            self.word(position as u64).store(*word, Ordering::Relaxed);
        }
        self.data.words()[data::HEAD_WORD].store(head, Ordering::Release);
    }
}
