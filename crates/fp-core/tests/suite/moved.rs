//! Records that go through a transform on either side. They are the same whoever makes them, are moved while steps
//! flow, and move by themselves to where fewer bytes travel.

use crate::support::bonds::{BondAdjacency, BondPair, Label, adjacency, label, pair, pairs};
use crate::support::{Place, STREAM, agreed, take};
use fp_core::{
    Cohort, CohortSide, Fit, MemoryOrder, Misuse, Native, NativeError, NextStep, Publisher, PublisherOptions,
    Rank, ReadError, Record, RecordBlock, Region, StepReader, Subscriber, SubscriberOptions,
    TransformProblem, TransformedVariable, Transforms, TransportKind, TransportPolicy, Variable,
};
use std::thread::JoinHandle;

const PLACEMENTS: [CohortSide; 3] = [CohortSide::Publisher, CohortSide::Subscriber, CohortSide::FewerBytes];
const PAIRS: u64 = 90;
const CELLS: u64 = 24;

/// 32 bytes, which become 16 and 8 for each of `count`.
#[derive(fp_derive::Record, Clone, Debug, PartialEq)]
#[record(crate = fp_core)]
struct Packed {
    count: u64,
    seed: u64,
    weight: [f64; 2],
}

#[derive(fp_derive::Record, Clone, Debug, PartialEq)]
#[record(crate = fp_core)]
struct Unpacked {
    values: Vec<u64>,
}

fn packed(count: u64, step: u64, index: u64) -> Packed {
    Packed { count, seed: step * 100 + index, weight: [0.5; 2] }
}

fn unpack(packed: &Packed) -> Result<Unpacked, NativeError> {
    Ok(Unpacked { values: (0..packed.count).map(|value| packed.seed + value).collect() })
}

fn flip(pair: &BondPair) -> Result<BondPair, NativeError> {
    Ok(BondPair { a: pair.b, b: pair.a })
}

fn transforms() -> Transforms {
    let transforms = Transforms::default();
    let lists = Native::records("adjacency", |pairs: &[BondPair]| Ok(adjacency(pairs)));
    let mut flip = Native::each_record("flip", flip).expect("record types");
    flip.types = None;
    for native in [
        lists.expect("record types").per_block(),
        Native::each_record("label", label).expect("record types"),
        Native::each_record("unpack", unpack).expect("record types"),
        flip,
    ] {
        transforms.register(native).expect("registered");
    }
    transforms
}

/// Puts what `rank` of `ranks` has of the next step: cells that unpack to so many values, and pairs in two blocks. They
/// are cut so that no atom is in both.
fn publish(publisher: &mut Publisher, (rank, ranks): (u64, u64), count: impl Fn(u64) -> u64) {
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    let region = |from: u64, to: u64| Region::new([from], [to - from]).expect("inside");
    let part = |len: u64| (len * rank / ranks, len * (rank + 1) / ranks);
    let (from, to) = part(PAIRS);
    let middle = (from + 2 * to) / 9 * 3;
    let schema = BondPair::schema().expect("a type");
    let bonds = Variable::global_records("bonds", &schema, &[PAIRS]).expect("a shape");
    let block = RecordBlock::plain(pairs(step, middle..to)).expect("plain");
    // The later part first, so that the order of puts is not that of places.
    writer.put_records(&bonds, &region(middle, to), block).expect("put");
    writer.put_records_copy(&bonds, &region(from, middle), &pairs(step, from..middle)).expect("put");
    let schema = Packed::schema().expect("a type");
    let cells = Variable::global_records("cells", &schema, &[CELLS]).expect("a shape");
    let (from, to) = part(CELLS);
    let some: Vec<Packed> = (from..to).map(|index| packed(count(step), step, index)).collect();
    writer.put_records(&cells, &region(from, to), RecordBlock::encode(&some).expect("records")).expect("put");
    writer.end().expect("ended");
}

