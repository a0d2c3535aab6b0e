//! What all cases share: the command line, directories for streams, the rows found so far.

use crate::machine::{Ticks, description, hop_ns};
use crate::report::{Row, median, print_head};
use crate::targets::judge;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The targets that were met before.
const TARGETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/performance/targets.json");
/// A round is quiet if others used less than this of all cores meanwhile.
const QUIET_PERCENT: f64 = 12.0;
/// How long the machine is looked at to see whether it is quiet.
const LOOK: Duration = Duration::from_millis(200);

/// The command line.
#[derive(Debug, Default)]
pub(crate) struct Options {
    quick: bool,
    rounds: Option<usize>,
    budget: Option<Duration>,
    only: Vec<String>,
    json: Option<PathBuf>,
    patience: Duration,
    hop_limit_ns: Option<f64>,
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
                "--rounds" => {
                    let rounds = value()?.parse().ok().filter(|rounds| *rounds > 0);
                    options.rounds = Some(rounds.ok_or(format!("{argument} wants a number above 0"))?);
                }
                "--hop" => {
                    let limit = value()?;
                    options.hop_limit_ns = Some(limit.parse().map_err(|_| format!("{limit} is no number"))?);
                }
                "--budget" => options.budget = Some(seconds(value()?)?),
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
    /// What the machine did meanwhile.
    pub(crate) around: Around,
}

/// What a round depends on and nobody chose. For several rounds it is the middle of each.
#[derive(Clone, Copy)]
pub(crate) struct Around {
    /// The share of all cores, in percent, that others used.
    pub(crate) others_percent: f64,
    /// Nanoseconds from one core to the other.
    pub(crate) hop_ns: f64,
}

impl Around {
    /// Measured for one piece of work.
    pub(crate) fn during<T>(work: impl FnOnce() -> T) -> (Self, T) {
        let (hop_before, since) = (hop_ns(), Ticks::now());
        let found = work();
        let others_percent = since.others_percent();
        (Self { others_percent, hop_ns: hop_before.max(hop_ns()) }, found)
    }

    fn is_calm(&self, options: &Options) -> bool {
        self.others_percent < QUIET_PERCENT && !self.is_far(options)
    }

    fn is_far(&self, options: &Options) -> bool {
        options.hop_limit_ns.is_some_and(|limit| self.hop_ns > limit)
    }
}

/// A run of the benches.
pub(crate) struct Bench {
    options: Options,
    began: Instant,
    place: TempDir,
    streams: u32,
    rows: Vec<Value>,
}

impl Bench {
    /// Starts a run: prints the head of the table.
    pub(crate) fn new(options: Options) -> Self {
        println!("{}", description());
        println!("load: what others used of all cores meanwhile; hop: a cache line's way from core to core");
        print_head();
        let place = TempDir::with_prefix("flexpath-bench-").expect("a temporary directory");
        Self { options, began: Instant::now(), place, streams: 0, rows: Vec::new() }
    }

    /// Whether the case is to be run.
    pub(crate) fn wants(&self, case: &str) -> bool {
        self.options.only.is_empty() || self.options.only.iter().any(|name| name == case)
    }

    /// Measures round by round. With patience, rounds wait for the machine to be quiet. They are repeated where it was
    /// not, or where its cores were farther apart than `--hop` allows; the nearest and quietest count. They are chosen
    /// by that alone, whatever they found.
    pub(crate) fn take_turns<T>(&mut self, mut round: impl FnMut(&mut Self) -> T) -> Rounds<T> {
        let (wanted, until) = (self.rounds(), Instant::now() + self.options.patience);
        let (mut found, mut calm): (Vec<(Around, T)>, usize) = (Vec::new(), 0);
        while calm < wanted && (found.len() < wanted || Instant::now() < until) {
            await_quiet(until);
            let (around, one) = Around::during(|| round(self));
            calm += usize::from(around.is_calm(&self.options));
            found.push((around, one));
        }
        let far = |around: &Around| around.is_far(&self.options);
        found.sort_by(|(one, _), (other, _)| {
            far(one).cmp(&far(other)).then(one.others_percent.total_cmp(&other.others_percent))
        });
        found.truncate(wanted);
        let (around, found): (Vec<Around>, Vec<T>) = found.into_iter().unzip();
        let middle = |of: fn(&Around) -> f64| median(&around.iter().map(of).collect::<Vec<_>>());
        let (others_percent, hop_ns) =
            (middle(|around| around.others_percent), middle(|around| around.hop_ns));
        Rounds { found, around: Around { others_percent, hop_ns } }
    }

    /// How many times everything is measured, taking turns: once when the budget is spent.
    fn rounds(&self) -> usize {
        if self.options.budget.is_some_and(|budget| self.began.elapsed() > budget) {
            return 1;
        }
        self.options.rounds.unwrap_or(if self.options.quick { 3 } else { 7 })
    }

    /// A number of repetitions within one round.
    pub(crate) fn scaled(&self, full: usize) -> usize {
        if self.options.quick { full.div_ceil(4) } else { full }
    }

    /// A rendezvous directory that no stream was in before.
    pub(crate) fn directory(&mut self) -> String {
        self.streams += 1;
        let directory = self.place.path().join(self.streams.to_string());
        std::fs::create_dir(&directory).expect("a directory");
        directory.display().to_string()
    }

    /// Prints and keeps a row.
    pub(crate) fn add(&mut self, row: Row) {
        row.print();
        self.rows.push(row.to_json());
    }

    /// Writes the rows where they are wanted; whether every target is met that was met before. A quick run says nothing
    /// of that.
    pub(crate) fn finish(self) -> bool {
        let missed = self.rows.iter().filter(|row| row["met"] == json!(false)).count();
        println!("{} rows, {missed} missed", self.rows.len());
        if let Some(file) = &self.options.json {
            let all = json!({ "machine": description(), "quick": self.options.quick, "rows": self.rows });
            std::fs::write(file, format!("{all:#}\n")).expect("the file for the rows");
        }
        self.options.quick || keeps_targets(&self.rows)
    }
}

/// Says which targets are missed that were met before, and which the other way round.
fn keeps_targets(rows: &[Value]) -> bool {
    let file = std::fs::read_to_string(TARGETS).unwrap_or_else(|error| panic!("{TARGETS}: {error}"));
    let judged = judge(&file, "spine", rows).unwrap_or_else(|error| panic!("{TARGETS}: {error}"));
    judged.risen.iter().for_each(|case| println!("met now, and not listed in {TARGETS}: {case}"));
    judged.fallen.iter().for_each(|case| println!("MISSED, and met before ({TARGETS}): {case}"));
    judged.fallen.is_empty()
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
