//! The receiving half: heads through a buffer, large bodies straight into their destination.

use super::CALL_LIMIT_BYTES;
use super::body_cursor::{BodyCursor, SLICES};
use super::error::{LinkError, broken};
use crate::channel::Channel;
use crate::frame::{BadHeader, DESCRIPTORS_LIMIT, FrameLimits, HEADER_LEN, Header, InFrame, at_most};
use crate::head::Head;
use crate::hello::{REPLY_LEN, Reply};
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

impl From<BadHeader> for LinkError {
    fn from(BadHeader { what, value, limit }: BadHeader) -> Self {
        LinkError::Malformed { what, value, limit }
    }
}

#[derive(Default)]
pub(super) struct Inbox {
    /// Made with the first read: many links never read much.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// A head that is larger than the buffer, as far as it has come.
    large: Option<(Header, Head)>,
    descriptors: VecDeque<OwnedFd>,
    /// Descriptors came that could not be taken, for a frame in the buffer.
    descriptors_lost: bool,
    pub(super) body_remaining: u64,
    pub(super) ended: bool,
    /// The listener is still to say that the proof was right.
    pub(super) awaits_reply: bool,
}

/// A frame of the link's user, or one of the link's own.
pub(super) enum Parsed {
    Frame(InFrame),
    OfRings(InFrame),
    /// One of the link's own whose descriptors were lost on the way.
    Nothing,
}

impl Inbox {
    /// Whether all of a frame's head is here, or something that is none.
    pub(super) fn has_frame(&self) -> bool {
        let here = self.buffered().len();
        if self.awaits_reply {
            return here >= REPLY_LEN;
        }
        if let Some((header, head)) = &self.large {
            return here >= header.head_len as usize - head.len();
        }
        let header = self.buffered().first_chunk::<HEADER_LEN>();
        header.is_some_and(|header| match Header::decode(header, &FrameLimits::default()) {
            Ok(header) => here >= HEADER_LEN + header.head_len as usize,
            Err(_) => true,
        })
    }

    /// Whether nothing that was read is left, and more may come.
    pub(super) fn is_idle(&self) -> bool {
        self.is_empty() && !self.ended && self.body_remaining == 0
    }

    /// Whether nothing was read that is no frame yet.
    pub(super) fn is_empty(&self) -> bool {
        self.start == self.end && self.large.is_none()
    }

