//! Streams over two gates, one behind the other; and what is judged and answered there, as the simulation is out of reach.

use std::path::Path;
use std::thread;

use crate::forwarding::{a_while, faults, forward, gate, is_harmless};
use crate::kinds::publish;
use crate::staging::{all_of, attach, kill, publisher_options, put_steps, take};
use crate::support::Run;
use crate::wire::Wire;
use fp_core::{Publisher, StartAt};

/// Conditions for the field of `put_steps`: its first element is 2048 times the number of the step.
const CONDITION: &str = "max(field[0:1]) > 8192 and every(3)";

/// Those of twenty steps that are so.
const JUDGED: [u64; 5] = [6, 9, 12, 15, 18];

#[test]
fn what_comes_out_behind_two_gates_is_what_was_published() {
    const STEPS: u64 = 3;
    let [inside, between, outside] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let direct = publish(inside.path().to_owned(), STEPS);
    let expected = all_of(inside.path(), "run", STEPS, |options| options.with_start_at(StartAt::Next));
    direct.into_iter().for_each(|rank| rank.join().unwrap());

    let (outer, outer_address) = gate(outside.path(), &["--subscribers", "1", "--once"]);
    let (inner, inner_address) = gate(between.path(), &["--subscribers", "1", "--once"]);
    let forward = |folder: &Path, to: &str, options: &[&str]| {
        Run::at(folder, &[&["forward", "run", "--to", to, "--once"], options].concat())
    };
    let first = forward(inside.path(), &inner_address, &["--compress"]);
    let second = forward(between.path(), &outer_address, &[]);
    let direct = publish(inside.path().to_owned(), STEPS);
    let found = all_of(outside.path(), "run", STEPS, |options| options);
    assert_eq!(found, expected);
    direct.into_iter().for_each(|rank| rank.join().unwrap());
    for run in [first, inner, second, outer] {
        let ended = run.finish();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
}

/// A gate, and the way to it, which stays where it is as the gate is killed and another one takes its place.
struct Reached<'a> {
    folder: &'a Path,
    options: &'a [&'a str],
    gate: Run,
    way: Wire,
}

impl<'a> Reached<'a> {
    fn start(folder: &'a Path, options: &'a [&'a str]) -> Self {
        let (gate, address) = gate(folder, options);
        Self { folder, options, gate, way: Wire::to(&address) }
    }

    fn kill(&mut self) {
        let (next, address) = gate(self.folder, self.options);
        kill(std::mem::replace(&mut self.gate, next));
        self.way.lead_to(&address);
    }
}

/// The forward behind it holds what the gate behind that has not taken, and is given it again.
#[test]
fn a_killed_gate_between_two_hops_loses_nothing_and_gives_nothing_twice() {
    let [inside, between, outside] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let (inside, between, outside) = (inside.path(), between.path(), outside.path());
    let (outer, address) = gate(outside, &["--subscribers", "1"]);
    let mut inner = Reached::start(between, &["--subscribers", "1"]);
    let first = forward(inside, &inner.way.address(), &[]);
    let second = forward(between, &address, &[]);
    is_harmless(inside, outside, |moved| {
        for number in 0..faults() {
            moved();
            a_while(number);
            inner.kill();
        }
        (vec![first, inner.gate, second, outer], ())
    });
}

/// Each way is cut, and each gate and each forward is killed, in turn.
#[test]
fn two_hops_lose_nothing_and_give_nothing_twice() {
    let [inside, between, outside] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let (inside, between, outside) = (inside.path(), between.path(), outside.path());
    // The reserve has what whoever is killed behind a gate had in hand.
    let options = ["--subscribers", "1", "--reserve", "40"];
    let [mut inner, mut outer] = [between, outside].map(|folder| Reached::start(folder, &options));
    let mut first = forward(inside, &inner.way.address(), &[]);
    let mut second = forward(between, &outer.way.address(), &[]);
    let dialled = is_harmless(inside, outside, |moved| {
        for number in 0..6 * faults().div_ceil(6) {
            moved();
            a_while(number);
            match number % 6 {
                0 => inner.way.cut(),
                1 => inner.kill(),
                2 => {
                    kill(second);
                    second = forward(between, &outer.way.address(), &[]);
                }
                3 => outer.way.cut(),
                4 => outer.kill(),
                _ => {
                    kill(first);
                    first = forward(inside, &inner.way.address(), &[]);
                }
            }
        }
        let dialled = [inner.way.dialled(), outer.way.dialled()];
        (vec![first, inner.gate, second, outer.gate], dialled)
    });
    assert!(dialled.iter().all(|dialled| *dialled > 1), "each way was cut and dialled again");
}

/// One takes the steps that a condition asks for, another one all, both of the same stream.
fn is_judged(place: &Path, stream: &str) {
    let mut judged = attach(place, stream, |one| one.with_condition(CONDITION).unwrap());
    let mut all = attach(place, stream, |one| one);
    thread::scope(|scope| {
        let taking = scope.spawn(move || std::iter::from_fn(|| take(&mut all)).collect::<Vec<_>>());
        assert_eq!(std::iter::from_fn(|| take(&mut judged)).collect::<Vec<_>>(), JUDGED);
        assert_eq!(taking.join().unwrap(), (0..20).collect::<Vec<_>>());
    });
}

#[test]
fn a_condition_is_judged_behind_a_gate_and_a_stager() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (inside, outside) = (inside.path(), outside.path());
    let twenty = || {
        let mut publisher = Publisher::open("sim", publisher_options(inside)).unwrap();
        put_steps(&mut publisher, 20);
        publisher.close().expect("all of it was taken");
    };
    let (gate, address) = gate(outside, &["--subscribers", "2", "--once"]);
    let forward = forward(inside, &address, &["--once"]);
    thread::scope(|scope| {
        let publishing = scope.spawn(twenty);
        is_judged(outside, "sim");
        publishing.join().unwrap();
    });
    let disk = inside.join("disk");
    let disk = disk.to_str().unwrap();
    let stager = Run::at(
        inside,
        &["stage", "sim", "--subscribers", "2", "--once", "--memory", "200K", "--disk", disk],
    );
    thread::scope(|scope| {
        let publishing = scope.spawn(twenty);
        is_judged(inside, "sim-staged");
        publishing.join().unwrap();
    });
    for run in [gate, forward, stager] {
        let ended = run.finish();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
}
