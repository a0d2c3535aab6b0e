//! How frames are taken out of a ring, whatever its words are.

use super::receiver::Taken;
use super::words::{Word, Words};
use super::{RingError, control, data, frame_limit_bytes, frame_words, malformed, parts};
use crate::head::Head;
use std::sync::atomic::Ordering;

/// The state of an end that takes frames out.
#[derive(Debug)]
pub(super) struct ReceivingEnd<D, C> {
    data: D,
    control: C,
    capacity_words: u64,
    tail: u64,
    /// What the sender was last seen to have put in: the real value is this or more.
    head: u64,
}

/// Loads words into as many chunks, eight at a time where there are so many.
fn load_words<W: Word>(words: &[W], chunks: &mut [[u8; 8]]) {
    let ((eights, words), (octets, chunks)) = (words.as_chunks::<8>(), chunks.as_chunks_mut::<8>());
    for (words, octet) in eights.iter().zip(octets) {
        *octet = words.each_ref().map(|word| word.load(Ordering::Relaxed).to_le_bytes());
    }
    for (word, chunk) in words.iter().zip(chunks) {
        *chunk = word.load(Ordering::Relaxed).to_le_bytes();
    }
}

impl<D: Words, C: Words> ReceivingEnd<D, C> {
    pub(super) fn new(data: D, control: C, capacity_words: u64) -> Self {
        Self { data, control, capacity_words, tail: 0, head: 0 }
    }

    /// The words that the sender writes.
    pub(super) fn data(&self) -> &D {
        &self.data
    }

    /// Up to where all was taken out.
    pub(super) fn tail(&self) -> u64 {
        self.tail
    }

    /// Takes one frame out: `into` is emptied and filled with it.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub(super) fn take(&mut self, into: &mut Head) -> Result<Taken, RingError> {
        if !self.has_frame()? {
            return Ok(Taken::Nothing);
        }
        let Some(len_bytes) = self.checked_len()? else {
            self.advance(1);
            return Ok(Taken::Leave);
        };
        self.load(len_bytes, into);
        self.advance(frame_words(len_bytes));
        Ok(Taken::Frame)
    }

    /// Whether anything is there.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub(super) fn has_frame(&mut self) -> Result<bool, RingError> {
        if self.head == self.tail {
            let head = self.data.words()[data::HEAD_WORD].load(Ordering::Acquire);
            let filled = head.wrapping_sub(self.tail);
            if filled > self.capacity_words {
                return malformed("words filled by the sender", filled, self.capacity_words);
            }
            self.head = head;
        }
        Ok(self.head != self.tail)
    }

    /// Whether nothing is there, and the sender will ring the bell for what comes, if this end is armed.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub(super) fn is_empty_for_sure(&mut self) -> Result<bool, RingError> {
        D::Word::fence();
        Ok(!self.has_frame()?)
    }

    /// Says whether the sender is to ring the bell. After arming, [`ReceivingEnd::is_empty_for_sure`] is to be asked
    /// before waiting.
    pub(super) fn arm(&self, armed: bool) {
        self.control.words()[control::ARMED_WORD].store(armed.into(), Ordering::Relaxed);
    }

    /// Whether anything was put in that was not taken out.
    pub(super) fn has_news(&self) -> bool {
        self.data.words()[data::HEAD_WORD].load(Ordering::Acquire) != self.tail
    }

    fn advance(&mut self, words: u64) {
        self.tail += words;
        self.control.words()[control::TAIL_WORD].store(self.tail, Ordering::Release);
    }

    /// The length of the next frame, which must lie within what the sender has filled; `None` for the mark of leaving.
    fn checked_len(&self) -> Result<Option<u64>, RingError> {
        let len_bytes = self.word(self.tail).load(Ordering::Relaxed);
        let limit = frame_limit_bytes(self.capacity_words).min((self.head - self.tail - 1) * 8);
        match len_bytes {
            data::LEAVE => Ok(None),
            len_bytes if len_bytes <= limit => Ok(Some(len_bytes)),
            value => malformed("length of a frame", value, limit),
        }
    }

    fn load(&self, len_bytes: u64, into: &mut Head) {
        let count = (frame_words(len_bytes) - 1) as usize;
        let (chunks, _) = into.renew(count * 8).as_chunks_mut::<8>();
        let (before, after) = parts(self.data.words(), self.capacity_words, self.tail + 1, count);
        let (first, second) = chunks.split_at_mut(before.len());
        load_words(before, first);
        if !after.is_empty() {
            load_words(after, second);
        }
        into.truncate(len_bytes as usize);
    }

    fn word(&self, position: u64) -> &D::Word {
        &self.data.words()[data::FRAMES_WORD + (position & (self.capacity_words - 1)) as usize]
    }
}