    /// Hears that the proof was right, which comes before all frames; whether they may be looked at.
    pub(super) fn hear_reply(&mut self) -> Result<bool, LinkError> {
        if !self.awaits_reply {
            return Ok(true);
        }
        let Some(bytes) = self.buffered().first_chunk::<REPLY_LEN>() else { return Ok(false) };
        match Reply::decode(bytes).map(|reply| reply.outcome) {
            Some(Ok(_)) => {}
            Some(Err(refusal)) => return Err(LinkError::Lost(io::Error::other(refusal.to_string()))),
            None => return Err(LinkError::Lost(io::Error::other("what came is no answer to the proof"))),
        }
        self.take(REPLY_LEN);
        self.awaits_reply = false;
        Ok(true)
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
    pub(super) fn parse(
        &mut self,
        limits: &FrameLimits,
        descriptors_pass: bool,
    ) -> Result<Option<Parsed>, LinkError> {
        if self.large.is_some() {
            return self.parse_large();
        }
        let Some(header) = self.buffered().first_chunk::<HEADER_LEN>() else { return Ok(None) };
        let header = Header::decode(header, limits)?;
        if !descriptors_pass {
            at_most("number of descriptors over tcp or verbs", header.descriptors.into(), 0)?;
        }
        if header.is_of_rings {
            let (value, limit) = (header.head_len.into(), u64::from(descriptors_pass));
            at_most("head length of a frame about rings", value, limit)?;
            at_most("body length of a frame about rings", header.body_len, 0)?;
        }
        let head_len = header.head_len as usize;
        if HEADER_LEN + head_len > BUFFER_BYTES {
            self.take(HEADER_LEN);
            self.large = Some((header, Head::new()));
            return self.parse_large();
        }
        if self.buffered().len() < HEADER_LEN + head_len {
            return Ok(None);
        }
        self.take(HEADER_LEN);
        let head = Head::from(self.take(head_len));
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

    fn finish(&mut self, header: Header, head: Head) -> Result<Parsed, LinkError> {
        let wanted = usize::from(header.descriptors);
        if self.descriptors.len() < wanted && std::mem::take(&mut self.descriptors_lost) {
            self.descriptors.clear();
            if !header.is_of_rings {
                return Err(descriptors_lost());
            }
            // No room for a ring: all goes on by the socket.
            return Ok(Parsed::Nothing);
        }
        let came = self.descriptors.len() as u64;
        at_most("number of descriptors, of which came fewer", wanted as u64, came)?;
        self.body_remaining = header.body_len;
        let descriptors = self.descriptors.drain(..wanted).collect();
        let frame = InFrame { head, body_len: header.body_len, descriptors };
        Ok(if header.is_of_rings { Parsed::OfRings(frame) } else { Parsed::Frame(frame) })
    }

    /// Reads once, into the large head or the buffer.
    fn fill(&mut self, channel: &mut Channel, limit: usize) -> Result<usize, ReceiveError> {
        let Some((header, head)) = &mut self.large else { return self.fill_buffer(channel, limit) };
        let filled = head.len();
        let step = (header.head_len as usize - filled).min(HEAD_STEP_BYTES).min(limit);
        head.grow(step);
        let received = channel.receive(&mut [IoSliceMut::new(&mut head[filled..])], &mut self.descriptors);
        head.truncate(filled + received.as_ref().unwrap_or(&0));
        received
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

    /// Reads once; says how many bytes. `has_rings`: whether frames may come by a ring.
    pub(super) fn read_once(
        &mut self,
        channel: &mut Channel,
        has_rings: bool,
    ) -> Result<Option<usize>, LinkError> {
        let result = match channel.receive_limit(BUFFER_BYTES.max(HEAD_STEP_BYTES)) {
            Ok(limit) => self.fill(channel, limit),
            Err(error) => Err(error.into()),
        };
        self.judge(result, has_rings)
    }

    /// Turns what a call received into what it means: the end, an error, or nothing yet (`None`).
    fn judge(
        &mut self,
        result: Result<usize, ReceiveError>,
        has_rings: bool,
    ) -> Result<Option<usize>, LinkError> {
        let unclaimed = self.descriptors.len() as u64;
        let outcome = match result {
            Ok(_) if unclaimed > UNCLAIMED_LIMIT => Err(LinkError::Malformed {
                what: "number of descriptors that no frame claims",
                value: unclaimed,
                limit: UNCLAIMED_LIMIT,
            }),
            Ok(0) if self.awaits_reply => Err(handshake_unfinished()),
            Ok(0) if self.is_between_frames() => Err(LinkError::Closed),
            Ok(0) => Err(LinkError::Lost(io::ErrorKind::UnexpectedEof.into())),
            Ok(received) => Ok(Some(received)),
            Err(ReceiveError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            // A peer that closes with a bell unheard resets the connection.
            Err(ReceiveError::Io(error))
                if error.kind() == io::ErrorKind::ConnectionReset
                    && has_rings
                    && self.is_between_frames() =>
            {
                Err(LinkError::Closed)
            }
            Err(ReceiveError::Io(error)) => Err(broken(error)),
            Err(ReceiveError::DescriptorsLost { .. }) => Err(descriptors_lost()),
        };
        self.ending(outcome)
    }

    /// After an error nothing more is read: the place in the stream of bytes is lost.
    pub(super) fn ending<T>(&mut self, result: Result<T, LinkError>) -> Result<T, LinkError> {
        self.ended |= result.is_err();
        result
    }

    /// Receives bytes of the body into the runs of `destination`, as [`super::Link::recv_body`] says.
    pub(super) fn recv_body(
        &mut self,
        channel: &mut Channel,
        destination: &mut [IoSliceMut<'_>],
    ) -> Result<usize, LinkError> {
        let mut cursor = BodyCursor::default();
        let mut moved = self.take_buffered(destination, &mut cursor);
        while self.body_remaining > 0 && moved < CALL_LIMIT_BYTES {
            if self.ended {
                return Err(LinkError::Closed);
            }
            let limit = CALL_LIMIT_BYTES - moved;
            let Some(received) = self.receive_runs(channel, destination, &cursor, limit)? else {
                break;
            };
            cursor.advance(destination, received);
            self.body_remaining -= received as u64;
            moved += received;
        }
        Ok(moved)
    }

    fn take_buffered(&mut self, destination: &mut [IoSliceMut<'_>], cursor: &mut BodyCursor) -> usize {
        let mut moved = 0;
        while self.body_remaining > 0 && self.start < self.end {
            let Some(run) = cursor.run(destination) else { break };
            let wanted = run.len().min(usize::try_from(self.body_remaining).unwrap_or(usize::MAX));
            let bytes = self.take(wanted);
            run[..bytes.len()].copy_from_slice(bytes);
            let taken = bytes.len();
            cursor.advance(destination, taken);
            self.body_remaining -= taken as u64;
            moved += taken;
        }
        moved
    }

    /// One call into what is left of the runs. `None`: nothing is here, or there is no room.
    fn receive_runs(
        &mut self,
        channel: &mut Channel,
        destination: &mut [IoSliceMut<'_>],
        cursor: &BodyCursor,
        limit: usize,
    ) -> Result<Option<usize>, LinkError> {
        let limit = limit.min(usize::try_from(self.body_remaining).unwrap_or(usize::MAX));
        let result = match channel.receive_limit(limit) {
            Ok(limit) => {
                let mut slices: [IoSliceMut<'_>; SLICES] = std::array::from_fn(|_| IoSliceMut::new(&mut []));
                let used = cursor.scatter(destination, &mut slices, limit);
                if used == 0 {
                    return Ok(None);
                }
                channel.receive(&mut slices[..used], &mut self.descriptors)
            }
            Err(error) => Err(error.into()),
        };
        // A body is the middle of a frame: no ring has anything to do with its end.
        self.judge(result, false)
    }

    /// Throws bytes of the body away, as many as are here; says how many are left.
    pub(super) fn skip_body(&mut self, channel: &mut Channel) -> Result<u64, LinkError> {
        let mut scratch =
            vec![0; usize::try_from(self.body_remaining).unwrap_or(usize::MAX).min(BUFFER_BYTES)];
        while self.recv_body(channel, &mut [IoSliceMut::new(&mut scratch)])? > 0 {}
        Ok(self.body_remaining)
    }

    fn is_between_frames(&self) -> bool {
        self.is_empty() && self.body_remaining == 0 && !self.awaits_reply
    }
}

fn handshake_unfinished() -> LinkError {
    let kind = io::ErrorKind::UnexpectedEof;
    LinkError::Lost(io::Error::new(kind, "the last words of the handshake did not come"))
}

fn descriptors_lost() -> LinkError {
    LinkError::DescriptorsLost { limit: getrlimit(Resource::Nofile).current }
}
