//! The receiving half: heads through a buffer, large bodies straight into their destination.

use super::{CALL_LIMIT_BYTES, Link, LinkError, broken};
use crate::channel::Channel;
use crate::frame::{DESCRIPTORS_LIMIT, FrameLimits, HEADER_LEN, Header, InFrame, at_most};
use crate::socket::ReceiveError;
use rustix::process::{Resource, getrlimit};
use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::os::fd::OwnedFd;

/// Bytes that are read ahead.
const BUFFER_BYTES: usize = 16 << 10;
/// A large head's memory grows by this at most before its bytes have come.
const HEAD_STEP_BYTES: usize = 1 << 20;
/// Most descriptors that may have come for frames that have not: those of one frame, and of one call.
const UNCLAIMED_LIMIT: u64 = 2 * DESCRIPTORS_LIMIT as u64;
/// Most runs that one call fills.
const SLICES: usize = 64;

#[derive(Default)]
pub(super) struct Inbox {
    /// Made with the first read: many links never read much.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// A head that is larger than the buffer, as far as it has come.
    large: Option<(Header, Vec<u8>)>,
    descriptors: VecDeque<OwnedFd>,
    /// Descriptors came that could not be taken, for a frame in the buffer.
    descriptors_lost: bool,
    pub(super) body_remaining: u64,
    ended: bool,
}

/// What reading came to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    Some,
    Nothing,
}

/// A frame of the link's user, or one of the link's own.
enum Parsed {
    Frame(InFrame),
    OfRings(InFrame),
    /// One of the link's own whose descriptors were lost on the way.
    Nothing,
}

impl Inbox {
    fn has_buffered(&self) -> bool {
        self.start < self.end
    }

    /// Whether all of a frame's head is here, or something that is none.
    pub(super) fn has_frame(&self) -> bool {
        let here = self.buffered().len();
        if let Some((header, head)) = &self.large {
            return here >= header.head_len as usize - head.len();
        }
        let header = self.buffered().first_chunk::<HEADER_LEN>();
        header.is_some_and(|header| match Header::decode(header, &FrameLimits::default()) {
            Ok(header) => here >= HEADER_LEN + header.head_len as usize,
            Err(_) => true,
        })
    }

    fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Takes up to `wanted` bytes out of the buffer.
    fn take(&mut self, wanted: usize) -> &[u8] {
        let taken = wanted.min(self.end - self.start);
        self.start += taken;
        &self.buffer[self.start - taken..self.start]
    }

    /// A frame, if the buffer has all of it.
    fn parse(&mut self, limits: &FrameLimits, descriptors_pass: bool) -> Result<Option<Parsed>, LinkError> {
        if self.large.is_some() {
            return self.parse_large();
        }
        let Some(header) = self.buffered().first_chunk::<HEADER_LEN>() else { return Ok(None) };
        let header = Header::decode(header, limits)?;
        if header.descriptors > 0 && !descriptors_pass {
            let value = header.descriptors.into();
            return Err(LinkError::Malformed {
                what: "number of descriptors over tcp or verbs",
                value,
                limit: 0,
            });
        }
        if header.is_of_rings {
            let (value, limit) = (header.head_len.into(), u64::from(descriptors_pass));
            at_most("head length of a frame about rings", value, limit)?;
            at_most("body length of a frame about rings", header.body_len, 0)?;
        }
        let head_len = header.head_len as usize;
        if HEADER_LEN + head_len > BUFFER_BYTES {
            self.take(HEADER_LEN);
            self.large = Some((header, Vec::new()));
            return self.parse_large();
        }
        if self.buffered().len() < HEADER_LEN + head_len {
            return Ok(None);
        }
        self.take(HEADER_LEN);
        let head = self.take(head_len).to_vec();
        self.finish(header, head).map(Some)
    }

    fn parse_large(&mut self) -> Result<Option<Parsed>, LinkError> {
        let Some((header, mut head)) = self.large.take() else { return Ok(None) };
        let missing = header.head_len as usize - head.len();
        head.extend_from_slice(self.take(missing));
        if head.len() < header.head_len as usize {
            self.large = Some((header, head));
            return Ok(None);
        }
        self.finish(header, head).map(Some)
    }

