//! The memory that is published: segments, the pool that recycles them, and what a peer maps.
//!
//! A [`Pool`] makes segments (memfds that are mapped writable once and then sealed, so that nobody can write,
//! shrink or grow them through the descriptor), lends memory of them as [`Loan`]s, and takes them back when the last
//! [`Payload`] of an [`Arena`] is gone. A peer maps a segment with [`MappedSegment`], read only, after checking its
//! seals and its length. All unsafe code of the crate is in the files of this folder.
//!
//! Source: the placement of blocks and the rule "lost is not dead" are section 5 of the design; the sealing order
//! (writable mapping first, `F_SEAL_FUTURE_WRITE` after) is memfd_create(2) and fcntl(2).

mod arena;
mod available;
mod error;
pub mod inproc;
mod mapped;
mod mapping;
mod payload;
mod pool;
pub mod ring;
mod segment;
mod watch;

pub use arena::{Arena, Loan};
pub use error::MemoryError;
pub use inproc::InprocKey;
pub use mapped::{MapOptions, MappedSegment, MappedSlice};
pub use payload::{Location, Payload};
pub use pool::{Pool, PoolOptions, PoolStats};
pub use segment::{SegmentDescriptor, SegmentId, seals_supported};
pub use watch::ProcessWatch;

pub(crate) use mapping::{Mapping, PAGE_BYTES, word_wiped_by_fork};
pub(crate) use segment::sealed_memfd;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also when a thread panicked while it held the lock: what is guarded here is consistent between statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
