//! Streams over `flexpath forward` and `flexpath gate`: what comes out is what was published, whatever is cut or killed.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::kinds::{PATIENCE, at, eventually, publish};
use crate::staging::{
    all_of, attach, awaiting, interrupt, is_open, kill, publish_ahead, publisher_options, put_steps, take,
    take_all,
};
use crate::support::Run;
use crate::wire::Wire;
use fp_core::{NextStep, Publisher, PublisherOptions, StartAt, StepId, SubscriberOptions, TransportPolicy};
use rustix::process::{Pid, Signal, kill_process};

/// A gate, and its address.
pub(crate) fn gate(folder: &Path, options: &[&str]) -> (Run, String) {
    let mut gate = Run::at(folder, &[&["gate"], options].concat());
    let address = gate.first_line().trim().to_owned();
    (gate, address)
}

pub(crate) fn forward(folder: &Path, to: &str, options: &[&str]) -> Run {
    Run::at(folder, &[&["forward", "sim", "--to", to], options].concat())
}

#[test]
fn what_is_forwarded_is_what_was_published() {
    const STEPS: u64 = 3;
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let direct = publish(inside.path().to_owned(), STEPS);
    let expected = all_of(inside.path(), "run", STEPS, |options| options.with_start_at(StartAt::Next));
    direct.into_iter().for_each(|rank| rank.join().unwrap());

    let over_tcp: TransportPolicy = "tcp".parse().unwrap();
    for policy in [None, Some(&over_tcp)] {
        let (gate, address) = gate(outside.path(), &["--subscribers", "1", "--once"]);
        let options = ["forward", "run", "--to", &address, "--as", "{}-here", "--once"];
        let forward = Run::at(inside.path(), &options);
        let direct = publish(inside.path().to_owned(), STEPS);
        let set = |options: SubscriberOptions| match policy {
            Some(policy) => options.with_transports(policy.clone()),
            None => options,
        };
        let found = all_of(outside.path(), "run-here", STEPS, set);
        assert_eq!(found, expected, "{policy:?}");
        direct.into_iter().for_each(|rank| rank.join().unwrap());
        let [ended, gate] = [forward.finish(), gate.finish()];
        assert_eq!((ended.code, gate.code), (Some(0), Some(0)), "{} {}", ended.stderr, gate.stderr);
        assert!(
            ended
                .stderr
                .contains("3 steps sent: 0.0 MiB of data, 0.0 MiB crossed; 3 taken, 0 under way, 0 skipped"),
            "{}",
            ended.stderr
        );
        assert!(gate.stderr.contains("stream \"run-here\" has ended"), "{}", gate.stderr);
        assert!(!is_open(outside.path(), "run-here"));
    }
}

/// How often something is cut or killed. More often where tests may take long.
pub(crate) fn faults() -> u64 {
    std::env::var("FLEXPATH_FORWARD_FAULTS").map_or(8, |faults| faults.parse().expect("a number"))
}

/// One who takes all steps behind a gate while `harm` goes on: none is lost, and none comes twice. `harm` says which runs
/// are left, and what else there is to say.
pub(crate) fn is_harmless<T: Send>(
    inside: &Path,
    outside: &Path,
    harm: impl FnOnce(&dyn Fn()) -> (Vec<Run>, T) + Send,
) -> T {
    let [taken, published] = [AtomicU64::new(0), AtomicU64::new(u64::MAX)];
    let is_enough = AtomicBool::new(false);
    let (runs, said) = thread::scope(|scope| {
        scope.spawn(|| publish_ahead(inside, &taken, &is_enough, &published));
        let harming = scope.spawn(|| {
            // Each fault comes while steps are on their way.
            let moved = || {
                let before = taken.load(Ordering::Relaxed);
                eventually("steps come", || taken.load(Ordering::Relaxed) > before + 2);
            };
            let harmed = harm(&moved);
            is_enough.store(true, Ordering::Relaxed);
            harmed
        });
        eventually("it is published outside", || is_open(outside, "sim"));
        let subscriber = attach(outside, "sim", awaiting);
        let _sign =
            Publisher::open("attached", PublisherOptions::default().with_rendezvous(at(inside))).unwrap();
        take_all(subscriber, (outside, "sim"), (&taken, &published));
        harming.join().unwrap()
    });
    println!("{} steps, {} faults", published.into_inner(), faults());
    runs.into_iter().for_each(|run| drop(interrupt(run)));
    said
}