    fn finish(&mut self, header: Header, head: Vec<u8>) -> Result<Parsed, LinkError> {
        let wanted = usize::from(header.descriptors);
        let missing = self.descriptors.len() < wanted;
        if missing && std::mem::take(&mut self.descriptors_lost) {
            self.descriptors.clear();
            if !header.is_of_rings {
                return Err(descriptors_lost());
            }
            // No room for a ring: all goes on by the socket.
            return Ok(Parsed::Nothing);
        }
        if missing {
            let (value, limit) = (wanted as u64, self.descriptors.len() as u64);
            return Err(LinkError::Malformed {
                what: "number of descriptors, of which came fewer",
                value,
                limit,
            });
        }
        self.body_remaining = header.body_len;
        let descriptors = self.descriptors.drain(..wanted).collect();
        let frame = InFrame { head, body_len: header.body_len, descriptors };
        Ok(if header.is_of_rings { Parsed::OfRings(frame) } else { Parsed::Frame(frame) })
    }

    /// Reads once, into the large head or the buffer.
    fn fill(&mut self, channel: &mut Channel, limit: usize) -> Result<usize, ReceiveError> {
        match self.large.take() {
            Some((header, mut head)) => {
                let received = fill_large(channel, &header, &mut head, &mut self.descriptors, limit);
                self.large = Some((header, head));
                received
            }
            None => self.fill_buffer(channel, limit),
        }
    }

    /// Descriptors that could not be taken are missed by the frame that claims them, and by no other.
    fn fill_buffer(&mut self, channel: &mut Channel, limit: usize) -> Result<usize, ReceiveError> {
        self.buffer.resize(BUFFER_BYTES, 0);
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        let space = &mut self.buffer[self.end..];
        let space = IoSliceMut::new(&mut space[..limit.min(BUFFER_BYTES - self.end)]);
        let received = match channel.receive(&mut [space], &mut self.descriptors) {
            Err(ReceiveError::DescriptorsLost { received }) if received > 0 => {
                self.descriptors_lost = true;
                received
            }
            received => received?,
        };
        self.end += received;
        Ok(received)
    }

    fn is_between_frames(&self) -> bool {
        self.start == self.end && self.large.is_none() && self.body_remaining == 0
    }
}

fn descriptors_lost() -> LinkError {
    LinkError::DescriptorsLost { limit: getrlimit(Resource::Nofile).current }
}

fn fill_large(
    channel: &mut Channel,
    header: &Header,
    head: &mut Vec<u8>,
    descriptors: &mut VecDeque<OwnedFd>,
    limit: usize,
) -> Result<usize, ReceiveError> {
    let filled = head.len();
    let step = (header.head_len as usize - filled).min(HEAD_STEP_BYTES).min(limit);
    head.resize(filled + step, 0);
    let received = channel.receive(&mut [IoSliceMut::new(&mut head[filled..])], descriptors);
    head.truncate(filled + received.as_ref().unwrap_or(&0));
    received
}

impl Link {
    pub(super) fn next_frame(&mut self) -> Result<Option<InFrame>, LinkError> {
        if self.inbox.body_remaining > 0 {
            return Err(LinkError::BodyPending { remaining_bytes: self.inbox.body_remaining });
        }
        let mut read = None;
        loop {
            if let Some(frame) = self.next_without_asking()? {
                return Ok(Some(frame));
            }
            // One read is enough: what is left makes the descriptor readable, and a peer that sends without end does not
            // keep the caller. But what was read ahead the kernel does not know of.
            let goes_on = read.is_none() || (read == Some(Read::Some) && self.channel.reads_ahead());
            if goes_on {
                read = Some(self.read_once().or_else(|error| self.unless_the_ring_has_more(error))?);
            } else if self.ring_is_empty_for_sure()? {
                return Ok(None);
            }
        }
    }

