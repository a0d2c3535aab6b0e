//! A step that already waits: what getting it, or a view of it, costs then. Publisher and subscriber go in lock-step,
//! so that nothing else happens while the clock runs.

use super::copies::{Filling, check, destination, open_ring, write_afresh};
use crate::bench::Bench;
use crate::machine::{now_ns, spin_ns};
use crate::ours;
use crate::process::{Role, Words, listed};
use crate::report::{Row, Target, median, quantile};
use crate::ring::Bell;
use crate::shared::{Memory, Shared};
use flexpath::{Selection, Variable};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
/// Steps before any is counted.
const WARM_STEPS: usize = 8;
/// From the end of a step until it is taken. Its announcement arrived long before.
const SETTLE_NS: u64 = 500_000;
/// The subscriber wants the next step.
const GO: usize = 2;
/// The step has ended.
const ENDED: usize = 3;

/// `get` into the caller's array, against a memcpy out of shared memory.
pub(crate) fn get(bench: &mut Bench) {
    for len in [MIB, 16 * MIB, 128 * MIB] {
        let steps = steps_of(bench, len);
        let mut taking = Vec::new();
        let rounds = bench.take_turns(|bench| {
            let (found, segments) = ours(bench, len, steps, "get");
            taking.extend(found.list("step"));
            let rate = |times: &[f64]| len as f64 / median(times);
            (rate(&found.list("data")), rate(&baseline(len, steps, segments)))
        });
        let note = format!("next_step before it: {:.1} us", median(&taking) / 1e3);
        let case = format!("shm get of a waiting step {} MiB", len / MIB);
        bench.add(Row::of_rounds(case, "GB/s", &rounds, Target::RatioAtLeast(0.9)).noting(note));
    }
}

/// `view` of the one block, where it lies.
pub(crate) fn view(bench: &mut Bench) {
    for len in [8 * KIB, MIB, 16 * MIB, 128 * MIB] {
        let steps = steps_of(bench, len);
        let (mut copied, mut again) = (0.0, Vec::new());
        let rounds = bench.take_turns(|bench| {
            let (found, _) = ours(bench, len, steps, "view");
            copied += found.number::<f64>("copied");
            again.extend(found.list("again"));
            found.list("data")
        });
        let own = rounds.found.concat();
        let size = if len < MIB { format!("{} KiB", len / KIB) } else { format!("{} MiB", len / MIB) };
        let (p99, again) = (quantile(&own, 0.99) / 1e3, median(&again) / 1e3);
        let note = format!("p99 {p99:.1} us; a second view of the same block {again:.1} us");
        let row = Row::new(format!("shm view {size}"), "us", median(&own) / 1e3, Target::Below(10.0));
        bench.add(row.under(rounds.around).noting(note));
        let row = Row::new(format!("shm view {size}, copied"), "B", copied, Target::Exactly(0.0));
        bench.add(row.under(rounds.around));
    }
}

fn steps_of(bench: &Bench, len: usize) -> usize {
    bench.scaled((512 * MIB / len).clamp(16, 200))
}

fn ours(bench: &mut Bench, len: usize, steps: usize, what: &str) -> (Words, u32) {
    let (memory, directory) = (Memory::new(0), bench.directory());
    let role = |name, core: usize| {
        let role = with_all(name, core, len, steps, &memory).with("directory", &directory);
        role.with("transport", "shm").with("rank", 0).with("size", 1).with("what", what).start()
    };
    let (publisher, subscriber) = (role("waiting-publisher", 0), role("waiting-subscriber", 1));
    let found = subscriber.finish();
    (found, publisher.finish().number("segments"))
}

fn baseline(len: usize, steps: usize, live: u32) -> Vec<f64> {
    let memory = Memory::new(len * live as usize);
    let role = |name, core| with_all(name, core, len, steps, &memory).with("live", live).start();
    let (filler, copier) = (role("waiting-filler", 0), role("waiting-copier", 1));
    let found = copier.finish();
    filler.finish();
    found.list("data")
}

fn with_all(name: &'static str, core: usize, len: usize, steps: usize, memory: &Memory) -> Role {
    let role = Role::new(name).with("core", core).with("len", len).with("memory", memory.path());
    role.with("steps", WARM_STEPS + steps).with("how", "loan")
}

