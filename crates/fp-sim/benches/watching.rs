//! What a watch costs cohorts that no machine of ours has, simulated: `cargo bench -p flexpath-sim --bench watching`. The
//! machines, their messages and the time that these take are real. Links are those of a cluster. No rank looks at its
//! elements: that takes as long as memory is read, on all ranks at one time.

#[path = "../../../benches/watches/report.rs"]
#[allow(dead_code)] // each bench uses its part
mod report;
#[path = "../../../benches/rows/mod.rs"]
mod rows;

use fp_sim::scale::{Counting, LinkCost, World, watch};
use report::{bounded, noted};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Publisher ranks, subscriber ranks, and the most that telling them may take, in microseconds.
const SIZES: [(u32, u32, f64); 3] = [(64, 8, 300.0), (1_024, 64, f64::INFINITY), (8_192, 1_024, 1_000.0)];
const REPEATS: usize = 9;

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
    }
}
