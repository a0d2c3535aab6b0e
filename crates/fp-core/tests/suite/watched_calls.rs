//! Conditions on what registered functions make of an array: measured where it lies, and no harm where a function fails.

use crate::support::{PATIENCE, Place, STREAM, take};
use fp_core::{
    Cohort, Judgement, MeasuredNumber, Native, NextStep, Publisher, PublisherOptions, Region, Subscriber,
    Transforms, TransportKind, Variable,
};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];
const RANKS: u32 = 2;
const STEPS: u64 = 24;
/// Elements of each rank.
const LEN: u64 = 9;

fn element(step: u64, at: u64) -> f64 {
    let mixed = (step * 7919 + at * 104_729 + 17).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 40) % 41) as f64 - 20.0
}

fn field(step: u64, from: u64, len: u64) -> Vec<f64> {
    (from..from + len).map(|at| element(step, at)).collect()
}

fn squares(step: u64) -> Vec<f64> {
    field(step, 0, LEN * u64::from(RANKS)).into_iter().map(|x| x * x).collect()
}

fn transforms() -> Transforms {
    let transforms = Transforms::default();
    for native in [
        Native::elements("square", |inputs: &[&[f64]]| {
            Ok(inputs[0].iter().map(|x| x * x).collect::<Vec<f64>>())
        }),
        Native::elements("is far, or not", |inputs: &[&[f64]]| {
            Ok(inputs[0].iter().map(|x| u8::from(x.abs() > 18.0)).collect::<Vec<u8>>())
        }),
        Native::elements("panics", |_: &[&[f64]]| -> Result<Vec<f64>, _> { panic!("out of balance") }),
        Native::elements("fails", |_: &[&[f64]]| -> Result<Vec<f64>, _> { Err("no field".into()) }),
    ] {
        transforms.register(native).expect("registered");
    }
    transforms
}

fn publish(publisher: &mut Publisher, rank: u64, size: u64) {
    let variable = Variable::global::<f64>("T", &[LEN * size]).expect("a shape");
    let region = Region::new([rank * LEN], [LEN]).expect("inside");
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    writer.put_copy(&variable, &region, &field(step, rank * LEN, LEN)).expect("put");
    writer.end().expect("ended, whatever became of what is measured");
}

/// A condition, and whether a step is as it says.
type Known = (&'static str, fn(u64) -> bool);

const CONDITIONS: [Known; 4] = [
    ("max(call(square, T)) > 380", |step| squares(step).into_iter().any(|square| square > 380.0)),
    ("sum(call(square, T[::2])) > 1300", |step| squares(step).iter().step_by(2).sum::<f64>() > 1300.0),
    ("argmax(call(square, T))[0] >= 12", |step| {
        let all = squares(step);
        let most = all.iter().copied().fold(0.0, f64::max);
        all.iter().position(|square| *square == most).is_some_and(|at| at >= 12)
    }),
    ("count(call(\"is far, or not\", T, u8) > 0) >= 3", |step| {
        squares(step).into_iter().filter(|square| *square > 324.0).count() >= 3
    }),
];

#[test]
fn what_a_registered_function_makes_is_measured() {
    for kind in KINDS {
        let place = Place::new();
        std::thread::scope(|scope| {
            let place = &place;
            let watchers = CONDITIONS.map(|(condition, _)| {
                let options = place.over(kind).with_condition(condition).expect(condition);
                scope.spawn(move || watched(Subscriber::open(STREAM, options).expect("attached")))
            });
            for rank in 0..RANKS {
                scope.spawn(move || {
                    let cohort = Cohort::of(rank, RANKS).expect("a cohort");
                    let options =
                        place.publisher_options().with_cohort(cohort).with_transforms(&transforms());
                    let options = options.with_derive_budget(PATIENCE);
                    let options = options.with_min_subscribers(CONDITIONS.len() as u32);
                    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
                    (0..STEPS).for_each(|_| publish(&mut publisher, rank.into(), RANKS.into()));
                    publisher.close().expect("closed");
                });
            }
            for ((condition, is_met), watcher) in CONDITIONS.into_iter().zip(watchers) {
                let expected: Vec<u64> = (0..STEPS).filter(|step| is_met(*step)).collect();
                assert!(!expected.is_empty() && expected.len() < STEPS as usize, "{condition}");
                assert_eq!(watcher.join().expect("it has ended well"), expected, "{condition} over {kind}");
            }
        });
    }
}

/// The steps that come, all of them judged.
fn watched(mut subscriber: Subscriber) -> Vec<u64> {
    let mut steps = Vec::new();
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a step or the end") {
        assert_eq!(step.judgement().expect("told").unjudged, None);
        steps.push(step.step().0);
    }
    steps
}

/// What is told of the next step, and of a condition on the same stream that needs no function.
fn told(options: PublisherOptions, place: &Place, condition: &str, steps: usize) -> Judgement {
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let attach = |condition: &str| {
        let options = place.over(TransportKind::Shm).with_condition(condition).expect(condition);
        Subscriber::open(STREAM, options).expect("attached")
    };
    let (mut other, mut subscriber) = (attach("count(T > -99) >= 1"), attach(condition));
    let mut found = Judgement::default();
    for _ in 0..steps {
        publish(&mut publisher, 0, 1);
        found = take(&mut subscriber).judgement().expect("told").clone();
        let others = take(&mut other).judgement().expect("told").clone();
        assert_eq!((others.unjudged, others.measured[0].number), (None, Some(MeasuredNumber::Unsigned(LEN))));
    }
    found
}

#[test]
fn a_function_that_fails_or_is_not_there_leaves_the_step_unjudged() {
    let place = Place::new();
    for (condition, said) in [
        ("max(call(panics, T)) > 1", "out of balance"),
        ("max(call(fails, T)) > 1", "no field"),
        ("max(call(nowhere, T)) > 1", "this publisher knows no transform \"nowhere\"; of arrays it knows: "),
    ] {
        let options = place.publisher_options().with_transforms(&transforms()).with_derive_budget(PATIENCE);
        let unjudged = told(options, &place, condition, 1).unjudged.expect(condition).to_string();
        assert!(
            unjudged.starts_with("publisher rank 0 did not measure: ") && unjudged.contains(said),
            "{unjudged}"
        );
    }
}

/// Twice it may hold a step up, as long as the owner says. Then it is not called any more.
#[test]
fn a_function_that_does_not_end_is_given_up() {
    let place = Place::new();
    let (end, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let transforms = Transforms::default();
    let stuck = Native::elements("stuck", move |inputs: &[&[f64]]| {
        let _ = wait.lock().map(|wait| wait.recv());
        Ok(inputs[0].to_vec())
    });
    transforms.register(stuck).expect("registered");
    let options = place.publisher_options().with_transforms(&transforms).with_derive_budget(PATIENCE);
    let options = options.with_derive_timeout(Duration::from_millis(800));
    let unjudged =
        told(options, &place, "max(call(stuck, T)) > 1", 4).unjudged.expect("it never ends").to_string();
    assert!(unjudged.contains("ran too long 2 times and is refused"), "{unjudged}");
    drop(end);
}
