//! Very many steps; a subscriber attaches and leaves every hundred. After a tenth nothing grows any more.

use crate::audit::{Belongings, settled_belongings};
use crate::cast::{Stage, number, publisher_options, rendezvous, subscriber_options, tell};
use crate::{alone, scale};
use flexpath::{NextStep, Publisher, Region, Selection, Subscriber, Variable};
use std::time::{Duration, Instant};

const LEN: u64 = 512;
/// Steps that may live have a segment each, and so has the one that is written. How many did depends on when the
/// publisher heard of releases.
const LIMIT_SEGMENTS: usize = 5;
/// Steps of each subscriber.
const STEPS_EACH: u64 = 100;
/// Far longer than a million steps take.
const PATIENCE: Duration = Duration::from_secs(900);
/// What the allocator may keep beside what is used: memory of freed blocks goes back to the system page by page.
const ALLOCATOR_KIB: u64 = 1024;

/// Memory of this process, in KiB.
fn resident_kib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the system counts");
    let pages: u64 = text.split(' ').nth(1).expect("a number").parse().expect("a number");
    pages * rustix::param::page_size() as u64 / 1024
}

fn values(step: u64) -> Vec<u64> {
    (0..LEN).map(|index| (step << 32) | index).collect()
}

struct Both {
    publisher: Publisher,
    array: Variable,
    region: Region,
    next: u64,
}

impl Both {
    /// A subscriber comes, takes a hundred steps, and leaves. Every element is looked at.
    fn cycle(&mut self) {
        let mut subscriber = Subscriber::open("enduring", subscriber_options()).expect("attached");
        for _ in 0..STEPS_EACH {
            let mut writer = self.publisher.begin_step().expect("a step");
            writer.put(&self.array, &self.region, values(self.next)).expect("put");
            writer.end().expect("ended");
            let taken = subscriber.next_step(crate::cast::PATIENCE).expect("a step");
            let NextStep::Step(step) = taken else { panic!("no step: {taken:?}") };
            assert_eq!((step.step().0, step.skipped()), (self.next, 0));
            assert!(step.get::<u64>("array", Selection::All).expect("got") == values(self.next));
            self.next += 1;
        }
        subscriber.close().expect("left");
    }

    fn run_to(&mut self, step: u64) -> (u64, Belongings) {
        while self.next < step {
            self.cycle();
        }
        let deadline = Instant::now() + crate::cast::PATIENCE;
        while self.publisher.has_subscribers() {
            assert!(Instant::now() < deadline, "the last does not leave");
            std::thread::yield_now();
        }
        (resident_kib(), settled_belongings())
    }
}

/// Both sides, in a process of their own.
pub(crate) fn endure() {
    let steps = number("steps");
    let options = publisher_options().with_rendezvous(rendezvous());
    let mut both = Both {
        publisher: Publisher::open("enduring", options).expect("the stream opens"),
        array: Variable::global::<u64>("array", &[LEN]).expect("a shape"),
        region: Region::new([0], [LEN]).expect("inside"),
        next: 0,
    };
    let (early_kib, early) = both.run_to(steps / 10);
    let (late_kib, late) = both.run_to(steps);
    tell(format!("memory {early_kib} {late_kib}"));
    let ((early_segments, early), (late_segments, late)) = (apart(early), apart(late));
    assert!(early_segments.max(late_segments) <= LIMIT_SEGMENTS, "{early_segments}, {late_segments}");
    assert_eq!(late, early, "what this process has after {steps} steps, and after a tenth of them");
    both.publisher.close().expect("closed");
    tell("done");
}

/// How many segments of shared memory are mapped, and what else there is.
fn apart(mut of: Belongings) -> (usize, Belongings) {
    of.descriptors.retain(|kind, _| !kind.contains("memfd:"));
    (std::mem::take(&mut of.segments), of)
}

fn nothing_grows(transport: &str) {
    let _alone = alone();
    let stage = Stage::new();
    let steps = scale("STEPS", 10_000) / 2;
    let settings = [("transports", transport.to_owned()), ("steps", steps.to_string())];
    let enduring = stage.start("enduring", &settings);
    let memory = enduring.hear_within("memory ", PATIENCE);
    let (early_kib, late_kib) = memory.split_once(' ').expect("two numbers");
    let kib = |text: &str| text.parse::<u64>().expect("a number");
    let (early_kib, late_kib) = (kib(early_kib), kib(late_kib));
    println!("{transport}: {early_kib} KiB after {} steps, {late_kib} KiB after {steps}", steps / 10);
    let limit_kib = early_kib + early_kib / 100 + ALLOCATOR_KIB;
    assert!(late_kib <= limit_kib, "{late_kib} KiB, where {early_kib} KiB were used after a tenth");
    enduring.hear_within("done", PATIENCE);
    enduring.finish();
    assert_eq!(stage.entries(), Vec::<String>::new());
}

#[test]
fn nothing_grows_with_the_steps_over_shared_memory() {
    nothing_grows("shm");
}

#[test]
fn nothing_grows_with_the_steps_over_tcp() {
    nothing_grows("tcp");
}
