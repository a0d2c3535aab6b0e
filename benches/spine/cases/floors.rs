//! What the machine itself gives, by size. It measures one copy of memory, shared memory in and out between two
//! processes, and a raw socket. It also measures half a round trip of a futex and of a socket. Nothing is pinned. Other
//! benches set their figures beside.

use super::copies::{Cores, floor_gigabytes};
use super::latency::baseline;
use crate::bench::Bench;
use crate::machine::now_ns;
use crate::report::{Row, Target, median};

/// Bytes a step.
const SIZES: [(usize, &str); 7] = [
    (1 << 10, "1 KiB"),
    (64 << 10, "64 KiB"),
    (1 << 20, "1 MiB"),
    (16 << 20, "16 MiB"),
    (64 << 20, "64 MiB"),
    (128 << 20, "128 MiB"),
    (256 << 20, "256 MiB"),
];
/// Bytes that are moved for one figure.
const MOVED: usize = 1 << 30;
const TRIPS: usize = 2000;
/// Different sources of copies, so that none is read from the cache because it was read before.
const SOURCES: usize = 4;

/// All floors.
pub(crate) fn measure(bench: &mut Bench) {
    for (len, name) in SIZES {
        let steps = bench.scaled((MOVED / len).clamp(8, 4000));
        add(bench, format!("memcpy {name}"), |_| memcpy_gigabytes(len, steps));
        add(bench, format!("shm in and out {name}"), |_| floor_gigabytes("shm", "copy", len, steps));
        add(bench, format!("raw socket {name}"), |_| floor_gigabytes("tcp", "copy", len, steps));
    }
    for (transport, name) in [("shm", "futex half trip"), ("tcp", "socket half trip")] {
        let trips = bench.scaled(TRIPS);
        let rounds = bench.take_turns(|_| median(&baseline(transport, Cores::Any, trips)) / 1e3);
        let row = Row::new(format!("floor {name}"), "us", median(&rounds.found), Target::None);
        bench.add(row.under(rounds.around));
    }
}

fn add(bench: &mut Bench, name: String, round: impl FnMut(&mut Bench) -> f64) {
    let rounds = bench.take_turns(round);
    let row = Row::new(format!("floor {name}"), "GB/s", median(&rounds.found), Target::None);
    bench.add(row.under(rounds.around));
}

/// One copy of memory by one thread.
fn memcpy_gigabytes(len: usize, steps: usize) -> f64 {
    let sources: Vec<Vec<u8>> = (0..SOURCES).map(|source| vec![source as u8 + 1; len]).collect();
    let mut destination = vec![u8::MAX; len];
    let mut times = Vec::new();
    for step in 0..steps {
        let started = now_ns();
        destination.copy_from_slice(std::hint::black_box(&sources[step % SOURCES]));
        std::hint::black_box(&mut destination);
        times.push((now_ns() - started).max(1) as f64);
    }
    len as f64 / median(&times)
}