/// Another moment each time.
pub(crate) fn a_while(number: u64) {
    let (_never, nothing) = mpsc::channel::<()>();
    let moment = Duration::from_micros((number * 7_919) % 31 * 1_000);
    assert_eq!(nothing.recv_timeout(moment), Err(RecvTimeoutError::Timeout));
}

#[test]
fn a_cut_way_loses_nothing_and_gives_nothing_twice() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (gate, address) = gate(outside.path(), &["--subscribers", "1"]);
    let wire = Wire::to(&address);
    let forward = forward(inside.path(), &wire.address(), &[]);
    let wire = &wire;
    is_harmless(inside.path(), outside.path(), |moved| {
        for number in 0..faults() {
            moved();
            a_while(number);
            wire.cut();
        }
        (vec![forward, gate], ())
    });
    assert!(wire.dialled() as u64 > faults(), "each cut has it dialled again");
}

#[test]
fn a_killed_forward_loses_nothing_and_gives_nothing_twice() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (gate, address) = gate(outside.path(), &["--subscribers", "1"]);
    let inside = inside.path();
    let mut running = forward(inside, &address, &[]);
    is_harmless(inside, outside.path(), |moved| {
        for number in 0..faults() {
            moved();
            a_while(number);
            kill(running);
            running = forward(inside, &address, &[]);
        }
        (vec![running, gate], ())
    });
}

#[test]
fn a_killed_gate_loses_nothing_and_gives_nothing_twice() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let outside = outside.path();
    // The reserve has what a subscriber takes again, as it had it in hand.
    let options = ["--subscribers", "1", "--reserve", "20"];
    let (mut running, address) = gate(outside, &options);
    let wire = Wire::to(&address);
    let forward = forward(inside.path(), &wire.address(), &[]);
    let wire = &wire;
    is_harmless(inside.path(), outside, |moved| {
        for number in 0..faults() {
            moved();
            a_while(number);
            kill(running);
            let address;
            (running, address) = gate(outside, &options);
            wire.lead_to(&address);
        }
        (vec![forward, running], ())
    });
}

#[test]
fn a_publisher_that_begins_anew_does_so_behind_the_gate() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (gate, address) = gate(outside.path(), &["--subscribers", "1"]);
    let forward = forward(inside.path(), &address, &[]);
    for _ in 0..2 {
        let mut publisher = Publisher::open("sim", publisher_options(inside.path())).unwrap();
        put_steps(&mut publisher, 3);
        let mut subscriber = attach(outside.path(), "sim", |one| one);
        let closing = thread::spawn(move || publisher.close().expect("all of it was taken"));
        let seen: Vec<u64> = std::iter::from_fn(|| take(&mut subscriber)).collect();
        assert_eq!(seen, [0, 1, 2]);
        closing.join().unwrap();
        eventually("it has ended outside", || !is_open(outside.path(), "sim"));
    }
    interrupt(forward);
    interrupt(gate);
}

