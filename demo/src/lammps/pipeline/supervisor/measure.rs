//! A measured run: all parts from start to end, coupled one way, and what each of them spent on moving data.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use flexpath::Rendezvous;
use serde::Serialize;

use super::super::by_type::Way;
use super::super::part::Part;
use super::super::part_step::Coupling;
use super::super::report::{Taking, Tallied};
use super::super::settings::{BondsBy, Settings, Size, SourceKind};
use super::board::Board;
use super::children::Children;
use super::notice::Notice;
use super::run::RunError;
use crate::lammps::problem::Problem;
use crate::shared::interrupt::Interrupt;

/// How soon an interrupt, or the end of a process that has said all, is noticed.
const LOOK: Duration = Duration::from_millis(5);

/// What is measured.
#[derive(Clone, Debug, clap::Args)]
pub struct MeasureOptions {
    /// How the parts are coupled
    #[arg(long)]
    pub coupling: Coupling,
    /// How CSym comes by the bonds
    #[arg(long, default_value = "hand")]
    pub bonds: BondsBy,
    /// Which problem: crack or notch
    #[arg(long, default_value = "notch", value_parser = ["crack", "notch"])]
    pub problem: String,
    /// Its size; `scaled` grows with the ranks
    #[arg(long, default_value = "scaled")]
    pub size: Size,
    /// What simulates
    #[arg(long, default_value = "lammps")]
    pub source: SourceKind,
    /// Ranks of the simulation
    #[arg(long, default_value_t = 4)]
    pub ranks: u32,
    /// Where logs go, and the files of a run that is coupled through files
    #[arg(long, default_value = ".demo")]
    pub output: PathBuf,
    /// Seconds that the run may take
    #[arg(long, default_value_t = 300)]
    pub deadline_s: u64,
}

impl MeasureOptions {
    fn settings(&self) -> Settings {
        let deadline_ms = self.deadline_s.saturating_mul(1_000);
        Settings {
            problem: Problem::from_name(&self.problem).unwrap_or(Problem::Notch),
            size: self.size,
            source: self.source,
            ranks: self.ranks,
            // The run's own deadline ends it: no part is detached before that.
            max_wait_ms: deadline_ms,
            output: self.output.clone(),
            coupling: self.coupling,
            measured: true,
            bonds: self.bonds,
            patience_ms: deadline_ms,
            address: None,
            python: None,
        }
    }
}

/// What a run has cost.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// What simulated.
    pub source: String,
    /// Seconds from the first process's start to the last one's end.
    pub total_s: f64,
    /// Seconds from the opening of the simulation's stream to its closing: the longest of its ranks.
    pub simulation_s: f64,
    /// What was found.
    pub found: Tallied,
    /// How CSym took the bonds of streams, by way (`subscriber`, `publisher`, `hand`), all steps together.
    pub bonds: BTreeMap<&'static str, Taking>,
    /// By part.
    pub parts: BTreeMap<String, PartCost>,
    /// By stream.
    pub streams: BTreeMap<String, StreamBytes>,
    /// What the links of streams ran over, and how many of them.
    pub links: BTreeMap<String, usize>,
}

/// The seconds of that rank of a part for which they are the most.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PartCost {
    /// Its ranks.
    pub ranks: u32,
    /// Inside calls of the library, or inside file calls: taking and publishing together, waits left out.
    pub io_s: f64,
    /// Waiting for room in an own stream, or for another rank of the same part.
    pub room_wait_s: f64,
    /// Waiting for steps.
    pub step_wait_s: f64,
}

/// The bytes of one stream.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StreamBytes {
    /// Steps.
    pub steps: u64,
    /// Put by all ranks.
    pub put: u64,
    /// Of these kept for anybody. In files everything is.
    pub kept: u64,
    /// Taken by each part.
    pub taken: BTreeMap<String, u64>,
    /// What each part would have taken besides if all of the stream came to it.
    pub not_moved: BTreeMap<String, u64>,
}

/// Run the pipeline once and measure it.
///
/// # Errors
/// In words: what could not be done, or went wrong, or took too long.
pub fn measure(options: &MeasureOptions, interrupt: &Interrupt) -> Result<Measured, String> {
    let settings = options.settings();
    let exchange = settings.output.join("exchange");
    let clear = || match fs::remove_dir_all(&exchange) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.to_string()),
        _ => Ok(()),
    };
    clear()?;
    let limit = Duration::from_secs(options.deadline_s);
    let (board, total) = run(&settings, limit, interrupt).map_err(|error| error.to_string())?;
    clear()?;
    let found = board.tallied.clone().ok_or("the results were not added up")?;
    Ok(Measured {
        source: board.source.clone().unwrap_or_default(),
        total_s: total.as_secs_f64(),
        simulation_s: longest_simulation_ms(&board) / 1e3,
        found,
        bonds: bonds(&board),
        parts: costs(&settings, &board),
        streams: streams(&board),
        links: board.transports(),
    })
}

