//! The memory that is published: segments, the pool that recycles them, and what a peer maps.
//!
//! A [`Pool`] makes segments, lends [`PoolMemory`] of them, and takes them back when the last [`Payload`] of an
//! [`Arena`] is gone. Segments are memfds that are mapped writable once and then sealed. Nobody can write, shrink or
//! grow them through the descriptor. A peer maps a segment with [`MappedSegment`], read only, after checking its seals
//! and its length. Unsafe code is in the files that map memory or make slices of it, each use with its reason.
//!
//! Memory does not know devices or links: who registers a segment for RDMA does so behind the trait `Registrar`.
//!
//! Source: the placement of blocks and the rule "lost is not dead" are section 5 of the design. The sealing order
//! (writable mapping first, `F_SEAL_FUTURE_WRITE` after) is in memfd_create(2) and fcntl(2).

mod arena;
mod available_memory;
mod error;
pub mod inproc;
mod memory_map;
mod payload;
mod peer_segment;
mod pool;
mod process_watch;
mod remote_memory;
pub mod ring;
mod segment;

pub use arena::{Arena, PoolMemory};
pub use available_memory::available_bytes;
pub use error::MemoryError;
pub use inproc::InprocKey;
pub use payload::{Location, Payload};
pub use peer_segment::{MapOptions, MappedSegment, MappedSlice};
pub use pool::{Pool, PoolOptions, PoolStats};
pub use process_watch::ProcessWatch;
pub use remote_memory::RemoteMemory;
pub use segment::{SegmentDescriptor, SegmentId, seals_supported};

pub(crate) use memory_map::Mapping;
pub(crate) use pool::segment_len_for;
pub(crate) use remote_memory::{Registered, Registrar};
pub(crate) use segment::sealed_memfd;