/// All that is transformed of a step, next to what it is by definition; publisher ranks put their later pairs first.
fn check(step: &StepReader, ranks: u64, count: u64, what: &str) {
    let number = step.step().0;
    let what = format!("{what}, step {number}");
    let labels = step.get_records::<Label>("labels", "[:]").unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(
        labels.into_iter().eq(pairs(number, 0..PAIRS).iter().map(|pair| label(pair).expect("one"))),
        "{what}"
    );
    let some = step.get_records::<Label>("labels", "[40:60:7]").expect(&what);
    let expected = (40..60).step_by(7).map(|index| label(&pair(number, index)).expect("one"));
    assert!(some.into_iter().eq(expected), "{what}");
    let flipped = step.view_records::<BondPair>("flipped", "[...]").expect(&what);
    assert!(flipped.iter().copied().eq((0..PAIRS).map(|at| flip(&pair(number, at)).expect("one"))), "{what}");
    let lists = step.get_records::<BondAdjacency>("lists", "[...]").expect(&what);
    let of_rank = |rank: u64| {
        let (from, to) = (PAIRS * rank / ranks, PAIRS * (rank + 1) / ranks);
        let middle = (from + 2 * to) / 9 * 3;
        [adjacency(&pairs(number, middle..to)), adjacency(&pairs(number, from..middle))].concat()
    };
    let expected: Vec<BondAdjacency> = (0..ranks).flat_map(of_rank).collect();
    assert_eq!(lists, expected, "{what}");
    assert_eq!(step.get_records::<BondAdjacency>("lists", "[5:9]").expect(&what), expected[5..9], "{what}");
    let cells = step.get_records::<Unpacked>("values", "[...]").expect(&what);
    let expected = (0..CELLS).map(|index| unpack(&packed(count, number, index)).expect("one"));
    assert!(cells.into_iter().eq(expected), "{what}");
    let last = ranks as u32 - 1;
    let of_last = step.get_records::<BondAdjacency>("lists", format!("[rank {last}]").as_str()).expect(&what);
    assert_eq!(of_last, of_rank(ranks - 1), "{what}: blocks keep their owners");
    let beyond = step.get_records::<BondAdjacency>("lists", Rank(ranks as u32)).expect_err(&what).to_string();
    assert!(beyond.contains(&format!("\"lists\": there is no rank {ranks}")), "{what}: {beyond}");
}

const ASKED: [(&str, &str, &str); 4] = [
    ("labels", "bonds", "label"),
    ("lists", "bonds", "adjacency"),
    ("flipped", "bonds", "flip"),
    ("values", "cells", "unpack"),
];

fn asking(options: SubscriberOptions, placement: CohortSide) -> SubscriberOptions {
    ASKED.iter().fold(options.with_transforms(&transforms()), |options, &(name, variable, transform)| {
        let asked = TransformedVariable::new(name, variable, transform).expect("names");
        options.with_request(asked.with_placement(placement)).expect("there is room")
    })
}

fn publisher(place: &Place) -> Publisher {
    let options = place.publisher_options().with_transforms(&transforms());
    Publisher::open(STREAM, options).expect("the stream opens")
}

#[test]
fn either_side_makes_the_same_of_steps_that_wait() {
    for kind in [TransportKind::Shm, TransportKind::Tcp] {
        for (from, to) in [(PLACEMENTS[0], PLACEMENTS[1]), (PLACEMENTS[1], PLACEMENTS[0])] {
            let what = format!("{kind}, from {from:?} to {to:?}");
            let place = Place::new();
            let mut publisher = publisher(&place);
            let options = asking(place.over(kind), from).with_limit_steps(16);
            let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
            (0..3).for_each(|_| publish(&mut publisher, (0, 1), |_| 3));
            for (name, ..) in ASKED {
                subscriber.place(name, to).expect("asked");
                assert_eq!(agreed(&mut subscriber), 3, "{what}");
            }
            (0..3).for_each(|_| publish(&mut publisher, (0, 1), |_| 3));
            assert_eq!(subscriber.of::<Unpacked>().expect("provided")[0].fit, Fit::Same);
            for _ in 0..6 {
                let step = take(&mut subscriber);
                check(&step, 1, 3, &what);
                let infos = step.variables().expect("a table");
                let names: Vec<&str> = infos.iter().map(|info| info.def.name.as_str()).collect();
                assert_eq!(names, ["bonds", "cells", "flipped", "labels", "lists", "values"], "{what}");
            }
            let (there, here) = (publisher.statistics(), subscriber.statistics());
            assert_eq!(here.transforms, 3 * 4, "{what}: once in a step");
            assert_eq!(there.transforms, 3 * 7, "{what}: block by block");
            assert_eq!((there.left_transforms, there.moves), (3 * 4, 4), "{what}");
            assert_eq!(here.moves, 4, "{what}");
            let made_here = if to == CohortSide::Publisher { (4, 0) } else { (0, 4) };
            assert_eq!((there.made_here, here.made_here), made_here, "{what}");
        }
    }
}