/// Role: publishes a step whenever it is asked to.
pub(crate) fn publisher(words: &Words) {
    let mut publisher = ours::publisher(words);
    let shared = Shared::open(words.text("memory"));
    let elements = words.number::<u64>("len") / 8;
    let variable = Variable::global::<u64>("x", &[elements]).expect("a variable");
    let region = ours::region(&[0], &[elements]);
    for step in 0..words.number::<u32>("steps") {
        Bell::of(shared.words(), GO).wait_for(step + 1);
        let mut writer = publisher.begin_step().expect("a step");
        let mut loan = writer.loan::<u64>(&variable, &region).expect("a loan");
        write_afresh(&mut loan, step as usize);
        writer.put_loan(loan).expect("a put");
        writer.end().expect("the end of a step");
        Bell::of(shared.words(), ENDED).ring();
    }
    let segments = publisher.pool_statistics().segments_made;
    publisher.close().expect("all is delivered");
    println!("segments={segments}");
}

/// Role: asks for a step, lets it wait, and takes it.
pub(crate) fn subscriber(words: &Words) {
    ours::take_core(words);
    let mut destination = destination(words);
    let shared = Shared::open(words.text("memory"));
    let options = ours::subscriber_options(words).with_selection("x", Selection::All);
    let mut subscriber = ours::subscriber(options);
    let (mut step_ns, mut data_ns, mut again_ns, mut copied_warm) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for number in 0..words.number::<usize>("steps") {
        Bell::of(shared.words(), GO).ring();
        Bell::of(shared.words(), ENDED).spin_for(number as u32 + 1);
        spin_ns(SETTLE_NS);
        let started = now_ns();
        let step = ours::next(&mut subscriber).expect("a step");
        let taken = now_ns();
        if words.text("what") == "view" {
            let view = step.view::<u64>("x", &Selection::All).expect("a view");
            data_ns.push(now_ns() - taken);
            check(&view, number);
            let started = now_ns();
            drop(step.view::<u64>("x", &Selection::All).expect("a second view"));
            again_ns.push(now_ns() - started);
        } else {
            step.get_into("x", &Selection::All, &mut destination).expect("its data");
            data_ns.push(now_ns() - taken);
            check(&destination, number);
        }
        step_ns.push(taken - started);
        if number + 1 == WARM_STEPS {
            copied_warm = copied(&subscriber);
        }
    }
    let copied = copied(&subscriber) - copied_warm;
    let (step, data) = (listed(&step_ns[WARM_STEPS..]), listed(&data_ns[WARM_STEPS..]));
    println!("step={step} data={data} again={} copied={copied}", listed(&again_ns));
}

fn copied(subscriber: &flexpath::Subscriber) -> u64 {
    let counted = subscriber.statistics();
    counted.get_copied_bytes + counted.received_bytes + counted.staged_bytes
}

/// Role: fills a slot of the baseline whenever it is asked to.
pub(crate) fn filler(words: &Words) {
    ours::take_core(words);
    let mut ring = open_ring(words);
    let mut filling = Filling::of(words);
    for step in 0..words.number::<usize>("steps") {
        ring.bell(GO).wait_for(step as u32 + 1);
        ring.send(|slot| filling.fill(slot, step));
        ring.bell(ENDED).ring();
    }
    println!("done=1");
}

/// Role: asks for a slot, lets it wait, and copies it.
pub(crate) fn copier(words: &Words) {
    ours::take_core(words);
    let mut destination = destination(words);
    let mut ring = open_ring(words);
    let mut data_ns = Vec::new();
    for number in 0..words.number::<usize>("steps") {
        ring.bell(GO).ring();
        ring.bell(ENDED).spin_for(number as u32 + 1);
        spin_ns(SETTLE_NS);
        ring.receive(|slot| {
            let started = now_ns();
            bytemuck::cast_slice_mut(&mut destination).copy_from_slice(slot);
            data_ns.push(now_ns() - started);
        });
        check(&destination, number);
    }
    println!("data={}", listed(&data_ns[WARM_STEPS..]));
}
