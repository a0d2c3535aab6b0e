//! Derived variables that move to the other side while steps flow. Each step is read by what was asked for it, on every
//! rank, and none is lost or wrong.

use crate::support::{Place, STREAM, agreed, eventually, take};
use fp_core::{
    Cohort, CohortSide, DerivedVariable, Event, Misuse, NextStep, Publisher, PublisherOptions, ReadError,
    Region, Selection, StepReader, Subscriber, SubscriberOptions, TransportKind, TransportPolicy, Variable,
};
use std::thread::JoinHandle;

const LEN: u64 = 240;
const PLACEMENTS: [CohortSide; 3] = [CohortSide::Publisher, CohortSide::Subscriber, CohortSide::FewerBytes];
/// Name, derivation, and whether fewer bytes travel if its inputs do.
const DERIVED: [(&str, &str); 3] = [
    ("speed", "vx, vy | compute(sqrt(vx*vx + vy*vy))"),
    ("fastest", "vx, vy | magnitude | max"),
    ("wide", "small | cast(f64)"),
];

fn component(dim: u64, step: u64, index: u64) -> f64 {
    ((step * 31 + index * 7 + dim * 13) % 101) as f64 - 50.0
}

fn speed(step: u64, index: u64) -> f64 {
    (0..2).map(|dim| component(dim, step, index).powi(2)).sum::<f64>().sqrt()
}

fn small(step: u64, index: u64) -> u8 {
    ((step * 3 + index) % 251) as u8
}

/// Puts what `rank` of `ranks` has of the next step, in two blocks.
fn publish(publisher: &mut Publisher, (rank, ranks): (u64, u64)) {
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    let (from, to) = (LEN * rank / ranks, LEN * (rank + 1) / ranks);
    let middle = from + (to - from) / 3;
    let of = |name: &str| Variable::global::<f64>(name, &[LEN]).expect("a shape");
    for (from, to) in [(from, middle), (middle, to)] {
        let region = Region::new([from], [to - from]).expect("inside");
        let elements = |dim| (from..to).map(|index| component(dim, step, index)).collect::<Vec<_>>();
        writer.put(&of("vx"), &region, elements(0)).expect("put");
        writer.put_copy(&of("vy"), &region, &elements(1)).expect("put");
        let bytes = (from..to).map(|index| small(step, index)).collect();
        writer.put(&Variable::global::<u8>("small", &[LEN]).expect("a shape"), &region, bytes).expect("put");
    }
    writer.end().expect("ended");
}

/// All that is derived of a step, next to what it is by definition.
fn check(step: &StepReader, what: &str) {
    let number = step.step().0;
    let speeds: Vec<f64> = (0..LEN).map(|index| speed(number, index)).collect();
    let get = |name: &str, all: &str| {
        step.get::<f64>(name, all).unwrap_or_else(|error| panic!("{what}, step {number}, {name}: {error}"))
    };
    assert_eq!(get("speed", "[:]"), speeds, "{what}, step {number}");
    assert_eq!(get("speed", "[70:90]"), speeds[70..90], "{what}, step {number}");
    let fastest = speeds.iter().copied().fold(0.0, f64::max);
    assert_eq!(step.get::<f64>("fastest", Selection::All).expect(what), [fastest], "{what}, step {number}");
    let wide: Vec<f64> = (0..LEN).map(|index| f64::from(small(number, index))).collect();
    assert_eq!(get("wide", "[:]"), wide, "{what}, step {number}");
}

fn asking(options: SubscriberOptions, placement: CohortSide) -> SubscriberOptions {
    DERIVED.iter().fold(options, |options, (name, text)| {
        let derived = DerivedVariable::new(*name, *text).expect("a derivation");
        options.with_request(derived.with_placement(placement)).expect("there is room")
    })
}

#[test]
fn steps_that_wait_are_read_as_they_were_asked_for() {
    for from in PLACEMENTS {
        for to in PLACEMENTS {
            let what = format!("from {from:?} to {to:?}");
            let place = Place::new();
            let mut publisher = place.publisher();
            let options = asking(place.over(TransportKind::Tcp), from).with_limit_steps(16);
            let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
            (0..4).for_each(|_| publish(&mut publisher, (0, 1)));
            for (name, _) in DERIVED {
                subscriber.place(name, to).expect("asked");
                assert_eq!(agreed(&mut subscriber), 4, "{what}");
            }
            (0..4).for_each(|_| publish(&mut publisher, (0, 1)));
            (0..8).for_each(|_| check(&take(&mut subscriber), &what));
            let here = |placement| match placement {
                CohortSide::Publisher => 0,
                CohortSide::FewerBytes => 1,
                CohortSide::Subscriber => 3,
            };
            let chosen =
                |name: &str| if name == "wide" { CohortSide::Subscriber } else { CohortSide::Publisher };
            for (now, (name, _)) in subscriber.placements().iter().zip(DERIVED) {
                let is_open = to == CohortSide::FewerBytes;
                assert_eq!(
                    (now.asked, now.now),
                    (to, if is_open { chosen(name) } else { to }),
                    "{what}: {name}"
                );
                let grows = now.measured_bytes.map(|(input, output)| input < output);
                assert_eq!(grows, is_open.then_some(name == "wide"), "{what}: {name}");
            }
            let counted = subscriber.statistics();
            assert_eq!(counted.derivations, 4 * (here(from) + here(to)), "{what}");
            let there = publisher.statistics();
            assert_eq!(there.derivations, 4 * (6 - here(from) - here(to)), "{what}");
            subscriber.close().expect("left");
            publisher.close().expect("closed");
        }
    }
}

