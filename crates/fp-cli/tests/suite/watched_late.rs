//! `flexpath watch` that comes late or is started anew, and what it tells of arrays that are not there, have NaN, or are short.

use crate::support::Run;
use fp_core::rendezvous::Rendezvous;
use fp_core::{Publisher, PublisherOptions, Region, Variable};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

const STREAM: &str = "late";
/// Every step is judged, however busy the machine is.
const BUDGET: Duration = Duration::from_secs(60);
const STEPS: u64 = 40;
/// How many hits are kept.
const KEPT: usize = 4;

fn publisher_options(place: &Path) -> PublisherOptions {
    let rendezvous = Rendezvous::at(place).expect("a place");
    PublisherOptions::default().with_rendezvous(rendezvous).with_derive_budget(BUDGET)
}

/// Whole numbers that differ from step to step.
fn elements(step: u64) -> [f64; 3] {
    [3, 5, 7].map(|factor| ((step * step * factor + step * 31) % 41) as f64 - 20.0)
}

fn greatest(step: u64) -> f64 {
    elements(step).into_iter().fold(f64::MIN, f64::max)
}

/// Publishes a step, with these elements of `T` if it has any.
fn publish(publisher: &mut Publisher, of: impl Fn(u64) -> Option<Vec<f64>>) {
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    writer.put_scalar(&Variable::scalar::<u64>("number").expect("a name"), step).expect("put");
    if let Some(elements) = of(step) {
        let len = elements.len() as u64;
        let variable = Variable::global::<f64>("T", &[len]).expect("a shape");
        writer.put(&variable, &Region::new([0], [len]).expect("inside"), elements).expect("put");
    }
    writer.end().expect("ended");
}

fn all(step: u64) -> Option<Vec<f64>> {
    Some(elements(step).to_vec())
}

/// What the command prints of a step: its first number and the place of that.
type Told = (u64, Value, Value);

fn lines(stdout: &str) -> Vec<Value> {
    let lines = stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect(line));
    lines.inspect(|line| assert_eq!(line["skipped"], 0, "{line}")).collect()
}

fn told(stdout: &str) -> Vec<Told> {
    let read = |line: Value| {
        assert_eq!(line["unjudged"], Value::Null, "{line}");
        let first = &line["measured"][0];
        (line["step"].as_u64().expect("a number"), first["number"].clone(), first["place"].clone())
    };
    lines(stdout).into_iter().map(read).collect()
}

/// The number of a step, and where it is first.
fn known(step: u64) -> Told {
    let all = elements(step);
    let place = all.iter().position(|one| *one == greatest(step)).expect("it is one");
    (step, json!(greatest(step)), json!([place]))
}

/// The last hits are told to a watch that comes when they are over: these, and no other step.
#[test]
fn a_late_watch_has_the_last_hits() {
    let place = tempfile::tempdir().expect("a folder");
    let condition = "max(T) > 12";
    let options = publisher_options(place.path()).with_reserved_hits(KEPT as u32, condition);
    let mut publisher = Publisher::open(STREAM, options.expect(condition)).expect("the stream opens");
    (0..STEPS).for_each(|_| publish(&mut publisher, all));
    let hits: Vec<u64> = (0..STEPS).filter(|step| greatest(*step) > 12.0).collect();
    let kept = &hits[hits.len() - KEPT..];
    assert!(hits.len() > KEPT && kept[KEPT - 1] - kept[0] >= KEPT as u64, "some steps are none: {hits:?}");
    let steps = KEPT.to_string();
    let arguments = ["watch", STREAM, condition, "--start-at", "oldest-reserved", "--every-step", "--json"];
    let watched = Run::at(place.path(), &[&arguments[..], &["--steps", &steps]].concat()).finish();
    assert_eq!(watched.code, Some(0), "{}", watched.stderr);
    assert_eq!(told(&watched.stdout), kept.iter().copied().map(known).collect::<Vec<_>>());
    publisher.close().expect("closed");
}

/// Publishes all steps for one watch. Gives what that prints.
fn watched(condition: &str, of: fn(u64) -> Option<Vec<f64>>) -> String {
    let place = tempfile::tempdir().expect("a folder");
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            let options = publisher_options(place.path()).with_min_subscribers(1);
            let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
            (0..STEPS).for_each(|_| publish(&mut publisher, of));
            publisher.close().expect("all is taken");
        });
        Run::at(place.path(), &["watch", STREAM, condition, "--every-step", "--json"]).finish()
    });
    assert_eq!(ended.code, Some(0), "{condition}: {}", ended.stderr);
    ended.stdout
}

