//! Lists of neighbours asked for by type, where pairs are published by 1, 2 and 4 processes. Each subscriber rank knows
//! how the one becomes the other, and takes its part of what comes out by global index. What each pair becomes alone is
//! asked of the publisher ranks, by the name that these know it by. What nobody but these can make is asked for by its
//! type.

use crate::cast::{
    PATIENCE, Stage, even_part, number, publisher_options, shifting_part, subscriber_options,
    take_every_step, tell,
};
use flexpath::bytemuck::{Pod, Zeroable};
use flexpath::{
    Fit, Native, Publisher, ReadError, Record as _, RecordBlock, Region, StepReader, Subscriber, Transforms,
    TransportKind, Variable,
};
use std::collections::BTreeMap;

const ATOMS: u64 = 311;
const STEPS: u64 = 4;

#[derive(flexpath::Record, Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[bytemuck(crate = "flexpath::bytemuck")]
#[repr(C)]
struct BondPair {
    a: u32,
    b: u32,
}

#[derive(flexpath::Record, Clone, Debug, PartialEq)]
struct BondAdjacency {
    atom: u64,
    neighbours: Vec<u64>,
}

/// The atom with the most bonds: finding it goes wrong in some steps.
#[derive(flexpath::Record, Clone, Debug, PartialEq)]
struct Heaviest {
    atom: u64,
    degree: u64,
}

/// What publisher ranks make of their pairs.
#[derive(flexpath::Record, Clone, Debug, PartialEq)]
struct Tally {
    pairs: u64,
    first: u32,
}

fn tally(pairs: &[BondPair]) -> Vec<Tally> {
    pairs.first().map(|pair| Tally { pairs: pairs.len() as u64, first: pair.a }).into_iter().collect()
}

/// What publisher ranks make of a pair.
#[derive(flexpath::Record, Clone, Debug, PartialEq)]
struct Named {
    name: String,
}

fn named(pair: &BondPair) -> Named {
    Named { name: format!("{}-{}", pair.a, pair.b) }
}

/// The pairs of a step: how far they reach, and so how many they are, changes with it.
fn pairs(step: u64) -> Vec<BondPair> {
    let pair = |a: u64| {
        (1..=1 + (a + step) % 3).map(move |by| BondPair { a: a as u32, b: ((a + by) % ATOMS) as u32 })
    };
    (0..ATOMS).flat_map(pair).collect()
}

fn adjacency(pairs: &[BondPair]) -> Vec<BondAdjacency> {
    let mut near: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for pair in pairs {
        near.entry(pair.a.into()).or_default().push(pair.b.into());
        near.entry(pair.b.into()).or_default().push(pair.a.into());
    }
    near.into_iter().map(|(atom, neighbours)| BondAdjacency { atom, neighbours }).collect()
}

fn heaviest(lists: &[BondAdjacency]) -> Heaviest {
    let degree = |list: &&BondAdjacency| list.neighbours.len();
    let list = lists.iter().max_by_key(degree).expect("there are atoms");
    Heaviest { atom: list.atom, degree: list.neighbours.len() as u64 }
}

/// The neighbours of an atom, by the rule of [`pairs`] and not by its list.
fn neighbours(step: u64, atom: u64) -> Vec<u64> {
    let reaches = |from: u64, by: u64| by <= 1 + (from + step) % 3;
    let ahead = (1..=3).filter(|&by| reaches(atom, by)).map(|by| (atom + by) % ATOMS);
    let behind = (1..=3).map(|by| ((atom + ATOMS - by) % ATOMS, by));
    let mut all: Vec<u64> =
        ahead.chain(behind.filter(|&(from, by)| reaches(from, by)).map(|(from, _)| from)).collect();
    all.sort_unstable();
    all
}

/// A publisher rank.
pub(crate) fn publish() {
    let (rank, ranks) = (number("rank"), number("size"));
    let transforms = Transforms::default();
    let native = Native::each_record("named", |pair: &BondPair| Ok(named(pair))).expect("record types");
    let tallies = Native::records("tally", |pairs: &[BondPair]| Ok(tally(pairs))).expect("record types");
    for native in [native, tallies.per_block()] {
        transforms.register(native).expect("registered");
    }
    let options = publisher_options().with_min_subscribers(number("subscribers") as u32);
    let options = options.with_transforms(&transforms);
    let mut publisher = Publisher::open("bonds", options).expect("the stream opens");
    for step in 0..STEPS {
        let pairs = pairs(step);
        let len = pairs.len() as u64;
        let schema = BondPair::schema().expect("a type");
        let bonds = Variable::global_records("bonds", &schema, &[len]).expect("a shape");
        let mine = shifting_part(len, step, ranks, rank);
        let region = Region::new([mine.start], [mine.end - mine.start]).expect("inside");
        let mut writer = publisher.begin_step().expect("a step");
        let part = pairs[mine.start as usize..mine.end as usize].to_vec();
        writer.put_records(&bonds, &region, RecordBlock::plain(part).expect("plain")).expect("put");
        writer.end().expect("the step ends");
    }
    publisher.close().expect("closed");
}