const STEPS: u64 = 60;

fn publisher_rank(options: PublisherOptions, rank: u64) -> JoinHandle<()> {
    let options = options.with_cohort(Cohort::of(rank as u32, 2).expect("a cohort")).with_min_subscribers(1);
    std::thread::spawn(move || {
        let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
        (0..STEPS).for_each(|_| publish(&mut publisher, (rank, 2), swelling));
        publisher.close().expect("closed");
    })
}

/// Twenty steps of little, twenty of much, twenty of little.
fn swelling(step: u64) -> u64 {
    if step / 20 == 1 { 10 } else { 1 }
}

/// Reads all steps. If it is to, rank 0 moves one variable after the other. Gives what was made here, and how often it
/// moved.
fn subscriber_rank(options: SubscriberOptions, rank: u32, moved: bool) -> JoinHandle<(u64, u64)> {
    let options = options.with_cohort(Cohort::of(rank, 2).expect("a cohort"));
    std::thread::spawn(move || {
        let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
        let mut taken = 0;
        while let NextStep::Step(step) = subscriber.next_step(crate::support::PATIENCE).expect("a step") {
            assert_eq!(step.step().0, taken, "none is lost");
            check(&step, 2, swelling(taken), &format!("rank {rank}"));
            taken += 1;
            drop(step);
            if moved && rank == 0 && taken + 16 < STEPS {
                let (name, ..) = ASKED[(taken % 4) as usize];
                subscriber.place(name, PLACEMENTS[(taken / 4) as usize % 3]).expect("asked");
            }
        }
        assert_eq!(taken, STEPS);
        let counted = subscriber.statistics();
        subscriber.close().expect("left");
        (counted.transforms, counted.moves)
    })
}

#[test]
fn all_ranks_of_both_sides_agree_for_each_step() {
    for (moved, kind) in
        [(true, TransportKind::Tcp), (true, TransportKind::Shm), (false, TransportKind::Inproc)]
    {
        let place = Place::new();
        let options = place.publisher_options().with_transforms(&transforms());
        let publishers = [0, 1].map(|rank| publisher_rank(options.clone(), rank));
        let options = place.subscriber_options().with_transports(TransportPolicy::only(kind));
        let options = asking(options, CohortSide::FewerBytes).with_name("movers").with_limit_steps(6);
        let readers = [0, 1].map(|rank| subscriber_rank(options.clone(), rank, moved));
        let made = readers.map(|reader| reader.join().expect("read"));
        publishers.into_iter().for_each(|publisher| publisher.join().expect("published"));
        assert_eq!(made[0], made[1], "{kind}: both ranks make the same steps");
        assert!(made[0].0 > 0 && made[0].1 >= 2, "{kind}: {made:?}");
    }
}

/// Where a variable is made by now, how often it moved, and what was measured last.
fn placed(subscriber: &Subscriber, name: &str) -> (CohortSide, u64, Option<(u64, u64)>) {
    let placements = subscriber.placements();
    let of = placements.iter().find(|of| of.name == name).expect("asked for");
    assert_eq!(of.asked, CohortSide::FewerBytes);
    (of.now, of.moves, of.measured_bytes)
}

