//! Records of ranks that are processes. Plain ones, and such with lists and texts, are put by 1, 2 and 4 ranks. They
//! are taken by 1 to 3 by global index, as they are and as another type.

use crate::cast::{
    PATIENCE, Stage, even_part, number, publisher_options, shifting_part, subscriber_options,
    take_every_step, tell,
};
use flexpath::bytemuck::{Pod, Zeroable};
use flexpath::{
    Fit, Publisher, Record as _, RecordBlock, Region, StepReader, Subscriber, TransportKind, Variable,
};
use std::ops::Range;

/// Records of the global array.
const LEN: u64 = 1003;
const STEPS: u64 = 5;

#[derive(flexpath::Record, Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[bytemuck(crate = "flexpath::bytemuck")]
#[record(description = "where an atom is")]
#[repr(C)]
struct Atom {
    id: u64,
    #[record(unit = "angstrom")]
    position: [f32; 3],
    kind: u32,
}

/// What a subscriber that knows less, and wants it wider, calls an atom.
#[derive(flexpath::Record, Clone, Debug, PartialEq)]
#[record(name = "Atom")]
struct WideAtom {
    position: [f64; 3],
    id: u64,
    #[record(default = 1.0)]
    mass: Option<f64>,
}

/// An atom and those that it is bound to.
#[derive(flexpath::Record, Clone, Debug, PartialEq)]
struct Bound {
    id: u64,
    label: String,
    near: Vec<u64>,
}

fn atom(step: u64, index: u64) -> Atom {
    let position = std::array::from_fn(|axis| (step * 4000 + index * 3 + axis as u64) as f32);
    Atom { id: index, position, kind: (step + index) as u32 % 7 }
}

fn bound(step: u64, index: u64) -> Bound {
    let near = (1..=(step + index) % 4).map(|at| index + at).collect();
    Bound { id: index, label: format!("atom {index} of step {step}"), near }
}

/// A publisher rank.
pub(crate) fn publish() {
    let (rank, ranks) = (number("rank"), number("size"));
    let options = publisher_options().with_min_subscribers(number("subscribers") as u32);
    let mut publisher = Publisher::open("records", options).expect("the stream opens");
    let atoms = Variable::global_records("atoms", &Atom::schema().expect("a type"), &[LEN]).expect("a shape");
    let bounds = Variable::joined_records("bounds", &Bound::schema().expect("a type"), &[]).expect("a shape");
    for step in 0..STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        let range = shifting_part(LEN, step, ranks, rank);
        let region = Region::new([range.start], [range.end - range.start]).expect("inside");
        let plain =
            RecordBlock::plain(range.clone().map(|index| atom(step, index)).collect()).expect("plain");
        writer.put_records(&atoms, &region, plain).expect("put");
        let encoded: Vec<Bound> = range.map(|index| bound(step, index)).collect();
        let (first, rest) = encoded.split_at(encoded.len() / 3);
        for part in [first, rest] {
            let block = RecordBlock::encode(part).expect("encoded");
            writer.put_joined_records(&bounds, block).expect("put");
        }
        writer.end().expect("the step ends");
    }
    let statistics = publisher.statistics();
    publisher.close().expect("closed");
    tell(format!("types {}", statistics.types));
}

/// A subscriber rank.
pub(crate) fn subscribe() {
    let mut subscriber = Subscriber::open("records", subscriber_options()).expect("attached");
    let provided = subscriber.of::<Atom>().expect("provided");
    assert_eq!((provided[0].variable.as_str(), &provided[0].fit), ("atoms", &Fit::Same));
    let mine = even_part(LEN);
    let taken = take_every_step(&mut subscriber, PATIENCE, |step, number| check(step, number, mine.clone()));
    assert_eq!(taken, STEPS);
    let statistics = subscriber.statistics();
    subscriber.close().expect("closed");
    tell(format!("conversions {} types {}", statistics.conversions, statistics.types));
}

fn check(step: &StepReader, number: u64, mine: Range<u64>) {
    let slice = format!("[{}:{}]", mine.start, mine.end);
    let strided = format!("[{}:{}:3]", mine.start, mine.end);
    let atoms = step.view_records::<Atom>("atoms", &slice).expect("atoms");
    assert!(atoms.iter().copied().eq(mine.clone().map(|index| atom(number, index))));
    let wide = step.get_records::<WideAtom>("atoms", &strided).expect("atoms");
    let expected = mine.clone().step_by(3).map(|index| {
        let atom = atom(number, index);
        WideAtom { position: atom.position.map(f64::from), id: atom.id, mass: Some(1.0) }
    });
    assert!(wide.into_iter().eq(expected));
    let bounds = step.get_records::<Bound>("bounds", &strided).expect("bounds");
    assert!(bounds.into_iter().eq(mine.clone().step_by(3).map(|index| bound(number, index))));
    let all = step.records("bounds", &slice).expect("bounds");
    let labels = all.records().expect("sound");
    for (record, index) in labels.iter().zip(mine) {
        let label = record.value("label").expect("a field").as_text().map(str::to_owned);
        assert_eq!(label, Some(bound(number, index).label));
    }
}

/// One run, over one kind of link.
fn run(publishers: u32, subscribers: u32, kind: TransportKind) {
    let stage = Stage::new();
    let over = ("transports", kind.to_string());
    let of_ranks = [over.clone(), ("subscribers", 1.to_string())];
    let ranks = stage.cohort("record-publisher", publishers, &of_ranks);
    let takers = stage.cohort("record-subscriber", subscribers, &[over]);
    for taker in takers {
        // Only the type of the variable counts which was looked at before its Rust type was named.
        assert_eq!(taker.hear("conversions "), "1 types 1", "once for each pair, once for each type");
        taker.finish();
    }
    let told = ranks.iter().map(|rank| rank.hear("types ").parse::<u32>().expect("a number"));
    assert_eq!(told.sum::<u32>(), subscribers);
    ranks.into_iter().for_each(crate::cast::Actor::finish);
}

#[test]
fn records_of_one_rank_by_three() {
    run(1, 3, TransportKind::Shm);
    run(1, 3, TransportKind::Tcp);
}

#[test]
fn records_of_two_ranks_by_one() {
    run(2, 1, TransportKind::Shm);
    run(2, 1, TransportKind::Tcp);
}

#[test]
fn records_of_four_ranks_by_two() {
    run(4, 2, TransportKind::Shm);
    run(4, 2, TransportKind::Tcp);
}
