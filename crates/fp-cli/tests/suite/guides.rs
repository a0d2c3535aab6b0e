//! The lines of a shell in docs/watches.md and docs/steering.md run as they stand there. What they print is what the pages show.

#[allow(dead_code)] // each test binary uses its part
#[path = "../../../../tests/guides/blocks.rs"]
mod blocks;

use crate::support::Run;
use blocks::{PAGES, blocks_in};
use fp_core::rendezvous::Rendezvous;
use fp_core::{ParameterKind, Publisher, PublisherOptions, Real, Region, Variable};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// Far more than anything here needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Steps of the stream, and those that are hot.
const STEPS: std::ops::Range<u64> = 40..47;
const HOT: [u64; 3] = [41, 44, 45];

/// A line, and what runs it and compares what it prints.
type Line = (&'static str, fn(&str));

/// In the order of the pages.
const LINES: [Line; 9] = [
    ("flexpath watch heat 'rises(max(temperature) > 900)'", prints_hits),
    (
        "flexpath watch heat 'any(temperature[0:64, :] > 900)' --then 'deliver temperature[0:4, 0:4]' --json",
        delivers_values,
    ),
    (
        "flexpath watch heat 'max(temperature) > 900' --then 'write hits' --then 'run alarm' --commands commands.toml",
        writes_and_runs,
    ),
    (
        "flexpath watch heat 'max(temperature) > 900' --then 'render temperature[:, :, 32] to pictures'",
        draws_pictures,
    ),
    ("flexpath request heat conductivity=2", asks_for_a_value),
    ("flexpath request heat", lists_parameters),
    ("flexpath request heat pause=30", |_| {}),
    ("flexpath request heat resume", |_| {}),
    ("flexpath request heat stop", pauses_resumes_and_stops),
];

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn shown(page: &str, language: &str) -> Vec<String> {
    blocks_in(&root(), page, language)
}

/// Each line is run, and compared by the function beside it. A line that stands on a page and not here is a failure.
#[test]
fn every_line_of_a_shell_does_what_the_page_says() {
    let lines = PAGES.map(|page| shown(page, "sh").concat()).concat();
    let known: String = LINES.iter().map(|(line, _)| format!("{line}\n")).collect();
    assert_eq!(lines, known);
    for (line, run) in LINES {
        run(line);
    }
}

/// What text blocks show is printed by these lines, and by the program that logs.
#[test]
fn every_text_is_compared() {
    assert_eq!(PAGES.map(|page| shown(page, "text").len()), [2, 3]);
}

/// Element (12, 60), or (12, 60, 32), is the greatest, and above 900 in hot steps. The first of each is the least.
fn field(step: u64, depth: usize) -> Vec<f64> {
    let mut elements = vec![300.0; 64 * 64 * depth];
    (0..depth).for_each(|at| elements[at] = 281.5);
    elements[(12 * 64 + 60) * depth + depth / 2] = if HOT.contains(&step) { 903.7 } else { 899.0 };
    elements
}

/// Publishes the steps to one watch, each when it has let go of the one before.
fn publish(place: &Path, depth: usize) {
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(place).expect("a place"));
    let options = options.with_min_subscribers(1).with_first_step(STEPS.start).with_derive_budget(PATIENCE);
    let mut publisher = Publisher::open("heat", options).expect("the stream opens");
    let shape = [64, 64, depth as u64];
    let shape = if depth == 1 { &shape[..2] } else { &shape };
    let variable = Variable::global::<f64>("temperature", shape).expect("a shape");
    for step in STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&variable, &Region::whole(variable.shape()), field(step, depth)).expect("put");
        writer.end().expect("ended");
        publisher.sync(PATIENCE).expect("nobody holds a step");
    }
    publisher.close().expect("closed");
}

/// Runs a line in that folder beside the stream: what it printed.
fn watched(folder: &Path, line: &str, depth: usize) -> String {
    let place = tempfile::tempdir().expect("a folder");
    std::thread::scope(|scope| {
        scope.spawn(|| publish(place.path(), depth));
        let ended = Run::line(place.path(), folder, line).finish();
        assert_eq!(ended.code, Some(0), "{line}: {}", ended.stderr);
        ended.stdout
    })
}

fn prints_hits(line: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let hit = |step: u64| format!("step {step}  max(temperature) = 903.7 at (12, 60)\n");
    let printed = watched(folder.path(), line, 1);
    assert_eq!(printed, hit(41) + &hit(44));
    assert_eq!(shown(PAGES[0], "text")[0], hit(41));
}

fn delivers_values(line: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let printed = watched(folder.path(), line, 1);
    let mut wanted = vec![300.0; 16];
    wanted[0] = 281.5;
    let told: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(told.iter().filter_map(|line| line["step"].as_u64()).collect::<Vec<_>>(), HOT);
    told.iter().for_each(|line| assert_eq!(line["values"], serde_json::json!(wanted), "{line}"));
}

