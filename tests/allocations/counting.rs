//! An allocator that counts: how often each thread asked for memory.
#![allow(unsafe_code)] // an allocator cannot be written without; each call is handed on to the system's as it is

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<u64> = const { Cell::new(0) };
    static IS_SHOWING: Cell<bool> = const { Cell::new(false) };
}

/// The system's allocator, counted.
pub(crate) struct Counting;

impl Counting {
    /// Times that this thread asked for memory since it began, and bytes.
    pub(crate) fn counted() -> (u64, u64) {
        (COUNT.get(), BYTES.get())
    }

    /// Does this, and shows on standard error where this thread asks for memory meanwhile.
    pub(crate) fn shown<T>(work: impl FnOnce() -> T) -> T {
        IS_SHOWING.set(true);
        let done = work();
        IS_SHOWING.set(false);
        done
    }
}

fn count(len_bytes: usize) {
    COUNT.set(COUNT.get() + 1);
    BYTES.set(BYTES.get() + len_bytes as u64);
    // What shows it asks for memory as well.
    if IS_SHOWING.replace(false) {
        eprintln!("memory: {len_bytes} bytes\n{}", Backtrace::force_capture());
        IS_SHOWING.set(true);
    }
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
