//! A run that begins anew, and a forward that begins anew or is expelled: all that can be had crosses.

use std::path::Path;
use std::time::Duration;

use crate::forwarding::{forward, gate};
use crate::kinds::{at, eventually};
use crate::staging::{attach, interrupt, kill, publisher_options, put_steps, take};
use crate::support::Run;
use crate::wire::Wire;
use fp_core::{Epoch, Publisher};

/// The opening of what is staged.
fn staged(folder: &Path) -> Option<Epoch> {
    let entry = at(folder).entries().into_iter().find(|entry| entry.name == "sim-staged");
    entry.map(|entry| entry.epoch)
}

/// The numbers that the gate has of the run before are other steps: none of the new run is passed over.
#[test]
fn a_run_that_begins_anew_behind_a_stager_crosses_whole() {
    for is_killed in [true, false] {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (gate, address) = gate(outside.path(), &["--subscribers", "1"]);
        let stager = Run::at(inside.path(), &["stage", "sim", "--reserve", "100"]);
        let forward = || Run::at(inside.path(), &["forward", "sim-staged", "--to", &address]);
        let mut running = Some(forward());

        let mut publisher = Publisher::open("sim", publisher_options(inside.path())).unwrap();
        let mut subscriber = attach(outside.path(), "sim-staged", |one| one);
        put_steps(&mut publisher, 12);
        assert!((0..12).all(|number| take(&mut subscriber) == Some(number)));
        let before = staged(inside.path());
        if is_killed {
            running.take().into_iter().for_each(kill);
        }
        publisher.close().expect("all of it is the stager's");
        let mut publisher = Publisher::open("sim", publisher_options(inside.path())).unwrap();
        put_steps(&mut publisher, 5);
        eventually("it is staged anew", || staged(inside.path()).is_some_and(|now| Some(now) != before));
        let running = running.unwrap_or_else(forward);
        assert_eq!(take(&mut subscriber), None, "{is_killed}");
        let mut subscriber = attach(outside.path(), "sim-staged", |one| one);
        assert!((0..5).all(|number| take(&mut subscriber) == Some(number)), "{is_killed}");
        publisher.close().expect("all of it is the stager's");
        drop(subscriber);
        for run in [stager, running, gate] {
            interrupt(run);
        }
    }
}

/// It holds what was sent to a gate that is killed, and no subscription any more that it could read that by.
#[test]
fn an_expelled_forward_brings_to_the_next_gate_what_it_had_sent_to_the_one_before() {
    const STEPS: u64 = 12;
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (first, address) = gate(outside.path(), &["--subscribers", "1"]);
    let wire = Wire::to(&address);
    let forward = forward(inside.path(), &wire.address(), &["--window", "4", "--once"]);
    let keeping = publisher_options(inside.path()).with_reserve_steps(100);
    let mut publisher = Publisher::open("sim", keeping.with_limit_wait(Duration::from_secs(1))).unwrap();
    let slow = attach(outside.path(), "sim", |one| one);
    // It takes none, so that the forward holds up the publisher until that goes on without it.
    put_steps(&mut publisher, STEPS);
    kill(first);
    drop(slow);

    let (second, address) = gate(outside.path(), &["--subscribers", "1", "--once"]);
    wire.lead_to(&address);
    let mut subscriber = attach(outside.path(), "sim", |one| one);
    let seen: Vec<u64> = (0..STEPS).map_while(|_| take(&mut subscriber)).collect();
    assert_eq!(seen, (0..STEPS).collect::<Vec<_>>());
    publisher.close().expect("all of it was taken");
    assert_eq!(take(&mut subscriber), None);
    let [forward, second] = [forward.finish(), second.finish()];
    assert_eq!((forward.code, second.code), (Some(0), Some(0)), "{} {}", forward.stderr, second.stderr);
    assert!(forward.stderr.contains("it is subscribed to again"), "{}", forward.stderr);
}
