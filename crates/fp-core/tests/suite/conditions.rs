//! Subscribers that want steps with some variable only, while others come between.

use crate::support::executor::{Bell, poll};
use crate::support::{PATIENCE, Place, STREAM, ending, eventually, named, nothing, take, values};
use fp_core::{
    Cohort, Condition, NextStep, ParseConditionError, Publisher, QueuePolicy, Region, Selection, StartAt,
    Subscriber, SubscriberOptions, TransportKind, Variable,
};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];
/// Elements of the field: more than fits into an announcement.
const LEN: u64 = 2000;
/// Particles: few enough for one.
const FEW: u64 = 10;

fn has(options: SubscriberOptions, variable: &str) -> SubscriberOptions {
    options.with_condition(format!("has({variable})").as_str()).expect("a condition")
}

/// Publishes the field, and particles if they are there.
fn publish(publisher: &mut Publisher, with_particles: bool) {
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    let parts = [("field", LEN, true), ("particles", FEW, with_particles)];
    for (name, len, _) in parts.into_iter().filter(|(.., is_there)| *is_there) {
        let (variable, region) = named(name, len);
        writer.put(&variable, &region, values(step, len)).expect("put");
    }
    writer.end().expect("ended");
}

/// Rank 0 puts its half of the field in every step, rank 1 its own, and the particles in every third.
fn publish_half(place: &Place, rank: u32, steps: u64) {
    let cohort = Cohort::of(rank, 2).expect("a cohort");
    let options = place.publisher_options().with_cohort(cohort).with_min_subscribers(2);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let field = Variable::global::<u64>("field", &[2 * LEN]).expect("a shape");
    let region = Region::new([u64::from(rank) * LEN], [LEN]).expect("inside");
    for step in 0..steps {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&field, &region, values(step, LEN)).expect("put");
        if step % 3 == 0 && rank == 1 {
            let (particles, all) = named("particles", FEW);
            writer.put(&particles, &all, values(step, FEW)).expect("put");
        }
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

/// Everything until the end: the numbers of the steps, whose particles are read if they are wanted.
fn read_to_the_end(mut subscriber: Subscriber, particles: bool) -> (Vec<u64>, u64) {
    let mut steps = Vec::new();
    loop {
        match subscriber.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(reader) => {
                let step = reader.step().0;
                assert_eq!(reader.get::<u64>("field", &Selection::All).expect("got").len() as u64, 2 * LEN);
                if particles {
                    assert_eq!(
                        reader.get::<u64>("particles", &Selection::All).expect("got"),
                        values(step, FEW)
                    );
                }
                steps.push(step);
            }
            NextStep::NotYet => panic!("neither a step nor the end after {steps:?}"),
            NextStep::Ended(_) => return (steps, subscriber.statistics().skipped_steps),
        }
    }
}

/// What one rank alone puts is enough, however the bytes travel; and another subscriber has every step.
#[test]
fn a_subscriber_has_the_steps_with_particles_and_no_others() {
    for kind in KINDS {
        let place = Place::new();
        std::thread::scope(|scope| {
            for rank in 0..2 {
                let place = &place;
                scope.spawn(move || publish_half(place, rank, 20));
            }
            let every = scope.spawn(|| {
                let options = place.over(kind).with_name("every");
                read_to_the_end(Subscriber::open(STREAM, options).expect("attached"), false)
            });
            let options = has(place.over(kind).with_name("some"), "particles").with_credit_steps(1);
            let some = read_to_the_end(Subscriber::open(STREAM, options).expect("attached"), true);
            assert_eq!(some, (vec![0, 3, 6, 9, 12, 15, 18], 0), "{kind}");
            assert_eq!(every.join().expect("no panic"), ((0..20).collect(), 0), "{kind}");
        });
    }
}

