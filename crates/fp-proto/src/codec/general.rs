//! Values to bytes and back by bincode. Whoever follows it as the codec replaces this file.

use bincode::enc::write::Writer;
use bincode::error::EncodeError;
use smallvec::SmallVec;

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

/// Room that bytes have without asking for memory: most messages of a step fit in.
pub(super) const USUAL_BYTES: usize = 128;

/// The bytes of a message.
pub type MessageBytes = SmallVec<[u8; USUAL_BYTES]>;

/// Bytes that are written one after the other, one at a time as a rule.
struct Written {
    short: [u8; USUAL_BYTES],
    len: usize,
    /// All of them, once they are more.
    long: Vec<u8>,
}

impl Written {
    fn new() -> Self {
        Self { short: [0; USUAL_BYTES], len: 0, long: Vec::new() }
    }

    #[cold]
    fn write_long(&mut self, bytes: &[u8]) {
        if self.long.is_empty() {
            self.long.reserve(2 * (USUAL_BYTES + bytes.len()));
            self.long.extend_from_slice(&self.short[..self.len]);
            self.len = USUAL_BYTES;
        }
        self.long.extend_from_slice(bytes);
    }

    fn into_bytes(self) -> MessageBytes {
        match self.long.is_empty() {
            true => MessageBytes::from_buf_and_len(self.short, self.len),
            false => MessageBytes::from_vec(self.long),
        }
    }
}

impl Writer for Written {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
        match (self.short.get_mut(self.len..), bytes) {
            (Some([next, ..]), &[byte]) => {
                *next = byte;
                self.len += 1;
            }
            (Some(rest), bytes) if bytes.len() <= rest.len() => {
                rest[..bytes.len()].copy_from_slice(bytes);
                self.len += bytes.len();
            }
            _ => self.write_long(bytes),
        }
        Ok(())
    }
}

/// The bytes of anything that travels.
pub(crate) fn to_bytes<T: serde::Serialize>(value: &T) -> MessageBytes {
    let mut written = Written::new();
    // Encoding into memory fails only for types that cannot be encoded at all, and ours can.
    match bincode::serde::encode_into_writer(value, &mut written, bincode::config::standard()) {
        Ok(()) => written.into_bytes(),
        Err(_) => MessageBytes::new(),
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