    /// The next frame of those that are here already, in a ring or in the buffer.
    pub(super) fn next_without_asking(&mut self) -> Result<Option<InFrame>, LinkError> {
        let descriptors_pass = self.transport().passes_descriptors();
        loop {
            if self.inbox.ended {
                return Err(LinkError::Closed);
            }
            let from_ring = self.next_in_ring();
            if let Some(frame) = self.ending(from_ring)? {
                return Ok(Some(frame));
            }
            let parsed = self.inbox.parse(&self.limits, descriptors_pass);
            match self.ending(parsed)? {
                Some(Parsed::Frame(frame)) => {
                    let in_order = self.may_come_by_socket();
                    return self.ending(in_order).map(|()| Some(frame));
                }
                Some(Parsed::OfRings(frame)) => {
                    let agreed = self.agree_on_rings(frame);
                    self.ending(agreed)?;
                }
                Some(Parsed::Nothing) => {}
                None => return Ok(None),
            }
        }
    }

    /// A peer that goes may have left frames in its ring: they are heard first, and then the end.
    fn unless_the_ring_has_more(&mut self, error: LinkError) -> Result<Read, LinkError> {
        match error {
            LinkError::Closed | LinkError::Lost(_) if !self.ring_is_empty_for_sure()? => {
                self.inbox.ended = false;
                Ok(Read::Nothing)
            }
            error => Err(error),
        }
    }

    fn read_once(&mut self) -> Result<Read, LinkError> {
        let result = match self.read_limit(BUFFER_BYTES.max(HEAD_STEP_BYTES)) {
            Ok(limit) => self.inbox.fill(&mut self.channel, limit),
            Err(error) => Err(error.into()),
        };
        self.judge(result)
    }

