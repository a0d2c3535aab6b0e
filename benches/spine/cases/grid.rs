//! Four publishers and two subscribers of one 3-d array, in blocks that fit neither side's cut: 64 MiB a step.

use super::copies::{WARM_STEPS, pattern, ring_gigabytes, write_afresh};
use crate::bench::Bench;
use crate::machine::now_ns;
use crate::ours;
use crate::process::{Role, Running, Words};
use crate::report::{Row, Target};
use flexpath::{Region, Selection, Variable};

const SHAPE: [u64; 3] = [256, 256, 128];
/// Where the publishers cut: two by two over the first dimensions, and every rank puts two blocks.
const CUTS: [u64; 3] = [112, 144, 56];
const PUBLISHERS: u64 = 4;
const SUBSCRIBERS: u64 = 2;
const STEPS: usize = 24;

/// All six processes, against the ring with one that fills and one that copies out.
pub(crate) fn measure(bench: &mut Bench) {
    let steps = bench.scaled(STEPS);
    let len = SHAPE.iter().product::<u64>() as usize * 8;
    for pinned in [true, false] {
        let mut note = String::new();
        let rounds = bench.take_turns(|bench| {
            let (seconds, segments) = ours(bench, steps, pinned);
            let live = segments.div_ceil(2).max(2);
            note = format!("{live} live");
            ((len * steps) as f64 / seconds / 1e9, ring_gigabytes(len, steps, live))
        });
        let (target, name) = match pinned {
            true => (Target::RatioAtLeast(0.6), "shm 4 x 2, 256x256x128 f64"),
            false => (Target::None, "shm 4 x 2, 256x256x128 f64, unpinned"),
        };
        bench.add(Row::of_rounds(name, "GB/s", &rounds, target).noting(note));
    }
}

/// Seconds of the slower subscriber, and the most segments that a publisher made.
fn ours(bench: &mut Bench, steps: usize, pinned: bool) -> (f64, u32) {
    let directory = bench.directory();
    let role = |name, core: usize, rank: u64, size: u64| {
        let core = if pinned { core.to_string() } else { "any".to_owned() };
        let role = Role::new(name).with("core", core).with("rank", rank).with("size", size);
        role.with("directory", &directory).with("transport", "shm").with("steps", steps).start()
    };
    let publishers: Vec<Running> =
        (0..PUBLISHERS).map(|rank| role("grid-publisher", 0, rank, PUBLISHERS)).collect();
    let subscribers: Vec<Running> =
        (0..SUBSCRIBERS).map(|rank| role("grid-subscriber", 1, rank, SUBSCRIBERS)).collect();
    let seconds = subscribers.into_iter().map(|role| role.finish().number::<f64>("seconds"));
    let seconds = seconds.fold(0.0, f64::max);
    let segments = publishers.into_iter().map(|role| role.finish().number::<u32>("segments"));
    (seconds, segments.max().unwrap_or(0))
}

/// The blocks of a publisher: its part of the first two dimensions, in two parts along the third.
fn blocks(rank: u64) -> [Region; 2] {
    let part = |axis: usize, upper: bool| match upper {
        false => (0, CUTS[axis]),
        true => (CUTS[axis], SHAPE[axis] - CUTS[axis]),
    };
    [false, true].map(|upper| {
        let parts = [part(0, rank / 2 == 1), part(1, rank % 2 == 1), part(2, upper)];
        ours::region(&parts.map(|(start, _)| start), &parts.map(|(_, count)| count))
    })
}

/// What a subscriber takes: one half along the second dimension.
fn half(rank: u64) -> ([u64; 3], [u64; 3]) {
    let middle = SHAPE[1] / SUBSCRIBERS;
    ([0, rank * middle, 0], [SHAPE[0], middle, SHAPE[2]])
}

/// Role: publishes its blocks.
pub(crate) fn publisher(words: &Words) {
    let mut publisher = ours::publisher(words);
    let variable = Variable::global::<f64>("x", &SHAPE).expect("a variable");
    let rank: u64 = words.number("rank");
    for step in 0..WARM_STEPS + words.number::<usize>("steps") {
        let mut writer = publisher.begin_step().expect("a step");
        for (index, region) in blocks(rank).iter().enumerate() {
            let mut loan = writer.loan::<f64>(&variable, region).expect("a loan");
            write_afresh(&mut loan, value(step, rank, index));
            writer.put_loan(loan).expect("a put");
        }
        writer.end().expect("the end of a step");
    }
    let segments = publisher.pool_statistics().segments_made;
    publisher.close().expect("all is delivered");
    println!("segments={segments}");
}

/// Stands for a step in what a block is filled with: different from the steps before it, and from other blocks.
fn value(step: usize, rank: u64, block: usize) -> usize {
    step * 8 + rank as usize * 2 + block
}

/// Role: takes its half of every step.
pub(crate) fn subscriber(words: &Words) {
    ours::take_core(words);
    let rank: u64 = words.number("rank");
    let (start, count) = half(rank);
    let mut destination = vec![f64::NAN; count.iter().product::<u64>() as usize];
    let selection = Selection::Region(ours::region(&start, &count));
    let options = ours::subscriber_options(words).with_selection("x", selection.clone());
    let mut subscriber = ours::subscriber(options);
    let mut started = now_ns();
    for number in 0..WARM_STEPS + words.number::<usize>("steps") {
        if number == WARM_STEPS {
            started = now_ns();
        }
        let step = ours::next(&mut subscriber).expect("a step");
        step.get_into("x", &selection, &mut destination).expect("its data");
        check(&destination, number, rank);
    }
    println!("seconds={}", (now_ns() - started) as f64 / 1e9);
}

/// The element at both ends of every block that the half touches.
fn check(elements: &[f64], step: usize, rank: u64) {
    let (start, count) = half(rank);
    let half = ours::region(&start, &count);
    for publisher in 0..PUBLISHERS {
        for (index, block) in blocks(publisher).iter().enumerate() {
            let Some(common) = half.intersection(block) else { continue };
            let last = |axis: usize| common.start()[axis] + common.count()[axis] - 1;
            let first = |axis: usize| common.start()[axis];
            for at in [[first(0), first(1), first(2)], [last(0), last(1), last(2)]] {
                let offset = ((at[0] - start[0]) * count[1] + at[1] - start[1]) * count[2] + at[2] - start[2];
                let wanted = [pattern(value(step, publisher, index)); 8];
                assert_eq!(elements[offset as usize].to_ne_bytes(), wanted, "at {at:?}");
            }
        }
    }
}