#[test]
fn a_slow_subscriber_holds_up_the_publisher_and_not_the_memory() {
    const STEPS: u64 = 40;
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (gate, address) = gate(outside.path(), &["--subscribers", "1", "--memory", "1M", "--once"]);
    let forward = forward(inside.path(), &address, &["--window", "4", "--once", "--rate", "100M"]);
    let published = AtomicU64::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut publisher = Publisher::open("sim", publisher_options(inside.path())).unwrap();
            for _ in 0..STEPS {
                put_steps(&mut publisher, 1);
                published.fetch_add(1, Ordering::SeqCst);
            }
            publisher.close().expect("all of it was taken");
        });
        let mut subscriber = attach(outside.path(), "sim", |one| one);
        for expected in 0..STEPS {
            let taken = take(&mut subscriber);
            assert_eq!(taken, Some(expected));
            a_while(1);
            // Those under way, the one that it has in hand, and one that it begins.
            assert!(published.load(Ordering::SeqCst) <= expected + 7, "after {expected}");
        }
        assert_eq!(take(&mut subscriber), None);
    });
    let [ended, gate] = [forward.finish(), gate.finish()];
    assert_eq!((ended.code, gate.code), (Some(0), Some(0)), "{} {}", ended.stderr, gate.stderr);
}

#[test]
fn a_killed_forward_and_then_a_killed_gate_lose_nothing_either() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (inside, outside) = (inside.path(), outside.path());
    let options = ["--subscribers", "1", "--reserve", "20"];
    let (mut gate_now, address) = gate(outside, &options);
    let wire = Wire::to(&address);
    let mut forward_now = forward(inside, &wire.address(), &[]);
    let wire = &wire;
    is_harmless(inside, outside, |moved| {
        for number in 0..faults() {
            moved();
            a_while(number);
            // What the first one has sent, the second one holds as well.
            kill(forward_now);
            forward_now = forward(inside, &wire.address(), &[]);
            moved();
            kill(gate_now);
            let address;
            (gate_now, address) = gate(outside, &options);
            wire.lead_to(&address);
        }
        (vec![forward_now, gate_now], ())
    });
}

/// Two subscribers of the stream outside take all of it, until its publisher closes.
fn both_take(outside: &Path, publisher: Publisher, steps: u64) {
    let both = [(); 2].map(|()| attach(outside, "sim", |one| one));
    let closing = thread::spawn(move || publisher.close().expect("all of it was taken"));
    let all = |mut subscriber| std::iter::from_fn(|| take(&mut subscriber)).collect::<Vec<u64>>();
    let taking = both.map(|subscriber| thread::spawn(move || all(subscriber)));
    for seen in taking.map(|taking| taking.join().unwrap()) {
        assert_eq!(seen, (0..steps).collect::<Vec<_>>());
    }
    closing.join().unwrap();
}

/// What a subscriber has in hand is not taken, however its gate ends.
#[test]
fn a_gate_that_is_told_to_end_gives_back_what_was_not_taken() {
    const STEPS: u64 = 4;
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for number in 0..faults() {
        let (first, address) = gate(outside.path(), &["--subscribers", "2"]);
        let wire = Wire::to(&address);
        let forward = forward(inside.path(), &wire.address(), &["--once"]);
        let mut publisher = Publisher::open("sim", publisher_options(inside.path())).unwrap();
        // One has it in hand, the other one has taken it.
        let mut slow = attach(outside.path(), "sim", |one| one);
        let mut fast = attach(outside.path(), "sim", |one| one);
        put_steps(&mut publisher, STEPS);
        let NextStep::Step(in_hand) = slow.next_step(PATIENCE).unwrap() else { panic!("no step") };
        assert_eq!((in_hand.step(), take(&mut fast)), (StepId(0), Some(0)));
        a_while(7 * number);
        kill_process(Pid::from_child(&first.child), Signal::TERM).unwrap();
        let ended = first.finish();
        assert_eq!(ended.status.signal(), Some(Signal::INT.as_raw()), "{}", ended.stderr);
        drop((in_hand, slow, fast));

        let (second, address) = gate(outside.path(), &["--subscribers", "2", "--once"]);
        wire.lead_to(&address);
        both_take(outside.path(), publisher, STEPS);
        let [forward, second] = [forward.finish(), second.finish()];
        assert_eq!((forward.code, second.code), (Some(0), Some(0)), "{} {}", forward.stderr, second.stderr);
    }
}

