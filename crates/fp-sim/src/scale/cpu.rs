//! The processor's time of this thread: what a handler takes, whoever else wants the processor meanwhile.

use rustix::time::{ClockId, clock_gettime};

fn read_ns() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// A clock of processor time that knows what reading it costs.
pub(crate) struct CpuClock {
    reading_ns: u64,
}

impl CpuClock {
    /// Finds out what a reading costs: the middle of many.
    pub(crate) fn new() -> Self {
        let mut readings: Vec<u64> = (0..2_001)
            .map(|_| {
                let before = read_ns();
                read_ns() - before
            })
            .collect();
        readings.sort_unstable();
        Self { reading_ns: readings[1_000] }
    }

    /// The time now.
    pub(crate) fn now_ns(&self) -> u64 {
        read_ns()
    }

    /// Between two readings, without what reading costs.
    pub(crate) fn between_ns(&self, from_ns: u64, to_ns: u64) -> u64 {
        (to_ns - from_ns).saturating_sub(self.reading_ns)
    }
}
