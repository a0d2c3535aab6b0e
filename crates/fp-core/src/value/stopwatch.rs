//! How long a call waited, counted as it ends.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Adds the time from its making to its end to a counter, in nanoseconds.
pub(crate) struct Stopwatch<'a> {
    counter: &'a AtomicU64,
    pub(crate) started: Instant,
}

impl<'a> Stopwatch<'a> {
    pub(crate) fn start(counter: &'a AtomicU64) -> Self {
        Self { counter, started: Instant::now() }
    }
}

impl Drop for Stopwatch<'_> {
    fn drop(&mut self) {
        add(self.counter, self.started.elapsed());
    }
}

/// Adds a time in nanoseconds.
pub(crate) fn add(counter: &AtomicU64, time: Duration) {
    counter.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}
