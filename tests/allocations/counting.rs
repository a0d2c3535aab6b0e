//! An allocator that counts: how often anybody in this process asked for memory.
#![allow(unsafe_code)] // an allocator cannot be written without; each call is handed on to the system's as it is

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

static COUNT: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, counted.
pub(crate) struct Counting;

impl Counting {
    /// Times that memory was asked for, and bytes, of all threads since the process began.
    pub(crate) fn counted() -> (u64, u64) {
        (COUNT.load(Ordering::Relaxed), BYTES.load(Ordering::Relaxed))
    }
}

fn count(len_bytes: usize) {
    COUNT.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(len_bytes as u64, Ordering::Relaxed);
}

// SAFETY: every method hands its arguments on to the system's allocator, which keeps the contract; counting allocates
// nothing.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: as the trait demands of the caller.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: as the trait demands of the caller.
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    // SAFETY: as the trait demands of the caller.
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, len_bytes: usize) -> *mut u8 {
        count(len_bytes);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.realloc(pointer, layout, len_bytes) }
    }
}
