//! Figures 3 to 6 of the paper on staging for SAVIME, in the small and on one machine. Run it by `cargo bench -p flexpath
//! --bench figures`, after the command was built with `cargo build --release -p flexpath-cli`.
//!
//! A data set goes into a `flexpath stage`: to its memory or its disk, over shared memory or through a gate over loopback.
//! It is in memory before. Each step is one block of it for each rank, which the publisher copies. The time ends when the
//! publisher may forget all. On disk it is on the device then. A subscriber takes nothing before that, and then compares
//! every number.
//!
//! *3*: blocks of several sizes. *4*: the same from 4 ranks. The stager takes each rank by itself, as the paper's clients
//! have threads. *5*: data sets of several sizes. *6*: over TLS, beside scp, rsync and two forwardings of ssh. They bring
//! files of 256 MiB from memory to memory, or to disk with a sync. What came is compared.
//!
//! The data set has 1 GiB, with `-- --full` 5 GiB, but in figure 5. In blocks of 64 KiB it has a sixteenth of that.
//!
//! `-- --emulated` is figure 3 with 64 MiB over RDMA, beside tcp, in the virtual machine of `tests/rdma-vm/figures.sh`.

#[path = "rows/command.rs"]
mod command;
#[path = "rows/compared.rs"]
mod compared;
#[path = "figures/copies.rs"]
mod copies;
#[path = "figures/course.rs"]
mod course;
#[path = "figures/data.rs"]
mod data;
#[path = "figures/memory.rs"]
mod memory;
#[path = "forwarding/pair.rs"]
mod pair;
#[path = "figures/plan.rs"]
mod plan;
#[path = "rows/quick.rs"]
mod quick;
#[path = "rows/mod.rs"]
mod rows;
#[path = "forwarding/sshd.rs"]
mod sshd;

use compared::{middle, report};
use copies::Copies;
use data::Data;
use plan::{Row, Run};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: u32 = 3;
/// What takes longer is measured in one round.
const LONG: Duration = Duration::from_secs(10);
/// No round begins that would probably end later.
const BUDGET: Duration = Duration::from_secs(540);

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_given = |word: &str| arguments.iter().any(|argument| argument == word);
    // `cargo test --benches` only wants to know that it builds.
    if !is_given("--bench") {
        return Ok(());
    }
    let Some(command) = command::built()? else { return Ok(()) };
    if is_given("--emulated") {
        return measure(command, &plan::emulated_rows(), None);
    }
    let has_rsync = Command::new("rsync").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !has_rsync {
        println!("not measured: rsync, which is not there (scripts/install-rsync.sh)");
    }
    let data_bytes = if is_given("--full") { 5 << 30 } else { 1 << 30 };
    let rows = plan::rows(data_bytes, has_rsync);
    let some: Vec<Row> = rows.into_iter().step_by(quick::or_quick(1, 12)).collect();
    let place = tempfile::tempdir()?;
    measure(command, &some, Some(place.path()))
}

/// Bytes in MiB.
fn mebibytes(bytes: u64) -> f64 {
    (bytes >> 20) as f64
}

/// What all measurements need.
struct Bench {
    command: PathBuf,
    data: Data,
    /// Where others are measured, and what is enciphered.
    copies: Option<Copies>,
    tls: Vec<String>,
}

impl Bench {
    fn rate(&self, run: &Run) -> Outcome<f64> {
        let copies = || self.copies.as_ref().ok_or("no sshd");
        match run {
            Run::Ours(course) => course.rate(&self.command, &self.data, &self.tls),
            Run::Copied { tool, at_once, place, data_bytes } => {
                copies()?.rate((*tool, *at_once as usize), (*place, *data_bytes), &self.data)
            }
            Run::Tunnelled { data_bytes } => copies()?.rate_of_tunnel(*data_bytes, &self.data),
        }
    }
}

/// A run, what it found in each round, and how long the last one took, with its checks.
struct Found {
    run: Run,
    rates: Vec<f64>,
    took: Duration,
}

impl Found {
    fn of(rows: &[Row]) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for run in rows.iter().flat_map(|row| [row.other, row.ours]) {
            if found.iter().all(|known| known.run != run) {
                found.push(Self { run, rates: Vec::new(), took: Duration::ZERO });
            }
        }
        found
    }

    fn is_repeated(&self) -> bool {
        self.took < LONG
    }

    /// Measures it once more, and tells as it goes.
    fn measure(&mut self, bench: &Bench, (round, began): (u32, Instant)) {
        let from = Instant::now();
        let rate = bench.rate(&self.run);
        self.took = from.elapsed();
        let (seconds, run) = (began.elapsed().as_secs(), &self.run);
        match rate {
            Ok(rate) => {
                println!("round {round}, {seconds:>3} s: {run}: {rate:.0} MiB/s");
                self.rates.push(rate);
            }
            Err(why) => println!("round {round}, {seconds:>3} s: not measured: {run}: {why}"),
        }
    }
}

/// Measures all. In a folder there are keys of an sshd and certificates, where others are measured too.
fn measure(command: PathBuf, rows: &[Row], keys: Option<&Path>) -> Outcome<()> {
    let data = Data::new();
    let copies = keys.map(|keys| Copies::start(keys, &data)).transpose()?;
    let tls = keys.map_or(Ok(Vec::new()), pair::certificates)?;
    let bench = Bench { command, data, copies, tls };
    println!("one machine for all sides; memory in /dev/shm, disk under {}", std::env::temp_dir().display());
    let mut found = Found::of(rows);
    let began = Instant::now();
    for round in 1..=quick::or_quick(ROUNDS, 1) {
        let next: Duration = found.iter().filter(|found| found.is_repeated()).map(|found| found.took).sum();
        if began.elapsed() + next > BUDGET {
            println!("no time for round {round} of {ROUNDS}");
            break;
        }
        let repeated = found.iter_mut().filter(|found| found.is_repeated());
        repeated.for_each(|found| found.measure(&bench, (round, began)));
    }
    rows.iter().for_each(|row| report_row(row, &found));
    Ok(())
}

/// Prints and keeps a row, if both sides were measured.
fn report_row(row: &Row, found: &[Found]) {
    let rates = |run: &Run| {
        found.iter().find(|known| known.run == *run).map_or(Vec::new(), |known| known.rates.clone())
    };
    let (ours, other) = (rates(&row.ours), rates(&row.other));
    if ours.is_empty() || other.is_empty() {
        println!("{}: not measured", row.name);
        return;
    }
    let (ours, other) = (middle(ours), middle(other));
    report(&row.name, (ours, other), "MiB/s", (ours >= other, "ratio >= 1"));
}
