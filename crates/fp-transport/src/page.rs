//! A page of memory: its size, and one that a fork wipes.
#![allow(unsafe_code)] // mapping memory is unsafe by nature

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};
use std::io;
use std::ptr;
use std::sync::atomic::AtomicU32;

/// Page size that lengths are rounded to. Kernels with larger pages round mappings up by themselves.
pub(crate) const PAGE_BYTES: usize = 4096;

/// A word that is 0 in a child that was just forked, whatever it is here. It is never unmapped.
pub(crate) fn word_wiped_by_fork() -> io::Result<&'static AtomicU32> {
    if cfg!(miri) {
        return Err(io::ErrorKind::Unsupported.into()); // it never forks
    }
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a new anonymous mapping at an address that the kernel chooses overlaps nothing.
    let page = unsafe { mmap_anonymous(ptr::null_mut(), PAGE_BYTES, protection, MapFlags::PRIVATE)? };
    // SAFETY: exactly the range mapped above; the advice changes what a fork does.
    unsafe { madvise(page, PAGE_BYTES, Advice::LinuxWipeOnFork)? };
    // SAFETY: mapped above, page aligned, zeros, and valid for ever, as nobody unmaps it.
    Ok(unsafe { AtomicU32::from_ptr(page.cast()) })
}
