//! The command as its users have it: real processes, a live stream, and what they print and return.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;

use crate::support::{Live, Run, rows_of_step};
use fp_core::rendezvous::Rendezvous;
use fp_core::{Contact, Event, MemberEnd, Publisher, PublisherOptions, Variable};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

#[test]
fn ls_shows_live_streams_and_on_demand_what_was_left_behind() {
    let live = Live::start("heat");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let dead = Contact::from_address(listener.local_addr().unwrap()).to_string();
    drop(listener);
    std::fs::write(live.path().join(format!("gone.{:032x}", 7)), format!("{dead}\n")).unwrap();

    let run = Run::of(&live, &["ls"]).finish();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("heat") && !run.stdout.contains("gone"), "{}", run.stdout);
    let all: Value =
        serde_json::from_str(&Run::of(&live, &["ls", "--all", "--json"]).finish().stdout).unwrap();
    let alive: Vec<(&str, bool)> =
        all.as_array().unwrap().iter().map(|e| (e["stream"].as_str().unwrap(), e["alive"] == true)).collect();
    assert_eq!(alive, [("gone", false), ("heat", true)]);
    assert_eq!(all[1]["pid"], std::process::id());
    live.stop();
}

#[test]
fn ls_of_nothing_is_an_empty_list() {
    let folder = tempfile::tempdir().unwrap();
    let run = Run::at(folder.path(), &["ls", "--json"]).finish();
    assert_eq!((run.code, run.stdout.trim()), (Some(0), "[]"));
    let run = Run::at(folder.path(), &["ls"]).finish();
    assert!(run.stdout.is_empty() && run.stderr.contains(folder.path().to_str().unwrap()));
}

