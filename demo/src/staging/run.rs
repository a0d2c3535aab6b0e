//! The supervisor: starts all, cuts the way, kills the analysis, and checks what arrived.

use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::parts::{Part, STAGED, STREAM};
use super::settings::Settings;
use super::store;
use super::way::Way;
use crate::shared::check_result::{self, CheckResult};
use crate::shared::interrupt::Interrupt;
use crate::shared::outcome::Outcome;
use crate::shared::processes::{Processes, flexpath_command, list, rank_command};
use crate::shared::screen::Screen;

/// How soon an interrupt, an end or progress is noticed.
const LOOK: Duration = Duration::from_millis(20);

/// Ranks of the simulation.
const RANKS: u32 = 2;

/// The memory of the stager: that of a few steps.
const MEMORY: &str = "4M";

/// Why a run did not come to its end.
#[derive(Debug, thiserror::Error)]
enum RunError {
    #[error("interrupted")]
    Interrupted,
    #[error("not done within {0:?}")]
    TooLong(Duration),
    #[error("{0}")]
    Failed(String),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Run all of it, and say what came of it.
pub fn run(settings: &Settings, interrupt: &Interrupt, screen: &mut Screen) -> Outcome {
    let checks = match run_parts(settings, interrupt, screen) {
        Ok(checks) => checks,
        Err(RunError::Interrupted) => {
            screen.line("interrupted: everything that was started is ended");
            return Outcome::Interrupted;
        }
        Err(error) => {
            screen.line(&format!("  FAIL  {error} (logs: {})", settings.logs().display()));
            return Outcome::Failed;
        }
    };
    check_result::show(&checks, screen)
}

/// A run under way.
struct Run<'a> {
    settings: &'a Settings,
    interrupt: &'a Interrupt,
    began: Instant,
    command: PathBuf,
    processes: Processes<&'static str>,
    /// How many steps were read as the simulation ended.
    read_then: Option<usize>,
    /// Whether the first analysis was killed.
    is_killed: bool,
    folder: tempfile::TempDir,
}

fn run_parts(
    settings: &Settings,
    interrupt: &Interrupt,
    screen: &mut Screen,
) -> Result<Vec<CheckResult>, RunError> {
    std::fs::create_dir_all(&settings.output)?;
    let _ = std::fs::remove_file(settings.taken());
    let _ = std::fs::remove_dir_all(settings.store());
    let command = flexpath_command()?;
    let folder = tempfile::Builder::new().prefix("flexpath-staging-").tempdir()?;
    for name in ["inside", "outside"] {
        std::fs::create_dir(folder.path().join(name))?;
    }
    let (began, processes) = (Instant::now(), Processes::default());
    let mut run =
        Run { settings, interrupt, began, command, processes, read_then: None, is_killed: false, folder };
    let way = run.start()?;
    screen.line(&format!(
        "== staging: {} steps of 512 KiB from {RANKS} ranks, one every {} ms; the analysis takes {} ms for each",
        settings.steps, settings.pace_ms, settings.reading_ms
    ));
    screen.line(&format!("  started: {}", list(run.processes.all())));
    let disk = run.harm(&way, screen)?;
    run.finish()?;
    let mut checks = vec![run.held_up()?, disk, run.taken()?, connections(&way)];
    checks.extend(settings.python.as_ref().map(|python| store::check(settings, python)));
    checks.push(run.left_behind());
    Ok(checks)
}

