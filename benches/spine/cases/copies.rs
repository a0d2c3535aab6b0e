//! Steps from one publisher to one subscriber, as fast as they go. They end in the caller's array, and the baseline is
//! a ring or a socket that does the same work.

use crate::bench::Bench;
use crate::machine::now_ns;
use crate::ours;
use crate::process::{Role, Words};
use crate::report::{Row, Target, median};
use crate::ring::Ring;
use crate::shared::Memory;
use flexpath::{Region, Selection, StepWriter, Variable};

/// Steps before the clock starts: every page touched, every segment mapped.
pub(crate) const WARM_STEPS: usize = 8;
const MIB: usize = 1 << 20;

/// A step filled in place by the publisher, and copied out by the subscriber.
pub(crate) fn loan(bench: &mut Bench) {
    for (len, bound) in [(MIB, 0.6), (16 * MIB, 0.9), (128 * MIB, 0.9)] {
        for core in Cores::BOTH {
            compare(bench, &Way { name: "shm loan, get", how: "loan", transport: "shm", len, core, bound });
        }
    }
}

/// A step written into an array, copied in and copied out.
pub(crate) fn put_copy(bench: &mut Bench) {
    for len in [MIB, 16 * MIB, 128 * MIB] {
        for core in Cores::BOTH {
            let name = "shm put_copy, get";
            compare(bench, &Way { name, how: "copy", transport: "shm", len, core, bound: 0.9 });
        }
    }
}

/// A step filled in place and pushed over a connection into the subscriber's array.
pub(crate) fn tcp(bench: &mut Bench) {
    for len in [MIB, 16 * MIB, 128 * MIB] {
        for core in Cores::BOTH {
            let name = "tcp loan, get";
            compare(bench, &Way { name, how: "loan", transport: "tcp", len, core, bound: 0.9 });
        }
    }
}

/// Where the two processes run.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Cores {
    /// One core each.
    Pinned,
    /// Where the scheduler likes.
    Any,
}

impl Cores {
    const BOTH: [Self; 2] = [Self::Pinned, Self::Any];

    /// The word for a role.
    pub(crate) fn word(self, core: usize) -> String {
        if self == Self::Pinned { core.to_string() } else { "any".to_owned() }
    }
}

struct Way {
    name: &'static str,
    how: &'static str,
    transport: &'static str,
    len: usize,
    core: Cores,
    bound: f64,
}

impl Way {
    fn role(&self, name: &'static str, core: usize, steps: usize) -> Role {
        let role = Role::new(name).with("how", self.how).with("len", self.len).with("steps", steps);
        role.with("core", self.core.word(core))
    }

    fn gigabytes(&self, found: &Words, steps: usize) -> f64 {
        (self.len * steps) as f64 / found.number::<f64>("seconds") / 1e9
    }
}

fn compare(bench: &mut Bench, way: &Way) {
    // Steps of 1 MiB take 30 us: so many that what a newcomer costs at first is little of it.
    let steps = bench.scaled(if way.len <= MIB { 4096 } else { ((1 << 30) / way.len).clamp(24, 1000) });
    let mut note = String::new();
    let rounds = bench.take_turns(|bench| {
        let (found, segments) = ours(bench, way, steps);
        let live = segments.max(2);
        let base = baseline(way, steps, live);
        note = format!(
            "{live} live, {} requests; in the last round each copy took {:.0} us, the baseline's {:.0} us",
            found.text("requests"),
            found.number::<f64>("moving_us"),
            base.number::<f64>("moving_us")
        );
        (way.gigabytes(&found, steps), way.gigabytes(&base, steps))
    });
    let (target, cores) = match way.core {
        Cores::Pinned => (Target::RatioAtLeast(way.bound), ""),
        Cores::Any => (Target::None, ", unpinned"),
    };
    let case = format!("{} {} MiB{cores}", way.name, way.len / MIB);
    bench.add(Row::of_rounds(case, "GB/s", &rounds, target).noting(note));
}

