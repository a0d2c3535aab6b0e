//! Live bytes of the heap, counted in the allocator: the memory of each machine is what its inputs added.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which counts. A program makes it its global allocator, or all bytes are 0.
pub struct Counting;

thread_local! {
    /// Of this thread, as a run is one: needs no memory itself, and no destructor.
    static LIVE_BYTES: Cell<i64> = const { Cell::new(0) };
}

fn count(len_bytes: i64) {
    let _ = LIVE_BYTES.try_with(|live| live.set(live.get() + len_bytes));
}

/// Bytes that this thread has allocated and not freed, as they were asked for.
pub(crate) fn live_bytes() -> i64 {
    LIVE_BYTES.try_with(Cell::get).unwrap_or(0)
}

/// The most that the process had resident so far; 0 where the system does not tell.
pub(crate) fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract; counting allocates
// nothing.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: what the caller promises is what the system's allocator asks for.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: what the caller promises is what the system's allocator asks for.
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        // SAFETY: the caller keeps the contract of `dealloc`, and `at` came from the system's allocator.
        unsafe { System.dealloc(at, layout) }
    }

    // SAFETY: what the caller promises is what the system's allocator asks for.
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, len_bytes: usize) -> *mut u8 {
        count(len_bytes as i64 - layout.size() as i64);
        // SAFETY: the caller keeps the contract of `realloc`, and `at` came from the system's allocator.
        unsafe { System.realloc(at, layout, len_bytes) }
    }
}
