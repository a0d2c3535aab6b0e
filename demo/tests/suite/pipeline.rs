//! The demonstration as a user starts it, on the built-in source. It holds and says what it lacks. Whatever happens to
//! it, nothing is left running.

use std::path::Path;
use std::process::{Command, Output};

use crate::demo_run::{DemoRun, have_ended};
use rustix::process::{Pid, Signal, kill_process};

/// Longer than anything here takes.
const DEADLINE_S: i64 = 20;

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
    assert_eq!((words(&text, "PASS").len(), words(&text, "----").len()), (10 + 11, 6), "{text}");
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
fn started() -> DemoRun {
    let command = |folder: &Path| {
        let mut command = demo(folder);
        command.args(["--short", "--problem", "notch"]);
        command
    };
    let running = DemoRun::start(command, |line| line.contains(" no ("));
    assert_eq!(running.parts.len(), 4 + 2 + 2 + 1 + 1 + 1, "all parts but CNA and the guest run");
    running
}

#[test]
fn an_interrupt_ends_everything_in_order() {
    let running = started();
    let id = Pid::from_child(&running.supervisor);
    kill_process(id, Signal::INT).expect("alive");
    let (lines, status, parts) = running.rest();
    assert_eq!(status, Some(130), "{lines:?}");
    assert!(lines.last().is_some_and(|line| line.starts_with("interrupted")), "{lines:?}");
    assert!(have_ended(&parts, 0), "the supervisor waited for its parts");
}

#[test]
fn parts_end_when_their_supervisor_is_gone() {
    let mut running = started();
    running.supervisor.kill().expect("alive");
    let (_, _, parts) = running.rest();
    assert!(have_ended(&parts, DEADLINE_S));
}

#[test]
fn a_part_that_dies_ends_the_run_and_is_named() {
    let running = started();
    let (_, bonds, _) = running.parts.iter().find(|(label, ..)| label == "bonds.1").expect("it runs");
    kill_process(*bonds, Signal::KILL).expect("alive");
    let (lines, status, parts) = running.rest();
    assert_eq!(status, Some(1), "{lines:?}");
    let failures: Vec<&String> = lines.iter().filter(|line| line.trim_start().starts_with("FAIL")).collect();
    assert!(failures.len() == 1 && failures[0].contains("bonds."), "{lines:?}");
    assert!(have_ended(&parts, 0));
}
