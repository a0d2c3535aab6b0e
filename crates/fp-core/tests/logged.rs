//! `FLEXPATH_LOG` shows what the library does in a program that installs no log of its own.
//!
//! A binary of its own: a process has one log, so the test starts this binary anew with the variable set.

mod support;

use fp_core::{ParameterKind, Publisher, QueuePolicy, Selection, Subscriber};
use std::process::{Command, Output};
use support::{Place, publish, take};

/// Set for the process that has the log.
const CHILD: &str = "FLEXPATH_TEST_LOGGED";

/// What the process that has the log does, beside reading.
const ASKS: &str = "FLEXPATH_TEST_ASKS";

/// Asks for something, of which the simulation knows.
fn ask() {
    let place = Place::new();
    let options = place.publisher_options().with_parameter("level", ParameterKind::Bool);
    let mut publisher = Publisher::open(support::STREAM, options).expect("the stream opens");
    let asker = place.subscriber_options().with_name("an \"asker\"").with_policy(QueuePolicy::DropOldest);
    let mut asker = Subscriber::open(support::STREAM, asker).expect("attached");
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| asker.request("level", true, support::PATIENCE).expect("it is taken"));
        while !asking.is_finished() {
            publisher.begin_step().expect("a step").end().expect("ended");
        }
    });
}

/// A stream of two steps, each of which is read, if this process is to have the log.
#[test]
fn child_entry() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    if std::env::var_os(ASKS).is_some() {
        return ask();
    }
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = place.subscriber();
    for _ in 0..2 {
        publish(&mut publisher, 100);
        take(&mut subscriber).get::<u64>("array", &Selection::All).expect("got");
    }
    drop(publisher.begin_step().expect("a step"));
}

fn run(log: Option<&str>) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", "child_entry", "--nocapture"]).env(CHILD, "1").env_remove("FLEXPATH_LOG");
    command.envs(log.map(|log| ("FLEXPATH_LOG", log)));
    let output = command.output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    output
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn lines_of_the_log_name_the_stream_and_the_step() {
    let log = errors(&run(Some("fp_core=debug")));
    for (span, step) in [("end_step", 0), ("end_step", 1), ("get", 0), ("get", 1)] {
        let is_it = |line: &str| {
            let line = line.replace('"', "");
            line.contains(&format!("{span}{{stream={} step={step}}}", support::STREAM))
        };
        assert!(log.lines().any(is_it), "no line of {span}, step {step}, in:\n{log}");
    }
    assert!(log.contains("the step was given up before its end"), "{log}");
}

/// A machine reads who asked for what.
#[test]
fn a_request_is_a_line_of_json() {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args(["--exact", "child_entry", "--nocapture"]).env(CHILD, "1").env(ASKS, "1");
    let output = command.env("FLEXPATH_LOG", "fp_core=info").env("FLEXPATH_LOG_FORMAT", "json").output();
    let log = errors(&output.expect("it runs"));
    let asked: Vec<&str> = log.lines().filter(|line| line.contains("level\",\"value")).collect();
    let [line] = &asked[..] else { panic!("{log}") };
    let said = [
        ("message", "a subscriber asked the simulation"),
        ("stream", support::STREAM),
        ("parameter", "level"),
        ("value", "true"),
        ("by", r#"an \"asker\""#),
        ("outcome", "applied at step "),
        ("level", "INFO"),
    ];
    for (key, text) in said {
        assert!(line.contains(&format!(r#""{key}":"{text}"#)), "{key}: {line}");
    }
    assert!(line.starts_with('{') && line.ends_with('}'), "{line}");
    let uid = rustix::process::getuid().as_raw();
    assert!(
        line.contains(r#""peer":""#) && line.contains(&uid.to_string()),
        "what its link proves of it: {line}"
    );
}

#[test]
fn nothing_is_logged_unless_it_is_asked_for() {
    let (silent, wrong) = (errors(&run(None)), errors(&run(Some("fp_core=loudly"))));
    assert!(!silent.contains("end_step"), "{silent}");
    assert!(wrong.contains("FLEXPATH_LOG=\"fp_core=loudly\" is passed over"), "{wrong}");
}
