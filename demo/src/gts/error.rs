//! Why a part could not go on.

use crate::shared::error::StreamError;

/// Why a part could not go on.
#[derive(Debug, thiserror::Error)]
pub enum GtsError {
    /// The streams.
    #[error(transparent)]
    Stream(StreamError),
    /// A part of an array that cannot be.
    #[error("{count} elements from {first} on are no part of an array")]
    NoPart {
        /// Its first element.
        first: u64,
        /// How many elements.
        count: u64,
    },
    /// Another step than the one that belongs here.
    #[error("stream {stream} is at step {found:?}, but {expected:?} is wanted")]
    OutOfStep {
        /// The stream.
        stream: &'static str,
        /// The step wanted; none where the stream should be over.
        expected: Option<u64>,
        /// The one that came; none at the stream's end.
        found: Option<u64>,
    },
    /// Another number of elements than there should be.
    #[error("{variable}: {found} elements, but {expected} are wanted")]
    WrongCount {
        /// The variable.
        variable: String,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
}

impl<E> From<E> for GtsError
where
    StreamError: From<E>,
{
    fn from(error: E) -> Self {
        GtsError::Stream(error.into())
    }
}
