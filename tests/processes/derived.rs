//! Derived variables of ranks that are processes. Three components are put by 1, 2 and 4 ranks. One speed is taken by 1
//! to 3, and so is a sum that needs all ranks. Over tcp the bytes that arrive are counted: those of one array.

use crate::cast::{
    Actor, PATIENCE, Stage, even_part, number, publisher_options, shifting_part, subscriber_options,
    take_every_step, tell,
};
use flexpath::{Publisher, Region, Selection, StepReader, Subscriber, TransportKind, Variable};
use std::ops::Range;

/// Elements of each component.
const LEN: u64 = 6007;
const STEPS: u64 = 5;
const NAMES: [&str; 3] = ["vx", "vy", "vz"];

fn component(dim: u64, step: u64, index: u64) -> f64 {
    ((step * 37 + index * 11 + dim * 5) % 97) as f64 - 48.0
}

fn speed(step: u64, index: u64) -> f64 {
    (0..3).map(|dim| component(dim, step, index).powi(2)).sum::<f64>().sqrt()
}

/// A publisher rank.
pub(crate) fn publish() {
    let (rank, ranks) = (number("rank"), number("size"));
    let options = publisher_options().with_min_subscribers(1);
    let mut publisher = Publisher::open("derived", options).expect("the stream opens");
    let variables = NAMES.map(|name| Variable::global::<f64>(name, &[LEN]).expect("a shape"));
    for step in 0..STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        let range = shifting_part(LEN, step, ranks, rank);
        let region = Region::new([range.start], [range.end - range.start]).expect("inside");
        for (dim, variable) in (0..).zip(&variables) {
            let elements = range.clone().map(|index| component(dim, step, index)).collect();
            writer.put(variable, &region, elements).expect("put");
        }
        writer.end().expect("the step ends");
    }
    let statistics = publisher.statistics();
    publisher.close().expect("closed");
    tell(format!("derivations {}", statistics.derivations));
}

/// A subscriber rank.
pub(crate) fn subscribe() {
    let options = subscriber_options()
        .with_derivation("speed", "vx, vy, vz | compute(sqrt(vx*vx + vy*vy + vz*vz))")
        .and_then(|options| options.with_derivation("sum", "vx | sum"));
    let mut subscriber = Subscriber::open("derived", options.expect("derivations")).expect("attached");
    let mine = even_part(LEN);
    let taken = take_every_step(&mut subscriber, PATIENCE, |step, number| check(step, number, mine.clone()));
    assert_eq!(taken, STEPS);
    let statistics = subscriber.statistics();
    subscriber.close().expect("closed");
    tell(format!("bytes {}", statistics.received_bytes + statistics.staged_bytes));
}

fn check(step: &StepReader, number: u64, mine: Range<u64>) {
    let sum: f64 = (0..LEN).map(|index| component(0, number, index)).sum();
    assert_eq!(step.get::<f64>("sum", Selection::All).expect("the sum"), [sum]);
    let slice = format!("[{}:{}]", mine.start, mine.end);
    let speeds = step.get::<f64>("speed", &slice[..]).expect("my part");
    assert!(speeds.into_iter().eq(mine.map(|index| speed(number, index))));
}

/// One run, over one kind of link.
fn run(publishers: u32, subscribers: u32, kind: TransportKind) {
    let stage = Stage::new();
    let over = ("transports", kind.to_string());
    let ranks = stage.cohort("derived-publisher", publishers, std::slice::from_ref(&over));
    let takers = stage.cohort("derived-subscriber", subscribers, &[over]);
    let bytes: Vec<u64> =
        takers.iter().map(|taker| taker.hear("bytes ").parse().expect("a number")).collect();
    if kind == TransportKind::Tcp {
        let speeds = STEPS * LEN * 8;
        // Each subscriber rank besides has the part of the sum of each publisher rank: a few hundred bytes.
        let sums = STEPS * u64::from(publishers * subscribers) * 1024;
        let bytes: u64 = bytes.iter().sum();
        assert!((speeds..=speeds + sums).contains(&bytes), "{bytes} bytes, not {speeds}");
    }
    takers.into_iter().for_each(Actor::finish);
    for rank in ranks {
        assert_eq!(rank.hear("derivations ").parse(), Ok(2 * STEPS));
        rank.finish();
    }
}

#[test]
fn a_speed_is_derived_over_shared_memory() {
    run(1, 1, TransportKind::Shm);
    run(4, 2, TransportKind::Shm);
}

#[test]
fn a_speed_is_derived_over_tcp() {
    run(2, 3, TransportKind::Tcp);
    run(4, 1, TransportKind::Tcp);
}
