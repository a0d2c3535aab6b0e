//! What a watch costs cohorts that no machine of ours has, simulated: `cargo bench -p flexpath-sim --bench watching`. The
//! machines, their messages and the time that these take are real. Links are those of a cluster. No simulated rank looks at
//! its elements. Where data are queried, one real core looks at as many as a rank has, and that is added.

#[path = "../../../benches/watches/least.rs"]
mod least;

#[path = "../../../benches/watches/report.rs"]
#[allow(dead_code)] // each bench uses its part
mod report;
#[path = "../../../benches/rows/mod.rs"]
mod rows;

use fp_sim::scale::{Counting, LinkCost, World, watch};
use least::least_of;
use report::{bounded, median, noted};
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Publisher ranks, subscriber ranks, and the most that telling them may take, in microseconds.
const SIZES: [(u32, u32, f64); 3] = [(64, 8, 300.0), (1_024, 64, f64::INFINITY), (8_192, 1_024, 1_000.0)];
const REPEATS: usize = 9;
/// Figure 8 of the paper on messaging for DataSpaces: so much is queried, by the first of these cohorts.
const QUERIED_GIB: [u64; 5] = [4, 8, 16, 32, 64];
const PASSES: usize = 7;

fn main() {
    // `cargo test --benches` only wants to know that it builds.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    for (publishers, subscribers, limit_us) in SIZES {
        let cluster = LinkCost::named("cluster").expect("there is such a network");
        let found = watch(World::new(cluster, publishers, subscribers), REPEATS);
        let case = |what: &str| format!("simulated, {publishers} x {subscribers} ranks, {what}");
        let told = case("last end to all events");
        match limit_us.is_finite() {
            true => bounded(&told, (found.told_us, limit_us), "us", "without the pass over elements"),
            false => noted(&told, found.told_us, "us"),
        }
        noted(&case("of which links alone"), found.links_only_us, "us");
        noted(&case("none fires, until all is freed"), found.freed_us, "us");
        bounded(&case("bytes of an edge's report"), (found.report_bytes as f64, 128.0), "B", "at most 128 B");
        if publishers == SIZES[0].0 {
            query(cluster, (publishers, subscribers), found.told_us);
        }
    }
}

/// Each rank looks at its part, on a core of its own, and all are told. Then each subscriber takes its part of all, which is
/// computed: its port is the narrowest.
fn query(cluster: LinkCost, (publishers, subscribers): (u32, u32), told_us: f64) {
    for gib in QUERIED_GIB {
        let len = (gib << 30) / u64::from(publishers) / size_of::<f64>() as u64;
        let pass_us = pass_us(&vec![1.0; len as usize]);
        let case = format!(
            "simulated, {publishers} x {subscribers} ranks, {gib} GiB queried, of it the pass of a core"
        );
        noted(&case, pass_us / 1e3, "ms");
        let case =
            format!("simulated, {publishers} x {subscribers} ranks, {gib} GiB queried, until all are told");
        noted(&case, (pass_us + told_us) / 1e3, "ms");
        let part_bytes = (gib << 30) / u64::from(subscribers);
        let case =
            format!("{publishers} x {subscribers} ranks, {gib} GiB taken over a port of each (computed)");
        noted(&case, cluster.port_ns(part_bytes as usize) as f64 / 1e6, "ms");
    }
}

/// The time of one core that finds the least of these numbers.
fn pass_us(numbers: &[f64]) -> f64 {
    let pass = |_| {
        let began = Instant::now();
        std::hint::black_box(least_of(std::hint::black_box(numbers)));
        began.elapsed().as_secs_f64() * 1e6
    };
    median(&(0..PASSES).map(pass).collect::<Vec<_>>())
}
