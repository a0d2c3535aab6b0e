//! `flexpath bench` as its users have it: it measures, finds wrong arguments, and leaves nothing behind.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use crate::support::Run;
use fp_core::LinkOptions;
use fp_core::diagnosis::probe_own_verbs;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

/// Steps enough for what is to be interrupted.
const FOR_EVER: &str = "1000000";

/// What a small run prints as JSON; nothing may stay behind.
fn figures(arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::at(folder.path(), &[&["bench", "--json", "--steps", "6"], arguments].concat()).finish();
    assert_eq!(run.code, Some(0), "{arguments:?}: {}", run.stderr);
    assert_empty(folder.path());
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let figures = &report["figures"];
    for positive in ["gb_per_s", "steps_per_s", "attach_ms", "open_ms"] {
        assert!(figures[positive].as_f64().unwrap() > 0.0, "{positive}: {figures}");
    }
    assert!(report["machine"]["load"].is_number() && report["setup"]["steps"] == 6);
    figures.clone()
}

fn assert_empty(folder: &Path) {
    let left: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[test]
fn blocks_cross_over_shared_memory_and_are_copied_once() {
    let cut = ["--publishers", "4", "--subscribers", "2", "--shape", "31x16x12", "--blocks", "2"];
    let found = figures(&[&cut[..], &["--transport", "shm", "--latency-steps", "3"]].concat());
    assert_eq!(found["step_bytes"], 31 * 16 * 12 * 8);
    assert_eq!(found["copied_per_delivered"], 1.0);
    assert_eq!(found["latency_us"]["count"], 6, "three steps of two ranks");
    assert_eq!(found["calls_us"]["count"], 24);
    let links: u64 = found["transports"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(links, 8);
    // Eight steps before the counted ones and one after them, by all ranks together.
    assert_eq!(found["checked"], 9 * 31 * 16 * 12);
}

#[test]
fn what_is_put_differently_is_copied_as_often_as_told() {
    for (put, copied) in [("copy", 2.0), ("vec", 2.0), ("loan", 1.0)] {
        let found = figures(&["--transport", "shm", "--put", put, "--shape", "70000", "--dtype", "f32"]);
        assert_eq!(found["copied_per_delivered"], copied, "{put}");
    }
}

#[test]
fn tcp_and_one_process_measure_as_well() {
    let found = figures(&["--transport", "tcp", "--publishers", "2", "--shape", "3000", "--dtype", "i16"]);
    assert!(found["transports"].as_object().unwrap().keys().all(|kind| kind.starts_with("tcp")), "{found}");
    let found = figures(&["--transport", "inproc", "--subscribers", "2", "--shape", "9x5", "--busy-poll"]);
    assert_eq!(found["transports"], serde_json::json!({ "inproc": 2 }));
}

/// Where no device works the reason is the transport's own, and nothing is measured by another.
#[test]
fn over_rdma_it_measures_or_says_why_not() {
    let arguments = ["--transport", "verbs", "--publishers", "2", "--shape", "90000", "--busy-poll"];
    let Err(trouble) = probe_own_verbs(&LinkOptions::default()) else {
        let found = figures(&arguments);
        let kinds = found["transports"].as_object().unwrap();
        assert!(kinds.keys().all(|kind| kind.starts_with("verbs ")) && !kinds.is_empty(), "{found}");
        assert_eq!(found["copied_per_delivered"], 1.0, "from memory of the stream's");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let run = Run::at(folder.path(), &[&["bench"], &arguments[..]].concat()).finish();
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{}", run.stderr);
    assert!(run.stderr.contains(&format!("bench: no RDMA here: {trouble}")), "{}", run.stderr);
    assert_empty(folder.path());
}

#[test]
fn people_get_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::at(folder.path(), &["bench", "--shape", "1", "--steps", "1000", "--queue-limit", "1"]);
    let run = run.finish();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    for word in ["1 x 1, 1 f64, 8 B a step, 1000 steps", "throughput", "p99.9", "CPU s/GB", "content"] {
        assert!(run.stdout.contains(word), "{word}: {}", run.stdout);
    }
}

#[test]
fn wrong_arguments_are_told_apart_and_explained() {
    let folder = tempfile::tempdir().unwrap();
    let wrong: [(&[&str], &str); 9] = [
        (&["--publishers", "0"], "1..=4096"),
        (&["--shape", "3x0"], "256x256x128"),
        (&["--shape", "9999999999999"], "4 trillion"),
        (&["--dtype", "f16"], "possible values"),
        (&["--transport", "carrier-pigeon"], "possible values"),
        (&["--put", "gently"], "possible values"),
        (&["--timeout", "0"], "between 0.001 seconds and a day"),
        (&["--shape", "3", "--publishers", "4"], "3 cannot be cut into 4 parts for publishers"),
        (&["--shape", "2x2", "--subscribers", "3"], "2x2 cannot be cut into 3 parts for subscribers"),
    ];
    for (arguments, explained) in wrong {
        let run = Run::at(folder.path(), &[&["bench"], arguments].concat()).finish();
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(explained), "{arguments:?}: {}", run.stderr);
    }
    let help = Run::at(folder.path(), &["bench", "--help"]).finish();
    assert!(help.code == Some(0) && help.stdout.contains("--publishers 4 --subscribers 2"));
    let role = Run::at(folder.path(), &["bench-role", "{}"]).finish();
    assert!(role.code == Some(1) && role.stderr.contains("for `flexpath bench` itself"), "{}", role.stderr);
}

/// A run that would take for ever: where to read what it says, and the processes of its ranks, publishers first.
fn endless(folder: &Path) -> (Run, BufReader<std::process::ChildStderr>, Vec<Pid>) {
    let cut = ["bench", "--verbose", "--publishers", "2", "--subscribers", "2", "--shape", "64x64"];
    let mut run = Run::at(folder, &[&cut[..], &["--steps", FOR_EVER]].concat());
    let mut says = BufReader::new(run.child.stderr.take().unwrap());
    let mut ranks = Vec::new();
    loop {
        let mut line = String::new();
        assert!(says.read_line(&mut line).unwrap() > 0, "it ended before it ran");
        if let Some((_, id)) = line.trim().split_once(" is process ") {
            ranks.push(Pid::from_raw(id.parse().unwrap()).unwrap());
        }
        if line.ends_with("running\n") {
            return (run, says, ranks);
        }
    }
}

#[test]
fn a_killed_rank_is_named_and_nothing_stays_behind() {
    for victim in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let (run, mut says, ranks) = endless(folder.path());
        assert_eq!(ranks.len(), 4);
        kill_process(ranks[victim], Signal::KILL).unwrap();
        let run = run.finish();
        let mut errors = String::new();
        says.read_to_string(&mut errors).unwrap();
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{errors}");
        let name = ["publisher 1", "subscriber 0"][victim - 1];
        let id = ranks[victim].as_raw_nonzero();
        assert!(errors.contains(&format!("{name} (process {id}) ended with signal: 9")), "{errors}");
        assert!(ranks.iter().all(|rank| test_kill_process(*rank).is_err()), "a rank is still there");
        assert_empty(folder.path());
    }
}