fn bonds(board: &Board) -> BTreeMap<&'static str, Taking> {
    let taken = board.bonds_taken().map(|told| told.taken).unwrap_or_default();
    let ways = Way::ALL.into_iter().map(|way| (way.name(), taken[way as usize]));
    ways.filter(|(_, taking)| taking.steps > 0).collect()
}

fn longest_simulation_ms(board: &Board) -> f64 {
    let simulation = board.closed.iter().filter(|((part, _), _)| part == Part::Simulation.name());
    simulation.map(|(_, closed)| closed.ran_ms).fold(0.0, f64::max)
}

/// Start everybody, listen, and wait for the end of all.
fn run(settings: &Settings, limit: Duration, interrupt: &Interrupt) -> Result<(Board, Duration), RunError> {
    let folder = tempfile::Builder::new().prefix("flexpath-measure-").tempdir()?;
    // Made here, so that it is there for whoever comes first.
    let _rendezvous = Rendezvous::at(folder.path())?;
    let (sender, inbox) = channel();
    let mut children = Children::new(settings, folder.path(), limit, sender);
    let started = Instant::now();
    Part::MEASURED.into_iter().try_for_each(|part| children.start(part))?;
    let mut board = Board::default();
    let mut speaking = children.processes().len();
    while speaking > 0 || !children.are_all_ended() {
        speaking -= usize::from(listen(&inbox, &mut board));
        if interrupt.is_requested() {
            return Err(RunError::Interrupted);
        }
        if started.elapsed() > limit {
            return Err(too_long(limit, &children));
        }
        for index in children.reap()? {
            failed(index, &children, &inbox, &mut board)?;
        }
    }
    Ok((board, started.elapsed()))
}

/// Whether one process will say no more.
fn listen(inbox: &Receiver<Notice>, board: &mut Board) -> bool {
    match inbox.recv_timeout(LOOK) {
        Ok(Notice::Said(line)) => drop(board.take(*line)),
        Ok(Notice::Noise { label, text }) => eprintln!("{label}: {text}"),
        Ok(Notice::Silent) => return true,
        Ok(Notice::Judged(_) | Notice::WatchEnded(_))
        | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
    }
    false
}

fn too_long(limit: Duration, children: &Children) -> RunError {
    let running = children.processes().iter().filter(|process| process.status.is_none());
    let running: Vec<&str> = running.map(|process| process.label.as_str()).collect();
    RunError::TooLong { limit, running: running.join(", ") }
}

/// Nothing, unless the process that has ended did not end well.
fn failed(
    index: usize,
    children: &Children,
    inbox: &Receiver<Notice>,
    board: &mut Board,
) -> Result<(), RunError> {
    let process = &children.processes()[index];
    let Some(status) = process.status.filter(|status| !status.success()) else { return Ok(()) };
    // What it said last may still be on its way.
    while let Ok(notice) = inbox.recv_timeout(LOOK) {
        if let Notice::Said(line) = notice {
            drop(board.take(*line));
        }
    }
    let mut why = process.last_words();
    why.append(&mut board.failures);
    Err(RunError::PartFailed { label: process.label.clone(), status, why })
}

/// The seconds of the slowest rank of each part.
fn costs(settings: &Settings, board: &Board) -> BTreeMap<String, PartCost> {
    let mut ranks: BTreeMap<&(String, u32), PartCost> = BTreeMap::new();
    for (who, closed) in &board.closed {
        let cost = ranks.entry(who).or_default();
        cost.io_s += closed.io_ms / 1e3;
        cost.room_wait_s += closed.waited_ms / 1e3;
    }
    for (who, left) in &board.left {
        let cost = ranks.entry(who).or_default();
        cost.io_s += left.io_ms / 1e3;
        cost.step_wait_s += left.waited_ms / 1e3;
    }
    let mut parts: BTreeMap<String, PartCost> = BTreeMap::new();
    for ((part, _), cost) in ranks {
        let most = parts.entry(part.clone()).or_default();
        most.ranks = Part::from_name(part).map_or(0, |part| part.ranks(settings));
        most.io_s = most.io_s.max(cost.io_s);
        most.room_wait_s = most.room_wait_s.max(cost.room_wait_s);
        most.step_wait_s = most.step_wait_s.max(cost.step_wait_s);
    }
    parts
}

fn streams(board: &Board) -> BTreeMap<String, StreamBytes> {
    let mut streams: BTreeMap<String, StreamBytes> = BTreeMap::new();
    for (_, closed) in &board.closed {
        let bytes = streams.entry(closed.stream.clone()).or_default();
        bytes.steps = bytes.steps.max(closed.steps);
        bytes.put += closed.put_bytes;
        bytes.kept += closed.kept_bytes;
    }
    for ((part, _), left) in &board.left {
        let bytes = streams.entry(left.stream.clone()).or_default();
        *bytes.taken.entry(part.clone()).or_default() += left.bytes;
    }
    for bytes in streams.values_mut() {
        let rest = |(part, taken): (&String, &u64)| (part.clone(), bytes.put.saturating_sub(*taken));
        bytes.not_moved = bytes.taken.iter().map(rest).collect();
    }
    streams
}
