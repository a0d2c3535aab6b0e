//! One mapping of memory: it is made here and unmapped when its owner goes.
#![allow(unsafe_code)] // mapping memory is unsafe by nature; this file keeps it behind a safe owner

use crate::identity::own_pid;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicU64;

/// That all pages are entered at once. Miri knows no pages.
const POPULATED: MapFlags = if cfg!(miri) { MapFlags::empty() } else { MapFlags::POPULATE };

/// Memory that stays mapped as long as this lives. What can be written to is not inherited by a forked child: two
/// processes would otherwise believe that they own the same segment. What can only be read is inherited: views of it stay
/// valid there.
#[derive(Debug)]
pub(crate) struct Mapping {
    pointer: NonNull<u8>,
    len: usize,
    /// The process that mapped it.
    pid: u32,
    /// Whether a forked child has it too. Where it has not, something else may be there by now.
    is_inherited: bool,
}

// SAFETY: this value alone owns the mapping and unmaps it once, in drop. The types that hand out slices (PoolMemory,
// Payload, MappedSlice) decide who may read or write which bytes. The thread that holds it does not.
unsafe impl Send for Mapping {}
// SAFETY: `&Mapping` gives out a raw pointer and atomics only.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the whole memfd, writable and prefaulted.
    pub(crate) fn shared_writable(fd: BorrowedFd<'_>, len: usize) -> io::Result<Mapping> {
        Mapping::shared(fd, len, ProtFlags::READ | ProtFlags::WRITE, true)
    }

    /// Maps the whole memfd, read only; prefaulted if asked for.
    pub(crate) fn shared_readable(fd: BorrowedFd<'_>, len: usize, prefault: bool) -> io::Result<Mapping> {
        Mapping::shared(fd, len, ProtFlags::READ, prefault)
    }

    /// Memory of this process alone, for a pool that nobody shares.
    pub(crate) fn private(len: usize) -> io::Result<Mapping> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | POPULATED);
        // SAFETY: a new anonymous mapping at an address that the kernel chooses overlaps nothing.
        let pointer = unsafe { mmap_anonymous(ptr::null_mut(), len, protection, flags)? };
        Mapping::own(pointer, len, protection)
    }

    fn shared(fd: BorrowedFd<'_>, len: usize, protection: ProtFlags, prefault: bool) -> io::Result<Mapping> {
        let populate = if prefault { POPULATED } else { MapFlags::empty() };
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing. The file behind it is sealed
        // against shrinking (by us right after, or checked before), so no access can fault.
        let pointer = unsafe { mmap(ptr::null_mut(), len, protection, MapFlags::SHARED | populate, fd, 0)? };
        Mapping::own(pointer, len, protection)
    }

    fn own(pointer: *mut c_void, len: usize, protection: ProtFlags) -> io::Result<Mapping> {
        let pointer = NonNull::new(pointer.cast::<u8>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let is_inherited = !protection.contains(ProtFlags::WRITE);
        let mapping = Mapping { pointer, len, pid: own_pid(), is_inherited };
        if cfg!(miri) || is_inherited {
            return Ok(mapping); // under Miri nothing forks
        }
        // SAFETY: exactly the range mapped above, which this value owns; the advice changes what a fork does.
        unsafe { madvise(mapping.pointer.as_ptr().cast(), len, Advice::LinuxDontFork)? };
        Ok(mapping)
    }

    /// First byte. Valid for `len` bytes while this value lives.
    pub(crate) fn pointer(&self) -> NonNull<u8> {
        self.pointer
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether this process has it: a forked child has not what can be written to.
    pub(crate) fn is_here(&self) -> bool {
        self.is_inherited || self.pid == own_pid()
    }

    /// The mapping as words that other processes may change at any time. A read-only mapping must only be loaded from:
    /// a store to it ends the process.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: page aligned, in bounds, every bit pattern is a value, and all accesses of both processes go
        // through atomics of this size.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr().cast::<AtomicU64>(), self.len / 8) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if !self.is_here() {
            return;
        }
        // SAFETY: exactly the range that this value owns; whoever holds a slice of it also holds its owner. Fails
        // only for a range that was never mapped.
        let _ = unsafe { munmap(self.pointer.as_ptr().cast(), self.len) };
    }
}

#[cfg(test)]
impl Mapping {
    /// As a forked child has it. Nobody unmaps it.
    pub(crate) fn of_a_parent(mut self) -> Mapping {
        self.pid += 1;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::PAGE_BYTES;
    use std::sync::atomic::Ordering;

    /// As the two ends of a ring do.
    #[test]
    fn several_threads_touch_the_words_of_a_mapping() {
        let mapping = &Mapping::private(PAGE_BYTES).expect("a page");
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| mapping.words()[511].fetch_add(1, Ordering::Relaxed));
            }
        });
        let words: Vec<u64> = mapping.words().iter().map(|word| word.load(Ordering::Relaxed)).collect();
        assert_eq!((words.len(), words[510], words[511]), (512, 0, 2));
    }
}
