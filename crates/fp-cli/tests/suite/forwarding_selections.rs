//! What subscribers outside select goes back: what nobody asks for does not cross, and nothing is there by halves.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use crate::forwarding::{faults, forward, gate};
use crate::kinds::{PATIENCE, eventually, publish, region};
use crate::staging::{all_of, attach, awaiting, interrupt, kill, publisher_options};
use crate::wire::Wire;
use fp_core::{
    Cohort, Misuse, NextStep, Publisher, ReadError, Selection, StartAt, StepReader, Subscriber, VariableSet,
};

/// Elements of a variable: 64 KiB, by halves of two ranks.
const LEN: u64 = 8192;
const VARIABLE_BYTES: u64 = 8 * LEN;
pub(crate) const NAMES: [&str; 3] = ["far", "near", "other"];

pub(crate) fn element(name: &str, step: u64, at: u64) -> f64 {
    (step * LEN + at) as f64 + name.len() as f64 / 8.0
}

/// Both ranks of the stream.
pub(crate) fn open(inside: &Path) -> [Publisher; 2] {
    let opening = [0, 1].map(|rank| {
        let options = publisher_options(inside).with_cohort(Cohort::of(rank, 2).unwrap());
        thread::spawn(move || Publisher::open("sim", options).expect("opened"))
    });
    opening.map(|rank| rank.join().unwrap())
}

/// Publishes a step.
pub(crate) fn put(ranks: &mut [Publisher; 2]) {
    for (rank, publisher) in (0..).zip(ranks) {
        let mut writer = publisher.begin_step().expect("a step");
        let (step, half) = (writer.step().0, rank * LEN / 2..(rank + 1) * LEN / 2);
        for name in NAMES {
            let field = fp_core::Variable::global::<f64>(name, &[LEN]).unwrap();
            let elements = half.clone().map(|at| element(name, step, at)).collect();
            writer.put(&field, &region(&[half.start], &[LEN / 2]), elements).unwrap();
        }
        writer.end().expect("ended");
    }
}

pub(crate) fn close(ranks: [Publisher; 2]) {
    let closing = ranks.map(|rank| thread::spawn(move || rank.close().expect("all of it was taken")));
    closing.into_iter().for_each(|rank| rank.join().unwrap());
}

/// Whether a step has all of a variable. It has none of it otherwise, and says so.
pub(crate) fn has(step: &StepReader, name: &str) -> bool {
    match step.get::<f64>(name, Selection::All) {
        Ok(found) => {
            let is_right = |(at, found): (u64, &f64)| *found == element(name, step.step().0, at);
            assert!((0..LEN).zip(&found).all(is_right), "step {}, {name}", step.step());
            true
        }
        Err(ReadError::Misuse { source: Misuse::UnknownVariable { .. }, .. }) => false,
        Err(error) => panic!("step {}: {error}", step.step()),
    }
}

pub(crate) fn next(subscriber: &mut Subscriber) -> StepReader {
    match subscriber.next_step(PATIENCE).expect("a step") {
        NextStep::Step(step) => step,
        other @ (NextStep::NotYet | NextStep::Ended(_)) => panic!("no step: {other:?}"),
    }
}

fn selecting(outside: &Path, name: &str) -> Subscriber {
    attach(outside, "sim", |options| options.with_variables([name]))
}

/// Publishes until the simulation keeps these variables alone. All takes of it have what they select.
pub(crate) fn until_kept(ranks: &mut [Publisher; 2], names: &[&str], taking: &mut [(&mut Subscriber, &str)]) {
    let (kept, began) = (VariableSet::named(names.iter().copied()), Instant::now());
    while ranks.iter().any(|rank| rank.wanted_variables() != kept) {
        assert!(began.elapsed() < PATIENCE, "never: {names:?} alone are kept");
        put(ranks);
        for (subscriber, name) in taking.iter_mut() {
            assert!(has(&next(subscriber), name));
        }
    }
}