#[test]
fn it_moves_to_where_fewer_bytes_travel_and_back() {
    let place = Place::new();
    let mut publisher = publisher(&place);
    let options = place.over(TransportKind::Tcp).with_transforms(&transforms());
    let asked = TransformedVariable::new("values", "cells", "unpack").expect("names");
    let options = options.with_request(asked.with_placement(CohortSide::FewerBytes));
    let mut subscriber = Subscriber::open(STREAM, options.expect("there is room")).expect("attached");
    let input = CELLS * 32;
    let bytes = |count: u64| CELLS * (16 + 8 * count);
    let mut step = |count: u64, subscriber: &mut Subscriber| {
        publish(&mut publisher, (0, 1), |_| count);
        let step = take(subscriber);
        let cells = step.get_records::<Unpacked>("values", "[...]").expect("values");
        let expected = (0..CELLS).map(|index| unpack(&packed(count, step.step().0, index)).expect("one"));
        assert!(cells.into_iter().eq(expected), "step {}", step.step().0);
        step.get_records::<Unpacked>("values", "[3:5]").expect("a part, which is not measured again");
        let there = publisher.statistics();
        (there.transforms, there.left_transforms, there.moves, there.made_here)
    };
    // Little comes out: it stays with the publisher.
    for done in 1..=5 {
        assert_eq!(step(0, &mut subscriber), (done, 0, 0, 1));
        assert_eq!(placed(&subscriber, "values"), (CohortSide::Publisher, 0, Some((input, bytes(0)))));
    }
    // Much does, for three steps.
    for done in 6..=8 {
        assert_eq!(placed(&subscriber, "values").0, CohortSide::Publisher);
        assert_eq!(step(10, &mut subscriber), (done, 0, 0, 1));
    }
    assert_eq!(agreed(&mut subscriber), 8);
    assert_eq!(placed(&subscriber, "values"), (CohortSide::Subscriber, 1, Some((input, bytes(10)))));
    for left in 1..=4 {
        assert_eq!(step(10, &mut subscriber), (8, left, 1, 0), "only what is published crosses");
    }
    assert_eq!(subscriber.statistics().transforms, 4);
    // Nearly the same either way: it stays where it is.
    for left in 5..=9 {
        assert_eq!(step(2, &mut subscriber), (8, left, 1, 0));
    }
    // Little again.
    for left in 10..=12 {
        assert_eq!(step(1, &mut subscriber), (8, left, 1, 0));
    }
    assert_eq!(agreed(&mut subscriber), 20);
    assert_eq!(placed(&subscriber, "values"), (CohortSide::Publisher, 2, Some((input, bytes(1)))));
    assert_eq!(step(1, &mut subscriber), (9, 12, 2, 1));
    let here = subscriber.statistics();
    assert_eq!((here.transforms, here.moves, here.made_here), (12, 2, 0));
}

