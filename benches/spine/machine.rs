//! What the benches ask of the machine: cores, the clock, memory used, and what else was running.

use crate::report::median;
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pins this process, with all threads that it starts from now on, to one core.
pub(crate) fn pin(core: usize) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut set = CpuSet::new();
    set.set(core % cores);
    sched_setaffinity(None, &set).expect("a core");
}

/// Nanoseconds of a clock that all processes of the machine share.
pub(crate) fn now_ns() -> u64 {
    nanoseconds_of(ClockId::Monotonic)
}

/// Nanoseconds of a processor that this process has used.
pub(crate) fn processor_ns() -> u64 {
    nanoseconds_of(ClockId::ProcessCPUTime)
}

fn nanoseconds_of(clock: ClockId) -> u64 {
    let now = clock_gettime(clock);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Keeps the core busy for that long.
pub(crate) fn spin_ns(duration_ns: u64) {
    let until = now_ns() + duration_ns;
    while now_ns() < until {
        std::hint::spin_loop();
    }
}

/// A line of this process's status, in bytes: `VmHWM`, `RssAnon`.
pub(crate) fn status_bytes(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.expect("a number of KiB") * 1024
}

/// Ticks of all cores since the machine started. They are all of them, the busy ones, and those of this process and the
/// children that it has waited for.
#[derive(Clone, Copy)]
pub(crate) struct Ticks {
    all: u64,
    busy: u64,
    own: u64,
}

impl Ticks {
    /// Now.
    pub(crate) fn now() -> Self {
        let stat = fs::read_to_string("/proc/stat").expect("a load");
        let cores = numbers(stat.lines().next().unwrap_or_default(), 1);
        let own = fs::read_to_string("/proc/self/stat").expect("a load");
        // Behind the name, which may hold anything: the 12th to 15th fields from there are times.
        let own = numbers(own.rsplit(')').next().unwrap_or_default(), 12);
        // user nice system idle iowait irq softirq steal; what follows is counted in user already.
        let all = cores.iter().take(8).sum();
        let idle: u64 = cores.iter().skip(3).take(2).sum();
        Self { all, busy: all - idle, own: own.iter().take(4).sum() }
    }

    /// The share of all cores, in percent, that others have used since.
    pub(crate) fn others_percent(self) -> f64 {
        let now = Self::now();
        let others = (now.busy - self.busy).saturating_sub(now.own - self.own);
        others as f64 * 100.0 / (now.all - self.all).max(1) as f64
    }
}

fn numbers(line: &str, skip: usize) -> Vec<u64> {
    line.split_whitespace().skip(skip).map(|word| word.parse().unwrap_or(0)).collect()
}

/// Trips that show how far apart two cores are.
const HOPS: usize = 2000;

/// Nanoseconds for a cache line to go from one core to the other: the half of a round trip, both spinning. On a
/// virtual machine it changes as the host moves its cores about, and with it what small steps can cost at best.
pub(crate) fn hop_ns() -> f64 {
    // Sixteen words: neither shares its cache line with the other, nor with its neighbour's.
    let (there, back) = ([const { AtomicUsize::new(0) }; 16], [const { AtomicUsize::new(0) }; 16]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            pin(1);
            for trip in 1..=HOPS {
                spin_until(&there[8], trip);
                back[8].store(trip, Ordering::Release);
            }
        });
        let times = scope.spawn(|| {
            pin(0);
            let trip = |trip: usize| {
                let started = now_ns();
                there[8].store(trip, Ordering::Release);
                spin_until(&back[8], trip);
                (now_ns() - started) as f64 / 2.0
            };
            (1..=HOPS).map(trip).collect::<Vec<f64>>()
        });
        median(&times.join().expect("no panic"))
    })
}

fn spin_until(word: &AtomicUsize, wanted: usize) {
    while word.load(Ordering::Acquire) != wanted {
        std::hint::spin_loop();
    }
}

/// What the machine is, in a line.
pub(crate) fn description() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split(':').nth(1)).unwrap_or("?").trim().to_owned();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{model}, {cores} cores, Linux {}", kernel.trim())
}
