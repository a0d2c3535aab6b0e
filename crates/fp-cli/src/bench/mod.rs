//! `flexpath bench`: what a stream of that shape costs on this machine, measured with real processes.

mod content;
mod crew;
mod cuts;
mod failure;
mod figures;
mod machine;
mod options;
mod pace;
mod publisher;
mod rdma;
mod role;
mod subscriber;
mod table;
mod task;

use serde::Serialize;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output;
use crate::program::Program;
use crew::Crew;
use cuts::Cuts;
use failure::BenchFailure;
use figures::Figures;
use machine::Machine;
use options::Transport;
pub(crate) use options::{BenchOptions, RoleOptions};
use task::{Found, Setup, Side, Task};

/// Steps before any is counted: every page touched, every segment mapped, every plan made.
const WARM_STEPS: u64 = 8;

/// What is printed as JSON.
#[derive(Serialize)]
struct Report<'a> {
    machine: &'a Machine,
    setup: &'a Setup,
    figures: &'a Figures,
}

/// Measures.
pub(crate) fn run(program: &Program, options: &BenchOptions) -> Result<(), Failure> {
    let cuts = Cuts::of(&options.shape.0, options.publishers, options.blocks, options.subscribers);
    let cuts = cuts.map_err(|error| Failure::Usage(error.to_string()))?;
    let place = tempfile::Builder::new().prefix("flexpath-bench-").tempdir();
    let place = place.map_err(|source| BenchFailure::Start { what: "make a temporary directory", source })?;
    let listen = rdma::prepare(options.transport, place.path())?;
    let setup = Setup { listen, ..setup(options, place.path()) };
    let interrupt = Interrupt::watch()?;
    let machine = Machine::look();
    let found = measure(&setup, &cuts, Crew::new(program, &interrupt, setup.timeout, options.verbose));
    drop(place);
    if matches!(found, Err(BenchFailure::Interrupted)) {
        interrupt.finish()?;
    }
    print(&machine, setup, &found?, options.json)
}

/// Plays one role of a run.
pub(crate) fn play(options: &RoleOptions) -> Result<(), Failure> {
    Ok(role::play(options).map_err(BenchFailure::Role)?)
}

fn setup(options: &BenchOptions, directory: &std::path::Path) -> Setup {
    Setup {
        publishers: options.publishers,
        subscribers: options.subscribers,
        shape: options.shape.0.clone(),
        dtype: options.dtype,
        blocks: options.blocks,
        warm_steps: WARM_STEPS,
        steps: options.steps,
        latency_steps: options.latency_steps.unwrap_or(options.steps),
        transport: options.transport,
        queue_limit: options.queue_limit,
        put: options.put,
        busy_poll: options.busy_poll,
        pin: options.pin,
        timeout: options.timeout,
        directory: directory.to_owned(),
        listen: None,
    }
}

/// Starts all ranks, publishers first, and waits for what they find.
fn measure(setup: &Setup, cuts: &Cuts, mut crew: Crew<'_>) -> Result<Figures, BenchFailure> {
    let task = |side, rank| Task { side, rank, setup: setup.clone(), blocks: Vec::new(), parts: Vec::new() };
    if setup.transport == Transport::Inproc {
        let (blocks, parts) = (cuts.publishers.clone(), cuts.subscribers.clone());
        crew.start(&Task { blocks, parts, ..task(Side::All, 0) })?;
    } else {
        for (rank, blocks) in (0..).zip(&cuts.publishers) {
            crew.start(&Task { blocks: vec![blocks.clone()], ..task(Side::Publisher, rank) })?;
        }
        crew.await_ready()?;
        for (rank, part) in (0..).zip(&cuts.subscribers) {
            crew.start(&Task { parts: vec![part.clone()], ..task(Side::Subscriber, rank) })?;
        }
    }
    crew.go();
    let (publishers, subscribers) = sides(setup, crew.finish()?);
    Figures::of(setup, &publishers, &subscribers).ok_or(BenchFailure::Incomplete)
}

/// What the ranks of each side found. Where they are threads, publishers come first.
fn sides(setup: &Setup, found: Vec<(Side, Vec<Found>)>) -> (Vec<Found>, Vec<Found>) {
    let (mut publishers, mut subscribers) = (Vec::new(), Vec::new());
    for (side, mut found) in found {
        match side {
            Side::Publisher => publishers.append(&mut found),
            Side::Subscriber => subscribers.append(&mut found),
            Side::All => {
                subscribers = found.split_off(found.len().min(setup.publishers as usize));
                publishers = found;
            }
        }
    }
    (publishers, subscribers)
}

fn print(machine: &Machine, setup: Setup, figures: &Figures, json: bool) -> Result<(), Failure> {
    // The directory is gone.
    let setup = Setup { directory: std::path::PathBuf::new(), ..setup };
    let report = Report { machine, setup: &setup, figures };
    output::print(&report, json, |out| table::print(out, machine, &setup, figures))
}
