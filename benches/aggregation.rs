//! Figures 6 to 13 of the paper on GLEAN, in the small and on one machine. Run it by `cargo bench -p flexpath --bench
//! aggregation`, after the command was built with `cargo build --release -p flexpath-cli`. It wants root, iproute2 and an MPI.
//!
//! Two hosts are network namespaces with a cable between them. On the first one are the ranks of a simulation, all in one
//! process. `flexpath stage --per-host K` there is K aggregators, which have K links out of the host. On the other one are
//! staging nodes, a process each, which subscribe together. Each takes its part of the array, and looks at each block.
//! What counts is what they have in a second, from the time on when a fourth of the steps were there.
//!
//! *6*: aggregators by the size of a message, which is what a rank puts in a step. *7*: ranks by that size. *8*: 256 MiB
//! over 1 to 64 ranks. *9*: staging nodes. *10*: from ranks to nodes, beside one connection of tcp over the same cable.
//! *11 to 13*: what the simulation sees, beside a file for each rank: until it may forget all that it put. Messages of the
//! same size for each rank (weak), and 64 MiB over all ranks (strong).
//!
//! Beside 6 to 8 the same ranks under MPI write to /dev/null: by POSIX, and together by MPI-IO. Nothing is moved there. So
//! these are what the calls cost, and no target.

#[path = "aggregation/cable.rs"]
mod cable;
#[path = "rows/command.rs"]
mod command;
#[path = "aggregation/plan.rs"]
mod plan;
#[path = "rows/quick.rs"]
mod quick;
#[path = "aggregation/roles.rs"]
mod roles;
#[allow(dead_code)] // each bench uses its part
#[path = "rows/mod.rs"]
mod rows;
#[path = "aggregation/runs.rs"]
mod runs;

use plan::{Beside, Row};
use roles::Load;
use rows::{Figure, keep};
use runs::Bench;

const ROLE: &str = "--role";

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((_, words)) = arguments.split_first().filter(|(first, _)| *first == ROLE) {
        return roles::play(words);
    }
    // `cargo test --benches` only wants to know that it builds.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let Some(command) = command::built()? else { return Ok(()) };
    let bench = match Bench::new(command) {
        Ok(bench) => bench,
        Err(why) => {
            println!("not measured: {why}");
            return Ok(());
        }
    };
    println!("one machine for both hosts, and {} cores", std::thread::available_parallelism()?);
    let tcp = bench.tcp(quick::or_quick(1 << 30, 64 << 20))?;
    println!("one connection of tcp over the cable: {tcp:.0} MiB/s");
    let rows = plan::rows();
    let mut failed = 0;
    for (number, row) in (1..).zip(&rows) {
        print!("{number} of {}: ", rows.len());
        if let Err(why) = measure(&bench, row, tcp) {
            println!("{row}: not measured: {why}");
            failed += 1;
        }
    }
    match failed {
        0 => Ok(()),
        _ => Err(format!("{failed} of {} rows were not measured", rows.len()).into()),
    }
}

/// Steps of which nobody knows when they began: a fourth.
pub(crate) fn warm(load: Load) -> u64 {
    (load.steps / 4).max(1)
}

/// Measures, prints and keeps a row.
fn measure(bench: &Bench, row: &Row, tcp: f64) -> Outcome<()> {
    let streamed = bench.streamed(row)?;
    let (ours, beside): (f64, Vec<(&str, f64)>) = match row.beside {
        Beside::Null => {
            let null = |how| bench.by_mpi(how, row.load);
            (streamed.taken, vec![("POSIX, null", null("posix")?), ("MPI-IO, null", null("collective")?)])
        }
        Beside::Tcp => (streamed.taken, vec![("tcp", tcp)]),
        Beside::Files => (streamed.seen, vec![("files", bench.by_mpi("files", row.load)?)]),
    };
    let others: Vec<String> = beside.iter().map(|(name, rate)| format!("{name} {rate:.0}")).collect();
    println!("{row}: {ours:.0} MiB/s; {}", others.join(", "));
    let aggregators = row.aggregators.to_string();
    let mut figures = vec![
        ("figure", Figure::Text(row.figure)),
        ("ranks", Figure::Number(row.load.ranks as f64)),
        ("message, KiB", Figure::Number((row.load.message_bytes >> 10) as f64)),
        ("aggregators", Figure::Text(&aggregators)),
        ("nodes", Figure::Number(f64::from(row.nodes))),
        ("MiB/s", Figure::Number(ours)),
    ];
    figures.extend(beside.into_iter().map(|(name, rate)| (name, Figure::Number(rate))));
    keep(&figures);
    Ok(())
}
