//! A run that begins anew, and a gate that is killed just then: what comes is told from what went before.

use std::ops::Range;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::forwarding::{a_while, faults, forward, gate};
use crate::kinds::{PATIENCE, eventually};
use crate::staging::{
    attach, awaiting, interrupt, is_open, kill, publisher_options, put_steps, take, try_take,
};
use crate::support::Run;
use crate::wire::Wire;
use fp_core::connection::{Connection, Incoming};
use fp_core::{NextStep, Publisher, Subscriber, SubscriberOptions};
use rustix::process::{Pid, Signal, kill_process};

/// Steps of each run.
const STEPS: u64 = 20;

/// A run as a file: its steps come for a while.
fn recorded(inside: &Path) -> String {
    let file = inside.join("run.fpsr").to_str().unwrap().to_owned();
    let recorder = Run::at(inside, &["record", "sim", "--out", &file, "--timeout", "60"]);
    let mut publisher = Publisher::open("sim", publisher_options(inside)).unwrap();
    put_steps(&mut publisher, 100);
    publisher.close().expect("closed");
    assert_eq!(recorder.finish().code, Some(0));
    file
}

/// Takes what was on its way as its publisher was killed.
fn take_the_rest(subscriber: &mut Subscriber) {
    while let NextStep::Step(_) = subscriber.next_step(Duration::from_secs(1)).unwrap() {}
}

/// A run of which so many steps were taken outside as its publisher was killed, in a process of its own.
fn lost_run(
    (inside, outside): (&Path, &Path),
    (file, speed): (&str, &str),
    taken: u64,
    options: fn(SubscriberOptions) -> SubscriberOptions,
) -> Subscriber {
    let run = Run::at(inside, &["replay", file, "--speed", speed]);
    let mut subscriber = attach(outside, "sim", options);
    come(&mut subscriber, 0..taken);
    kill(run);
    take_the_rest(&mut subscriber);
    subscriber
}

fn send_signal(to: &Run, signal: Signal) {
    kill_process(Pid::from_child(&to.child), signal).unwrap();
}

/// The next run, of which whoever brings it finds no step before that one.
fn second_run(inside: &Path, forward: &Run, first: u64) -> Publisher {
    if first == 0 {
        return Publisher::open("sim", publisher_options(inside)).unwrap();
    }
    send_signal(forward, Signal::STOP);
    let mut publisher = Publisher::open("sim", publisher_options(inside).with_min_subscribers(0)).unwrap();
    for _ in 0..first {
        publisher.begin_stored_step().unwrap().abandon();
    }
    send_signal(forward, Signal::CONT);
    assert_eq!(publisher.wait_for_subscriptions(1, PATIENCE), 1);
    publisher
}

/// Publishes so many more steps, and closes.
fn publish(mut publisher: Publisher, steps: u64) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        put_steps(&mut publisher, steps);
        publisher.close().expect("all of it was taken");
    })
}

/// These come next, and each once. One that was in hand as its gate was killed comes again.
fn come(subscriber: &mut Subscriber, steps: Range<u64>) {
    for expected in steps {
        let found = std::iter::from_fn(|| try_take(subscriber)).find(|(_, read)| read.is_ok());
        assert_eq!(found.map(|(number, _)| number), Some(expected));
    }
}

/// For one who goes on behind the next gate with what it had in hand.
fn held_again(options: SubscriberOptions) -> SubscriberOptions {
    awaiting(options).with_held_again(true)
}

/// Who had all of the run before has nothing of the next one, and passes over none of it. It may be found at a number to
/// which no stream counts.
#[test]
fn a_gate_that_is_killed_as_a_run_begins_anew_gives_all_of_it() {
    for first in [0, 5, 100_000] {
        let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (inside, outside) = (inside.path(), outside.path());
        let file = recorded(inside);
        let (killed, address) = gate(outside, &["--subscribers", "1"]);
        let way = Wire::to(&address);
        let forward = forward(inside, &way.address(), &[]);
        let mut subscriber = lost_run((inside, outside), (&file, "20"), 12, held_again);

        let publisher = second_run(inside, &forward, first);
        way.hold(true);
        let carried = way.carried();
        let publishing = publish(publisher, STEPS);
        // More than signs of life.
        eventually("it is on its way", || way.carried() > carried + 80);
        kill(killed);
        let (second, address) = gate(outside, &["--subscribers", "1"]);
        way.lead_to(&address);
        way.hold(false);
        way.cut_now();
        come(&mut subscriber, first..first + 3);

        // Of the same run nothing comes again.
        kill(second);
        let (third, address) = gate(outside, &["--subscribers", "1"]);
        way.lead_to(&address);
        come(&mut subscriber, first + 3..first + STEPS);
        assert_eq!(take(&mut subscriber), None);
        publishing.join().unwrap();
        interrupt(forward);
        let told = interrupt(third).stderr;
        assert!(told.contains("1 that had subscribed before are awaited"), "{told}");
    }
}