fn is_there(step: u64) -> bool {
    step >= 10 && !step.is_multiple_of(7)
}

/// A name that comes later has no number before. A condition on it does not hold then, and its `not` does.
#[test]
fn what_comes_later_has_no_number_before() {
    let of = |step| all(step).filter(|_| is_there(step));
    let is_hot = |step: &u64| is_there(*step) && greatest(*step) > 12.0;
    let hits: Vec<Told> = (0..STEPS).filter(is_hot).map(known).collect();
    assert!(hits.len() > 2, "{hits:?}");
    assert_eq!(told(&watched("max(T) > 12", of)), hits);
    let known = |step| if is_there(step) { known(step) } else { (step, Value::Null, Value::Null) };
    let others: Vec<Told> = (0..STEPS).filter(|step| !is_hot(step)).map(known).collect();
    assert_eq!(told(&watched("not max(T) > 12", of)), others);
}

fn has_nan(step: u64) -> bool {
    step.is_multiple_of(3)
}

/// NaN is no number in JSON. Its place says that it is there.
#[test]
fn nan_is_told_and_compares_with_nothing() {
    let of = |step| {
        let [first, second, third] = elements(step);
        Some(vec![first, if has_nan(step) { f64::NAN } else { second }, third])
    };
    let is_hot = |step: &u64| !has_nan(*step) && greatest(*step) > 12.0;
    let hits: Vec<Told> = (0..STEPS).filter(is_hot).map(known).collect();
    assert!(hits.len() > 2, "{hits:?}");
    assert_eq!(told(&watched("max(T) > 12", of)), hits);
    let known = |step| if has_nan(step) { (step, Value::Null, json!([1])) } else { known(step) };
    let others: Vec<Told> = (0..STEPS).filter(|step| !is_hot(step)).map(known).collect();
    assert_eq!(told(&watched("not max(T) > 12", of)), others);
}

/// Where the region lies outside of a step's shape nobody knows, and that is told.
#[test]
fn a_region_outside_is_told_as_not_judged() {
    let is_short = |step: u64| step % 4 == 1;
    let of = |step| {
        let mut all = all(step)?;
        all.truncate(if step % 4 == 1 { 2 } else { 3 });
        Some(all)
    };
    let last = |step: u64| elements(step)[2];
    let found = lines(&watched("max(T[2:3]) > 9", of));
    let of_line = |line: &Value| {
        let why = line["unjudged"].as_str().unwrap_or_default();
        assert!(why.is_empty() || why.starts_with("publisher rank 0 did not measure: "), "{line}");
        (line["step"].as_u64().expect("a number"), why.is_empty(), line["measured"][0]["number"].as_f64())
    };
    let expected = (0..STEPS).filter(|step| is_short(*step) || last(*step) > 9.0);
    let expected = expected.map(|step| (step, !is_short(step), (!is_short(step)).then(|| last(step))));
    assert_eq!(found.iter().map(of_line).collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    assert!(found.iter().any(|line| line["unjudged"].is_null()), "{found:?}");
}

/// A condition, and whether a step is so.
type Asked = (&'static str, fn(u64) -> bool);

/// The command has one condition. One that is started anew has another, while the stream goes on.
#[test]
fn a_watch_that_is_started_anew_has_another_condition() {
    let place = tempfile::tempdir().expect("a folder");
    let mut publisher = Publisher::open(STREAM, publisher_options(place.path())).expect("the stream opens");
    let mut next = 0;
    let conditions: [Asked; 2] =
        [("max(T) > 12", |step| greatest(step) > 12.0), ("max(T) <= 12", |step| greatest(step) <= 12.0)];
    for (condition, is_met) in conditions {
        let arguments = ["watch", STREAM, condition, "--every-step", "--json", "--steps", "3"];
        let run = Run::at(place.path(), &arguments);
        assert_eq!(publisher.wait_for_subscriptions(1, BUDGET), 1, "{condition}: it does not come");
        let first = next;
        next += STEPS / 2;
        (first..next).for_each(|_| publish(&mut publisher, all));
        let ended = run.finish();
        assert_eq!(ended.code, Some(0), "{condition}: {}", ended.stderr);
        let expected: Vec<_> = (first..next).filter(|step| is_met(*step)).take(3).map(known).collect();
        assert_eq!(expected.len(), 3, "{condition}");
        assert_eq!(told(&ended.stdout), expected, "{condition}");
        let deadline = Instant::now() + BUDGET;
        while publisher.has_subscribers() {
            assert!(Instant::now() < deadline, "{condition}: it has ended, and its subscription has not");
            std::thread::yield_now();
        }
    }
    publisher.close().expect("closed");
}