/// What a forward had sent is held by the one that follows it too: the gate has it in memory alone.
#[test]
fn what_a_killed_forward_had_sent_outlives_the_gate() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (first, address) = gate(outside.path(), &["--subscribers", "2"]);
    let wire = Wire::to(&address);
    let killed = forward(inside.path(), &wire.address(), &[]);
    let keeping = publisher_options(inside.path()).with_reserve_steps(10);
    let mut publisher = Publisher::open("sim", keeping).unwrap();
    let slow = attach(outside.path(), "sim", |one| one);
    let mut fast = attach(outside.path(), "sim", |one| one);
    put_steps(&mut publisher, 4);
    assert_eq!([(); 4].map(|()| take(&mut fast)), [Some(0), Some(1), Some(2), Some(3)]);
    kill(killed);
    let forward = forward(inside.path(), &wire.address(), &["--once"]);
    // The next step comes behind those that it holds again.
    put_steps(&mut publisher, 1);
    assert_eq!(take(&mut fast), Some(4));
    kill(first);
    drop((slow, fast));

    // It awaits as many as there were.
    let (second, address) = gate(outside.path(), &["--once"]);
    wire.lead_to(&address);
    both_take(outside.path(), publisher, 5);
    let [forward, second] = [forward.finish(), second.finish()];
    assert_eq!((forward.code, second.code), (Some(0), Some(0)), "{} {}", forward.stderr, second.stderr);
}

#[test]
fn a_way_that_is_cut_while_the_stream_ends_ends_it_once() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for number in 0..faults() {
        let (gate, address) = gate(outside.path(), &["--subscribers", "1", "--once"]);
        let wire = Wire::to(&address);
        let forward = forward(inside.path(), &wire.address(), &["--once"]);
        let mut publisher = Publisher::open("sim", publisher_options(inside.path())).unwrap();
        let mut subscriber = attach(outside.path(), "sim", |one| one);
        put_steps(&mut publisher, 3);
        let closing = thread::spawn(move || publisher.close().expect("all of it was taken"));
        // It holds the last step for a while, and so the end of the stream.
        assert_eq!([take(&mut subscriber), take(&mut subscriber)], [Some(0), Some(1)]);
        let NextStep::Step(last) = subscriber.next_step(PATIENCE).unwrap() else { panic!("no step") };
        wire.cut();
        a_while(5 * number);
        wire.cut();
        drop(last);
        a_while(number);
        wire.cut_now();
        assert_eq!(take(&mut subscriber), None);
        closing.join().unwrap();
        let [ended, gate] = [forward.finish(), gate.finish()];
        assert_eq!((ended.code, gate.code), (Some(0), Some(0)), "{} {}", ended.stderr, gate.stderr);
        assert!(ended.stderr.contains(" 0 under way, 0 skipped"), "{}", ended.stderr);
    }
}

/// Else a stager before it would wait for that before it ends, and whoever brings its steps for the end.
#[test]
fn a_reserve_holds_nobody_up_when_no_step_comes() {
    let (inside, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let disk = inside.path().join("disk");
    let stage = ["stage", "sim", "--disk", disk.to_str().unwrap(), "--memory", "1M", "--once"];
    let (gate, address) = gate(outside.path(), &["--subscribers", "1", "--reserve", "100", "--once"]);
    let stager = Run::at(inside.path(), &stage);
    let forward = Run::at(inside.path(), &["forward", "sim-staged", "--to", &address, "--once"]);
    let mut publisher = Publisher::open("sim", publisher_options(inside.path())).unwrap();
    let mut subscriber = attach(outside.path(), "sim-staged", |one| one);
    put_steps(&mut publisher, 30);
    let seen: Vec<u64> = (0..30).map_while(|_| take(&mut subscriber)).collect();
    assert_eq!(seen, (0..30).collect::<Vec<_>>());
    publisher.close().expect("all of it is the stager's");
    assert_eq!(take(&mut subscriber), None);
    for run in [stager, forward, gate] {
        let ended = run.finish();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
}
