//! The demonstration as a user starts it, on the built-in source: it holds, it says what it lacks, and whatever happens
//! to it, nothing is left running.

use std::io::{BufRead as _, BufReader, Lines};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// Longer than anything here takes.
const DEADLINE: Timespec = Timespec { tv_sec: 20, tv_nsec: 0 };

/// The demonstration where LAMMPS's library is not.
fn demo(output: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_demo"));
    command.arg("--output").arg(output).args(["--deadline-s", "60"]);
    command.env("FLEXPATH_LAMMPS_LIBRARY", "/nowhere/liblammps.so");
    // What a killed supervisor leaves goes with the folder.
    command.env("TMPDIR", output);
    command
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn words<'a>(text: &'a str, word: &str) -> Vec<&'a str> {
    text.lines().filter(|line| line.trim_start().starts_with(word)).collect()
}

#[test]
fn without_lammps_the_pipeline_runs_on_the_built_in_source_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = demo(folder.path()).arg("--tiny").output().expect("starts");
    let text = text(&output);
    assert_eq!(output.status.code(), Some(77), "{text}");
    assert!(text.contains("LAMMPS cannot be used here") && text.contains("apt-get install"), "{text}");
    assert_eq!(words(&text, "source: built-in molecular dynamics (not LAMMPS").len(), 2, "{text}");
    assert_eq!(words(&text, "FAIL"), Vec::<&str>::new());
    assert_eq!((words(&text, "PASS").len(), words(&text, "----").len()), (9 + 10, 4), "{text}");
    assert_eq!(words(&text, "verdict: torn").len(), 2, "{text}");
    assert_eq!(words(&text, "guest: detached: publisher rank").len(), 2, "{text}");
    assert!(text.contains("transport=shm; inproc refused: other process"), "{text}");
    let picture = std::fs::read(folder.path().join("notch.png")).expect("a picture");
    assert!(picture.starts_with(b"\x89PNG"));
    // And again in the same place.
    let again = demo(folder.path()).args(["--tiny", "--problem", "crack"]).output().expect("starts");
    assert_eq!(again.status.code(), Some(77), "{}", self::text(&again));
}

#[test]
fn help_names_the_exit_statuses_and_nonsense_is_refused() {
    let help = Command::new(env!("CARGO_BIN_EXE_demo")).arg("--help").output().expect("starts");
    let shown = text(&help);
    assert!(help.status.success() && shown.contains("--short") && shown.contains("77"), "{shown}");
    let refused = Command::new(env!("CARGO_BIN_EXE_demo")).args(["--problem", "melt"]).output();
    assert_eq!(refused.expect("starts").status.code(), Some(2));
}

/// A demonstration under way: a run that is long enough to be disturbed, past its first row of the table.
struct Running {
    supervisor: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// Handles on all parts, by label.
    parts: Vec<(String, Pid, OwnedFd)>,
    _folder: tempfile::TempDir,
}

impl Running {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = demo(folder.path());
        command.args(["--short", "--problem", "notch"]).stdout(Stdio::piped());
        let mut supervisor = command.spawn().expect("starts");
        let mut lines = BufReader::new(supervisor.stdout.take().expect("piped")).lines();
        let mut parts = Vec::new();
        let is_row = |line: &str| line.contains(" no (");
        while let Some(line) = lines.next().map(|line| line.expect("text")).filter(|line| !is_row(line)) {
            for entry in line.trim_start().strip_prefix("started: ").iter().flat_map(|list| list.split(", "))
            {
                let (label, id) = entry.split_once(" pid ").expect("label and id");
                let id = Pid::from_raw(id.parse().expect("a number")).expect("not zero");
                parts.push((label.to_owned(), id, pidfd_open(id, PidfdFlags::empty()).expect("alive")));
            }
        }
        assert_eq!(parts.len(), 4 + 2 + 2 + 1 + 1, "all parts but CNA and the guest run");
        Running { supervisor, lines, parts, _folder: folder }
    }

    /// What it still says, and how it ends.
    fn rest(mut self) -> (Vec<String>, Option<i32>, Vec<OwnedFd>) {
        let lines = self.lines.map_while(Result::ok).collect();
        let status = self.supervisor.wait().expect("ends").code();
        (lines, status, self.parts.into_iter().map(|(_, _, handle)| handle).collect())
    }
}

/// Whether the process has ended, waiting for that as long as `patience`.
fn has_ended(handle: &OwnedFd, patience: Timespec) -> bool {
    let mut handles = [PollFd::new(handle, PollFlags::IN)];
    poll(&mut handles, Some(&patience)).expect("can be waited for") == 1
}

#[test]
fn an_interrupt_ends_everything_in_order() {
    let running = Running::start();
    let id = Pid::from_child(&running.supervisor);
    kill_process(id, Signal::INT).expect("alive");
    let (lines, status, parts) = running.rest();
    assert_eq!(status, Some(130), "{lines:?}");
    assert!(lines.last().is_some_and(|line| line.starts_with("interrupted")), "{lines:?}");
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    assert!(parts.iter().all(|part| has_ended(part, now)), "the supervisor waited for its parts");
}

#[test]
fn parts_end_when_their_supervisor_is_gone() {
    let mut running = Running::start();
    running.supervisor.kill().expect("alive");
    let (_, _, parts) = running.rest();
    assert!(parts.iter().all(|part| has_ended(part, DEADLINE)));
}

#[test]
fn a_part_that_dies_ends_the_run_and_is_named() {
    let running = Running::start();
    let (_, bonds, _) = running.parts.iter().find(|(label, ..)| label == "bonds.1").expect("it runs");
    kill_process(*bonds, Signal::KILL).expect("alive");
    let (lines, status, parts) = running.rest();
    assert_eq!(status, Some(1), "{lines:?}");
    let failures: Vec<&String> = lines.iter().filter(|line| line.trim_start().starts_with("FAIL")).collect();
    assert!(failures.len() == 1 && failures[0].contains("bonds."), "{lines:?}");
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    assert!(parts.iter().all(|part| has_ended(part, now)));
}
