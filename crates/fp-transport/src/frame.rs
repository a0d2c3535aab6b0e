//! Frames: what a link carries. A small head, a body of any length, and descriptors (over unix sockets).
//!
//! On the wire, integers little endian: head length (u32), kind (u16), number of descriptors (u16), body length (u64),
//! then the head, then the body. Lengths are checked before anything is allocated.

use crate::head::Head;
use crate::memory::Payload;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Bytes of a frame's header.
pub const HEADER_LEN: usize = 16;
/// Kind of the frames that a link's user sends. A value that is no kind shows that the stream of bytes is corrupt.
pub const FRAME_KIND: u16 = 0x5046;
/// Kind of the frames by which the two ends of a link agree on their rings.
pub const RING_KIND: u16 = 0x5052;
/// Most descriptors of a frame.
pub const DESCRIPTORS_LIMIT: usize = 16;
/// Longest head in bytes.
pub const HEAD_LIMIT_BYTES: u32 = 16 << 20;

/// What a link accepts of its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameLimits {
    /// Longest head in bytes, at most [`HEAD_LIMIT_BYTES`].
    pub head_bytes: u32,
    /// Longest body in bytes. The link allocates nothing for a body.
    pub body_bytes: u64,
}

impl Default for FrameLimits {
    fn default() -> Self {
        FrameLimits { head_bytes: HEAD_LIMIT_BYTES, body_bytes: 1 << 40 }
    }
}

/// A frame to send.
#[derive(Debug, Clone, Default)]
pub struct OutFrame {
    /// The small part.
    pub head: Head,
    /// The body: pieces of payload, gathered straight from where they lie and kept alive until written.
    pub body: Vec<Payload>,
    /// Descriptors for the peer (inproc and shm only).
    pub descriptors: Vec<Arc<OwnedFd>>,
    pub(crate) is_of_rings: bool,
}

impl OutFrame {
    /// A frame of a head alone.
    pub fn new(head: impl Into<Head>) -> OutFrame {
        OutFrame { head: head.into(), ..OutFrame::default() }
    }

    /// Sets the body.
    #[must_use]
    pub fn with_body(mut self, body: Vec<Payload>) -> Self {
        self.body = body;
        self
    }

    /// Adds a descriptor.
    #[must_use]
    pub fn with_descriptor(mut self, descriptor: Arc<OwnedFd>) -> Self {
        self.descriptors.push(descriptor);
        self
    }

    /// One of the link's own, by which its ends agree on their rings.
    pub(crate) fn of_rings(word: u8, descriptors: Vec<Arc<OwnedFd>>) -> OutFrame {
        OutFrame { head: Head::from(&[word][..]), body: Vec::new(), descriptors, is_of_rings: true }
    }

    pub(crate) fn header(&self) -> Header {
        Header {
            head_len: u32::try_from(self.head.len()).unwrap_or(u32::MAX),
            is_of_rings: self.is_of_rings,
            descriptors: u16::try_from(self.descriptors.len()).unwrap_or(u16::MAX),
            body_len: self.body_len(),
        }
    }

    /// Bytes of the body.
    pub fn body_len(&self) -> u64 {
        self.body.iter().map(|payload| payload.len() as u64).sum()
    }

    /// Bytes on the wire.
    pub fn wire_len(&self) -> u64 {
        HEADER_LEN as u64 + self.head.len() as u64 + self.body_len()
    }
}

/// A received frame. Its body, if it has one, must be received or skipped next.
#[derive(Debug, Default)]
pub struct InFrame {
    /// The small part.
    pub head: Head,
    /// Bytes of the body.
    pub body_len: u64,
    /// Descriptors, close-on-exec.
    pub descriptors: Vec<OwnedFd>,
}

/// A frame's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the head.
    pub head_len: u32,
    /// Whether it is one of the link's own ([`RING_KIND`]).
    pub is_of_rings: bool,
    /// Number of descriptors.
    pub descriptors: u16,
    /// Bytes of the body.
    pub body_len: u64,
}