/// Files are of hot steps, of the first one in any case. Not more often than once in a second, so others may have been passed over.
fn check_files(of_step: impl Fn(u64) -> PathBuf) {
    let there: Vec<u64> = STEPS.filter(|step| of_step(*step).exists()).collect();
    assert_eq!(there.first(), HOT.first(), "{there:?}");
    assert!(there.iter().all(|step| HOT.contains(step)), "{there:?}");
}

fn writes_and_runs(line: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let command = "[command.alarm]\nrun = [\"sh\", \"-c\", 'echo $1 $2 >> alarms', \"alarm\", \"{stream}\", \"{step}\"]\n";
    std::fs::write(folder.path().join("commands.toml"), command).expect("written");
    assert_eq!(watched(folder.path(), line, 1), "");
    check_files(|step| folder.path().join(format!("hits/heat-{step}.fpsr")));
    let alarms = std::fs::read_to_string(folder.path().join("alarms")).expect("it ran");
    assert_eq!(alarms.lines().next(), Some("heat 41"));
}

fn draws_pictures(line: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    watched(folder.path(), line, 64);
    check_files(|step| folder.path().join(format!("pictures/heat-temperature-{step}.png")));
    let another = tempfile::tempdir().expect("a folder");
    let printed = watched(another.path(), &format!("{line} --json"), 64);
    let told: Value = serde_json::from_str(printed.lines().next().expect("a line")).expect("JSON");
    let wanted: Value = serde_json::from_str(&shown(PAGES[0], "text")[1]).expect("JSON");
    assert_eq!(told, wanted);
}

/// A simulation that has what the page asks for: until it is stopped, or the sender is gone. What it was asked for, and when.
fn simulate(place: &Path, ends: &Receiver<()>) -> Vec<(String, u64)> {
    let range = ParameterKind::Real { least: Real(0.0), greatest: Real(10.0) };
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(place).expect("a place"));
    let options = options.with_described_parameter("conductivity", range, "of the plate, in W/(m K)");
    let options = options.with_parameter("stop", ParameterKind::Signal);
    let mut publisher =
        Publisher::open("heat", options.with_pause(Duration::from_secs(600))).expect("the stream opens");
    let (mut seen, mut stops) = (Vec::new(), false);
    while !stops && matches!(ends.recv_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout)) {
        let writer = publisher.begin_step().expect("a step");
        let asked = writer.requests().iter().map(|request| request.parameter().to_owned());
        seen.extend(asked.map(|parameter| (parameter, writer.step().0)));
        stops = writer.is_asked("stop");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
    seen
}

/// Runs lines one after the other beside the simulation: what each printed, and what the simulation saw.
fn asked(lines: &[&str]) -> (Vec<String>, Vec<(String, u64)>) {
    let place = tempfile::tempdir().expect("a folder");
    let (sender, ends) = channel();
    std::thread::scope(|scope| {
        let at = place.path();
        let simulation = scope.spawn(move || simulate(at, &ends));
        let ask = |line: &&str| {
            let ended = Run::line(place.path(), place.path(), line).finish();
            assert_eq!(ended.code, Some(0), "{line}: {}", ended.stderr);
            ended.stdout
        };
        let printed = lines.iter().map(ask).collect();
        drop(sender);
        (printed, simulation.join().expect("it ends well"))
    })
}

/// What is printed, and the step that it ends with.
fn applied(printed: &str) -> (String, u64) {
    let (words, step) = printed.trim_end().rsplit_once(' ').expect("words");
    (words.to_owned(), step.parse().unwrap_or_else(|_| panic!("{printed}")))
}

fn asks_for_a_value(line: &str) {
    let (printed, seen) = asked(&[line]);
    let (words, step) = applied(&printed[0]);
    assert_eq!(seen, [("conductivity".to_owned(), step)]);
    assert_eq!(words, applied(&shown(PAGES[1], "text")[0]).0);
}

/// The simulation of the page has this one; the one here has a few more.
fn lists_parameters(line: &str) {
    let (printed, seen) = asked(&[line]);
    let listed: Vec<&str> = printed[0].lines().collect();
    let shown = &shown(PAGES[1], "text")[1];
    let words = |line: &str| line.split("  ").map(|word| word.trim().to_owned()).collect::<Vec<_>>();
    let words = |line: &str| words(line).into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>();
    assert_eq!((words(listed[0]), listed.len()), (words(shown), 4));
    assert_eq!(seen, []);
}

fn pauses_resumes_and_stops(_: &str) {
    let block = shown(PAGES[1], "sh").pop().expect("the last block");
    let mut lines: Vec<&str> = block.lines().collect();
    // Who paused it is told meanwhile.
    lines.insert(1, "flexpath status heat");
    let (mut printed, seen) = asked(&lines);
    let status = printed.remove(1);
    assert!(status.contains("the end of the pause that \"flexpath-"), "{status}");
    let told: Vec<(String, u64)> = printed.iter().map(|line| applied(line)).collect();
    let words =
        ["pause = 30: applied at step", "resume = true: applied at step", "stop = true: applied at step"];
    assert_eq!(told.iter().map(|(words, _)| words.as_str()).collect::<Vec<_>>(), words);
    // Of a pause its code sees nothing.
    assert_eq!(seen, [("stop".to_owned(), told[2].1)]);
}