#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (run, _says, ranks) = endless(folder.path());
    kill_process(Pid::from_child(&run.child), Signal::INT).unwrap();
    let run = run.finish();
    assert_eq!((run.code, run.stdout.as_str()), (None, ""), "ended as interrupted");
    assert!(ranks.iter().all(|rank| test_kill_process(*rank).is_err()), "a rank is still there");
    assert_empty(folder.path());
}

#[test]
fn ranks_end_with_whoever_started_them() {
    let folder = tempfile::tempdir().unwrap();
    let (run, mut says, ranks) = endless(folder.path());
    kill_process(Pid::from_child(&run.child), Signal::KILL).unwrap();
    // Its ranks have its other descriptors closed: this ends when they are all gone.
    let _ = says.read_to_string(&mut String::new());
    drop(run.finish());
    let ended = ranks.iter().all(|rank| ends(*rank));
    assert!(ended, "a rank outlived the command");
}

/// Whether a process that is no child of this one is gone, or goes within a minute.
fn ends(id: Pid) -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    let Ok(handle) = rustix::process::pidfd_open(id, rustix::process::PidfdFlags::empty()) else {
        return true;
    };
    let timeout = rustix::time::Timespec { tv_sec: 60, tv_nsec: 0 };
    poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&timeout)) == Ok(1)
}

#[test]
fn what_takes_too_long_says_who_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let run =
        Run::at(folder.path(), &["bench", "--shape", "8", "--steps", FOR_EVER, "--timeout", "0.5"]).finish();
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(
        run.stderr.contains("not done within 500ms") && run.stderr.contains("publisher 0"),
        "{}",
        run.stderr
    );
    assert_empty(folder.path());
}
