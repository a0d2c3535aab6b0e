//! The sending half: frames that wait, gathered straight from where their bytes lie.

use super::CALL_LIMIT_BYTES;
use super::error::{LinkError, broken};
use crate::channel::Channel;
use crate::frame::{DESCRIPTORS_LIMIT, HEAD_LIMIT_BYTES, HEADER_LEN, Header, OutFrame};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Most pieces that one call gathers.
const SLICES: usize = 64;

/// The same where one frame waits that is a head, with no more than a body of one piece.
const SHORT_SLICES: usize = 3;

/// Longest head that is written before it waits.
const AT_ONCE_BYTES: usize = 64 << 10;

/// Whether everything was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flushed {
    /// Nothing waits.
    All,
    /// Something waits until the descriptor is writable (or for the next call, after much was written).
    Pending,
}

pub(super) struct Outbox {
    frames: VecDeque<Waiting>,
    pub(super) queued_bytes: u64,
    pub(super) limit_bytes: u64,
    /// Nothing more is sent: said so, or the link is broken.
    pub(super) ended: bool,
}

/// A frame, written up to `offset` bytes of piece `piece`. Piece 0 is the header, 1 the head, then the body.
struct Waiting {
    header: [u8; HEADER_LEN],
    frame: OutFrame,
    piece: usize,
    offset: usize,
}

impl Waiting {
    fn new(frame: OutFrame, passes_descriptors: bool) -> Result<Waiting, LinkError> {
        let descriptors_limit = if passes_descriptors { DESCRIPTORS_LIMIT as u64 } else { 0 };
        at_most("head length", frame.head.len() as u64, HEAD_LIMIT_BYTES.into())?;
        at_most("number of descriptors", frame.descriptors.len() as u64, descriptors_limit)?;
        Ok(Waiting { header: frame.header().encode(), frame, piece: 0, offset: 0 })
    }

    fn is_short(&self) -> bool {
        self.frame.body.len() <= 1
    }

    fn piece(&self, index: usize) -> Option<&[u8]> {
        match index {
            0 => Some(&self.header),
            1 => Some(&self.frame.head),
            _ => self.frame.body.get(index - 2).map(|payload| payload.as_slice()),
        }
    }

    /// What is left of the pieces, in order.
    fn rest(&self) -> impl Iterator<Item = &[u8]> {
        let skipped = |index| if index == self.piece { self.offset } else { 0 };
        (self.piece..2 + self.frame.body.len())
            .filter_map(move |index| self.piece(index)?.get(skipped(index)..))
            .filter(|rest| !rest.is_empty())
    }

    /// Counts `written` bytes off; says how many belong to the next frame, or `None` if this one is not finished.
    fn advance(&mut self, mut written: usize) -> Option<usize> {
        while let Some(piece) = self.piece(self.piece) {
            let left = piece.len() - self.offset;
            if written < left {
                self.offset += written;
                return None;
            }
            written -= left;
            (self.piece, self.offset) = (self.piece + 1, 0);
        }
        Some(written)
    }
}

fn at_most(what: &'static str, value: u64, limit: u64) -> Result<(), LinkError> {
    if value > limit { Err(LinkError::TooLarge { what, value, limit }) } else { Ok(()) }
}

