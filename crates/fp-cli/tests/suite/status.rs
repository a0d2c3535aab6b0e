//! `flexpath status` of real processes: who is stopped is named, the lead too, and who waits says for whom.

use crate::support::{Ended, Live, Run};
use fp_core::rendezvous::Rendezvous;
use fp_core::{Cohort, Publisher, PublisherOptions};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Two heartbeats, and what a process takes to start on a busy machine.
const IN_TIME: Duration = Duration::from_secs(5);
/// Names the rendezvous directory to the process that is the lead.
const DIRECTORY: &str = "FLEXPATH_TEST_STATUS_DIRECTORY";

fn ask(rendezvous: &Path, more: &[&str]) -> Ended {
    Run::at(rendezvous, &[&["status", "heat", "--json"], more].concat()).finish()
}

fn status(rendezvous: &Path, more: &[&str]) -> Value {
    let run = ask(rendezvous, more);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    serde_json::from_str(&run.stdout).expect("it is JSON")
}

/// Asks until the report is as `wanted`: who asks too often is refused, and asks again.
fn status_when(rendezvous: &Path, wanted: impl Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let run = ask(rendezvous, &[]);
        let report = serde_json::from_str(&run.stdout).unwrap_or(Value::Null);
        if wanted(&report) {
            return report;
        }
        let is_refused = run.stderr.contains("too many questions");
        assert!(run.code == Some(0) || is_refused, "{}", run.stderr);
        assert!(Instant::now() < until, "{report:#}");
    }
}

fn stop(child: &Child) {
    kill_process(Pid::from_child(child), Signal::STOP).expect("it is there");
}

fn end(child: &mut Child) {
    child.kill().expect("it is there");
    child.wait().expect("it can be waited for");
}

#[test]
fn a_stopped_subscriber_is_named_and_the_publisher_says_that_it_waits_for_it() {
    let live = Live::start("heat");
    let mut tail = Run::of(&live, &["tail", "heat", "--every-step"]);
    tail.first_line();
    stop(&tail.child);
    let waits = |report: &Value| !report["cohorts"][0]["ranks"][0]["waits"][0]["on"]["Release"].is_null();
    let report = status_when(live.path(), waits);
    let row = &report["cohorts"][0]["ranks"][0];
    let wait = &row["waits"][0];
    assert_eq!(wait["on"]["Release"]["label"], report["cohorts"][1]["name"], "{report:#}");
    assert!(
        wait["waited_ms"].as_u64().is_some() && row["process"]["resident_bytes"].as_u64() > Some(1 << 20)
    );
    assert_eq!(row["subscriptions"][0]["members"], 1);
    let silent = &report["cohorts"][1]["unanswered"][0];
    assert!(silent["rank"] == 0 && !silent["why"]["Silent"]["unheard_ms"].is_null(), "{report:#}");
    let text = Run::of(&live, &["status", "heat"]).finish();
    assert!(
        text.stdout.contains("to release one of") && text.stdout.contains("is silent"),
        "{}",
        text.stdout
    );
    end(&mut tail.child);
    live.stop();
}

#[test]
fn a_subscriber_that_waits_for_a_step_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(folder.path()).unwrap());
    let publisher = Publisher::open("heat", options).unwrap();
    let mut tail = Run::at(folder.path(), &["tail", "heat"]);
    let report =
        status_when(folder.path(), |report| report["cohorts"][1]["ranks"][0]["waits"][0]["on"] == "Step");
    let links = report["cohorts"][0]["ranks"][0]["links"].as_array().unwrap();
    let to_subscriber = links.iter().find(|link| link["with"] == "Subscriber").expect("the link is there");
    assert!(to_subscriber["transport"].as_str().unwrap().starts_with("transport="), "{to_subscriber}");
    end(&mut tail.child);
    publisher.close().unwrap();
}

/// The lead of two ranks, in a process of its own.
fn lead(rendezvous: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this test knows where it is"))
        .args(["status::the_lead_publishes_nothing_until_its_input_ends", "--exact"])
        .env(DIRECTORY, rendezvous)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the lead starts")
}

fn rank_of_two(rendezvous: &Path, rank: u32) -> Publisher {
    let options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(rendezvous).unwrap())
        .with_cohort(Cohort::of(rank, 2).unwrap());
    Publisher::open("heat", options).unwrap()
}

/// In a process of its own, which another test starts; otherwise nothing.
#[test]
fn the_lead_publishes_nothing_until_its_input_ends() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let _publisher = rank_of_two(Path::new(&directory), 0);
    std::io::stdin().read_to_end(&mut Vec::new()).expect("its input ends");
}

#[test]
fn a_stopped_lead_is_named_by_who_asks_it_and_by_the_other_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let mut lead = lead(folder.path());
    let publisher = rank_of_two(folder.path(), 1);
    let healthy = status(folder.path(), &[]);
    assert_eq!((&healthy["cohorts"][0]["answered"], &healthy["cohorts"][0]["size"]), (&2.into(), &2.into()));
    let one = status(folder.path(), &["--rank", "1"]);
    assert_eq!(one["cohorts"][0]["ranks"][0]["process"]["pid"], std::process::id(), "{one:#}");
    stop(&lead);
    let began = Instant::now();
    let run = Run::at(folder.path(), &["status", "heat"]).finish();
    assert!(began.elapsed() < IN_TIME, "{:?}", began.elapsed());
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains("rank 0, the lead of stream \"heat\""), "{}", run.stderr);
    assert!(run.stderr.contains("does not answer"), "{}", run.stderr);
    let began = Instant::now();
    let report = status(folder.path(), &["--at", &publisher.contact().to_string()]);
    assert!(began.elapsed() < IN_TIME, "{:?}", began.elapsed());
    let cohort = &report["cohorts"][0];
    assert_eq!((&cohort["answered"], &cohort["unanswered"][0]["rank"]), (&1.into(), &0.into()), "{report:#}");
    assert!(!cohort["unanswered"][0]["why"]["Silent"].is_null(), "{report:#}");
    end(&mut lead);
}