/// Whatever the gate had heard of it, and whoever outside has heard of that.
#[test]
fn of_a_run_that_begins_anew_a_killed_gate_loses_nothing_and_gives_nothing_twice() {
    const SHORT: u64 = 8;
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (inside, outside) = (inside.path(), outside.path());
    let file = recorded(inside);
    let (mut running, address) = gate(outside, &["--subscribers", "1"]);
    let way = Wire::to(&address);
    let forward = forward(inside, &way.address(), &[]);
    for number in 0..faults().div_ceil(4) {
        let mut subscriber = lost_run((inside, outside), (&file, "50"), 5, held_again);
        let publishing = publish(Publisher::open("sim", publisher_options(inside)).unwrap(), SHORT);
        a_while(number);
        kill(running);
        let address;
        (running, address) = gate(outside, &["--subscribers", "1"]);
        way.lead_to(&address);
        let mut seen = Vec::new();
        while (seen.len() as u64) < SHORT {
            match try_take(&mut subscriber) {
                Some((number, Ok(()))) => seen.push(number),
                Some((_, Err(_))) => {}
                // The run before has ended.
                None => {
                    subscriber = attach(outside, "sim", held_again);
                }
            }
        }
        assert_eq!(seen, (0..SHORT).collect::<Vec<_>>(), "{number}");
        assert_eq!(take(&mut subscriber), None);
        publishing.join().unwrap();
    }
    interrupt(forward);
    interrupt(running);
}

/// Though its numbers are behind those of the run before, as if that went on.
#[test]
fn a_run_that_begins_anew_is_no_part_of_the_one_before() {
    const FIRST: u64 = 50;
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (inside, outside) = (inside.path(), outside.path());
    let file = recorded(inside);
    let (gate, address) = gate(outside, &["--subscribers", "1"]);
    let forward = forward(inside, &address, &[]);
    let mut subscriber = lost_run((inside, outside), (&file, "20"), 12, awaiting);

    let publishing = publish(second_run(inside, &forward, FIRST), 4);
    assert_eq!(take(&mut subscriber), None);
    let mut subscriber = attach(outside, "sim", awaiting);
    come(&mut subscriber, FIRST..FIRST + 4);
    assert_eq!(take(&mut subscriber), None);
    publishing.join().unwrap();
    interrupt(forward);
    interrupt(gate);
}

/// Who has come outside awaits the first step, whichever run brings it.
#[test]
fn a_run_that_is_lost_before_its_first_step_ends_nothing_outside() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (inside, outside) = (inside.path(), outside.path());
    let file = recorded(inside);
    let (gate, address) = gate(outside, &["--subscribers", "1"]);
    let forward = forward(inside, &address, &[]);
    let before = Run::at(inside, &["replay", &file, "--subscribers", "2"]);
    let mut subscriber = attach(outside, "sim", |one| one);
    kill(before);

    let publishing = publish(Publisher::open("sim", publisher_options(inside)).unwrap(), STEPS);
    come(&mut subscriber, 0..STEPS);
    assert_eq!(take(&mut subscriber), None);
    publishing.join().unwrap();
    interrupt(forward);
    interrupt(gate);
}

/// The gate between has heard the end of the run before, and so nobody goes on with its numbers.
#[test]
fn behind_two_gates_a_run_that_begins_anew_crosses_whole_though_a_forward_is_killed() {
    let [inside, between, outside] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let (inside, between, outside) = (inside.path(), between.path(), outside.path());
    let (inner, inner_address) = gate(between, &["--subscribers", "1"]);
    let (outer, outer_address) = gate(outside, &["--subscribers", "1"]);
    let first = forward(inside, &inner_address, &[]);
    let killed = forward(between, &outer_address, &[]);
    let mut publisher = Publisher::open("sim", publisher_options(inside)).unwrap();
    let mut subscriber = attach(outside, "sim", |one| one);
    put_steps(&mut publisher, 12);
    come(&mut subscriber, 0..12);
    kill(killed);
    publisher.close().expect("all of it was taken");
    eventually("it has ended between", || !is_open(between, "sim"));

    let publishing = publish(Publisher::open("sim", publisher_options(inside)).unwrap(), 5);
    let second = forward(between, &outer_address, &[]);
    assert_eq!(take(&mut subscriber), None);
    let mut subscriber = attach(outside, "sim", |one| one);
    come(&mut subscriber, 0..5);
    assert_eq!(take(&mut subscriber), None);
    publishing.join().unwrap();
    [first, second, inner, outer].into_iter().for_each(|run| drop(interrupt(run)));
}

/// Who was cut off before it heard the answer hears it over the next connection. Who does not know it hears none.
#[test]
fn that_a_run_begins_anew_is_answered_over_each_connection() {
    let outside = tempfile::tempdir().unwrap();
    let (gate, address) = gate(outside.path(), &[]);
    let opened = |version: u32| {
        let connection = Connection::dial(&address, None, None).unwrap();
        let offer =
            format!(r#"{{"offer":{{"version":{version},"stream":"sim","forward":"f","subscribers":0}}}}"#);
        let next = r#"{"epoch":"000000000000000000000000000000ab","step":7}"#;
        connection.tell(offer.as_bytes()).unwrap();
        connection
            .tell(format!(r#"{{"opening":{{"next":{next},"ranks":1,"begins_anew":true}}}}"#).as_bytes())
            .unwrap();
        if version < 3 {
            connection.tell(b"\"ended\"").unwrap();
        }
        let mut notes = std::iter::from_fn(|| match connection.incoming().unwrap() {
            Some(Incoming::Note(note)) => String::from_utf8(note).ok().filter(|note| note != "\"ended\""),
            other => panic!("no note: {other:?}"),
        });
        let answer = r#"{"opened":{"epoch":"000000000000000000000000000000ab"}}"#;
        notes.any(|note| note == answer)
    };
    assert_eq!([opened(3), opened(3), opened(2)], [true, true, false]);
    interrupt(gate);
}
