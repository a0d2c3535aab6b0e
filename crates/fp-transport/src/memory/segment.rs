//! A segment: shareable memory made in the one order that keeps it safe for both sides.
//!
//! memfd → room by `fallocate` (a shortage is an error, not a SIGBUS later) → writable mapping, prefaulted → seals.
//! After that nobody, this process included, can make another writable mapping or change the length.

use super::available_memory::available_bytes;
use super::error::MemoryError;
use super::memory_map::Mapping;
use crate::page::PAGE_BYTES;
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, memfd_create};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The seals that a segment has before its descriptor leaves this process, and that a receiver insists on.
pub(crate) const SEALS: SealFlags =
    SealFlags::FUTURE_WRITE.union(SealFlags::SHRINK).union(SealFlags::GROW).union(SealFlags::SEAL);

/// Up to this length memory is taken without asking how much there is (it costs tens of microseconds).
const UNCHECKED_BYTES: usize = 64 << 10;

/// Names a segment within the process that made it; never used twice by that process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u64);

impl fmt::Display for SegmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "segment {}", self.0)
    }
}

/// What is announced of a segment beside its descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentDescriptor {
    /// Its name in the process that made it.
    pub id: SegmentId,
    /// Its length in bytes.
    pub len_bytes: u64,
}

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// One piece of memory, with its descriptor when it can be shared.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) id: SegmentId,
    pub(crate) mapping: Arc<Mapping>,
    pub(crate) fd: Option<Arc<OwnedFd>>,
}

impl Segment {
    /// Makes a segment. `len` is a multiple of the page.
    pub(crate) fn make(len: usize, shareable: bool) -> Result<Segment, MemoryError> {
        let id = SegmentId(NEXT_ID.fetch_add(1, Ordering::Relaxed));
        if shareable {
            let (fd, mapping) = sealed_memfd(len)?;
            return Ok(Segment { id, mapping: Arc::new(mapping), fd: Some(Arc::new(fd)) });
        }
        check_available(len)?;
        let mapping = Mapping::private(len).map_err(|cause| no_room(len, cause))?;
        Ok(Segment { id, mapping: Arc::new(mapping), fd: None })
    }

    pub(crate) fn len(&self) -> usize {
        self.mapping.len()
    }
}

/// A memfd of `len` bytes with its one writable mapping, sealed.
pub(crate) fn sealed_memfd(len: usize) -> Result<(OwnedFd, Mapping), MemoryError> {
    check_file_size_limit(len)?;
    check_available(len)?;
    let fd = memfd_create("flexpath", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).map_err(not_made)?;
    fallocate(&fd, FallocateFlags::empty(), 0, len as u64).map_err(|errno| no_room(len, errno.into()))?;
    let mapping = Mapping::shared_writable(fd.as_fd(), len).map_err(|cause| no_room(len, cause))?;
    fcntl_add_seals(&fd, SEALS).map_err(|errno| MemoryError::NoSeals(errno.into()))?;
    Ok((fd, mapping))
}

/// `RLIMIT_FSIZE` holds for memfds too, and going past it is a signal that ends the process.
fn check_file_size_limit(len: usize) -> Result<(), MemoryError> {
    match getrlimit(Resource::Fsize).current {
        Some(limit) if len as u64 > limit => Err(no_room(len, Errno::FBIG.into())),
        _ => Ok(()),
    }
}

/// Taking more memory than there is kills somebody instead of failing. Small segments are not worth the look.
fn check_available(len: usize) -> Result<(), MemoryError> {
    if len <= UNCHECKED_BYTES {
        return Ok(());
    }
    match available_bytes() {
        Some(available) if len as u64 > available => Err(no_room(len, Errno::NOMEM.into())),
        _ => Ok(()),
    }
}

fn not_made(errno: Errno) -> MemoryError {
    match errno {
        Errno::MFILE | Errno::NFILE => {
            MemoryError::NoDescriptor { limit: getrlimit(Resource::Nofile).current }
        }
        other => MemoryError::NoSeals(other.into()),
    }
}

/// The pool fills in its own numbers.
fn no_room(len: usize, cause: io::Error) -> MemoryError {
    MemoryError::NoRoom { asked_bytes: len as u64, used_bytes: 0, limit_bytes: 0, cause: Some(cause) }
}

/// Whether this kernel can make sealed segments, tried once with a real one.
pub fn seals_supported() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| !matches!(sealed_memfd(PAGE_BYTES), Err(MemoryError::NoSeals(_))))
}