const STEPS: u64 = 90;

fn publisher_rank(options: PublisherOptions, rank: u64) -> JoinHandle<()> {
    let options = options.with_cohort(Cohort::of(rank as u32, 2).expect("a cohort")).with_min_subscribers(1);
    std::thread::spawn(move || {
        let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
        (0..STEPS).for_each(|_| publish(&mut publisher, (rank, 2)));
        publisher.close().expect("closed");
    })
}

/// Reads all steps. Rank 0 moves one variable after the other, every few steps. Gives what was derived here.
fn subscriber_rank(options: SubscriberOptions, rank: u32, seed: u64) -> JoinHandle<u64> {
    let options = options.with_cohort(Cohort::of(rank, 2).expect("a cohort"));
    std::thread::spawn(move || {
        let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
        let (mut taken, mut moves) = (0, seed);
        loop {
            match subscriber.next_step(crate::support::PATIENCE).expect("a step") {
                NextStep::Step(step) => {
                    assert_eq!(step.step().0, taken, "none is lost");
                    check(&step, &format!("rank {rank}, seed {seed}"));
                    taken += 1;
                }
                NextStep::Ended(_) => break,
                NextStep::NotYet => panic!("rank {rank}: nothing after step {taken}"),
            }
            // Nothing more is asked of a stream that has ended, though its last steps wait still.
            let may_ask = rank == 0 && taken + 16 < STEPS;
            if may_ask && taken.is_multiple_of(1 + seed) {
                moves += 1;
                let (name, _) = DERIVED[(moves % 3) as usize];
                subscriber.place(name, PLACEMENTS[(moves / 3 + moves % 5) as usize % 3]).expect("asked");
            }
        }
        assert_eq!(taken, STEPS);
        let derived = subscriber.statistics().derivations;
        subscriber.close().expect("left");
        derived
    })
}

#[test]
fn all_ranks_of_both_sides_agree_for_each_step() {
    for (seed, kind) in [(0, TransportKind::Inproc), (1, TransportKind::Shm), (2, TransportKind::Tcp)] {
        let place = Place::new();
        let publishers = [0, 1].map(|rank| publisher_rank(place.publisher_options(), rank));
        let options = place.subscriber_options().with_transports(TransportPolicy::only(kind));
        let options = asking(options, PLACEMENTS[seed as usize]).with_name("movers").with_limit_steps(6);
        // What is pushed unasked from one side must not be waited for where that side does not make it.
        let options = options.with_selection("speed", Selection::All).with_selection("vx", Selection::All);
        let readers = [0, 1].map(|rank| subscriber_rank(options.clone(), rank, seed));
        let derived = readers.map(|reader| reader.join().expect("read"));
        publishers.into_iter().for_each(|publisher| publisher.join().expect("published"));
        assert_eq!(derived[0], derived[1], "{kind}: both ranks derive the same steps");
        assert!(derived[0] > 0 && derived[0] < 3 * STEPS, "{kind}: {derived:?}");
    }
}

/// Whoever asks for the same derivation in another way changes nothing for those who were there before.
#[test]
fn each_subscription_is_served_as_it_asked() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options = asking(place.over(TransportKind::Tcp), CohortSide::FewerBytes);
    let mut first = Subscriber::open(STREAM, options).expect("attached");
    for placement in PLACEMENTS {
        let options = asking(place.over(TransportKind::Tcp), placement);
        let mut second = Subscriber::open(STREAM, options).expect("attached");
        publish(&mut publisher, (0, 1));
        check(&take(&mut first), "first");
        check(&take(&mut second), "second");
        second.close().expect("left");
        eventually("it has left", || {
            publisher.events().iter().any(|event| matches!(event, Event::SubscriptionEnded { .. }))
        });
    }
    assert_eq!(first.statistics().derivations, 3, "it derives what takes fewer bytes so");
}

#[test]
fn other_variables_and_other_sides_may_be_asked_for_in_any_order() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options = asking(place.over(TransportKind::Shm), CohortSide::Publisher).with_variables(["vx"]);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    subscriber.place("speed", CohortSide::Subscriber).expect("asked");
    agreed(&mut subscriber);
    subscriber.select_variables(["small"]).expect("asked");
    agreed(&mut subscriber);
    publish(&mut publisher, (0, 1));
    let step = take(&mut subscriber);
    check(&step, "both");
    let bytes = step.get::<u8>("small", "[:3]").expect("asked for");
    assert_eq!(bytes, [small(0, 0), small(0, 1), small(0, 2)]);
}

#[test]
fn what_is_not_derived_cannot_be_placed() {
    let place = Place::new();
    let _publisher = place.publisher();
    let options = asking(place.subscriber_options(), CohortSide::Publisher);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    let error = subscriber.place("vx", CohortSide::Subscriber).expect_err("published, not derived");
    let ReadError::Misuse { source: Misuse::NotPlaced { known, .. }, .. } = &error else { panic!("{error}") };
    assert_eq!(known, &["speed", "fastest", "wide"]);
    assert!(error.to_string().contains("these are: speed, fastest, wide"), "{error}");
}
