//! What the bench asks of the machine: clocks, cores, memory, and what else is running.

use std::fs;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, Timespec, clock_gettime};
use serde::Serialize;

/// How long the machine is looked at to see what else is running.
const LOOK: Duration = Duration::from_millis(200);

/// Nanoseconds of a clock that all processes of the machine share.
pub(crate) fn now_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Processor time of this process, all threads.
pub(crate) fn process_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ProcessCPUTime))
}

/// Processor time of this thread.
pub(crate) fn thread_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

fn nanoseconds(time: Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Keeps this thread, and all that it starts from now on, to the core of a rank. Publishers have the first half of the
/// cores, subscribers the others. A machine that forbids it goes without.
pub(crate) fn pin(is_publisher: bool, rank: u32) {
    let first_half = cores().div_ceil(2);
    let (from, of) =
        if is_publisher { (0, first_half) } else { (first_half % cores(), cores() - first_half) };
    let mut set = CpuSet::new();
    set.set(from + rank as usize % of.max(1));
    if let Err(error) = sched_setaffinity(None, &set) {
        tracing::warn!(%error, "this rank is not kept to a core");
    }
}

/// The most memory that this process had, shared memory included; 0 where the system does not tell.
pub(crate) fn peak_bytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// The machine, and what it did before the bench began.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Machine {
    /// The processor's name.
    pub(crate) processor: String,
    /// Cores that may be used.
    pub(crate) cores: usize,
    /// The kernel's release.
    pub(crate) kernel: String,
    /// Processes that ran or wanted to, on average over the last minute.
    pub(crate) load: f64,
    /// How much of all cores others used just before, in percent.
    pub(crate) busy_percent: f64,
}

impl Machine {
    /// Looks at it.
    pub(crate) fn look() -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find(|line| line.starts_with("model name"));
        let processor = model.and_then(|line| line.split(':').nth(1)).unwrap_or("unknown").trim().to_owned();
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned();
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN);
        Self { processor, cores: cores(), kernel, load, busy_percent: busy_percent() }
    }
}

/// How much of all cores is in use, in percent.
fn busy_percent() -> f64 {
    let (all, idle) = ticks();
    std::thread::sleep(LOOK);
    let (all_later, idle_later) = ticks();
    let passed = all_later.saturating_sub(all).max(1) as f64;
    100.0 - idle_later.saturating_sub(idle) as f64 * 100.0 / passed
}

/// Ticks of all cores since the machine started: all of them, and the idle ones.
fn ticks() -> (u64, u64) {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let words = stat.lines().next().unwrap_or_default().split_whitespace().skip(1);
    // user nice system idle iowait irq softirq steal; what follows is counted in user already.
    let ticks: Vec<u64> = words.take(8).map(|word| word.parse().unwrap_or(0)).collect();
    (ticks.iter().sum(), ticks.iter().skip(3).take(2).sum())
}