impl Outbox {
    pub(super) fn new(limit_bytes: u64) -> Outbox {
        Outbox { frames: VecDeque::new(), queued_bytes: 0, limit_bytes, ended: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub(super) fn has_room(&self, wire_len: u64) -> bool {
        self.is_empty() || self.queued_bytes + wire_len <= self.limit_bytes
    }

    pub(super) fn push(&mut self, frame: OutFrame, passes_descriptors: bool) -> Result<(), LinkError> {
        if self.ended {
            return Err(LinkError::Closed);
        }
        let wire_len = frame.wire_len();
        if !self.has_room(wire_len) {
            return Err(LinkError::Full { queued_bytes: self.queued_bytes, limit_bytes: self.limit_bytes });
        }
        self.frames.push_back(Waiting::new(frame, passes_descriptors)?);
        self.queued_bytes += wire_len;
        Ok(())
    }

    /// The last words of a handshake go before all frames, and are none.
    pub(super) fn push_words(&mut self, words: &[u8]) {
        // Their header counts as written.
        let waiting = Waiting { header: [0; HEADER_LEN], frame: OutFrame::new(words), piece: 1, offset: 0 };
        self.frames.push_back(waiting);
        self.queued_bytes += words.len() as u64;
    }

    /// Writes a short frame of a head alone at once, where nothing waits. What the channel does not take now waits.
    pub(super) fn send_head(&mut self, head: &[u8], channel: &mut Channel) -> Result<(), LinkError> {
        if head.len() > AT_ONCE_BYTES {
            return self.push(OutFrame::new(head), false);
        }
        self.send_at_once((Header::of_head(head.len()), head), || OutFrame::new(head), channel)
    }

    /// The same, of a word about rings.
    pub(super) fn send_word(&mut self, word: u8, channel: &mut Channel) -> Result<(), LinkError> {
        let (header, frame) = (Header::of_head(1), || OutFrame::of_rings(word, Vec::new()));
        self.send_at_once((Header { is_of_rings: true, ..header }, &[word]), frame, channel)
    }

    fn send_at_once(
        &mut self,
        (header, head): (Header, &[u8]),
        frame: impl FnOnce() -> OutFrame,
        channel: &mut Channel,
    ) -> Result<(), LinkError> {
        if !self.is_empty() || self.ended || channel.is_encrypted() || channel.has_faults() {
            return self.push(frame(), false);
        }
        let header = header.encode();
        let written = match channel.send(&[IoSlice::new(&header), IoSlice::new(head)], &[], CALL_LIMIT_BYTES)
        {
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => {
                self.discard();
                return Err(broken(error));
            }
        };
        if written < header.len() + head.len() {
            self.push(frame(), false)?;
            self.advance(written);
        }
        Ok(())
    }

    pub(super) fn discard(&mut self) {
        self.frames.clear();
        self.queued_bytes = 0;
        self.ended = true;
    }

    /// Fills `slices` with at most `limit` bytes of what waits. The descriptors of a frame go with its first byte, so a
    /// frame that has some begins a call.
    fn gather<'a>(&'a self, slices: &mut [IoSlice<'a>], limit: usize) -> (usize, &'a [Arc<OwnedFd>]) {
        let (mut used, mut left) = (0, limit);
        for (index, waiting) in self.frames.iter().enumerate() {
            if index > 0 && !waiting.frame.descriptors.is_empty() {
                break;
            }
            for rest in waiting.rest() {
                if used == slices.len() || left == 0 {
                    return (used, self.first_descriptors());
                }
                let taken = rest.len().min(left);
                slices[used] = IoSlice::new(&rest[..taken]);
                (used, left) = (used + 1, left - taken);
            }
        }
        (used, self.first_descriptors())
    }

    fn first_descriptors(&self) -> &[Arc<OwnedFd>] {
        match self.frames.front() {
            Some(first) if (first.piece, first.offset) == (0, 0) => &first.frame.descriptors,
            _ => &[],
        }
    }

    fn advance(&mut self, mut written: usize) {
        self.queued_bytes -= written as u64;
        while let Some(first) = self.frames.front_mut() {
            match first.advance(written) {
                Some(rest) => written = rest,
                None => break,
            }
            self.frames.pop_front();
        }
    }

    /// Whether something waits to be written.
    pub(super) fn wants_write(&self, channel: &Channel) -> bool {
        !self.is_empty() || (channel.wants_write() && !self.ended)
    }

    /// Writes as much of what waits as the channel takes now. After an error nothing more is sent, and what waited is
    /// discarded.
    pub(super) fn flush(&mut self, channel: &mut Channel) -> Result<Flushed, LinkError> {
        if !self.wants_write(channel) {
            return Ok(Flushed::All);
        }
        let mut moved = 0;
        while self.wants_write(channel) && moved < CALL_LIMIT_BYTES {
            let limit = CALL_LIMIT_BYTES - moved;
            let is_short = self.frames.len() == 1 && self.frames.front().is_none_or(Waiting::is_short);
            let written = match is_short {
                true => self.write_once::<SHORT_SLICES>(channel, limit),
                false => self.write_once::<SLICES>(channel, limit),
            };
            match written {
                Ok(written) => moved += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => {
                    self.discard();
                    return Err(broken(error));
                }
            }
        }
        if !self.wants_write(channel) {
            return Ok(Flushed::All);
        }
        if moved >= CALL_LIMIT_BYTES {
            channel.leave_unsent();
        }
        Ok(Flushed::Pending)
    }

    fn write_once<const SLICES: usize>(&mut self, channel: &mut Channel, limit: usize) -> io::Result<usize> {
        let limit = channel.send_limit(limit)?;
        let mut slices = [IoSlice::new(&[]); SLICES];
        let (used, descriptors) = self.gather(&mut slices, limit);
        let written = channel.send(&slices[..used], descriptors, limit)?;
        self.advance(written);
        Ok(written)
    }
}
