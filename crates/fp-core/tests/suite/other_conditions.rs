//! Subscribers that want other steps than until now, while the stream runs.

use crate::support::{PATIENCE, Place, STREAM, nothing, publish, take};
use fp_core::{
    Cohort, ConditionError, Misuse, NextStep, Publisher, Region, Subscriber, SubscriberOptions,
    TransportKind, Variable,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const RANKS: u32 = 3;

fn when(options: SubscriberOptions, condition: &str) -> SubscriberOptions {
    options.with_condition(condition).expect(condition)
}

/// The number that a rank publishes in a step.
fn number(step: u64, rank: u32) -> f64 {
    ((step * 31 + u64::from(rank) * 17) % 23) as f64
}

fn greatest(step: u64) -> f64 {
    (0..RANKS).map(|rank| number(step, rank)).fold(f64::MIN, f64::max)
}

fn least(step: u64) -> f64 {
    (0..RANKS).map(|rank| number(step, rank)).fold(f64::MAX, f64::min)
}

/// One rank, until all ranks have passed the last step.
fn publish_numbers(place: &Place, rank: u32, last: &AtomicU64) {
    let cohort = Cohort::of(rank, RANKS).expect("a cohort");
    let options = place.publisher_options().with_cohort(cohort);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let variable = Variable::global::<f64>("T", &[u64::from(RANKS)]).expect("a shape");
    let region = Region::new([u64::from(rank)], [1]).expect("inside");
    let mut step = 0;
    while step <= last.load(Ordering::SeqCst) {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_copy(&variable, &region, &[number(step, rank)]).expect("put");
        writer.end().expect("ended");
        step += 1;
    }
    publisher.close().expect("closed");
}

/// A condition, and whether a step is so.
type Asked = (&'static str, fn(u64) -> bool);

/// What a watcher asks for, one after the other.
const ASKED: [Asked; 4] = [
    ("max(T) > 20", |step| greatest(step) > 20.0),
    ("min(T) < 2", |step| least(step) < 2.0),
    ("max(T) > 21", |step| greatest(step) > 21.0),
    ("every(2)", |step| step.is_multiple_of(2)),
];

/// The steps that came, and from which step on each condition held.
fn watch(place: &Place, kind: TransportKind, last: &AtomicU64) -> (Vec<u64>, Vec<u64>) {
    let options = when(place.over(kind), ASKED[0].0);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    let (mut steps, mut firsts) = (Vec::new(), vec![subscriber.first_step().expect("attached").0]);
    for (condition, _) in &ASKED[1..] {
        (0..3).for_each(|_| steps.push(take(&mut subscriber).step().0));
        firsts.push(subscriber.set_condition(*condition, PATIENCE).expect(condition).0);
    }
    last.store(firsts.last().expect("some") + 60, Ordering::SeqCst);
    loop {
        match subscriber.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(step) => steps.push(step.step().0),
            NextStep::NotYet => panic!("neither a step nor the end after {}", steps.len()),
            NextStep::Ended(_) => break,
        }
    }
    assert_eq!(subscriber.statistics().skipped_steps, 0);
    (steps, firsts)
}

#[test]
fn another_condition_holds_from_the_step_that_is_told() {
    for kind in [TransportKind::Shm, TransportKind::Tcp] {
        let (place, last) = (Place::new(), AtomicU64::new(u64::MAX));
        let (steps, firsts) = std::thread::scope(|scope| {
            let (place, last) = (&place, &last);
            (0..RANKS).for_each(|rank| drop(scope.spawn(move || publish_numbers(place, rank, last))));
            watch(place, kind, last)
        });
        assert!(firsts.is_sorted(), "{firsts:?}");
        let is_so = |step: &u64| {
            let held = firsts.iter().rposition(|first| first <= step).expect("none is before the first");
            ASKED[held].1(*step)
        };
        let expected: Vec<u64> = (firsts[0]..=last.load(Ordering::SeqCst)).filter(is_so).collect();
        assert!(expected.len() > 30, "{}", expected.len());
        assert_eq!(steps, expected, "{kind}, {firsts:?}");
    }
}

#[test]
fn a_condition_that_is_refused_leaves_the_one_before() {
    let place = Place::new();
    let mut publisher =
        Publisher::open(STREAM, place.publisher_options().with_derivations(false)).expect("the stream opens");
    let mut subscriber =
        Subscriber::open(STREAM, when(place.subscriber_options(), "has(array)")).expect("attached");
    publish(&mut publisher, 4);
    drop(take(&mut subscriber));
    let refused = subscriber.set_condition("max(array) > 3", PATIENCE).expect_err("nothing is measured here");
    assert!(matches!(refused, ConditionError::Refused { .. }), "{refused:?}");
    assert!(refused.to_string().ends_with("; the condition before holds on"), "{refused}");
    publish(&mut publisher, 4);
    assert_eq!(take(&mut subscriber).step().0, 1);
    let first = subscriber.set_condition("has(other)", PATIENCE).expect("it is judged by tables alone");
    assert_eq!(first.0, 2);
    publish(&mut publisher, 4);
    nothing(&mut subscriber);
    subscriber.select_variables(["array"]).expect("another selection");
    assert_eq!(crate::support::agreed(&mut subscriber), 2, "the condition was told before");
    publish(&mut publisher, 4);
    nothing(&mut subscriber);
}

#[test]
fn who_may_not_ask_is_told_why() {
    let place = Place::new();
    let publisher = place.publisher();
    let mut all = place.subscriber();
    let said = all.set_condition("has(array)", PATIENCE).expect_err("it has none").to_string();
    assert!(said.contains("opened without a condition"), "{said}");
    let mut some =
        Subscriber::open(STREAM, when(place.subscriber_options(), "has(array)")).expect("attached");
    let said = some.set_condition("max(array) >", PATIENCE).expect_err("half a text");
    assert!(matches!(said, ConditionError::Text { .. }), "{said:?}");
    assert!(said.to_string().contains("character 13"), "{said}");
    let said = some.set_condition("max(module(mine, array)) > 3", PATIENCE).expect_err("no module");
    assert!(matches!(said, ConditionError::Text { .. }), "{said:?}");
    let cohort = |rank| {
        let cohort = Cohort::of(rank, 2).expect("a cohort");
        when(place.subscriber_options().with_cohort(cohort).with_name("two"), "has(array)")
    };
    std::thread::scope(|scope| {
        let lead = scope.spawn(|| Subscriber::open(STREAM, cohort(0)).expect("attached"));
        let mut other = Subscriber::open(STREAM, cohort(1)).expect("attached");
        let said = other.set_condition("has(other)", PATIENCE).expect_err("rank 1 asks");
        let is_lead = matches!(&said, ConditionError::Misuse { source: Misuse::NotLead { .. }, .. });
        assert!(is_lead, "{said:?}");
        let mut lead = lead.join().expect("attached");
        lead.set_condition("has(other)", PATIENCE).expect("rank 0 asks");
        assert_eq!(crate::support::agreed(&mut other), 0);
    });
    publisher.close().expect("closed");
    let said = some.set_condition("has(other)", Duration::from_secs(1)).expect_err("the stream is over");
    assert!(matches!(said, ConditionError::Misuse { .. } | ConditionError::Over { .. }), "{said:?}");
}