#[test]
fn who_does_not_know_the_transform_leaves_it_to_the_publisher() {
    let place = Place::new();
    let mut publisher = publisher(&place);
    let options = place.over(TransportKind::Shm);
    let asked = TransformedVariable::new("values", "cells", "unpack").expect("names");
    let options = options.with_request(asked.with_placement(CohortSide::FewerBytes));
    let mut subscriber = Subscriber::open(STREAM, options.expect("there is room")).expect("attached");
    for _ in 0..6 {
        publish(&mut publisher, (0, 1), |_| 10);
        take(&mut subscriber).get_records::<Unpacked>("values", "[...]").expect("values");
    }
    assert_eq!(placed(&subscriber, "values").1, 0, "more comes out, but nobody else can make it");
    let error = subscriber.place("values", CohortSide::Subscriber).expect_err("unknown here");
    let ReadError::Misuse { source: Misuse::NoTransformHere { transform, known, .. }, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!((transform.as_str(), known.len()), ("unpack", 0));
    let error = subscriber.place("cells", CohortSide::Subscriber).expect_err("published").to_string();
    assert!(
        error.contains("\"cells\" is nothing that was asked to be derived; these are: values"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_made_here_says_why() {
    let place = Place::new();
    let mut publisher = publisher(&place);
    let own = Transforms::default();
    let mut whole =
        Native::records("whole", |pairs: &[BondPair]| Ok(adjacency(pairs))).expect("record types");
    whole.types = None;
    let panics = Native::each_record("panics", |_: &BondPair| -> Result<Label, NativeError> { panic!("no") });
    let label = Native::each_record("other", |label: &Label| Ok(label.clone())).expect("record types");
    let mut other = label;
    other.types = None;
    for native in [whole, panics.expect("record types"), other] {
        own.register(native).expect("registered");
    }
    let cases = [
        (
            "a",
            "bonds",
            "missing",
            "this subscriber knows no transform \"missing\"; it knows: other, panics, whole",
        ),
        ("b", "bonds", "whole", "needs all records at once"),
        ("c", "bonds", "other", "transform \"other\" takes Label, and the records are BondPair"),
        ("d", "bands", "panics", "there is no variable \"bands\"; there are bonds, cells"),
        ("e", "bonds", "panics", "it panicked: no"),
    ];
    let options = cases.iter().fold(place.over(TransportKind::Shm), |options, (name, of, transform, _)| {
        let asked = TransformedVariable::new(*name, *of, *transform).expect("names");
        options.with_request(asked.with_placement(CohortSide::Subscriber)).expect("there is room")
    });
    let mut subscriber = Subscriber::open(STREAM, options.with_transforms(&own)).expect("attached");
    publish(&mut publisher, (0, 1), |_| 1);
    let refused = subscriber.of::<Unpacked>().expect_err("none").to_string();
    let step = take(&mut subscriber);
    for (name, _, _, why) in cases {
        let error = step.get_records::<Label>(name, "[...]").expect_err(why);
        let ReadError::NotTransformed { source, .. } = &error else { panic!("{error}") };
        assert!(source.to_string().contains(why), "{name}: {error}");
        assert!(name == "e" || refused.contains(why), "{name}: {refused}");
        assert!(!matches!(**source, TransformProblem::Publisher { .. }));
    }
}

/// Arrays of two dimensions, in either memory order, cut among blocks: places are kept, and rows come in the same
/// order.
#[test]
fn memory_orders_are_the_same_on_either_side() {
    for order in [MemoryOrder::RowMajor, MemoryOrder::ColumnMajor] {
        let place = Place::new();
        let mut publisher = publisher(&place);
        let attach = |placement| {
            Subscriber::open(STREAM, asking(place.over(TransportKind::Tcp), placement)).expect("attached")
        };
        let mut both = [attach(CohortSide::Publisher), attach(CohortSide::Subscriber)];
        let schema = BondPair::schema().expect("a type");
        let bonds = Variable::global_records("bonds", &schema, &[4, 6]).expect("a shape").with_order(order);
        let mut writer = publisher.begin_step().expect("a step");
        for (at, from) in [(0, 0), (1, 2)] {
            let region = Region::new([0, from * 2], [4, if at == 0 { 4 } else { 2 }]).expect("inside");
            let some = pairs(at, 0..region.element_count());
            writer.put_records(&bonds, &region, RecordBlock::plain(some).expect("plain")).expect("put");
        }
        writer.end().expect("ended");
        let got = both.each_mut().map(|subscriber| {
            let step = take(subscriber);
            let labels = step.get_records::<Label>("labels", "[1:4, 2:6]").expect("labels");
            let flipped = step.get_records::<BondPair>("flipped", "[:, 3:5]").expect("flipped");
            (labels, flipped, step.get_records::<BondAdjacency>("lists", "[...]").expect("lists"))
        });
        assert_eq!(got[0], got[1], "{order:?}");
        let at = |row: u64, column: u64| {
            let (block, width) = if column < 4 { (0, 4) } else { (1, 2) };
            let column = column - 4 * block;
            let index = if order == MemoryOrder::RowMajor { row * width + column } else { column * 4 + row };
            pair(block, index)
        };
        let places = (1..4).flat_map(|row| (2..6).map(move |column| (row, column)));
        let expected = places.map(|(row, column)| label(&at(row, column)).expect("one"));
        assert!(got[0].0.iter().cloned().eq(expected), "{order:?}");
    }
}
