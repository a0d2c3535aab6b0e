//! Deployed code of ranks that are processes. A reduction that a subscriber hands over runs on each of 1, 2 and 4
//! publisher ranks, which never saw it before. Its rows are added up by 1 to 3 other ranks. The subscribers themselves
//! run it as well.

use crate::cast::{
    Actor, PATIENCE, Stage, number, publisher_options, setting, shifting_part, subscriber_options,
    take_every_step, tell,
};
use flexpath::{
    CohortSide, DeployPolicy, DerivedVariable, Publisher, Region, Selection, StepReader, Subscriber,
    TransportKind, Variable,
};

/// Elements of the array.
const LEN: u64 = 6007;
const STEPS: u64 = 4;

/// Squares of them are whole numbers, and so are all sums: in whatever order they are added.
fn element(step: u64, index: u64) -> f64 {
    ((step * 37 + index * 11) % 97) as f64 - 48.0
}

/// A publisher rank.
pub(crate) fn publish() {
    let (rank, ranks) = (number("rank"), number("size"));
    let options = publisher_options().with_min_subscribers(1).with_deployment(DeployPolicy::SameUid);
    let mut publisher = Publisher::open("deployed", options).expect("the stream opens");
    let variable = Variable::global::<f64>("T", &[LEN]).expect("a shape");
    for step in 0..STEPS {
        let mut writer = publisher.begin_step().expect("a step");
        let range = shifting_part(LEN, step, ranks, rank);
        let region = Region::new([range.start], [range.end - range.start]).expect("inside");
        writer.put(&variable, &region, range.map(|index| element(step, index)).collect()).expect("put");
        writer.end().expect("the step ends");
    }
    let statistics = publisher.statistics();
    publisher.close().expect("closed");
    tell(format!("derivations {}", statistics.derivations));
}

/// A subscriber rank.
pub(crate) fn subscribe() {
    let text = include_str!("../../crates/fp-transform/guest/sum_of_squares.wat");
    let module = wat::parse_str(text).expect("WebAssembly text");
    let placement = match setting("placement").as_deref() {
        Some("here") => CohortSide::Subscriber,
        _ => CohortSide::Publisher,
    };
    let derived = DerivedVariable::new("squares", "T | module(squares, f64, 1)").expect("a derivation");
    let options = subscriber_options()
        .with_module("squares", module)
        .and_then(|options| options.with_request(derived.with_placement(placement)));
    let mut subscriber = Subscriber::open("deployed", options.expect("a derivation")).expect("attached");
    let taken = take_every_step(&mut subscriber, PATIENCE, check);
    assert_eq!(taken, STEPS);
    let statistics = subscriber.statistics();
    subscriber.close().expect("closed");
    tell(format!("counted {} {}", statistics.derivations, statistics.received_bytes));
}

fn check(step: &StepReader, number: u64) {
    let rows = step.get::<f64>("squares", Selection::All).expect("the rows");
    let sum: f64 = (0..LEN).map(|index| element(number, index).powi(2)).sum();
    assert_eq!(rows.iter().sum::<f64>(), sum);
    tell(format!("rows {}", rows.len()));
}

/// One run, over one kind of link, in one placement.
fn run(publishers: u32, subscribers: u32, kind: TransportKind, placement: &str) {
    let stage = Stage::new();
    let over = ("transports", kind.to_string());
    let ranks = stage.cohort("deployed-publisher", publishers, std::slice::from_ref(&over));
    let at = ("placement", placement.to_owned());
    let takers = stage.cohort("deployed-subscriber", subscribers, &[over, at]);
    let (there, here) = if placement == "here" { (0, STEPS) } else { (STEPS, 0) };
    for taker in takers {
        // In the first step each rank has some: after it some have none.
        assert_eq!(taker.hear("rows ").parse(), Ok(if placement == "here" { 1 } else { publishers }));
        let counted = taker.hear("counted ");
        assert!(counted.starts_with(&format!("{here} ")), "{counted}");
        taker.finish();
    }
    for rank in ranks {
        assert_eq!(rank.hear("derivations ").parse(), Ok(there));
        rank.finish();
    }
}

#[test]
fn deployed_code_reduces_on_the_publishers_side() {
    run(1, 1, TransportKind::Shm, "there");
    run(4, 2, TransportKind::Shm, "there");
    run(2, 3, TransportKind::Shm, "there");
}

#[test]
fn deployed_code_reduces_on_the_subscribers_side() {
    run(2, 2, TransportKind::Shm, "here");
    run(4, 1, TransportKind::Tcp, "here");
}

/// Over tcp nobody proves whose it is: each rank says so, and the stream goes on.
pub(crate) fn be_refused() {
    let module = include_bytes!("../../crates/fp-transform/guest/sum_of_squares.wat").to_vec();
    let options = subscriber_options()
        .with_module("squares", module)
        .and_then(|options| options.with_derivation("squares", "T | module(squares, f64, 1)"))
        .and_then(|options| options.with_derivation("least", "T | min"));
    let mut subscriber = Subscriber::open("deployed", options.expect("a derivation")).expect("attached");
    let taken = take_every_step(&mut subscriber, PATIENCE, |step, number| {
        let refused = step.get::<f64>("squares", Selection::All).expect_err("refused").to_string();
        for rank in 0..2 {
            assert!(
                refused.contains(&format!("publisher rank {rank}: deployed code: only code of")),
                "{refused}"
            );
        }
        assert!(refused.contains("who sent this is not known"), "{refused}");
        let least = (0..LEN).map(|index| element(number, index)).fold(f64::MAX, f64::min);
        assert_eq!(step.get::<f64>("least", Selection::All).expect("the rest is there"), [least]);
    });
    subscriber.close().expect("closed");
    tell(format!("taken {taken}"));
}

#[test]
fn deployed_code_of_nobody_in_particular_is_refused() {
    let stage = Stage::new();
    let over = ("transports", TransportKind::Tcp.to_string());
    let ranks = stage.cohort("deployed-publisher", 2, std::slice::from_ref(&over));
    let taker = stage.start("deployed-refused", &[over]);
    assert_eq!(taker.hear("taken ").parse(), Ok(STEPS));
    taker.finish();
    ranks.into_iter().for_each(Actor::finish);
}