fn ours(bench: &mut Bench, way: &Way, steps: usize) -> (Words, u32) {
    let directory = bench.directory();
    let role = |name, core| {
        let role = way.role(name, core, steps).with("directory", &directory);
        role.with("transport", way.transport).with("rank", 0).with("size", 1).start()
    };
    let (publisher, subscriber) = (role("publisher", 0), role("subscriber", 1));
    let found = subscriber.finish();
    (found, publisher.finish().number("segments"))
}

fn baseline(way: &Way, steps: usize, live: u32) -> Words {
    if way.transport == "tcp" {
        let mut receiver = way.role("socket-receiver", 1, steps).start();
        let port = receiver.line().text("port").to_owned();
        let sender = way.role("socket-sender", 0, steps).with("port", port).with("live", live).start();
        let found = receiver.finish();
        sender.finish();
        return found;
    }
    ring(way, steps, live)
}

fn ring(way: &Way, steps: usize, live: u32) -> Words {
    let memory = Memory::new(way.len * live as usize);
    let role =
        |name, core| way.role(name, core, steps).with("memory", memory.path()).with("live", live).start();
    let (sender, receiver) = (role("ring-sender", 0), role("ring-receiver", 1));
    let found = receiver.finish();
    sender.finish();
    found
}

/// GB/s of the ring with that much a step, filled in place and copied out, both ends pinned.
pub(crate) fn ring_gigabytes(len: usize, steps: usize, live: u32) -> f64 {
    let way = Way { name: "", how: "loan", transport: "shm", len, core: Cores::Pinned, bound: 0.0 };
    way.gigabytes(&ring(&way, steps, live), steps)
}

/// GB/s of a baseline alone: `copy` in and out of a ring in shared memory (`shm`), or through a socket (`tcp`).
pub(crate) fn floor_gigabytes(transport: &'static str, how: &'static str, len: usize, steps: usize) -> f64 {
    let way = Way { name: "", how, transport, len, core: Cores::Any, bound: 0.0 };
    way.gigabytes(&baseline(&way, steps, 4), steps)
}

/// What the publishing side does to the memory of a step.
pub(crate) struct Filling(Option<Vec<u64>>);

impl Filling {
    /// `how=loan`: writes it where it lies. `how=copy`: writes an array of its own, which is copied.
    pub(crate) fn of(words: &Words) -> Self {
        let elements = words.number::<usize>("len") / 8;
        Self((words.text("how") == "copy").then(|| vec![0; elements]))
    }

    /// Fills memory of our own for a step.
    pub(crate) fn fill(&mut self, memory: &mut [u8], step: usize) {
        match &mut self.0 {
            None => write_afresh(memory, step),
            Some(source) => {
                write_afresh(source, step);
                memory.copy_from_slice(bytemuck::cast_slice(source));
            }
        }
    }

    fn put(&mut self, writer: &mut StepWriter, variable: &Variable, region: &Region, step: usize) {
        match &mut self.0 {
            None => {
                let mut loan = writer.loan::<u64>(variable, region).expect("a loan");
                write_afresh(&mut loan, step);
                writer.put_loan(loan).expect("a put");
            }
            Some(source) => {
                write_afresh(source, step);
                writer.put_copy(variable, region, source).expect("a put");
            }
        }
    }
}

/// What every byte of a step must be.
pub(crate) fn pattern(step: usize) -> u8 {
    (step % 100) as u8 + 1
}

/// Writes every byte of a step, as fast as that can be done.
pub(crate) fn write_afresh<T: bytemuck::Pod>(memory: &mut [T], step: usize) {
    bytemuck::cast_slice_mut::<T, u8>(memory).fill(pattern(step));
}

/// What every element of a step must be.
fn expected(step: usize) -> u64 {
    u64::from_ne_bytes([pattern(step); 8])
}

