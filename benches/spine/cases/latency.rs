//! A step of 8 bytes, one way: its only element is the time at which the publisher began it. Against half a round trip
//! of a futex, or of a socket, between two processes. With busy polling neither side ever sleeps.

use super::copies::Cores;
use crate::bench::Bench;
use crate::machine::now_ns;
use crate::ours;
use crate::process::{Role, Words, listed};
use crate::report::{Row, Target, median, quantile};
use crate::ring::Bell;
use crate::shared::{Memory, Shared};
use flexpath::{Publisher, Selection, Variable};
use std::time::Duration;

/// Repetitions before any is counted.
const WARM: usize = 100;
const REPETITIONS: usize = 2000;
/// The subscriber has the step and waits for the next; the pong.
const ANSWER: usize = 2;
/// The ping.
const ASK: usize = 3;
/// Nothing in a step's way may wait for this (delayed acknowledgements).
const STALL_US: f64 = 40_000.0;

/// Latencies by event wake over shm and tcp, then with a pause between steps.
pub(crate) fn measure(bench: &mut Bench) {
    for transport in ["shm", "tcp"] {
        compare(bench, transport, Cores::Pinned, Duration::ZERO);
        compare(bench, transport, Cores::Any, Duration::ZERO);
        compare(bench, transport, Cores::Pinned, Duration::from_millis(1));
    }
    busy(bench);
}

/// Both sides look again and again: no wake of a core is in it.
fn busy(bench: &mut Bench) {
    let repetitions = bench.scaled(REPETITIONS);
    let way = Way { transport: "shm", cores: Cores::Pinned, pause: Duration::ZERO, busy: true };
    let rounds = bench.take_turns(|bench| ours(bench, &way, repetitions));
    let own = rounds.found.concat();
    let us = |part: f64| quantile(&own, part) / 1e3;
    let note = format!("p99 {:.0}, p99.9 {:.0}, max {:.0} us", us(0.99), us(0.999), us(1.0));
    let row = Row::new("shm 8 B one way p50, busy poll", "us", us(0.5), Target::Below(3.0));
    bench.add(row.under(rounds.around).noting(note));
}

/// How a step travels, and when.
struct Way {
    transport: &'static str,
    cores: Cores,
    pause: Duration,
    busy: bool,
}

fn compare(bench: &mut Bench, transport: &'static str, cores: Cores, pause: Duration) {
    let repetitions = bench.scaled(REPETITIONS);
    let way = Way { transport, cores, pause, busy: false };
    let rounds = bench.take_turns(|bench| {
        let own = ours(bench, &way, repetitions);
        (own, if pause.is_zero() { baseline(transport, cores, repetitions) } else { Vec::new() })
    });
    let (own, base): (Vec<Vec<f64>>, Vec<Vec<f64>>) = rounds.found.into_iter().unzip();
    let (own, base) = (own.concat(), base.concat());
    let us = |part: f64| quantile(&own, part) / 1e3;
    let note = format!("p99 {:.0}, p99.9 {:.0}, max {:.0} us", us(0.99), us(0.999), us(1.0));
    let (target, how) = match (cores, pause.is_zero()) {
        (Cores::Pinned, true) => (Target::RatioAtMost(1.5), "event wake"),
        (Cores::Any, _) => (Target::None, "event wake, unpinned"),
        (Cores::Pinned, false) => (Target::None, "each ms"),
    };
    let row = Row::new(format!("{transport} 8 B one way p50, {how}"), "us", us(0.5), target);
    let row = if base.is_empty() { row } else { row.against(median(&base) / 1e3) };
    bench.add(row.under(rounds.around).noting(note));
    let case = format!("{transport} 8 B one way max, {how}");
    let row = Row::new(case, "us", us(1.0), Target::Below(STALL_US));
    bench.add(row.under(rounds.around));
}

fn ours(bench: &mut Bench, way: &Way, repetitions: usize) -> Vec<f64> {
    let (memory, directory) = (Memory::new(0), bench.directory());
    let role = |name, core| {
        let role = Role::new(name).with("core", way.cores.word(core)).with("memory", memory.path());
        let role = role.with("directory", &directory).with("transport", way.transport).with("rank", 0);
        let role = role.with("size", 1).with("repetitions", repetitions);
        role.with("pause_us", way.pause.as_micros()).with("busy", way.busy).start()
    };
    let (publisher, subscriber) = (role("stamp-publisher", 0), role("stamp-subscriber", 1));
    let found = subscriber.finish();
    publisher.finish();
    found.list("times")
}