fn transforms() -> Transforms {
    let transforms = Transforms::default();
    let lists = Native::records("adjacency", |pairs: &[BondPair]| Ok(adjacency(pairs)));
    transforms.register(lists.expect("record types")).expect("registered");
    let heaviest = Native::records("heaviest", |lists: &[BondAdjacency]| {
        // So it is in one step of three.
        match lists.first().map_or(0, |list| list.neighbours.len()) % 2 {
            0 => panic!("an even number of neighbours"),
            _ => Ok(vec![heaviest(lists)]),
        }
    });
    transforms.register(heaviest.expect("record types")).expect("registered");
    transforms
}

/// A subscriber rank.
pub(crate) fn subscribe() {
    let options = subscriber_options().with_transforms(&transforms()).with_variables(["bonds"]);
    let options = options.with_transformed("names", "bonds", "named").expect("names");
    let mut subscriber = Subscriber::open("bonds", options).expect("attached");
    let provided = subscriber.of::<BondAdjacency>().expect("provided");
    assert!(matches!(&provided[0].fit, Fit::Through(path) if path.steps.len() == 1), "{provided:?}");
    let taken = take_every_step(&mut subscriber, PATIENCE, check);
    assert_eq!(taken, STEPS);
    let counted = subscriber.statistics();
    subscriber.close().expect("closed");
    tell(format!("computed {} shared {}", counted.transforms, counted.shared_transforms));
}

fn check(step: &StepReader, number: u64) {
    let mine = even_part(ATOMS);
    let slice = format!("[{}:{}]", mine.start, mine.end);
    let lists = step.get_records::<BondAdjacency>("bonds", &slice).expect("adjacency");
    let sorted = lists.into_iter().map(|mut list| {
        list.neighbours.sort_unstable();
        list
    });
    let expected = mine.map(|atom| BondAdjacency { atom, neighbours: neighbours(number, atom) });
    assert!(sorted.eq(expected), "step {number}");
    let all = step.get_records::<BondAdjacency>("bonds", "[...]").expect("adjacency");
    assert_eq!(all, adjacency(&pairs(number)));
    match step.get_records::<Heaviest>("bonds", "[...]") {
        Ok(found) => assert_eq!(found, [heaviest(&all)]),
        Err(ReadError::NotTransformed { source, .. }) => {
            assert!(source.to_string().ends_with("it panicked: an even number of neighbours"), "{source}");
            assert_eq!(all[0].neighbours.len() % 2, 0);
        }
        Err(other) => panic!("{other}"),
    }
    let names = step.get_records::<Named>("names", "[2::3]").expect("named by the publisher");
    assert!(names.into_iter().eq(pairs(number).iter().skip(2).step_by(3).map(named)), "step {number}");
    let names = step.get_records::<Named>("bonds", "[2::3]").expect("named by the publisher");
    assert!(names.into_iter().eq(pairs(number).iter().skip(2).step_by(3).map(named)), "step {number}");
    check_tallies(step, &pairs(number));
    let pairs_there = step.view_records::<BondPair>("bonds", "[...]").expect("as they are");
    assert_eq!(&*pairs_there, &*pairs(number));
}

/// One for each block, in the order of the ranks, which have the pairs one after the other.
fn check_tallies(step: &StepReader, pairs: &[BondPair]) {
    let tallies = step.get_records::<Tally>("bonds", "[...]").expect("counted by the publisher");
    let mut left = pairs;
    for tally in &tallies {
        assert_eq!(Some(tally.first), left.first().map(|pair| pair.a), "{tallies:?}");
        left = &left[tally.pairs as usize..];
    }
    assert!(left.is_empty(), "{tallies:?}");
    let last = step.get_records::<Tally>("bonds", "[-1:]").expect("counted by the publisher");
    assert_eq!(last[..], tallies[tallies.len() - 1..]);
}

/// One run, over one kind of link.
fn run(publishers: u32, subscribers: u32, kind: TransportKind) {
    let stage = Stage::new();
    let over = ("transports", kind.to_string());
    let of_ranks = [over.clone(), ("subscribers", 1.to_string())];
    let ranks = stage.cohort("bond-publisher", publishers, &of_ranks);
    for taker in stage.cohort("bond-subscriber", subscribers, &[over]) {
        let counted = taker.hear("computed ");
        assert!(counted.ends_with(&format!("shared {STEPS}")), "once in a step for two gets: {counted}");
        taker.finish();
    }
    ranks.into_iter().for_each(crate::cast::Actor::finish);
}

#[test]
fn pairs_of_one_rank_become_lists_at_three() {
    run(1, 3, TransportKind::Shm);
    run(1, 3, TransportKind::Tcp);
}

#[test]
fn pairs_of_two_ranks_become_lists_at_one() {
    run(2, 1, TransportKind::Tcp);
}

#[test]
fn pairs_of_four_ranks_become_lists_at_two() {
    run(4, 2, TransportKind::Shm);
    run(4, 2, TransportKind::Tcp);
}
