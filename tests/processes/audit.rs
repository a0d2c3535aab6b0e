//! What a process has left over: descriptors, shared memory, threads.

use crate::cast::PATIENCE;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long nothing may change before a process counts as settled.
const SETTLED_AFTER: Duration = Duration::from_millis(100);

/// Descriptors by kind, mappings of shared segments, and threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Belongings {
    pub(crate) descriptors: BTreeMap<String, usize>,
    pub(crate) segments: usize,
    threads: usize,
}

/// What this process has now.
pub(crate) fn belongings() -> Belongings {
    let mut descriptors = BTreeMap::new();
    for entry in std::fs::read_dir("/proc/self/fd").expect("proc is there").flatten() {
        // The descriptor that lists the others is gone by now.
        if let Ok(target) = std::fs::read_link(entry.path()) {
            let kind: String = target.to_string_lossy().chars().filter(|c| !c.is_ascii_digit()).collect();
            *descriptors.entry(kind).or_insert(0) += 1;
        }
    }
    let maps = std::fs::read_to_string("/proc/self/maps").expect("proc is there");
    let segments = maps.lines().filter(|line| line.contains("memfd:")).count();
    // Not by name: a thread that has just begun has its maker's.
    let threads = std::fs::read_dir("/proc/self/task").expect("proc is there").count();
    Belongings { descriptors, segments, threads }
}

/// What this process has once threads that were told to end are gone: the same for a tenth of a second.
pub(crate) fn settled_belongings() -> Belongings {
    let mut last = (belongings(), Instant::now());
    while last.1.elapsed() < SETTLED_AFTER {
        let now = belongings();
        if now != last.0 {
            last = (now, Instant::now());
        }
        std::thread::yield_now();
    }
    last.0
}

/// Waits until this process has no more than it had before. Threads that were told to end need a moment.
pub(crate) fn expect_as_before(before: &Belongings) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let now = belongings();
        if now == *before {
            return;
        }
        assert!(Instant::now() < deadline, "left behind: {now:#?}\nwhere there was {before:#?}");
        std::thread::yield_now();
    }
}