    /// Turns what a call received into what it means: the end, an error, or nothing yet.
    fn judge(&mut self, result: Result<usize, ReceiveError>) -> Result<Read, LinkError> {
        let unclaimed = self.inbox.descriptors.len() as u64;
        let outcome = match result {
            Ok(_) if unclaimed > UNCLAIMED_LIMIT => Err(LinkError::Malformed {
                what: "number of descriptors that no frame claims",
                value: unclaimed,
                limit: UNCLAIMED_LIMIT,
            }),
            Ok(0) if self.inbox.is_between_frames() => Err(LinkError::Closed),
            Ok(0) => Err(LinkError::Lost(io::ErrorKind::UnexpectedEof.into())),
            Ok(_) => Ok(Read::Some),
            Err(ReceiveError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Ok(Read::Nothing),
            // A peer that closes with a bell unheard resets the connection.
            Err(ReceiveError::Io(error))
                if error.kind() == io::ErrorKind::ConnectionReset
                    && self.has_rings()
                    && self.inbox.is_between_frames() =>
            {
                Err(LinkError::Closed)
            }
            Err(ReceiveError::Io(error)) => Err(broken(error)),
            Err(ReceiveError::DescriptorsLost { .. }) => Err(descriptors_lost()),
        };
        self.ending(outcome)
    }

    /// After an error nothing more is read: the place in the stream of bytes is lost.
    fn ending<T>(&mut self, result: Result<T, LinkError>) -> Result<T, LinkError> {
        self.inbox.ended |= result.is_err();
        result
    }

    /// Receives bytes of the body into the runs of `destination`, one after the other, as many as are here (at most
    /// [`CALL_LIMIT_BYTES`]); says how many. 0: none are here, or the body is complete, or there is no room. To go on,
    /// the caller advances its runs (`IoSliceMut::advance_slices`).
    ///
    /// # Errors
    /// [`LinkError::Lost`]: the body will not be completed.
    pub fn recv_body(&mut self, destination: &mut [IoSliceMut<'_>]) -> Result<usize, LinkError> {
        let mut cursor = Cursor { index: 0, offset: 0 };
        let mut moved = self.take_buffered(destination, &mut cursor);
        while self.inbox.body_remaining > 0 && moved < CALL_LIMIT_BYTES {
            if self.inbox.ended {
                return Err(LinkError::Closed);
            }
            let Some(received) = self.receive_runs(destination, &cursor, CALL_LIMIT_BYTES - moved)? else {
                break;
            };
            cursor.advance(destination, received);
            self.inbox.body_remaining -= received as u64;
            moved += received;
        }
        Ok(moved)
    }

    fn take_buffered(&mut self, destination: &mut [IoSliceMut<'_>], cursor: &mut Cursor) -> usize {
        let mut moved = 0;
        while self.inbox.body_remaining > 0 && self.inbox.has_buffered() {
            let Some(run) = cursor.run(destination) else { break };
            let wanted = run.len().min(usize::try_from(self.inbox.body_remaining).unwrap_or(usize::MAX));
            let bytes = self.inbox.take(wanted);
            run[..bytes.len()].copy_from_slice(bytes);
            let taken = bytes.len();
            cursor.advance(destination, taken);
            self.inbox.body_remaining -= taken as u64;
            moved += taken;
        }
        moved
    }

    /// One call into what is left of the runs. `None`: nothing is here, or there is no room.
    fn receive_runs(
        &mut self,
        destination: &mut [IoSliceMut<'_>],
        cursor: &Cursor,
        limit: usize,
    ) -> Result<Option<usize>, LinkError> {
        let limit = limit.min(usize::try_from(self.inbox.body_remaining).unwrap_or(usize::MAX));
        let result = match self.read_limit(limit) {
            Ok(limit) => {
                let mut slices: [IoSliceMut<'_>; SLICES] = std::array::from_fn(|_| IoSliceMut::new(&mut []));
                let used = cursor.scatter(destination, &mut slices, limit);
                if used == 0 {
                    return Ok(None);
                }
                self.channel.receive(&mut slices[..used], &mut self.inbox.descriptors)
            }
            Err(error) => Err(error.into()),
        };
        let received = *result.as_ref().unwrap_or(&0);
        match self.judge(result)? {
            Read::Some => Ok(Some(received)),
            Read::Nothing => Ok(None),
        }
    }

    /// Throws bytes of the body away, as many as are here; says how many are left.
    ///
    /// # Errors
    /// As [`Link::recv_body`].
    pub fn skip_body(&mut self) -> Result<u64, LinkError> {
        let mut scratch =
            vec![0; usize::try_from(self.inbox.body_remaining).unwrap_or(usize::MAX).min(BUFFER_BYTES)];
        while self.recv_body(&mut [IoSliceMut::new(&mut scratch)])? > 0 {}
        Ok(self.inbox.body_remaining)
    }

    fn read_limit(&mut self, limit: usize) -> io::Result<usize> {
        #[cfg(feature = "testing")]
        let limit = self.faults.before_receive(limit, &mut self.channel)?;
        Ok(limit)
    }
}

/// How far the runs of a destination are filled.
struct Cursor {
    index: usize,
    offset: usize,
}

impl Cursor {
    /// The rest of the first run that is not full.
    fn run<'a>(&mut self, destination: &'a mut [IoSliceMut<'_>]) -> Option<&'a mut [u8]> {
        while destination.get(self.index)?.len() == self.offset {
            (self.index, self.offset) = (self.index + 1, 0);
        }
        destination.get_mut(self.index)?.get_mut(self.offset..)
    }

    fn advance(&mut self, destination: &[IoSliceMut<'_>], mut bytes: usize) {
        while let Some(run) = destination.get(self.index) {
            let left = run.len() - self.offset;
            if bytes < left {
                self.offset += bytes;
                return;
            }
            bytes -= left;
            (self.index, self.offset) = (self.index + 1, 0);
        }
    }

    /// Fills `slices` with what is left of the runs, at most `limit` bytes; says how many slices.
    fn scatter<'a>(
        &self,
        destination: &'a mut [IoSliceMut<'_>],
        slices: &mut [IoSliceMut<'a>; SLICES],
        limit: usize,
    ) -> usize {
        let (mut used, mut left, mut offset) = (0, limit, self.offset);
        for run in destination.iter_mut().skip(self.index) {
            let rest = run.get_mut(std::mem::take(&mut offset)..).unwrap_or_default();
            let taken = rest.len().min(left);
            if used == SLICES || left == 0 {
                break;
            }
            if taken > 0 {
                slices[used] = IoSliceMut::new(&mut rest[..taken]);
                (used, left) = (used + 1, left - taken);
            }
        }
        used
    }
}