impl Run<'_> {
    fn inside(&self) -> PathBuf {
        self.folder.path().join("inside")
    }

    fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// Starts one of our commands, on one side.
    fn command(&mut self, side: &Path, words: &[&str]) -> Result<Option<String>, RunError> {
        let mut command = Command::new(&self.command);
        command.args(words).env("FLEXPATH_RENDEZVOUS", side);
        let name = match words.first() {
            Some(&"stage") => "stage",
            Some(&"forward") => "forward",
            _ => "gate",
        };
        command.stdout(if name == "gate" { Stdio::piped() } else { Stdio::null() });
        let output = self.processes.spawn((name, name.to_owned()), command, &self.settings.logs())?;
        let Some(output) = output else { return Ok(None) };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        Ok(Some(line.trim().to_owned()))
    }

    fn part(&mut self, part: Part, label: String, side: &Path, rank: (u32, u32)) -> Result<(), RunError> {
        let mut command = rank_command(part.name(), self.settings.to_arguments(), rank)?;
        command.env("FLEXPATH_RENDEZVOUS", side).stdout(Stdio::null());
        self.processes.spawn((part.name(), label), command, &self.settings.logs())?;
        Ok(())
    }

    /// Starts what writes the store, if it is wanted. It awaits the stream.
    fn tee(&mut self, outside: &Path) -> Result<(), RunError> {
        let Some(tee) = &self.settings.tee else { return Ok(()) };
        let to = format!("zarr:{}", self.settings.store().display());
        let mut command = Command::new(tee);
        command.args([
            STAGED,
            "--to",
            &to,
            "--ranks",
            "2",
            "--timeout",
            "60",
            "--start-at",
            "oldest-reserved",
        ]);
        command.env("FLEXPATH_RENDEZVOUS", outside).stdout(Stdio::null());
        self.processes.spawn(("tee", "tee".to_owned()), command, &self.settings.logs())?;
        Ok(())
    }

    fn start(&mut self) -> Result<Way, RunError> {
        let (inside, outside) = (self.inside(), self.outside());
        // What was read is found again by an analysis that comes back.
        let reserve = self.settings.steps.to_string();
        let subscribers = if self.settings.tee.is_some() { "2" } else { "1" };
        let words = ["gate", "--subscribers", subscribers, "--reserve", &reserve, "--memory", "1G", "--once"];
        let address = self.command(&outside, &words)?.and_then(|line| line.parse().ok());
        let address = address.ok_or_else(|| RunError::Failed("the gate says no address".to_owned()))?;
        let way = Way::to(address)?;
        let (to, disk) = (way.address().to_string(), self.folder.path().join("disk"));
        let disk = disk.to_string_lossy().into_owned();
        let stage = ["stage", STREAM, "--memory", MEMORY, "--disk", &disk, "--subscribers", "1", "--once"];
        self.command(&inside, &stage)?;
        self.command(&inside, &["forward", STAGED, "--to", &to, "--once"])?;
        self.part(Part::Analysis, "analysis.1".to_owned(), &outside, (0, 1))?;
        self.tee(&outside)?;
        for rank in 0..RANKS {
            self.part(Part::Simulation, format!("simulation.{rank}"), &inside, (rank, RANKS))?;
        }
        Ok(way)
    }

    /// How many steps were read and checked so far.
    fn progress(&self) -> usize {
        std::fs::read_to_string(self.settings.taken()).map_or(0, |text| text.lines().count())
    }

    /// Cuts the way, kills the analysis, starts another, and cuts the way again, each at its time. Says what was on disk.
    fn harm(&mut self, way: &Way, screen: &mut Screen) -> Result<CheckResult, RunError> {
        let steps = self.settings.steps as usize;
        let mut on_disk = 0;
        for (part, what) in [(1, "cut"), (2, "kill"), (3, "cut")] {
            while self.progress() < steps * part / 4 {
                on_disk = on_disk.max(files(&self.folder.path().join("disk")));
                self.look()?;
                thread::sleep(LOOK);
            }
            let seconds = self.began.elapsed().as_secs_f64();
            let told = if what == "cut" {
                format!("the way out is cut ({} connection)", way.cut())
            } else {
                let mut all = self.processes.all().iter();
                let analysis = all.find(|one| one.label == "analysis.1" && one.status.is_none());
                let id =
                    analysis.and_then(|analysis| i32::try_from(analysis.id()).ok()).and_then(Pid::from_raw);
                if let Some(id) = id {
                    kill_process(id, Signal::KILL).map_err(io::Error::from)?;
                    self.is_killed = true;
                }
                let outside = self.outside();
                self.part(Part::Analysis, "analysis.2".to_owned(), &outside, (0, 1))?;
                "the analysis is killed (kill -9), and another one goes on".to_owned()
            };
            screen.line(&format!("  {seconds:5.1} s, {:4} steps read: {told}", self.progress()));
        }
        let what = format!("{on_disk} files of steps lay on disk at one time, with {MEMORY} of memory");
        Ok(CheckResult::of(on_disk > 0, "the stager spilled what its memory had no room for", what))
    }

    /// Looks after all: one that has failed, the user, the time.
    fn look(&mut self) -> Result<(), RunError> {
        self.processes.reap()?;
        let mut simulation =
            self.processes.all().iter().filter(|process| process.part == Part::Simulation.name());
        if self.read_then.is_none() && simulation.all(|process| process.status.is_some()) {
            self.read_then = Some(self.progress());
        }
        let is_bad = |process: &&crate::shared::processes::Process<&'static str>| {
            let failed = process.status.is_some_and(|status| !status.success());
            failed && !(self.is_killed && process.label == "analysis.1")
        };
        if let Some(process) = self.processes.all().iter().find(is_bad) {
            let words = process.last_words().join("; ");
            return Err(RunError::Failed(format!("{} failed: {words}", process.label)));
        }
        if self.interrupt.is_requested() {
            return Err(RunError::Interrupted);
        }
        let limit = Duration::from_secs(self.settings.deadline_s);
        if self.began.elapsed() > limit { Err(RunError::TooLong(limit)) } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<(), RunError> {
        while !self.processes.are_all_ended() {
            self.look()?;
            thread::sleep(LOOK);
        }
        self.look()
    }

    fn held_up(&self) -> Result<CheckResult, RunError> {
        let (mut held_up, mut ran) = (0.0f64, 0.0f64);
        for rank in 0..RANKS {
            let text = std::fs::read(self.settings.held_up(rank))?;
            let told: serde_json::Value = serde_json::from_slice(&text).map_err(io::Error::other)?;
            let number = |name: &str| told[name].as_f64().unwrap_or(f64::NAN);
            (held_up, ran) = (held_up.max(number("held_up_s")), ran.max(number("ran_s")));
        }
        // Held up, it would be ahead by what the memory has room for, and no more.
        let (steps, read) = (self.settings.steps, self.read_then.unwrap_or(0) as u64);
        let waited = 1000.0 * held_up;
        let what = format!(
            "it had published all {steps} when {read} were read; it waited {waited:.1} ms of {ran:.1} s"
        );
        Ok(CheckResult::of(read + steps / 5 < steps, "no slow analysis held the simulation up", what))
    }

    fn taken(&self) -> Result<CheckResult, RunError> {
        let text = std::fs::read_to_string(self.settings.taken())?;
        let taken: Vec<u64> = text.lines().filter_map(|line| line.parse().ok()).collect();
        let is_whole = taken == (0..self.settings.steps).collect::<Vec<_>>();
        let numbers = self.settings.steps * super::field::ROWS * super::field::COLUMNS;
        let what = format!("{} steps, {numbers} numbers compared to the last bit", taken.len());
        Ok(CheckResult::of(is_whole, "every step arrived once, in order, as it was published", what))
    }

    fn left_behind(&self) -> CheckResult {
        let left = files(&self.folder.path().join("disk"));
        let ended = self.processes.all().len() - 1;
        let what = format!("{ended} processes ended with 0; {left} steps are left on disk");
        CheckResult::of(left == 0, "nothing is left behind", what)
    }
}

fn connections(way: &Way) -> CheckResult {
    let (dialled, most) = way.counts();
    let what = format!("dialled {dialled} times from inside; {most} at one time");
    CheckResult::of(most == 1 && dialled >= 3, "one connection leaves the cluster", what)
}

/// Files with steps that are under a folder.
fn files(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let counts = entries.map(|entry| match entry.path() {
        path if path.is_dir() => files(&path),
        path => usize::from(path.extension().is_some_and(|end| end == "fpsr")),
    });
    counts.sum()
}