/// Half round trips of a futex (`shm`) or of a socket (`tcp`), in nanoseconds.
pub(crate) fn baseline(transport: &str, cores: Cores, repetitions: usize) -> Vec<f64> {
    let memory = Memory::new(0);
    let role = |name, core| {
        let role = Role::new(name).with("core", cores.word(core)).with("memory", memory.path());
        role.with("repetitions", repetitions)
    };
    let (ping, pong) = if transport == "shm" {
        (role("futex-ping", 0).start(), role("futex-pong", 1).start())
    } else {
        let mut pong = role("socket-pong", 1).start();
        let port = pong.line().text("port").to_owned();
        (role("socket-ping", 0).with("port", port).start(), pong)
    };
    let found = ping.finish();
    pong.finish();
    found.list("times")
}

/// How often in all.
pub(crate) fn repetitions(words: &Words) -> usize {
    WARM + words.number::<usize>("repetitions")
}

/// Makes round trips and prints the halves of their times.
pub(crate) fn half_trips(words: &Words, mut trip: impl FnMut()) {
    let times = (0..repetitions(words)).map(|_| {
        let started = now_ns();
        trip();
        (now_ns() - started) / 2
    });
    let times: Vec<u64> = times.skip(WARM).collect();
    println!("times={}", listed(&times));
}

/// Role: wakes the other and waits to be woken.
pub(crate) fn futex_ping(words: &Words) {
    ours::take_core(words);
    let shared = Shared::open(words.text("memory"));
    let (ask, answer) = (Bell::of(shared.words(), ASK), Bell::of(shared.words(), ANSWER));
    let mut trips = 0;
    half_trips(words, || {
        trips += 1;
        ask.ring();
        answer.wait_for(trips);
    });
}

/// Role: answers.
pub(crate) fn futex_pong(words: &Words) {
    ours::take_core(words);
    let shared = Shared::open(words.text("memory"));
    for trip in 0..repetitions(words) {
        Bell::of(shared.words(), ASK).wait_for(trip as u32 + 1);
        Bell::of(shared.words(), ANSWER).ring();
    }
    println!("done=1");
}

/// How long both sides look before they sleep.
fn busy_poll(words: &Words) -> Duration {
    if words.number("busy") { ours::PATIENCE } else { Duration::ZERO }
}

/// Role: publishes the time, whenever the last step was taken.
pub(crate) fn publisher(words: &Words) {
    ours::take_core(words);
    let options = ours::publisher_options(words).with_min_subscribers(1).with_busy_poll(busy_poll(words));
    let mut publisher = Publisher::open(ours::STREAM, options).expect("the stream opens");
    let shared = Shared::open(words.text("memory"));
    let pause = Duration::from_micros(words.number("pause_us"));
    let variable = Variable::global::<u64>("x", &[1]).expect("a variable");
    let region = ours::region(&[0], &[1]);
    for step in 0..repetitions(words) {
        let answer = Bell::of(shared.words(), ANSWER);
        if words.number("busy") {
            answer.spin_for(step as u32 + 1)
        } else {
            answer.wait_for(step as u32 + 1)
        }
        if !pause.is_zero() {
            std::thread::sleep(pause);
        }
        let stamp = now_ns();
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_copy(&variable, &region, &[stamp]).expect("a put");
        writer.end().expect("the end of a step");
    }
    publisher.close().expect("all is delivered");
    println!("done=1");
}

/// Role: takes each step and looks how old it is.
pub(crate) fn subscriber(words: &Words) {
    ours::take_core(words);
    let shared = Shared::open(words.text("memory"));
    let options = ours::subscriber_options(words).with_selection("x", Selection::All);
    let options = options.with_busy_poll(busy_poll(words));
    let mut subscriber = ours::subscriber(options);
    let answer = Bell::of(shared.words(), ANSWER);
    let mut times = Vec::new();
    for _ in 0..repetitions(words) {
        answer.ring();
        let step = ours::next(&mut subscriber).expect("a step");
        let mut stamp = [0u64];
        step.get_into("x", &Selection::All, &mut stamp).expect("its data");
        times.push(now_ns() - stamp[0]);
    }
    println!("times={}", listed(&times[WARM..]));
}
