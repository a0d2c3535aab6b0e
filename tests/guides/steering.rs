//! docs/steering.md: a simulation that is asked for a value, one that asks, and one that is stopped and paused.

use std::error::Error;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use flexpath::{
    NextStep, ParameterKind, Publisher, PublisherOptions, QueuePolicy, Real, Rendezvous, RequestError,
    Subscriber, SubscriberOptions,
};
use serde_json::Value;

use crate::blocks::blocks_in;
use crate::process::{PATIENCE, Program};
use crate::root;

mod first {
    include!("programs/simulation.in");
    pub(super) fn main() -> Result<(), Box<dyn std::error::Error>> {
        run()
    }
}
mod second {
    include!("programs/ask.in");
    pub(super) fn main() -> Result<(), Box<dyn std::error::Error>> {
        ask()
    }
}
mod third {
    include!("programs/stop.in");
    pub(super) fn main() -> Result<(), Box<dyn std::error::Error>> {
        run()
    }
}

pub(crate) fn simulation() -> Result<(), Box<dyn Error>> {
    first::main()
}

pub(crate) fn ask() -> Result<(), Box<dyn Error>> {
    second::main()
}

pub(crate) fn stop() -> Result<(), Box<dyn Error>> {
    third::main()
}

fn rendezvous(place: &Path) -> Rendezvous {
    Rendezvous::at(place).expect("a place")
}

/// Who asks as the page's own program does, by the name that its log shows.
fn asker(place: &Path) -> Subscriber {
    let options = SubscriberOptions::default().with_rendezvous(rendezvous(place)).with_name("flexpath-4711");
    let options = options.with_variables(Vec::<String>::new()).with_policy(QueuePolicy::DropOldest);
    Subscriber::open("heat", options).expect("attached")
}

/// Takes steps until the other thread is done.
fn take_while<T: Send>(subscriber: &mut Subscriber, other: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let other = scope.spawn(other);
        while !other.is_finished() {
            match subscriber.next_step(Duration::from_millis(1)).expect("a step") {
                NextStep::Step(_) | NextStep::NotYet => {}
                NextStep::Ended(_) => break,
            }
        }
        other.join().expect("it did not panic")
    })
}

/// The simulation takes 2, declines 0, and logs both as the page shows. What never reaches it does not fill the log.
#[test]
fn the_simulation_takes_what_it_is_asked_for() {
    let place = tempfile::tempdir().expect("a folder");
    let log = [("FLEXPATH_LOG", "info"), ("FLEXPATH_LOG_FORMAT", "json")];
    let program = Program::start("simulation", place.path(), &log);
    // Without this one its thousand steps would be over at once.
    let holding = SubscriberOptions::default().with_rendezvous(rendezvous(place.path()));
    let mut holding = Subscriber::open("heat", holding).expect("attached");
    let mut asker = asker(place.path());
    let (taken, declined) = take_while(&mut holding, || {
        let refused = asker.request("conductivity", 11.0, PATIENCE);
        assert!(matches!(refused, Err(RequestError::Refused { .. })), "{refused:?}");
        let taken = asker.request("conductivity", 2.0, PATIENCE).expect("it is taken");
        (taken, asker.request("conductivity", 0.0, PATIENCE))
    });
    let Err(RequestError::Declined { .. }) = &declined else { panic!("{declined:?}") };
    assert!(declined.unwrap_err().to_string().contains("it would not conduct at all"));
    asker.close().expect("left");
    holding.close().expect("left");
    let said = program.finish();
    assert_eq!(said.stdout, "2\n");
    check_log(&said.stderr, taken.0);
}

/// What is logged of the first request is what the page shows, but for its time and the step.
fn check_log(stderr: &str, taken: u64) {
    let shown = blocks_in(root(), "steering.md", "text").pop().expect("the log is shown last");
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    let asked = shown["message"].as_str().expect("a text");
    let lines = stderr.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut logged: Vec<Value> = lines.filter(|line| line["message"] == asked).collect();
    assert_eq!(logged.len(), 2, "{stderr}");
    assert!(
        logged[1]["outcome"].as_str().is_some_and(|outcome| outcome.contains("declined")),
        "{}",
        logged[1]
    );
    assert_eq!(logged[0]["outcome"], format!("applied at step {taken}"));
    let keys = |of: &Value| of.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&logged[0]), keys(&shown));
    let user = std::fs::metadata("/proc/self").expect("this process").uid();
    assert_eq!(logged[0]["peer"], format!("process {} of user {user}", std::process::id()));
    for varies in ["timestamp", "outcome", "peer"] {
        logged[0][varies] = shown[varies].clone();
    }
    assert_eq!(logged[0], shown);
}

#[test]
fn the_program_that_asks_is_told_the_step() {
    let place = tempfile::tempdir().expect("a folder");
    let program = Program::start("ask", place.path(), &[]);
    let range = ParameterKind::Real { least: Real(0.0), greatest: Real(10.0) };
    let options = PublisherOptions::default().with_rendezvous(rendezvous(place.path()));
    let options = options.with_min_subscribers(1).with_parameter("conductivity", range);
    let mut publisher = Publisher::open("heat", options).expect("the stream opens");
    let (mut seen, deadline) = (Vec::new(), Instant::now() + PATIENCE);
    // Until it has its answer, and has gone.
    loop {
        assert!(Instant::now() < deadline, "it asks for nothing, or stays: {seen:?}");
        let writer = publisher.begin_step().expect("a step");
        let (step, requests) = (writer.step().0, writer.requests().to_vec());
        seen.extend(requests.iter().map(|request| (step, request.as_f64())));
        writer.end().expect("ended");
        if !seen.is_empty() && !publisher.has_subscribers() {
            break;
        }
    }
    publisher.close().expect("closed");
    let [(step, value)] = seen[..] else { panic!("{seen:?}") };
    assert_eq!((program.finish().stdout, value), (format!("applied at step {step}\n"), Some(2.0)));
}

/// It is paused and resumed though its code says nothing of it, and ends when it is asked to.
#[test]
fn the_simulation_stops_when_it_is_asked_to() {
    let place = tempfile::tempdir().expect("a folder");
    let program = Program::start("stop", place.path(), &[]);
    let mut asker = asker(place.path());
    let paused = asker.request("pause", 30.0, PATIENCE).expect("it may be paused");
    let resumed = asker.request("resume", true, PATIENCE).expect("it is");
    let stopped = asker.request("stop", true, PATIENCE).expect("it stops");
    assert!(paused <= resumed && resumed < stopped, "{paused}, {resumed}, {stopped}");
    drop(asker);
    assert_eq!(program.finish().stdout, "");
}
