//! The receiving end.

use super::super::memory_map::Mapping;
use super::super::peer_segment::{MapOptions, MappedSegment};
use super::super::segment::sealed_memfd;
use super::{RingError, control, data, frame_limit_bytes, frame_words, malformed, parts};
use crate::page::PAGE_BYTES;
use rustix::fs::fstat;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// The largest ring that is opened: what a peer has us map and copy is bounded.
const LIMIT_BYTES: u64 = 1 << 20;

/// The end that takes frames out.
#[derive(Debug)]
pub struct RingReceiver {
    segment: MappedSegment,
    control: Mapping,
    capacity_words: u64,
    tail: u64,
    /// What the sender was last seen to have put in: the real value is this or more.
    head: u64,
}

/// What was taken out of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// A frame.
    Frame,
    /// The mark that the sender goes on elsewhere.
    Leave,
    /// Nothing: none is there now.
    Nothing,
}

/// Sees whether a ring has anything new, without its receiver.
#[derive(Debug, Clone)]
pub struct RingWatch {
    segment: MappedSegment,
    tail: u64,
}

impl RingWatch {
    /// Whether anything was put in that had not been taken out when this was made.
    pub fn has_news(&self) -> bool {
        self.segment.words()[data::HEAD_WORD].load(Ordering::Acquire) != self.tail
    }
}

impl RingReceiver {
    /// Opens the data segment of a sender, and makes the control segment to send back. Not armed yet.
    ///
    /// # Errors
    /// [`RingError::Memory`], [`RingError::Malformed`] if it is no ring.
    pub fn open(data_fd: OwnedFd) -> Result<(RingReceiver, OwnedFd), RingError> {
        let len_bytes = fstat(&data_fd).map(|found| u64::try_from(found.st_size).unwrap_or(0)).unwrap_or(0);
        if len_bytes > LIMIT_BYTES {
            return malformed("length of a ring in bytes", len_bytes, LIMIT_BYTES);
        }
        let segment = MappedSegment::map(data_fd, len_bytes, MapOptions::default().with_prefault(true))?;
        let capacity_words = checked_capacity(segment.words())?;
        let (fd, control) = sealed_memfd(PAGE_BYTES)?;
        Ok((RingReceiver { segment, control, capacity_words, tail: 0, head: 0 }, fd))
    }

    /// Takes one frame out: `into` is emptied and filled with it.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub fn take(&mut self, into: &mut Vec<u8>) -> Result<Taken, RingError> {
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
    pub fn has_frame(&mut self) -> Result<bool, RingError> {
        if self.head == self.tail {
            let head = self.segment.words()[data::HEAD_WORD].load(Ordering::Acquire);
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
    pub fn is_empty_for_sure(&mut self) -> Result<bool, RingError> {
        fence(Ordering::SeqCst);
        Ok(!self.has_frame()?)
    }

    /// Says whether the sender is to ring the bell. After arming, [`RingReceiver::is_empty_for_sure`] is to be asked
    /// before waiting.
    pub fn arm(&self, armed: bool) {
        self.control.words()[control::ARMED_WORD].store(armed.into(), Ordering::Relaxed);
    }

    /// Whether anything was put in that was not taken out.
    pub fn has_news(&self) -> bool {
        self.segment.words()[data::HEAD_WORD].load(Ordering::Acquire) != self.tail
    }

    /// Sees what comes after all that was taken so far.
    pub fn watch(&self) -> RingWatch {
        RingWatch { segment: self.segment.clone(), tail: self.tail }
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

    fn load(&self, len_bytes: u64, into: &mut Vec<u8>) {
        let count = (frame_words(len_bytes) - 1) as usize;
        into.clear();
        into.resize(count * 8, 0);
        let (before, after) = parts(self.segment.words(), self.capacity_words, self.tail + 1, count);
        let (chunks, _) = into.as_chunks_mut::<8>();
        let (first, second) = chunks.split_at_mut(before.len());
        for (words, chunks) in [(before, first), (after, second)] {
            for (word, chunk) in words.iter().zip(chunks) {
                *chunk = word.load(Ordering::Relaxed).to_le_bytes();
            }
        }
        into.truncate(len_bytes as usize);
    }

    fn word(&self, position: u64) -> &AtomicU64 {
        &self.segment.words()[data::FRAMES_WORD + (position & (self.capacity_words - 1)) as usize]
    }
}

fn checked_capacity(words: &[AtomicU64]) -> Result<u64, RingError> {
    let limit = (words.len() as u64).saturating_sub(data::FRAMES_WORD as u64);
    if limit < 8 {
        return malformed("length of the segment", words.len() as u64, limit);
    }
    let magic = words[data::MAGIC_WORD].load(Ordering::Relaxed);
    if magic != data::MAGIC {
        return malformed("first word", magic, data::MAGIC);
    }
    let capacity = words[data::CAPACITY_WORD].load(Ordering::Acquire);
    if !capacity.is_power_of_two() || !(8..=limit).contains(&capacity) {
        return malformed("capacity in words", capacity, limit);
    }
    Ok(capacity)
}
