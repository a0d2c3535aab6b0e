//! The receiving end.

use super::super::mapping::{Mapping, PAGE_BYTES};
use super::super::segment::sealed_memfd;
use super::{RingError, control, data, frame_limit_bytes, frame_words, time_left};
use crate::memory::MapOptions;
use crate::memory::mapped::MappedSegment;
use rustix::fs::fstat;
use rustix::thread::futex;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Instant;

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

impl RingReceiver {
    /// Opens the data segment of a sender, and makes the control segment to send back.
    ///
    /// # Errors
    /// [`RingError::Memory`], [`RingError::Malformed`] if it is no ring.
    pub fn open(data_fd: OwnedFd) -> Result<(RingReceiver, OwnedFd), RingError> {
        let len_bytes = fstat(&data_fd).map(|found| u64::try_from(found.st_size).unwrap_or(0)).unwrap_or(0);
        let segment = MappedSegment::map(data_fd, len_bytes, MapOptions::default().with_prefault(true))?;
        let capacity_words = checked_capacity(segment.words())?;
        let (fd, control) = sealed_memfd(PAGE_BYTES)?;
        Ok((RingReceiver { segment, control, capacity_words, tail: 0, head: 0 }, fd))
    }

    /// Takes one frame out: `into` is emptied and filled with it. `false`: there is none now.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub fn try_recv(&mut self, into: &mut Vec<u8>) -> Result<bool, RingError> {
        if !self.has_frame()? {
            return Ok(false);
        }
        let len_bytes = self.checked_len()?;
        self.load(len_bytes, into);
        self.tail += frame_words(len_bytes);
        self.control.words()[control::TAIL_WORD].store(self.tail, Ordering::Release);
        Ok(true)
    }

    /// Whether a frame is there.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub fn has_frame(&mut self) -> Result<bool, RingError> {
        if self.head == self.tail {
            let head = self.segment.words()[data::HEAD_WORD].load(Ordering::Acquire);
            let filled = head.wrapping_sub(self.tail);
            if filled > self.capacity_words {
                let limit = self.capacity_words;
                return Err(RingError::Malformed {
                    what: "words filled by the sender",
                    value: filled,
                    limit,
                });
            }
            self.head = head;
        }
        Ok(self.head != self.tail)
    }

    /// The length of the next frame, which must lie within what the sender has filled.
    fn checked_len(&self) -> Result<u64, RingError> {
        let len_bytes = self.word(self.tail).load(Ordering::Relaxed);
        let limit = frame_limit_bytes(self.capacity_words).min((self.head - self.tail - 1) * 8);
        if len_bytes > limit {
            return Err(RingError::Malformed { what: "length of a frame", value: len_bytes, limit });
        }
        Ok(len_bytes)
    }

    fn load(&self, len_bytes: u64, into: &mut Vec<u8>) {
        into.clear();
        into.reserve(len_bytes as usize + 8);
        for position in self.tail + 1..self.tail + frame_words(len_bytes) {
            into.extend_from_slice(&self.word(position).load(Ordering::Relaxed).to_le_bytes());
        }
        into.truncate(len_bytes as usize);
    }

    fn word(&self, position: u64) -> &AtomicU64 {
        &self.segment.words()[data::FRAMES_WORD + (position & (self.capacity_words - 1)) as usize]
    }

    /// Sleeps until a frame is there or the deadline is over; says whether one is. May return early with `false`.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub fn wait(&mut self, deadline: Instant) -> Result<bool, RingError> {
        let segment = self.segment.clone();
        let Some(sequence) = segment.futex_word(data::SEQUENCE_WORD) else { return self.has_frame() };
        let seen = sequence.load(Ordering::Acquire);
        self.set_sleeping(1);
        // The other half of the sender's fence: either it sees the flag, or this sees the frame.
        fence(Ordering::SeqCst);
        let there = self.has_frame();
        if matches!(there, Ok(false))
            && let Ok(timeout) = time_left(deadline).try_into()
        {
            // Whatever ended the sleep (a wake, a change before it, a signal, the time): look again.
            let _ = futex::wait(sequence, futex::Flags::empty(), seen, Some(&timeout));
        }
        self.set_sleeping(0);
        there?;
        self.has_frame()
    }

    fn set_sleeping(&self, value: u32) {
        if let Some(flag) = self.control.futex_word(control::SLEEPING_WORD) {
            flag.store(value, Ordering::Relaxed);
        }
    }
}

fn checked_capacity(words: &[AtomicU64]) -> Result<u64, RingError> {
    let limit = (words.len() as u64).saturating_sub(data::FRAMES_WORD as u64);
    if limit < 8 {
        return Err(RingError::Malformed { what: "length of the segment", value: words.len() as u64, limit });
    }
    let magic = words[data::MAGIC_WORD].load(Ordering::Relaxed);
    if magic != data::MAGIC {
        return Err(RingError::Malformed { what: "first word", value: magic, limit: data::MAGIC });
    }
    let capacity = words[data::CAPACITY_WORD].load(Ordering::Acquire);
    if !capacity.is_power_of_two() || !(8..=limit).contains(&capacity) {
        return Err(RingError::Malformed { what: "capacity in words", value: capacity, limit });
    }
    Ok(capacity)
}
