//! A peer's segment, mapped read only after it was checked.
#![allow(unsafe_code)] // a slice of a peer's memory is made here, after the checks

use super::error::MemoryError;
use super::memory_map::Mapping;
use super::payload::Payload;
use super::segment::SEALS;
use rustix::fs::{fcntl_get_seals, fstat};
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// How a segment is mapped.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct MapOptions {
    /// Whether all pages are entered into the page table at once (instead of one fault each at first touch).
    pub prefault: bool,
}

impl MapOptions {
    /// Sets whether all pages are entered at once.
    #[must_use]
    pub fn with_prefault(mut self, prefault: bool) -> Self {
        self.prefault = prefault;
        self
    }
}

/// A peer's segment, read only. A forked child has it too, and lets go of it by itself. Clones share the mapping, which
/// lasts as long as any of them or any of its slices; the descriptor is closed right after mapping.
#[derive(Clone)]
pub struct MappedSegment {
    mapping: Arc<Mapping>,
}

impl MappedSegment {
    /// Maps a received descriptor that was announced with `expected_len_bytes` bytes.
    ///
    /// # Errors
    /// [`MemoryError::NotMemfd`], [`MemoryError::NotSealed`], [`MemoryError::WrongLen`], [`MemoryError::Map`].
    pub fn map(fd: OwnedFd, expected_len_bytes: u64, options: MapOptions) -> Result<Self, MemoryError> {
        check(fd.as_fd(), expected_len_bytes)?;
        let failed = |cause| MemoryError::Map { len_bytes: expected_len_bytes, cause };
        let len = usize::try_from(expected_len_bytes)
            .map_err(|_| failed(std::io::ErrorKind::OutOfMemory.into()))?;
        let mapping = Mapping::shared_readable(fd.as_fd(), len, options.prefault).map_err(failed)?;
        Ok(MappedSegment { mapping: Arc::new(mapping) })
    }

    /// Length in bytes.
    pub fn len_bytes(&self) -> u64 {
        self.mapping.len() as u64
    }

    /// The segment as words that its owner may change at any time. To be loaded from only.
    pub(super) fn words(&self) -> &[AtomicU64] {
        self.mapping.words()
    }

    /// A range of the segment, which keeps the mapping alive.
    ///
    /// # Errors
    /// [`MemoryError::OutOfBounds`].
    pub fn slice(&self, offset: u64, len: u64) -> Result<MappedSlice, MemoryError> {
        let segment_len_bytes = self.len_bytes();
        match offset.checked_add(len) {
            Some(end) if end <= segment_len_bytes => Ok(MappedSlice {
                mapping: Arc::clone(&self.mapping),
                offset: offset as usize,
                len: len as usize,
            }),
            _ => Err(MemoryError::OutOfBounds { offset, len, segment_len_bytes }),
        }
    }
}

impl fmt::Debug for MappedSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedSegment").field("len_bytes", &self.len_bytes()).finish()
    }
}

fn check(fd: BorrowedFd<'_>, expected_bytes: u64) -> Result<(), MemoryError> {
    let seals = fcntl_get_seals(fd).map_err(|errno| MemoryError::NotMemfd(errno.into()))?;
    if !seals.contains(SEALS) {
        return Err(MemoryError::NotSealed { found: seals.bits(), needed: SEALS.bits() });
    }
    let found = fstat(fd).map_err(|errno| MemoryError::NotMemfd(errno.into()))?;
    let found_bytes = u64::try_from(found.st_size).unwrap_or(0);
    if found_bytes != expected_bytes || found_bytes == 0 {
        return Err(MemoryError::WrongLen { expected_bytes, found_bytes });
    }
    Ok(())
}

/// Bytes of a peer's segment. The peer promises that they do not change: it refills a segment only after it was
/// released, or this process is gone. The promise is made by a process of the same user.
#[derive(Clone)]
pub struct MappedSlice {
    mapping: Arc<Mapping>,
    offset: usize,
    len: usize,
}

impl MappedSlice {
    /// The same as a payload, which keeps the mapping alive.
    pub fn into_payload(self) -> Payload {
        let pointer = NonNull::from(self.as_ref()).cast::<u8>();
        Payload::new(pointer, self.len, None, self.mapping)
    }
}

impl AsRef<[u8]> for MappedSlice {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `slice` checked offset + len against the mapping, which is alive and, by its seals, cannot shrink.
        // The owner keeps the bytes unchanged until this process has released them. It runs as the same user, which
        // both ends checked, and so could change our memory by other means as well.
        unsafe { std::slice::from_raw_parts(self.mapping.pointer().as_ptr().add(self.offset), self.len) }
    }
}

impl fmt::Debug for MappedSlice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MappedSlice").field("offset", &self.offset).field("len", &self.len).finish()
    }
}