/// Whoever waits for a step with particles sleeps through the others, and nobody waits for whoever sleeps.
#[test]
fn nobody_is_woken_for_steps_of_others() {
    for kind in KINDS {
        let place = Place::new();
        let mut publisher = place.publisher();
        let options = has(place.over(kind), "particles")
            .with_policy(QueuePolicy::EveryStep { max_wait: Duration::ZERO });
        let options = options.with_limit_steps(1).with_credit_steps(1);
        let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
        let mut every = place.subscriber_over(kind);
        for round in 0..3 {
            let bell = Bell::new();
            {
                let mut next = pin!(subscriber.next_step_async(PATIENCE));
                assert!(poll(next.as_mut(), &bell).is_pending());
                for _ in 0..6 {
                    publish(&mut publisher, false);
                    drop(take(&mut every));
                }
                assert!(!bell.take(), "{kind}: woken for a step without particles");
                publish(&mut publisher, true);
                drop(take(&mut every));
                bell.listen();
                let Poll::Ready(Ok(NextStep::Step(reader))) = poll(next.as_mut(), &bell) else {
                    panic!("{kind}: no step");
                };
                let step = 7 * round + 6;
                assert_eq!((reader.step().0, reader.skipped()), (step, 0));
                assert_eq!(reader.get::<u64>("field", &Selection::All).expect("got"), values(step, LEN));
            }
            eventually("it is released", || publisher.queue_depth().iter().all(|(_, depth)| *depth == 0));
        }
        assert_eq!((subscriber.statistics().steps, subscriber.statistics().skipped_steps), (3, 0));
        subscriber.close().expect("left");
        every.close().expect("left");
        publisher.close().expect("closed");
    }
}

/// The variable that a step must have need not be subscribed to, and it may come late, or never.
#[test]
fn a_name_may_be_unknown_for_long() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options = has(place.subscriber_options().with_variables(["field"]), "particles");
    let mut some = Subscriber::open(STREAM, options).expect("attached");
    let options = has(place.subscriber_options(), "partcles");
    let mut none = Subscriber::open(STREAM, options).expect("attached");
    (0..6).for_each(|_| publish(&mut publisher, false));
    nothing(&mut some);
    publish(&mut publisher, true);
    let reader = take(&mut some);
    assert_eq!((reader.step().0, reader.skipped()), (6, 0));
    assert_eq!(reader.get::<u64>("field", &Selection::All).expect("got"), values(6, LEN));
    assert!(reader.get::<u64>("particles", &Selection::All).is_err(), "it was not subscribed to");
    drop(reader);
    nothing(&mut none);
    let closing = std::thread::spawn(move || publisher.close());
    assert_eq!(ending(&mut none).last, None);
    drop(some);
    closing.join().expect("no panic").expect("closed");
}

#[test]
fn the_reserve_has_steps_with_particles_for_who_comes_late() {
    let place = Place::new();
    let mut publisher =
        Publisher::open(STREAM, place.publisher_options().with_reserve_steps(6)).expect("the stream opens");
    (0..9).for_each(|step| publish(&mut publisher, step % 3 == 0));
    let options = has(place.subscriber_options(), "particles").with_start_at(StartAt::OldestReserved);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    for expected in [3, 6] {
        let reader = take(&mut subscriber);
        assert_eq!((reader.step().0, reader.skipped()), (expected, 0));
        assert_eq!(reader.get::<u64>("particles", &Selection::All).expect("got"), values(expected, FEW));
    }
    nothing(&mut subscriber);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn a_condition_that_cannot_be_read_says_where() {
    let refused = |text: &str| SubscriberOptions::default().with_condition(text).expect_err("refused");
    assert!(matches!(refused("has(particles"), ParseConditionError::Expected { at: 14, .. }));
    let text = "\"above(T)\", character 1: there is no condition \"above\"; there are has(variable), min(variable), ";
    assert!(refused("above(T)").to_string().starts_with(text));
    let condition = Condition::Has { variable: "T".to_owned() };
    let options = SubscriberOptions::default().with_condition(condition.clone()).expect("one is one");
    assert_eq!(options.condition, Some(condition));
}
