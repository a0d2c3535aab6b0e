//! What can go wrong with memory, with the offending values.

use std::io;

/// An error of the pool, of a segment, or of mapping a peer's segment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// The pool's limit, a limit of the process or the machine's memory leaves no room.
    #[error("no room for {asked_bytes} bytes: {used_bytes} of {limit_bytes} bytes in use{}", because(.cause))]
    NoRoom {
        /// Bytes asked for.
        asked_bytes: u64,
        /// Bytes of all segments of the pool, lent, free and retired.
        used_bytes: u64,
        /// The pool's limit.
        limit_bytes: u64,
        /// What the system said, if it was the system that refused.
        cause: Option<io::Error>,
    },
    /// The process has no file descriptor left for another segment.
    #[error("no descriptor left for a segment (limit of open files: {limit:?})")]
    NoDescriptor {
        /// `RLIMIT_NOFILE`, where there is one.
        limit: Option<u64>,
    },
    /// The kernel cannot make or seal a memfd (F_SEAL_FUTURE_WRITE needs Linux 5.1).
    #[error("the kernel has no sealed shared memory: {0}")]
    NoSeals(io::Error),
    /// An alignment that is no power of two or larger than a page.
    #[error("alignment {align} is not a power of two up to {limit}")]
    Alignment {
        /// The alignment asked for, in bytes.
        align: usize,
        /// The largest one, in bytes.
        limit: usize,
    },
    /// A received descriptor is no memfd.
    #[error("the received descriptor is no memfd: {0}")]
    NotMemfd(io::Error),
    /// A received memfd lacks seals: its owner could shrink it (SIGBUS) or others could write to it.
    #[error("the received memfd is not sealed: has {found:?}, needs {needed:?}")]
    NotSealed {
        /// The seals it has, as the bits of `F_GET_SEALS`.
        found: u32,
        /// The seals it needs.
        needed: u32,
    },
    /// A received memfd has another length than was announced.
    #[error("the received memfd has {found_bytes} bytes, announced were {expected_bytes}")]
    WrongLen {
        /// Announced length.
        expected_bytes: u64,
        /// Real length.
        found_bytes: u64,
    },
    /// A range outside the segment.
    #[error("bytes {offset} + {len} lie outside a segment of {segment_len_bytes} bytes")]
    OutOfBounds {
        /// First byte.
        offset: u64,
        /// Number of bytes.
        len: u64,
        /// Length of the segment.
        segment_len_bytes: u64,
    },
    /// Mapping failed.
    #[error("cannot map {len_bytes} bytes: {cause}")]
    Map {
        /// Number of bytes.
        len_bytes: u64,
        /// What the system said.
        cause: io::Error,
    },
    /// No descriptor of the process could be had.
    #[error("cannot watch process {pid}: {cause}")]
    NoWatch {
        /// The process, as seen from here.
        pid: u32,
        /// What the system said.
        cause: io::Error,
    },
}

fn because(cause: &Option<io::Error>) -> String {
    cause.as_ref().map(|cause| format!(" ({cause})")).unwrap_or_default()
}
