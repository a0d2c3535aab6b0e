//! The receiving end.

use super::super::memory_map::Mapping;
use super::super::peer_segment::{MapOptions, MappedSegment};
use super::super::segment::sealed_memfd;
use super::receiving_end::ReceivingEnd;
use super::{RingError, data, malformed};
use crate::head::Head;
use crate::page::PAGE_BYTES;
use rustix::fs::fstat;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// The largest ring that is opened: what a peer has us map and copy is bounded.
const LIMIT_BYTES: u64 = 1 << 20;

/// The end that takes frames out.
#[derive(Debug)]
pub struct RingReceiver {
    end: ReceivingEnd<MappedSegment, Mapping>,
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
        Ok((RingReceiver { end: ReceivingEnd::new(segment, control, capacity_words) }, fd))
    }

    /// Takes one frame out: `into` is emptied and filled with it.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub fn take(&mut self, into: &mut Head) -> Result<Taken, RingError> {
        self.end.take(into)
    }

    /// Whether anything is there.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub fn has_frame(&mut self) -> Result<bool, RingError> {
        self.end.has_frame()
    }

    /// Whether nothing is there, and the sender will ring the bell for what comes, if this end is armed.
    ///
    /// # Errors
    /// [`RingError::Malformed`].
    pub fn is_empty_for_sure(&mut self) -> Result<bool, RingError> {
        self.end.is_empty_for_sure()
    }

    /// Says whether the sender is to ring the bell. After arming, [`RingReceiver::is_empty_for_sure`] is to be asked
    /// before waiting.
    pub fn arm(&self, armed: bool) {
        self.end.arm(armed);
    }

    /// Whether anything was put in that was not taken out.
    pub fn has_news(&self) -> bool {
        self.end.has_news()
    }

    /// Sees what comes after all that was taken so far.
    pub fn watch(&self) -> RingWatch {
        RingWatch { segment: self.end.data().clone(), tail: self.end.tail() }
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
