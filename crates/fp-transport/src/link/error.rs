//! What can go wrong with a link, with the offending values.

use std::io;

/// An error of a link. After [`LinkError::Malformed`], [`LinkError::Closed`] and [`LinkError::Lost`] it is of no more
/// use in that direction.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The frame was not taken: the queue has no room now.
    #[error("the link's queue is full: {queued_bytes} bytes queued, limit {limit_bytes}")]
    Full {
        /// Bytes that wait.
        queued_bytes: u64,
        /// Most bytes that may wait.
        limit_bytes: u64,
    },
    /// The peer sent what cannot be.
    #[error("malformed frame: {what} is {value}, limit {limit}")]
    Malformed {
        /// What is wrong.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The largest value it may have.
        limit: u64,
    },
    /// The frame was not taken: it is larger than a frame may be.
    #[error("the frame's {what} is {value}, limit {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The largest value it may have.
        limit: u64,
    },
    /// The last frame's body must be received or skipped first.
    #[error("{remaining_bytes} bytes of the last frame's body are still to be received")]
    BodyPending {
        /// Bytes of the body that are left.
        remaining_bytes: u64,
    },
    /// Descriptors came that this process has no room for.
    #[error("descriptors were lost on the way in: the limit of open files is {limit:?}")]
    DescriptorsLost {
        /// `RLIMIT_NOFILE`, where there is one.
        limit: Option<u64>,
    },
    /// The peer closed the link between two frames.
    #[error("the peer closed the link")]
    Closed,
    /// The connection broke, the peer went in the middle of a frame, or the handshake had no sound end.
    #[error("the link was lost: {0}")]
    Lost(io::Error),
    /// The deadline is over.
    #[error("the deadline is over while waiting for {waiting_for}")]
    Deadline {
        /// What was waited for.
        waiting_for: &'static str,
    },
}

/// What the system's errors mean for a link.
pub(super) fn broken(error: io::Error) -> LinkError {
    if error.kind() == io::ErrorKind::BrokenPipe { LinkError::Closed } else { LinkError::Lost(error) }
}
