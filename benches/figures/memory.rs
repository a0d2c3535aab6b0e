//! Whether there is memory for a data set.

use crate::Outcome;
use crate::course::{Course, Place};

/// What all sides need besides: steps on their way, and what the system needs.
const BESIDE_BYTES: u64 = 3 << 30;

/// The stager's bound of memory where it is to keep all: a step takes more than its block.
pub(crate) fn bound(course: &Course) -> u64 {
    2 * course.data_bytes + (1 << 30)
}

/// An error where the data set would push others out of memory.
pub(crate) fn check(course: &Course) -> Outcome<()> {
    let kept = match course.place {
        Place::Memory => course.data_bytes,
        Place::Disk => 0,
    };
    let needed = (kept + BESIDE_BYTES) >> 10;
    let told = std::fs::read_to_string("/proc/meminfo")?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next()).map_or(Ok(0), str::parse::<u64>)?;
    if kibibytes >= needed {
        return Ok(());
    }
    Err(format!("{} MiB of memory are available, and {} needed", kibibytes >> 10, needed >> 10).into())
}
