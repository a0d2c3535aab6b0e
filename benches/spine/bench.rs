//! What all cases share: the command line, directories for streams, the rows found so far.

use crate::machine::{Ticks, description};
use crate::report::{Row, median, print_head};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A round is quiet if others used less than this of all cores meanwhile.
const QUIET_PERCENT: f64 = 12.0;
/// How long the machine is looked at to see whether it is quiet.
const LOOK: Duration = Duration::from_millis(200);

/// The command line.
#[derive(Debug, Default)]
pub(crate) struct Options {
    quick: bool,
    only: Vec<String>,
    json: Option<PathBuf>,
    patience: Duration,
}

impl Options {
    /// Reads it; `--bench` is what cargo says by itself.
    pub(crate) fn parse(arguments: &[String], cases: &[&str]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().ok_or(format!("{argument} wants a value"));
            match argument.as_str() {
                "--bench" => {}
                "--quick" => options.quick = true,
                "--json" => options.json = Some(value()?.into()),
                "--patience" => options.patience = seconds(value()?)?,
                "--only" => options.only.push(value()?.clone()),
                other => return Err(format!("what is {other}?")),
            }
        }
        match options.only.iter().find(|name| !cases.contains(&name.as_str())) {
            Some(unknown) => Err(format!("there is no case {unknown}")),
            None => Ok(options),
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    text.parse().map(Duration::from_secs).map_err(|_| format!("{text} is no number of seconds"))
}

/// What several rounds found.
pub(crate) struct Rounds<T> {
    /// What each found.
    pub(crate) found: Vec<T>,
    /// The share of all cores, in percent, that others used meanwhile; the middle round's.
    pub(crate) others_percent: f64,
}

/// A run of the benches.
pub(crate) struct Bench {
    options: Options,
    place: TempDir,
    streams: u32,
    rows: Vec<Value>,
}

impl Bench {
    /// Starts a run: prints the head of the table.
    pub(crate) fn new(options: Options) -> Self {
        println!("{}", description());
        println!("load: what other processes used of all cores while the row was measured");
        print_head();
        let place = TempDir::with_prefix("flexpath-bench-").expect("a temporary directory");
        Self { options, place, streams: 0, rows: Vec::new() }
    }

    /// Whether the case is to be run.
    pub(crate) fn wants(&self, case: &str) -> bool {
        self.options.only.is_empty() || self.options.only.iter().any(|name| name == case)
    }

    /// Measures round by round. With patience, rounds wait for the machine to be quiet and are repeated where it was
    /// not; the quietest count. They are chosen by that alone, whatever they found.
    pub(crate) fn take_turns<T>(&mut self, mut round: impl FnMut(&mut Self) -> T) -> Rounds<T> {
        let (wanted, until) = (self.rounds(), Instant::now() + self.options.patience);
        let mut found: Vec<(f64, T)> = Vec::new();
        let quiet = |found: &[(f64, T)]| found.iter().filter(|(load, _)| *load < QUIET_PERCENT).count();
        while quiet(&found) < wanted && (found.len() < wanted || Instant::now() < until) {
            await_quiet(until);
            let since = Ticks::now();
            let one = round(self);
            found.push((since.others_percent(), one));
        }
        found.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        found.truncate(wanted);
        let (loads, found): (Vec<f64>, Vec<T>) = found.into_iter().unzip();
        Rounds { found, others_percent: median(&loads) }
    }

    /// How many times everything is measured, taking turns.
    fn rounds(&self) -> usize {
        if self.options.quick { 3 } else { 7 }
    }

    /// A number of repetitions within one round.
    pub(crate) fn scaled(&self, full: usize) -> usize {
        if self.options.quick { full.div_ceil(4) } else { full }
    }

    /// A rendezvous directory that no stream was in before.
    pub(crate) fn directory(&mut self) -> String {
        self.streams += 1;
        self.place.path().join(self.streams.to_string()).display().to_string()
    }

    /// Prints and keeps a row.
    pub(crate) fn add(&mut self, row: Row) {
        row.print();
        self.rows.push(row.to_json());
    }

    /// Writes the rows where they are wanted.
    pub(crate) fn finish(self) {
        let missed = self.rows.iter().filter(|row| row["met"] == json!(false)).count();
        println!("{} rows, {missed} missed", self.rows.len());
        let Some(file) = self.options.json else { return };
        let all = json!({ "machine": description(), "quick": self.options.quick, "rows": self.rows });
        std::fs::write(&file, format!("{all:#}\n")).expect("the file for the rows");
    }
}

fn await_quiet(until: Instant) {
    while Instant::now() < until {
        let since = Ticks::now();
        std::thread::sleep(LOOK);
        if since.others_percent() < QUIET_PERCENT {
            return;
        }
    }
}