/// A header that cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed frame: {what} is {value}, limit {limit}")]
pub struct BadHeader {
    /// What is wrong.
    pub what: &'static str,
    /// Its value.
    pub value: u64,
    /// The largest (or only) value it may have.
    pub limit: u64,
}

impl Header {
    /// That of a frame which is a head alone.
    pub(crate) fn of_head(len_bytes: usize) -> Header {
        let head_len = u32::try_from(len_bytes).unwrap_or(u32::MAX);
        Header { head_len, is_of_rings: false, descriptors: 0, body_len: 0 }
    }

    /// The bytes.
    pub fn encode(&self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[0..4].copy_from_slice(&self.head_len.to_le_bytes());
        let kind = if self.is_of_rings { RING_KIND } else { FRAME_KIND };
        bytes[4..6].copy_from_slice(&kind.to_le_bytes());
        bytes[6..8].copy_from_slice(&self.descriptors.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.body_len.to_le_bytes());
        bytes
    }

    /// Reads and checks the bytes.
    ///
    /// # Errors
    /// [`BadHeader`], naming what is wrong.
    pub fn decode(bytes: &[u8; HEADER_LEN], limits: &FrameLimits) -> Result<Header, BadHeader> {
        let [a, b, c, d, e, f, g, h, body @ ..] = *bytes;
        let kind = u16::from_le_bytes([e, f]);
        if kind != FRAME_KIND && kind != RING_KIND {
            return Err(BadHeader { what: "kind", value: kind.into(), limit: FRAME_KIND.into() });
        }
        let header = Header {
            head_len: u32::from_le_bytes([a, b, c, d]),
            is_of_rings: kind == RING_KIND,
            descriptors: u16::from_le_bytes([g, h]),
            body_len: u64::from_le_bytes(body),
        };
        at_most("head length", header.head_len.into(), limits.head_bytes.min(HEAD_LIMIT_BYTES).into())?;
        at_most("number of descriptors", header.descriptors.into(), DESCRIPTORS_LIMIT as u64)?;
        at_most("body length", header.body_len, limits.body_bytes)?;
        Ok(header)
    }
}

/// Checks a length.
pub(crate) fn at_most(what: &'static str, value: u64, limit: u64) -> Result<(), BadHeader> {
    if value > limit { Err(BadHeader { what, value, limit }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_header_is_these_bytes() {
        let header = Header { head_len: 0x0102, is_of_rings: false, descriptors: 3, body_len: 0x0a0b_0c0d };
        assert_eq!(header.encode(), *b"\x02\x01\x00\x00\x46\x50\x03\x00\x0d\x0c\x0b\x0a\x00\x00\x00\x00");
        assert_eq!(Header { is_of_rings: true, ..header }.encode()[4..6], *b"\x52\x50");
    }

    proptest! {
        #[test]
        fn sound_headers_survive(head_len in 0..=HEAD_LIMIT_BYTES, is_of_rings in any::<bool>(), descriptors in 0u16..=16, body_len in 0..=1u64 << 40) {
            let header = Header { head_len, is_of_rings, descriptors, body_len };
            prop_assert_eq!(Header::decode(&header.encode(), &FrameLimits::default()), Ok(header));
        }

        /// Any bytes are a header within the limits or an error that names a value beyond them.
        #[test]
        fn hostile_headers_are_refused(mut bytes in any::<[u8; HEADER_LEN]>(), kind in any::<bool>(), head_bytes in any::<u32>(), body_bytes in any::<u64>()) {
            if kind { bytes[4..6].copy_from_slice(&FRAME_KIND.to_le_bytes()); }
            let limits = FrameLimits { head_bytes, body_bytes };
            match Header::decode(&bytes, &limits) {
                Ok(header) => {
                    prop_assert!(header.head_len <= head_bytes && header.head_len <= HEAD_LIMIT_BYTES);
                    prop_assert!(header.body_len <= body_bytes && header.descriptors <= 16);
                    prop_assert_eq!(header.encode(), bytes);
                }
                Err(bad) => prop_assert!(bad.value > bad.limit || bad.what == "kind"),
            }
        }
    }
}
