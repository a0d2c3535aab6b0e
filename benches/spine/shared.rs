//! Memory that two processes write: what the baselines are made of. Written by hand, so that nothing of the library's
//! own memory is in what it is measured against.
#![allow(unsafe_code)] // mapping memory and making slices of it is unsafe by nature; it is kept to this file

use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU32;

/// Bytes before the first slot: words for counters and futexes.
const HEAD_BYTES: usize = 4096;

/// The descriptor of memory that children open by its path; gone with this value and its mappings.
pub(crate) struct Memory(OwnedFd);

impl Memory {
    /// Memory for words and `slots_bytes` bytes of slots.
    pub(crate) fn new(slots_bytes: usize) -> Self {
        let fd = memfd_create("bench", MemfdFlags::CLOEXEC).expect("a memfd");
        ftruncate(&fd, (HEAD_BYTES + slots_bytes) as u64).expect("room for the slots");
        Self(fd)
    }

    /// Where a child of this process opens it.
    pub(crate) fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }
}

/// A mapping of it, writable and with every page present.
pub(crate) struct Shared {
    pointer: NonNull<u8>,
    len: usize,
}

impl Shared {
    /// Maps what the parent made.
    pub(crate) fn open(path: &str) -> Self {
        let file: File = OpenOptions::new().read(true).write(true).open(path).expect("the parent's memory");
        let len = file.metadata().expect("its length").len() as usize;
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::POPULATE);
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing, and nobody shortens the file.
        let pointer = unsafe { mmap(ptr::null_mut(), len, protection, flags, file.as_fd(), 0) };
        let pointer = NonNull::new(pointer.expect("a mapping").cast()).expect("not at zero");
        Self { pointer, len }
    }

    /// The words before the slots, all zero at first.
    pub(crate) fn words(&self) -> &[AtomicU32] {
        // SAFETY: page aligned, within the mapping, and both processes touch these bytes as atomics only.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr().cast(), HEAD_BYTES / 4) }
    }

    /// A slot of `len` bytes to be filled. The counters of the ring say that the other process is not at it.
    pub(crate) fn slot_mut(&mut self, index: usize, len: usize) -> &mut [u8] {
        let start = self.start_of(index, len);
        // SAFETY: within the mapping by `start_of`, disjoint from the words, and borrowed from the only handle of this
        // process. The other process reads it only after the ring's counter was stored with release.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr().add(start), len) }
    }

    /// A slot of `len` bytes that was filled.
    pub(crate) fn slot(&self, index: usize, len: usize) -> &[u8] {
        let start = self.start_of(index, len);
        // SAFETY: within the mapping by `start_of`, disjoint from the words. The other process writes it only after the
        // ring's counter of emptied slots was stored with release.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr().add(start), len) }
    }

    fn start_of(&self, index: usize, len: usize) -> usize {
        let start = HEAD_BYTES + index * len;
        assert!(start + len <= self.len, "slot {index} of {len} bytes is outside");
        start
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the range mapped in `open`; slices of it borrow this value and are gone.
        let _ = unsafe { munmap(self.pointer.as_ptr().cast(), self.len) };
    }
}
