//! What inputs usually take. The processor's time of a thread holds interrupts and, in a virtual machine, what the host
//! took away. That can be a millisecond for an input of a microsecond, and the slowest of 100,000 ranks always has one.

use std::collections::BTreeMap;

/// Inputs of one kind and about one size that must be known before one is called unusual.
const ENOUGH: u64 = 64;
/// An input that took so many times the middle one of its kind was interrupted.
const UNUSUAL: u64 = 8;
/// What takes less is never called unusual.
const SHORT_NS: u64 = 20_000;

/// How many inputs took how long, in powers of the square root of two.
#[derive(Clone, Default)]
struct Spread {
    known: u64,
    counts: BTreeMap<u32, u64>,
}

/// The usual time of inputs, by kind and size.
#[derive(Default)]
pub(crate) struct Usual {
    spreads: BTreeMap<(&'static str, u32), Spread>,
}

fn rung(time_ns: u64) -> u32 {
    (2.0 * (time_ns.max(1) as f64).log2()) as u32
}

impl Spread {
    fn middle_ns(&self) -> u64 {
        let mut before = 0;
        let middle = self.counts.iter().find(|(_, count)| {
            before += **count;
            2 * before >= self.known
        });
        middle.map_or(0, |(rung, _)| 2f64.powf((f64::from(*rung) + 0.5) / 2.0) as u64)
    }
}

impl Usual {
    /// What is charged for an input that took so long: its time, or the middle of its kind if it was interrupted.
    pub(crate) fn charge_ns(&mut self, what: &'static str, len_bytes: usize, time_ns: u64) -> u64 {
        let spread = self.spreads.entry((what, len_bytes.checked_ilog2().unwrap_or(0))).or_default();
        let interrupted = time_ns > SHORT_NS && spread.known >= ENOUGH && {
            let middle_ns = spread.middle_ns();
            time_ns > UNUSUAL * middle_ns
        };
        let charged_ns = if interrupted { spread.middle_ns() } else { time_ns };
        spread.known += 1;
        *spread.counts.entry(rung(time_ns)).or_default() += 1;
        charged_ns
    }
}
