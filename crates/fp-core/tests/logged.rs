//! `FLEXPATH_LOG` shows what the library does in a program that installs no log of its own.
//!
//! A binary of its own: a process has one log, so the test starts this binary anew with the variable set.

mod support;

use fp_core::Selection;
use std::process::{Command, Output};
use support::{Place, publish, take};

/// Set for the process that has the log.
const CHILD: &str = "FLEXPATH_TEST_LOGGED";

/// A stream of two steps, each of which is read, if this process is to have the log.
#[test]
fn child_entry() {
    if std::env::var_os(CHILD).is_none() {
        return;
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

#[test]
fn nothing_is_logged_unless_it_is_asked_for() {
    let (silent, wrong) = (errors(&run(None)), errors(&run(Some("fp_core=loudly"))));
    assert!(!silent.contains("end_step"), "{silent}");
    assert!(wrong.contains("FLEXPATH_LOG=\"fp_core=loudly\" is passed over"), "{wrong}");
}
