//! The parts as processes: how one is entered, and how the supervisor starts, watches and ends all of them.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::error::GtsError;
use super::settings::Settings;
use super::{coordinates, generator, histograms};

/// How long a process may take to end when asked to.
const GRACE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);
/// How much of a failed process's log is shown.
const TAIL_LINES: usize = 12;
/// The status of a part whose supervisor is gone.
const ABANDONED: i32 = 3;

/// A part: one program, of one or several ranks, each a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// Follows particles.
    Generator,
    /// Takes histograms.
    Histograms,
    /// Takes the data of parallel coordinates.
    Coordinates,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 3] = [Part::Generator, Part::Histograms, Part::Coordinates];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Part::Generator => "generator",
            Part::Histograms => "histograms",
            Part::Coordinates => "coordinates",
        }
    }

    /// How many ranks it has.
    pub fn ranks(self, settings: &Settings) -> u32 {
        match self {
            Part::Generator => settings.ranks,
            Part::Histograms => settings.histogram_ranks,
            Part::Coordinates => settings.coordinate_ranks,
        }
    }

    /// Be this part until its work is done, or its supervisor is gone.
    ///
    /// # Errors
    /// What it could not do.
    pub fn run(self, settings: &Settings) -> Result<(), GtsError> {
        // The supervisor holds the other end of standard input, and writes nothing: it ends by closing.
        thread::spawn(|| {
            let _ = io::stdin().read(&mut [0]);
            std::process::exit(ABANDONED);
        });
        match self {
            Part::Generator => generator::run(settings),
            Part::Histograms => histograms::run(settings),
            Part::Coordinates => coordinates::run(settings),
        }
    }
}

/// A process that was started.
struct Process {
    /// For people: `generator.1`.
    label: String,
    child: Child,
    status: Option<ExitStatus>,
    log: PathBuf,
}

/// All processes of a run, and no others. Dropped, it ends those that still run.
#[derive(Default)]
pub(super) struct Processes {
    all: Vec<Process>,
}

impl Processes {
    /// Start all ranks of a part.
    pub(super) fn start(&mut self, part: Part, settings: &Settings, rendezvous: &Path) -> io::Result<()> {
        fs::create_dir_all(settings.logs())?;
        let size = part.ranks(settings);
        for rank in 0..size {
            let label = format!("{}.{rank}", part.name());
            let log = settings.logs().join(format!("{label}.log"));
            let mut command = Command::new(std::env::current_exe()?);
            command.args(["part", part.name()]).args(settings.to_arguments());
            command.env("FLEXPATH_RANK", rank.to_string()).env("FLEXPATH_SIZE", size.to_string());
            // A process group of its own: Ctrl-C reaches the supervisor alone, who ends its parts in order.
            command.env("FLEXPATH_RENDEZVOUS", rendezvous).process_group(0);
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(File::create(&log)?);
            self.all.push(Process { label, child: command.spawn()?, status: None, log });
        }
        Ok(())
    }

    /// Labels and process numbers, for people.
    pub(super) fn list(&self) -> String {
        let listed = self.all.iter().map(|process| format!("{} pid {}", process.label, process.child.id()));
        listed.collect::<Vec<_>>().join(", ")
    }

    /// Look who has ended. Gives one that failed, with its last words.
    pub(super) fn failed(&mut self) -> io::Result<Option<String>> {
        for process in &mut self.all {
            if process.status.is_none() {
                process.status = process.child.try_wait()?;
            }
        }
        let is_bad = |process: &&Process| process.status.is_some_and(|status| !status.success());
        Ok(self.all.iter().find(is_bad).map(Process::last_words))
    }

    pub(super) fn are_all_ended(&self) -> bool {
        self.all.iter().all(|process| process.status.is_some())
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// End those that still run: ask them, and after a while do not ask.
    fn end(&mut self) {
        for signal in [Signal::TERM, Signal::KILL] {
            self.all.iter().for_each(|process| process.signal(signal));
            let asked = Instant::now();
            while !self.are_all_ended() && asked.elapsed() < GRACE {
                // What cannot be waited for cannot be ended either.
                let _ = self.failed();
                thread::sleep(LOOK);
            }
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.end();
    }
}

impl Process {
    fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let (None, Some(id)) = (self.status, id) {
            // Not reaped yet, so the id is still its own.
            let _ = kill_process(id, signal);
        }
    }

    fn last_words(&self) -> String {
        let bytes = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("; ");
        let status = self.status.map(|status| status.to_string()).unwrap_or_default();
        format!("{} ended with {status}: {tail}", self.label)
    }
}