/// Publishes so many steps, which have these variables: how many bytes crossed.
fn crossed(
    (ranks, wire): (&mut [Publisher; 2], &Wire),
    steps: u64,
    names: &[&str],
    taking: &mut [(&mut Subscriber, &str)],
) -> u64 {
    let before = wire.carried();
    for _ in 0..steps {
        put(ranks);
        for (subscriber, name) in taking.iter_mut() {
            let step = next(subscriber);
            let found: Vec<String> =
                step.variables().unwrap().into_iter().map(|info| info.def.name).collect();
            assert_eq!(found, names);
            assert!(has(&step, name));
        }
    }
    wire.carried() - before
}

/// Whether that is so many bytes, and little beside them.
fn is_about(found: u64, expected: u64) -> bool {
    (expected..expected + expected / 20).contains(&found)
}

#[test]
fn what_nobody_outside_asks_for_does_not_cross() {
    const STEPS: u64 = 16;
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (gate, address) = gate(outside.path(), &["--subscribers", "1", "--once"]);
    let wire = Wire::to(&address);
    let forward = forward(inside.path(), &wire.address(), &["--once"]);
    let mut ranks = open(inside.path());
    let mut near = selecting(outside.path(), "near");
    until_kept(&mut ranks, &["near"], &mut [(&mut near, "near")]);
    let one = crossed((&mut ranks, &wire), STEPS, &["near"], &mut [(&mut near, "near")]);
    assert!(is_about(one, STEPS * VARIABLE_BYTES), "{one}");

    // Another one comes: it has nothing of its variable, and then all of it. Who was there misses nothing.
    let mut far = selecting(outside.path(), "far");
    let mut without = 0;
    loop {
        put(&mut ranks);
        assert!(has(&next(&mut near), "near"));
        if has(&next(&mut far), "far") {
            break;
        }
        without += 1;
    }
    println!("{without} steps came before the second variable");
    let mut both = [(&mut near, "near"), (&mut far, "far")];
    let two = crossed((&mut ranks, &wire), STEPS, &["far", "near"], &mut both);
    assert!(is_about(two, 2 * STEPS * VARIABLE_BYTES), "{two}");

    near.close().unwrap();
    until_kept(&mut ranks, &["far"], &mut [(&mut far, "far")]);
    let one = crossed((&mut ranks, &wire), STEPS, &["far"], &mut [(&mut far, "far")]);
    assert!(is_about(one, STEPS * VARIABLE_BYTES), "{one}");
    far.close().unwrap();
    eventually("whoever comes finds all", || ranks[0].wanted_variables() == VariableSet::All);
    close(ranks);
    let [forward, gate] = [forward.finish(), gate.finish()];
    assert_eq!((forward.code, gate.code), (Some(0), Some(0)), "{} {}", forward.stderr, gate.stderr);
    assert!(forward.stderr.contains(r#" on ["near"] crosses"#), "{}", forward.stderr);
}

#[test]
fn with_a_reserve_or_when_told_so_all_of_a_step_crosses() {
    for (of_gate, of_forward) in [(&["--reserve", "3"][..], &[][..]), (&[], &["--all"])] {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (gate, address) = gate(outside.path(), &[&["--subscribers", "1"], of_gate].concat());
        let wire = Wire::to(&address);
        let forward = forward(inside.path(), &wire.address(), of_forward);
        let mut ranks = open(inside.path());
        let mut near = selecting(outside.path(), "near");
        let all = crossed((&mut ranks, &wire), 16, &NAMES, &mut [(&mut near, "near")]);
        assert!(is_about(all, 16 * 3 * VARIABLE_BYTES), "{all}");
        assert_eq!(ranks[0].wanted_variables(), VariableSet::All);
        interrupt(forward);
        interrupt(gate);
    }
}

#[test]
fn a_variable_is_never_there_by_halves_however_often_it_is_asked_for() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (gate, address) = gate(outside.path(), &["--subscribers", "1"]);
    let forward = forward(inside.path(), &address, &[]);
    let mut ranks = open(inside.path());
    let mut near = selecting(outside.path(), "near");
    let mut both = |far: &mut Subscriber| {
        put(&mut ranks);
        assert!(has(&next(&mut near), "near"));
        has(&next(far), "far")
    };
    for _ in 0..12 {
        let mut far = selecting(outside.path(), "far");
        // That the one before has left may still be on its way to the publisher: then it comes, goes, and comes to stay.
        let mut in_a_row = 0;
        for _ in 0..200 {
            in_a_row = if both(&mut far) { in_a_row + 1 } else { 0 };
            if in_a_row == 5 {
                break;
            }
        }
        assert_eq!(in_a_row, 5, "it does not come to stay");
        far.close().unwrap();
    }
    interrupt(forward);
    interrupt(gate);
}

#[test]
fn what_is_selected_by_name_is_what_was_published() {
    const STEPS: u64 = 3;
    const ALL: [&str; 9] = ["atoms", "both", "columns", "grid", "local", "own", "rows", "time", "title"];
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let direct = publish(inside.path().to_owned(), STEPS);
    let expected = all_of(inside.path(), "run", STEPS, |options| options.with_start_at(StartAt::Next));
    direct.into_iter().for_each(|rank| rank.join().unwrap());
    let (gate, address) = gate(outside.path(), &["--subscribers", "1", "--once"]);
    let forward = crate::support::Run::at(inside.path(), &["forward", "run", "--to", &address, "--once"]);
    let direct = publish(inside.path().to_owned(), STEPS);
    let found = all_of(outside.path(), "run", STEPS, |options| options.with_variables(ALL));
    assert_eq!(found, expected);
    direct.into_iter().for_each(|rank| rank.join().unwrap());
    let [forward, gate] = [forward.finish(), gate.finish()];
    assert_eq!((forward.code, gate.code), (Some(0), Some(0)), "{} {}", forward.stderr, gate.stderr);
}

/// Publishes ahead of those who take until it is enough: how many steps.
fn publish_ahead(
    mut ranks: [Publisher; 2],
    taken: &AtomicU64,
    is_enough: &AtomicBool,
) -> ([Publisher; 2], u64) {
    let mut count = 0;
    while !is_enough.load(Ordering::Relaxed) {
        eventually("those who take follow", || {
            is_enough.load(Ordering::Relaxed) || taken.load(Ordering::Relaxed) + 15 > count
        });
        put(&mut ranks);
        count += 1;
    }
    (ranks, count)
}

#[test]
fn cuts_and_killed_gates_take_from_nobody_what_he_selects() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let outside = outside.path();
    let options = ["--subscribers", "2"];
    let (mut running, address) = gate(outside, &options);
    let wire = Wire::to(&address);
    let forward = forward(inside.path(), &wire.address(), &[]);
    let ranks = open(inside.path());
    let mut taking = ["near", "far"]
        .map(|name| (attach(outside, "sim", |options| awaiting(options).with_variables([name])), name));
    let (taken, is_enough) = (AtomicU64::new(0), AtomicBool::new(false));
    let mut take = || {
        for (subscriber, name) in &mut taking {
            let step = next(subscriber);
            assert_eq!(step.step().0, taken.load(Ordering::Relaxed), "none is lost, and none comes twice");
            assert!(has(&step, name), "step {} has no {name}", step.step());
        }
        taken.fetch_add(1, Ordering::Relaxed);
    };
    let running = thread::scope(|scope| {
        let publishing = scope.spawn(|| publish_ahead(ranks, &taken, &is_enough));
        // Nobody has a step in hand as the gate is killed.
        for number in 0..faults() {
            (0..5).for_each(|_| take());
            if number % 2 == 0 {
                wire.cut();
                continue;
            }
            kill(running);
            let address;
            (running, address) = gate(outside, &options);
            wire.lead_to(&address);
        }
        is_enough.store(true, Ordering::Relaxed);
        let (ranks, count) = publishing.join().unwrap();
        while taken.load(Ordering::Relaxed) < count {
            take();
        }
        drop(ranks);
        running
    });
    interrupt(forward);
    interrupt(running);
}
