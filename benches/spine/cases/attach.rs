//! Attaching to a running cohort of 1, 16 and 64 ranks over shared memory, and of 1 over tcp. The time runs from opening
//! to the first step's data, for a slab that at most two of them own.

use crate::bench::{Around, Bench};
use crate::machine::now_ns;
use crate::ours;
use crate::process::{Role, Running, Words, listed};
use crate::report::{Row, Target, median, quantile};
use crate::ring::Bell;
use crate::shared::{Memory, Shared};
use flexpath::{Selection, Variable};
use std::time::Duration;

/// Ranks, over what they are attached to, and the most milliseconds that it may take.
const COHORTS: [(u64, &str, f64); 4] =
    [(1, "shm", 5.0), (1, "tcp", 5.0), (16, "shm", 40.0), (64, "shm", 40.0)];
/// Elements of each rank's block.
const BLOCK: u64 = 1024;
/// How often the subscriber comes.
const ATTACHES: usize = 12;
/// Between two steps of a lone rank, and of a cohort, which shares the machine's cores.
const PERIODS: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(10));
/// The ranks have opened; the bench is over.
const READY: usize = 2;
const STOP: usize = 3;

/// Attaching to a cohort that never had a subscriber, then attaching and leaving again and again.
pub(crate) fn measure(bench: &mut Bench) {
    for (ranks, transport, limit_ms) in COHORTS {
        measure_cohort(bench, (ranks, transport), Target::Below(limit_ms));
    }
}

/// The slab that is asked for, and how many ranks own it. It is the end of one block and the beginning of the next, or
/// all of the only one.
fn slab(ranks: u64) -> (u64, u64, f64) {
    if ranks == 1 { (0, BLOCK, 1.0) } else { (ranks / 4 * BLOCK + BLOCK / 2, BLOCK, 2.0) }
}

fn measure_cohort(bench: &mut Bench, (ranks, transport): (u64, &str), target: Target) {
    let rounds = bench.take_turns(|bench| cohort(bench, ranks, transport));
    let whom = whom(ranks, transport);
    let case = |which: &str| (format!("attach to {whom}, first data, {which}"), target);
    let lists = |key: &str| -> Vec<Vec<f64>> { rounds.found.iter().map(|found| found.list(key)).collect() };
    let (opened, times) = (lists("opened"), lists("times"));
    add(bench, case("first"), rounds.around, &part(&opened, 0..1), &part(&times, 0..1));
    add(bench, case("later"), rounds.around, &part(&opened, 1..ATTACHES), &part(&times, 1..ATTACHES));
    let most = lists("links").concat().into_iter().fold(0.0, f64::max);
    let (_, _, owners) = slab(ranks);
    let row = Row::new(format!("attach to {whom}, data links"), "links", most, Target::Exactly(owners));
    bench.add(row.under(rounds.around));
}

fn part(lists: &[Vec<f64>], which: std::ops::Range<usize>) -> Vec<f64> {
    lists.iter().flat_map(|list| list[which.clone()].to_vec()).collect()
}

fn whom(ranks: u64, transport: &str) -> String {
    let counted = if ranks == 1 { "1 rank".to_owned() } else { format!("{ranks} ranks") };
    if transport == "shm" { counted } else { format!("{counted} over {transport}") }
}

fn add(bench: &mut Bench, (case, target): (String, Target), around: Around, opened: &[f64], times: &[f64]) {
    let ms = |part: f64| quantile(times, part) / 1e6;
    let note = format!(
        "fastest {:.1}, p90 {:.1}, slowest {:.1} ms; of it opening {:.1} ms",
        ms(0.0),
        ms(0.9),
        ms(1.0),
        median(opened) / 1e6
    );
    bench.add(Row::new(case, "ms", ms(0.5), target).under(around).noting(note));
}

/// One cohort, and a subscriber that attaches to it [`ATTACHES`] times.
fn cohort(bench: &mut Bench, ranks: u64, transport: &str) -> Words {
    let (memory, directory) = (Memory::new(0), bench.directory());
    let role = |name, rank: u64, size: u64| {
        let role =
            Role::new(name).with("core", "any").with("rank", rank).with("size", size).with("ranks", ranks);
        role.with("directory", &directory).with("transport", transport).with("memory", memory.path()).start()
    };
    let publishers: Vec<Running> = (0..ranks).map(|rank| role("attach-publisher", rank, ranks)).collect();
    let found = role("attach-subscriber", 0, 1).finish();
    publishers.into_iter().for_each(|publisher| drop(publisher.finish()));
    found
}

/// Role: a rank that goes on publishing.
pub(crate) fn publisher(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let (rank, ranks): (u64, u64) = (words.number("rank"), words.number("ranks"));
    let mut publisher =
        flexpath::Publisher::open(ours::STREAM, ours::publisher_options(words)).expect("the stream opens");
    let variable = Variable::global::<u64>("x", &[ranks * BLOCK]).expect("a variable");
    let region = ours::region(&[rank * BLOCK], &[BLOCK]);
    Bell::of(shared.words(), READY).ring();
    Bell::of(shared.words(), READY).wait_for(ranks as u32);
    let period = if ranks == 1 { PERIODS.0 } else { PERIODS.1 };
    let (mut steps, begun) = (0, now_ns());
    while Bell::of(shared.words(), STOP).value() == 0 {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_copy(&variable, &region, &[rank; BLOCK as usize]).expect("a put");
        writer.end().expect("the end of a step");
        steps += 1;
        // All ranks keep one schedule and none runs away. Ranks of a simulation that exchange their borders do so too.
        let due = begun + steps * period.as_nanos() as u64;
        std::thread::sleep(Duration::from_nanos(due.saturating_sub(now_ns())));
    }
    // Ranks that others have left behind cannot agree on an end. That is not measured here.
    let _ = publisher.close();
    println!("steps={steps}");
}

/// Role: attaches, takes one step's slab, leaves; again and again.
pub(crate) fn subscriber(words: &Words) {
    let shared = Shared::open(words.text("memory"));
    let ranks: u64 = words.number("ranks");
    Bell::of(shared.words(), READY).wait_for(ranks as u32);
    let (start, count, _) = slab(ranks);
    let selection = Selection::Region(ours::region(&[start], &[count]));
    let (mut opened_ns, mut times_ns, mut links) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ATTACHES {
        let options = ours::subscriber_options(words).with_selection("x", selection.clone());
        let started = now_ns();
        let mut subscriber = ours::subscriber(options);
        opened_ns.push(now_ns() - started);
        let mut slab = vec![u64::MAX; count as usize];
        let step = ours::next(&mut subscriber).expect("a step");
        step.get_into("x", &selection, &mut slab).expect("its data");
        times_ns.push(now_ns() - started);
        assert_eq!((slab[0], slab[slab.len() - 1]), (start / BLOCK, (start + count - 1) / BLOCK));
        links.push(subscriber.statistics().data_links);
    }
    Bell::of(shared.words(), STOP).ring();
    let (opened, times) = (listed(&opened_ns), listed(&times_ns));
    println!("opened={opened} times={times} links={}", listed(&links));
}
