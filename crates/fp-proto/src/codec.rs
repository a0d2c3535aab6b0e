//! Messages to bytes and back: bincode, behind this one module so that a successor can replace it.
//!
//! Integers are little-endian and of variable length. Input is bounded, every byte must be used, and the counts
//! inside are checked before a message is believed.
//!
//! bincode is no longer developed: it is pinned, and the bytes of each version are kept as tests
//! (`docs/decisions/0012-codecs-of-messages-and-tables.md`).

use crate::bounds::LIMIT_LONG_BYTES;
pub use crate::bounds::LIMIT_MESSAGE_BYTES;
use crate::message::Message;
use bincode::enc::write::Writer;
use bincode::error::EncodeError;

/// Why bytes are no message.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The input is too long.
    #[error("a message of {len_bytes} bytes is longer than {limit_bytes}")]
    TooLong {
        /// Its length.
        len_bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
    /// The bytes are not those of a message.
    #[error("malformed message: {0}")]
    Malformed(bincode::error::DecodeError),
    /// Something follows the message.
    #[error("{trailing} bytes follow the message")]
    Trailing {
        /// How many.
        trailing: usize,
    },
    /// A part is out of its bound.
    #[error("{0} is out of its bound")]
    OutOfBounds(&'static str),
}

impl From<bincode::error::DecodeError> for DecodeError {
    fn from(error: bincode::error::DecodeError) -> Self {
        Self::Malformed(error)
    }
}

/// Room that bytes get at first: most messages of a step fit in.
const USUAL_BYTES: usize = 128;

/// Bytes that are written one after the other.
struct Written(Vec<u8>);

impl Writer for Written {
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// The bytes of anything that travels.
pub(crate) fn to_bytes<T: serde::Serialize>(value: &T) -> Vec<u8> {
    to_bytes_of(value, 0)
}

/// The same of something that has so many bytes in it.
pub(crate) fn to_bytes_of<T: serde::Serialize>(value: &T, more_bytes: usize) -> Vec<u8> {
    let mut written = Written(Vec::with_capacity(USUAL_BYTES + more_bytes));
    // Encoding into memory fails only for types that cannot be encoded at all, and ours can.
    match bincode::serde::encode_into_writer(value, &mut written, bincode::config::standard()) {
        Ok(()) => written.0,
        Err(_) => Vec::new(),
    }
}

/// What these bytes, at most `LIMIT` of them, are.
pub(crate) fn from_bytes<T: serde::de::DeserializeOwned, const LIMIT: usize>(
    bytes: &[u8],
) -> Result<T, DecodeError> {
    if bytes.len() > LIMIT {
        return Err(DecodeError::TooLong { len_bytes: bytes.len(), limit_bytes: LIMIT });
    }
    let config = bincode::config::standard().with_limit::<LIMIT>();
    let (value, used): (T, usize) = bincode::serde::decode_from_slice(bytes, config)?;
    if used != bytes.len() {
        return Err(DecodeError::Trailing { trailing: bytes.len() - used });
    }
    Ok(value)
}

/// The bytes of a message.
pub fn encode(message: &Message) -> Vec<u8> {
    to_bytes(message)
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
    let message: Message = from_bytes::<_, LIMIT_MESSAGE_BYTES>(bytes)?;
    message.check().map_err(DecodeError::OutOfBounds)?;
    Ok(message)
}