#[test]
fn describe_shows_the_variables() {
    let live = Live::start("heat");
    let text = Run::of(&live, &["describe", "heat"]).finish();
    assert_eq!(text.code, Some(0), "{}", text.stderr);
    assert!(text.stdout.contains("  temperature f64 [3, 4] K, global array, row-major\n"), "{}", text.stdout);
    let json: Value =
        serde_json::from_str(&Run::of(&live, &["describe", "heat", "--json"]).finish().stdout).unwrap();
    assert_eq!((&json["stream"], json["epoch"].as_str().unwrap().len()), (&Value::from("heat"), 32));
    let names: Vec<&str> =
        json["variables"].as_array().unwrap().iter().map(|v| v["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["count", "temperature"]);
    assert_eq!(json["variables"][1]["shape"], serde_json::json!([3, 4]));
    live.stop();
}

#[test]
fn tail_without_a_variable_shows_steps() {
    let live = Live::start("heat");
    let run = Run::of(&live, &["tail", "heat", "--steps", "3"]).finish();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(run.stdout.lines().count(), 3);
    assert!(
        run.stdout.lines().all(|line| line.starts_with("step ") && line.contains("temperature f64 [3, 4] K"))
    );
    let run = Run::of(&live, &["tail", "heat", "--steps", "1", "--json"]).finish();
    let line: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(line["variables"][0]["name"], "count");
    live.stop();
}

#[test]
fn tail_shows_exactly_the_values_selected() {
    let live = Live::start("heat");
    let arguments = ["tail", "heat", "temperature[1:, ::2]", "--steps", "4", "--json", "--every-step"];
    let run = Run::of(&live, &arguments).finish();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    let first = lines[0]["step"].as_u64().unwrap();
    for (line, step) in lines.iter().zip(first..) {
        let rows = rows_of_step(step);
        let selected = [rows[1][0], rows[1][2], rows[2][0], rows[2][2]];
        assert_eq!((&line["step"], &line["shape"]), (&step.into(), &serde_json::json!([2, 2])));
        assert_eq!(line["values"], serde_json::json!(selected));
        assert_eq!((&line["dtype"], &line["skipped"]), (&Value::from("f64"), &Value::from(0)));
    }
    live.stop();
}

/// Steps from 40 on; the one after step 44 is awaited.
#[test]
fn tail_starts_after_a_step() {
    let live = Live::with("heat", |options| options.with_first_step(40));
    let arguments = ["tail", "heat", "--start-at", "after:44", "--steps", "1", "--json"];
    let run = Run::of(&live, &arguments).finish();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let line: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(line["step"].as_u64().is_some_and(|step| step >= 45), "{}", run.stdout);
    live.stop();
}

/// Particles are in every third step: the others are neither shown nor counted.
#[test]
fn tail_takes_the_steps_with_a_variable() {
    let folder = tempfile::tempdir().unwrap();
    let options = PublisherOptions::default().with_rendezvous(Rendezvous::at(folder.path()).unwrap());
    let publishing = std::thread::spawn(move || {
        let mut publisher = Publisher::open("md", options.with_min_subscribers(1)).unwrap();
        let parts = ["field", "particles"].map(|name| Variable::scalar::<u64>(name).unwrap());
        for number in 0..7_u64 {
            let mut writer = publisher.begin_step().unwrap();
            let put = if number % 3 == 0 { &parts[..] } else { &parts[..1] };
            put.iter().for_each(|variable| writer.put_scalar(variable, number).unwrap());
            writer.end().unwrap();
        }
        publisher.close().unwrap();
    });
    let arguments = ["tail", "md", "particles", "--when", "has(particles)", "--every-step", "--json"];
    let run = Run::at(folder.path(), &arguments).finish();
    publishing.join().unwrap();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let lines: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shown: Vec<_> = lines.iter().map(|line| (line["step"].as_u64(), line["skipped"].as_u64())).collect();
    assert_eq!(shown, [0, 3, 6].map(|step| (Some(step), Some(0))), "{}", run.stdout);
    let run = Run::at(folder.path(), &["tail", "md", "--when", "has(particles"]).finish();
    assert!(run.code == Some(2) && run.stderr.contains("character 14"), "{}", run.stderr);
}

#[test]
fn tail_prints_rows_for_people() {
    let live = Live::start("heat");
    let run = Run::of(&live, &["tail", "heat", "temperature[-1, :]", "--steps", "1"]).finish();
    let step: u64 = run.stdout.split([' ', '\n']).nth(1).unwrap().parse().unwrap();
    let row: Vec<String> = rows_of_step(step)[2].iter().map(|value| format!("{value:?}")).collect();
    assert_eq!(run.stdout.lines().nth(1).unwrap(), format!("  {}", row.join(" ")));
    let run = Run::of(&live, &["tail", "heat", "count", "--steps", "1"]).finish();
    let step = run.stdout.split([' ', '\n']).nth(1).unwrap();
    assert!(run.stdout.ends_with(&format!("count[...]\n  {step}\n")), "{}{}", run.stdout, run.stderr);
    live.stop();
}

#[test]
fn tail_ends_well_when_the_publisher_closes() {
    let live = Live::start("heat");
    let mut run = Run::of(&live, &["tail", "heat"]);
    run.first_line();
    live.stop();
    let run = run.finish();
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stderr.contains("\"heat\": the publisher closed the stream"), "{}", run.stderr);
}

#[test]
fn ctrl_c_leaves_the_stream_first() {
    let live = Live::start("heat");
    let mut run = Run::of(&live, &["tail", "heat", "temperature"]);
    run.first_line();
    kill_process(Pid::from_child(&run.child), Signal::INT).unwrap();
    let run = run.finish();
    assert_eq!(run.status.signal(), Some(Signal::INT.as_raw()), "{}", run.stderr);
    let reason =
        live.event(|event| if let Event::MemberLeft { reason, .. } = event { Some(*reason) } else { None });
    assert_eq!(reason, MemberEnd::Left, "it said goodbye");
    live.stop();
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let live = Live::start("heat");
    let mut run = Run::of(&live, &["tail", "heat", "temperature"]);
    let mut stdout = BufReader::new(run.child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    drop(stdout);
    let run = run.finish();
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    live.stop();
}

#[test]
fn failures_say_what_where_and_what_to_do() {
    let live = Live::start("heat");
    let failed = |arguments: &[&str]| {
        let run = Run::of(&live, arguments).finish();
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{}", run.stderr);
        run.stderr
    };
    let unknown = failed(&["tail", "cold", "--timeout", "0.5"]);
    assert!(unknown.contains("\"cold\"") && unknown.contains("being published: heat"), "{unknown}");
    let variable = failed(&["tail", "heat", "pressure"]);
    assert!(variable.contains("no variable \"pressure\"") && variable.contains("temperature"), "{variable}");
    assert_eq!(variable.matches("stream").count(), 1, "where that was is said once: {variable}");
    let outside = failed(&["tail", "heat", "temperature[0:5, :]"]);
    assert!(
        outside.contains("\"temperature\"") && outside.contains("reaches past the extent 3"),
        "{outside}"
    );
    let ndims = failed(&["tail", "heat", "temperature[0:1]"]);
    assert!(ndims.contains("1 dimensions"), "{ndims}");
    live.stop();
}

#[test]
fn a_rendezvous_that_cannot_be_used_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let run = Run::at(file.path(), &["ls"]).finish();
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.contains(file.path().to_str().unwrap()), "{}", run.stderr);
}

#[test]
fn wrong_usage_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let usage: [&[&str]; 6] = [
        &[],
        &["tail"],
        &["tail", "heat", "T[0:"],
        &["tail", "heat", "--steps", "0"],
        &["tail", "heat", "--start-at", "44"],
        &["describe", "a", "--timeout", "x"],
    ];
    for arguments in usage {
        let run = Run::at(folder.path(), arguments).finish();
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(run.stdout.is_empty() && !run.stderr.is_empty());
    }
    let help = Run::at(folder.path(), &["tail", "--help"]).finish();
    assert!(help.code == Some(0) && help.stdout.contains("temperature[0:10, ::2]"));
}
