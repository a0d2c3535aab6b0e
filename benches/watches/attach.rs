//! What opening a subscription with a condition takes while the simulation goes on.

use crate::decision::{BUDGET, cut_off};
use crate::machine::now_ns;
use crate::ours;
use crate::process::{Role, Words, listed};
use crate::report::{bounded, noted, quantile};
use crate::ring::Bell;
use crate::shared::{Memory, Shared};
use flexpath::{Publisher, Subscriber, Variable};
use std::time::Duration;

const OPENINGS: usize = 200;
const PERIOD: Duration = Duration::from_millis(1);
const LEN: u64 = 1024;
const PATIENCE: Duration = Duration::from_secs(10);
/// The rank has opened; the bench is over.
const READY: usize = 2;
const STOP: usize = 3;

pub(crate) fn measure() {
    for transport in ["shm", "tcp"] {
        let (memory, place) = (Memory::new(0), tempfile::tempdir().expect("a directory"));
        let role = |name| {
            let role = Role::new(name).with("core", "any").with("rank", 0).with("size", 1);
            let role = role.with("directory", place.path().display()).with("transport", transport);
            role.with("memory", memory.path()).start()
        };
        let publisher = role("attach-publisher");
        let found = role("attach-subscriber").finish();
        let published = publisher.finish();
        let us = |key: &str, part: f64| quantile(&found.list(key), part) / 1e3;
        let case = |what: &str| format!("{transport}, opening with {what}");
        bounded(&case("a condition, p50"), (us("watching", 0.5), 200.0), "us", "at most 0.2 ms");
        bounded(&case("a condition, p99"), (us("watching", 0.99), 1000.0), "us", "at most 1 ms");
        let case = |part: &str| format!("{transport}, another condition for one that is open, {part}");
        bounded(&case("p50"), (us("changing", 0.5), 200.0), "us", "at most 0.2 ms");
        bounded(&case("p99"), (us("changing", 0.99), 1000.0), "us", "at most 1 ms");
        let case = |what: &str| format!("{transport}, opening with {what}");
        noted(&case("no condition, p50"), us("plain", 0.5), "us");
        noted(&case("no condition, p99"), us("plain", 0.99), "us");
        let case = cut_off(&format!("{transport}, openings"));
        bounded(&case, (published.number("cut"), 0.0), "", "none");
    }
}

/// Role: publishes a step every millisecond.
pub(crate) fn publisher(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let mut publisher =
        Publisher::open(ours::STREAM, ours::publisher_options(words).with_derive_budget(BUDGET))
            .expect("it opens");
    let variable = Variable::global::<f64>("x", &[LEN]).expect("a variable");
    let numbers = [1.0; LEN as usize];
    Bell::of(shared.words(), READY).ring();
    let (mut steps, begun) = (0, now_ns());
    while Bell::of(shared.words(), STOP).value() == 0 {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_copy(&variable, &ours::region(&[0], &[LEN]), &numbers).expect("a put");
        writer.end().expect("the end of a step");
        steps += 1;
        let due = begun + steps * PERIOD.as_nanos() as u64;
        std::thread::sleep(Duration::from_nanos(due.saturating_sub(now_ns())));
    }
    let cut = publisher.statistics().cut_derivations;
    publisher.close().expect("closed");
    println!("steps={steps} cut={cut}");
}

/// Role: comes and goes, in turns with a condition and without one.
pub(crate) fn subscriber(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    Bell::of(shared.words(), READY).wait_for(1);
    let (mut watching_ns, mut plain_ns) = (Vec::new(), Vec::new());
    for _ in 0..OPENINGS {
        for (times_ns, is_watching) in [(&mut watching_ns, true), (&mut plain_ns, false)] {
            let options = ours::subscriber_options(words).with_variables(Vec::<String>::new());
            let options = match is_watching {
                true => options.with_condition("max(x) > 2").expect("a condition"),
                false => options,
            };
            let started = now_ns();
            let subscriber = Subscriber::open(ours::STREAM, options).expect("attached");
            times_ns.push(now_ns() - started);
            subscriber.close().expect("closed");
        }
    }
    let changing_ns = change(words);
    Bell::of(shared.words(), STOP).ring();
    println!(
        "watching={} plain={} changing={}",
        listed(&watching_ns),
        listed(&plain_ns),
        listed(&changing_ns)
    );
}

/// What it takes until the publisher has said from which step on another condition holds.
fn change(words: &Words) -> Vec<u64> {
    let options = ours::subscriber_options(words).with_variables(Vec::<String>::new());
    let options = options.with_condition("max(x) > 1").expect("a condition");
    let mut subscriber = Subscriber::open(ours::STREAM, options).expect("attached");
    let mut changing_ns = Vec::new();
    for threshold in 2..2 + OPENINGS {
        // As somebody does who looks what comes of it: the publisher has begun another step since.
        std::thread::sleep(PERIOD);
        let started = now_ns();
        subscriber
            .set_condition(&*format!("max(x) > {threshold}"), PATIENCE)
            .expect("it holds from some step on");
        changing_ns.push(now_ns() - started);
    }
    subscriber.close().expect("closed");
    changing_ns
}
