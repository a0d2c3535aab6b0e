//! The spine's speed and memory, as ratios to baselines written by hand and measured in the same run.
//!
//! `cargo bench -p flexpath --bench spine -- [--quick] [--rounds N] [--budget SECONDS] [--only CASE]... [--json FILE]
//! [--patience SECONDS]`: when the budget is spent each row has one round. Every side of every case is a process of
//! its own, which is this binary again, with a role. It is pinned to one core unless the row says otherwise. Every
//! byte of every step is written afresh. Runs of the baseline and of ours take turns. `docs/performance.md` explains
//! the cases and holds the figures of a full run.

#[path = "spine/bench.rs"]
mod bench;
#[path = "spine/cases/mod.rs"]
mod cases;
#[path = "spine/machine.rs"]
mod machine;
#[path = "spine/ours.rs"]
mod ours;
#[path = "spine/process.rs"]
mod process;
#[path = "spine/report.rs"]
mod report;
#[path = "spine/ring.rs"]
mod ring;
#[path = "spine/shared.rs"]
mod shared;
#[path = "spine/targets.rs"]
mod targets;

use bench::{Bench, Options};
use process::{ROLE, Words};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        [ROLE, role, ref rest @ ..] => cases::play(role, &Words::parse(rest.iter().copied())),
        _ => measure(&arguments),
    }
}

fn measure(arguments: &[String]) {
    let names: Vec<&str> = cases::CASES.iter().map(|(name, _)| *name).collect();
    let options = match Options::parse(arguments, &names) {
        Ok(options) => options,
        Err(complaint) => {
            eprintln!(
                "{complaint}\nusage: spine [--quick] [--rounds N] [--budget SECONDS] [--only CASE]... [--json FILE] [--patience SECONDS]; cases: {names:?}"
            );
            std::process::exit(2);
        }
    };
    let mut bench = Bench::new(options);
    for (name, case) in cases::CASES {
        if bench.wants(name) {
            case(&mut bench);
        }
    }
    if !bench.finish() {
        std::process::exit(1);
    }
}