/// Looks at a few elements: the step is the one that it should be, from end to end.
pub(crate) fn check(elements: &[u64], step: usize) {
    let wanted = expected(step);
    for at in [0, elements.len() / 2, elements.len() - 1] {
        assert_eq!(elements[at], wanted, "element {at} of step {step}");
    }
}

/// The caller's array, with all its pages present before anything else takes memory.
pub(crate) fn destination(words: &Words) -> Vec<u64> {
    vec![u64::MAX; words.number::<usize>("len") / 8]
}

/// Takes `WARM_STEPS + steps` steps into an array and prints how long those after the first took. `take` returns how
/// many nanoseconds it spent on moving bytes; the median of that is printed too.
pub(crate) fn timed(
    words: &Words,
    mut destination: Vec<u64>,
    mut take: impl FnMut(&mut [u64]) -> u64,
    last_words: impl FnOnce() -> String,
) {
    let total = WARM_STEPS + words.number::<usize>("steps");
    let (mut started, mut moving_ns) = (now_ns(), Vec::new());
    for step in 0..total {
        if step == WARM_STEPS {
            started = now_ns();
        }
        moving_ns.push(take(&mut destination) as f64);
        check(&destination, step);
    }
    let seconds = (now_ns() - started) as f64 / 1e9;
    let moving_us = median(&moving_ns[WARM_STEPS..]) / 1e3;
    println!("seconds={seconds} moving_us={moving_us} {}", last_words());
}

/// Role: publishes.
pub(crate) fn publisher(words: &Words) {
    let mut publisher = ours::publisher(words);
    let mut filling = Filling::of(words);
    let elements = words.number::<u64>("len") / 8;
    let variable = Variable::global::<u64>("x", &[elements]).expect("a variable");
    let region = ours::region(&[0], &[elements]);
    for step in 0..WARM_STEPS + words.number::<usize>("steps") {
        let mut writer = publisher.begin_step().expect("a step");
        filling.put(&mut writer, &variable, &region, step);
        writer.end().expect("the end of a step");
    }
    let segments = publisher.pool_statistics().segments_made;
    publisher.close().expect("all is delivered");
    println!("segments={segments}");
}

/// Role: takes each step into an array.
pub(crate) fn subscriber(words: &Words) {
    ours::take_core(words);
    let destination = destination(words);
    let options = ours::subscriber_options(words).with_selection("x", Selection::All);
    let subscriber = std::cell::RefCell::new(ours::subscriber(options));
    let take = |destination: &mut [u64]| {
        let step = ours::next(&mut subscriber.borrow_mut()).expect("a step");
        let started = now_ns();
        step.get_into("x", &Selection::All, destination).expect("its data");
        now_ns() - started
    };
    timed(words, destination, take, || format!("requests={}", subscriber.borrow().statistics().requests));
}

/// Role: the baseline's sending end.
pub(crate) fn ring_sender(words: &Words) {
    ours::take_core(words);
    let mut ring = open_ring(words);
    let mut filling = Filling::of(words);
    for step in 0..WARM_STEPS + words.number::<usize>("steps") {
        ring.send(|slot| filling.fill(slot, step));
    }
    println!("done=1");
}

/// Role: the baseline's receiving end.
pub(crate) fn ring_receiver(words: &Words) {
    ours::take_core(words);
    let destination = destination(words);
    let mut ring = open_ring(words);
    let take = |destination: &mut [u64]| {
        let mut moving_ns = 0;
        ring.receive(|slot| {
            let started = now_ns();
            bytemuck::cast_slice_mut(destination).copy_from_slice(slot);
            moving_ns = now_ns() - started;
        });
        moving_ns
    };
    timed(words, destination, take, String::new);
}

/// An end of the ring that the words describe.
pub(crate) fn open_ring(words: &Words) -> Ring {
    Ring::open(words.text("memory"), words.number("live"), words.number("len"))
}
