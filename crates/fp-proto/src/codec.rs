//! Messages to bytes and back: bincode, behind `codec/general.rs` so that a successor can replace it.
//!
//! Integers are little-endian and of variable length. Input is bounded, every byte must be used, and the counts
//! inside are checked before a message is believed. The messages that every step takes have a way of their own, with the
//! same bytes (`codec/short.rs`).
//!
//! bincode is no longer developed: it is pinned, and the bytes of each version are kept as tests
//! (`docs/decisions/0012-codecs-of-messages-and-tables.md`).

mod general;
mod placed;
mod short;

use crate::bounds::LIMIT_LONG_BYTES;
pub use crate::bounds::LIMIT_MESSAGE_BYTES;
use crate::data::{DataMessage, InlineBlock, LIMIT_DATA_BYTES, PlacedRef, Placement};
use crate::message::Message;
use fp_types::StepId;
pub use general::{DecodeError, MessageBytes};
pub(crate) use general::{from_bytes, to_bytes};

/// The bytes of a message.
pub fn encode(message: &Message) -> MessageBytes {
    short::encode(message).unwrap_or_else(|| to_bytes(message))
}

/// The message that these bytes, which came in fragments, make up; its bounds are the receiver's to check.
pub(crate) fn decode_long(bytes: &[u8]) -> Result<Message, DecodeError> {
    from_bytes::<_, LIMIT_LONG_BYTES>(bytes)
}

/// The message of these bytes.
///
/// # Errors
/// If they are not exactly one message within its bounds.
pub fn decode(bytes: &[u8]) -> Result<Message, DecodeError> {
    // What is short has nothing that could be out of bounds.
    if let Some(message) = short::decode(bytes) {
        return Ok(message);
    }
    let message: Message = from_bytes::<_, LIMIT_MESSAGE_BYTES>(bytes)?;
    message.check().map_err(DecodeError::OutOfBounds)?;
    Ok(message)
}

impl<'a> InlineBlock<'a> {
    /// Writes the message that says so.
    pub fn encode_into(&self, into: &mut Vec<u8>) {
        into.clear();
        short::encode_inline(self, into);
    }

    /// What these bytes say, if it is that and nothing else.
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        short::decode_inline(bytes)
    }
}

impl<'a> Placement<'a> {
    /// The bytes of the message that says where these blocks are.
    pub fn encode(step: StepId, request: Option<u64>, blocks: &[PlacedRef<'_>]) -> MessageBytes {
        placed::encode(step, request, blocks)
    }

    /// Whether these bytes may be such a message.
    pub fn begins(bytes: &[u8]) -> bool {
        placed::begins(bytes)
    }

    /// What these bytes say, if it is that and within its bounds. What is not may be a message all the same.
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        placed::decode(bytes)
    }

    /// The blocks, in the order of the message.
    pub fn blocks(&self) -> impl Iterator<Item = PlacedRef<'a>> + use<'a> {
        placed::blocks(self)
    }
}

impl DataMessage {
    /// The bytes of this message.
    pub fn encode(&self) -> MessageBytes {
        short::encode_data(self).unwrap_or_else(|| to_bytes(self))
    }

    /// The message of these bytes.
    ///
    /// # Errors
    /// If they are not exactly one message within its bounds.
    pub fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        let message = match short::decode_data(bytes) {
            Some(message) => message,
            None => from_bytes::<_, LIMIT_DATA_BYTES>(bytes)?,
        };
        message.check().map_err(DecodeError::OutOfBounds)?;
        Ok(message)
    }
}
