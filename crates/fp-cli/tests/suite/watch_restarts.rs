//! `flexpath watch --await`: a publisher that is killed and comes again. What conditions remember ends with it.

use crate::support::Run;
use fp_core::rendezvous::Rendezvous;
use fp_core::{Publisher, PublisherOptions, Region, Variable};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

/// Where a process of its own publishes, and from which step on.
const PLACE: &str = "FLEXPATH_TEST_WATCH_RESTARTS";
/// Far more than anything here needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The greatest element of each step, before the publisher is killed and after it came again.
const BEFORE: [f64; 6] = [0.0, 6.0, 3.0, 0.0, 6.0, 3.0];
const AFTER: [f64; 6] = [3.0, 4.0, 6.0, 0.0, 2.0, 6.0];

/// A condition, and the steps at which it fires: before, after, and after if it remembered what was before.
type Known = (&'static str, &'static [u64], &'static [u64], &'static [u64]);

const CONDITIONS: [Known; 3] = [
    ("rises(max(x) > 2)", &[1, 4], &[6, 11], &[11]),
    ("held(max(x) > 2, 2, 3)", &[2, 3, 4, 5], &[7, 8, 9], &[6, 7, 8, 9]),
    ("hysteresis(max(x) > 5, max(x) < 1)", &[1, 2, 4, 5], &[8, 11], &[6, 7, 8, 11]),
];

/// The role of a process that publishes a step for each number that it reads, and closes where there are no more.
#[test]
fn publishes_in_a_process_of_its_own() {
    let Ok(said) = std::env::var(PLACE) else { return };
    let (first, path) = said.split_once(' ').expect("a first step and a place");
    let options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(path).expect("a rendezvous"))
        .with_min_subscribers(CONDITIONS.len() as u32)
        .with_derive_budget(PATIENCE)
        .with_open_timeout(PATIENCE)
        .with_first_step(first.parse().expect("a number"));
    let mut publisher = Publisher::open("restarts", options).expect("the stream opens");
    let variable = Variable::global::<f64>("x", &[3]).expect("a shape");
    for line in std::io::stdin().lines() {
        let greatest: f64 = line.expect("a line").parse().expect("a number");
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&variable, &Region::whole(variable.shape()), vec![-1.0, greatest, -2.0]).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

/// Such a process, killed when it is dropped before it has ended.
struct Process(Child, Option<ChildStdin>);

impl Process {
    fn start(place: &Path, first: u64) -> Self {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["watch_restarts::publishes_in_a_process_of_its_own", "--exact"])
            .env(PLACE, format!("{first} {}", place.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        let input = child.stdin.take();
        Self(child, input)
    }

    fn publish(&mut self, steps: &[f64]) {
        let input = self.1.as_mut().expect("piped");
        steps.iter().for_each(|greatest| writeln!(input, "{greatest}").expect("it listens"));
    }

    /// Without more to read it closes the stream, and ends.
    fn finish(mut self) {
        self.1 = None;
        assert!(self.0.wait().expect("it can be waited for").success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn step(line: &str) -> u64 {
    let line: Value = serde_json::from_str(line).expect("a line of JSON");
    assert_eq!(line["unjudged"], Value::Null, "{line}");
    line["step"].as_u64().expect("a number")
}

/// What it prints next: so many lines. What is left is read later.
fn steps(told: &mut BufReader<ChildStdout>, count: usize) -> Vec<u64> {
    let mut line = || {
        let mut line = String::new();
        told.read_line(&mut line).expect("it prints text");
        step(&line)
    };
    (0..count).map(|_| line()).collect()
}

#[test]
fn what_a_condition_remembers_ends_with_the_publisher() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path();
    let mut publisher = Process::start(place, 0);
    let watch = |condition| {
        Run::at(
            place,
            &["watch", "restarts", condition, "--await", "60", "--every-step", "--json", "--timeout", "60"],
        )
    };
    let mut runs = CONDITIONS.map(|(condition, ..)| watch(condition));
    let mut told = runs.each_mut().map(|run| BufReader::new(run.child.stdout.take().expect("read here")));
    publisher.publish(&BEFORE);
    for (told, (condition, before, ..)) in told.iter_mut().zip(CONDITIONS) {
        assert_eq!(steps(told, before.len()), before, "{condition}");
    }
    drop(publisher);
    let mut publisher = Process::start(place, BEFORE.len() as u64);
    publisher.publish(&AFTER);
    for (told, (condition, _, after, remembered)) in told.iter_mut().zip(CONDITIONS) {
        assert_ne!(after, remembered);
        assert_eq!(steps(told, after.len()), after, "{condition}");
    }
    publisher.finish();
    for ((run, told), (condition, ..)) in runs.into_iter().zip(told).zip(CONDITIONS) {
        assert_eq!(told.lines().count(), 0, "{condition}: nothing else fires");
        let ended = run.finish();
        assert_eq!(ended.code, Some(0), "{condition}: {}", ended.stderr);
    }
}
