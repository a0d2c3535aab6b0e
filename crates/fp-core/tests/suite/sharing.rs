//! Work sharing: members of a set divide the steps of one subscription among themselves.

use crate::support::{PATIENCE, Place, STREAM, eventually, publish, take};
use fp_core::{
    Misuse, NextStep, OpenError, Publisher, ReadError, Selection, Share, ShareMode, StepReader, Subscriber,
    SubscriberOptions,
};

const LEN: u64 = 2000;

fn options(place: &Place, mode: ShareMode) -> SubscriberOptions {
    let share = Share { set: "workers".to_owned(), mode, redeliver: true };
    place.subscriber_options().with_share(share).with_limit_steps(8).with_credit_steps(2)
}

/// A member of the set that takes two steps ahead.
fn member(place: &Place, mode: ShareMode) -> Subscriber {
    Subscriber::open(STREAM, options(place, mode)).expect("a member")
}

fn publish_steps(publisher: &mut Publisher, steps: u64) {
    for _ in 0..steps {
        publish(publisher, LEN);
    }
}

/// What a member gets until the stream ends: the steps, and whether each was given to another before.
fn rest(member: &mut Subscriber) -> Vec<(u64, bool)> {
    let mut steps = Vec::new();
    loop {
        match member.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(reader) => steps.push((reader.step().0, reader.is_redelivered())),
            NextStep::NotYet => panic!("neither a step nor the end after {steps:?}"),
            NextStep::Ended(_) => return steps,
        }
    }
}

#[test]
fn members_take_turns() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let members: Vec<Subscriber> = (0..3).map(|_| member(&place, ShareMode::RoundRobin)).collect();
    publish_steps(&mut publisher, 6);
    let closing = std::thread::spawn(move || publisher.close());
    let own = |first: u64| vec![(first, false), (first + 3, false)];
    // The end comes to all of them together, as what one has may yet go to another.
    let reading = members.into_iter().map(|mut member| std::thread::spawn(move || rest(&mut member)));
    let reading: Vec<_> = reading.collect();
    let taken: Vec<_> = reading.into_iter().map(|thread| thread.join().expect("no panic")).collect();
    assert_eq!(taken, [own(0), own(1), own(2)]);
    closing.join().expect("no panic").expect("closed");
}

#[test]
fn who_is_ready_gets_the_next_step() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let (mut busy, mut idle) = (member(&place, ShareMode::OnDemand), member(&place, ShareMode::OnDemand));
    publish_steps(&mut publisher, 2);
    let held = take(&mut busy);
    let quick = std::thread::spawn(move || rest(&mut idle));
    publish_steps(&mut publisher, 6);
    // The busy one holds a step and has one place more; the other takes all the rest.
    eventually("the others are read", || publisher.queue_depth().iter().all(|(_, steps)| *steps <= 2));
    drop(held);
    let closing = std::thread::spawn(move || publisher.close());
    let slow = rest(&mut busy);
    let quick = quick.join().expect("no panic");
    assert!(slow.len() <= 2 && quick.len() >= 5, "{slow:?}, {quick:?}");
    closing.join().expect("no panic").expect("closed");
}

#[test]
fn who_leaves_gives_back_what_it_did_not_take() {
    for drops in [false, true] {
        let place = Place::new();
        let mut publisher = place.publisher();
        let (mut leaves, mut stays) =
            (member(&place, ShareMode::RoundRobin), member(&place, ShareMode::RoundRobin));
        publish_steps(&mut publisher, 4);
        assert_eq!(take(&mut leaves).step().0, 0);
        if drops {
            drop(leaves);
        } else {
            leaves.close().expect("left");
        }
        publish_steps(&mut publisher, 2);
        let closing = std::thread::spawn(move || publisher.close());
        let mut taken = rest(&mut stays);
        taken.sort_unstable();
        // Step 4 was given to who left if the release of step 0 was there before the leave.
        let steps: Vec<u64> = taken.iter().map(|(step, _)| *step).collect();
        assert_eq!(steps, [1, 2, 3, 4, 5]);
        assert!(taken.contains(&(2, true)) && taken.contains(&(1, false)), "{taken:?}");
        closing.join().expect("no panic").expect("closed");
    }
}

/// How a member lets go of its first step, by what it does with it, and whether a member gets that step again.
type LetsGo = (&'static str, fn(StepReader), bool);

/// Each reads the step first: what is given again must be readable again.
const WAYS: [LetsGo; 5] = [
    ("a drop", drop, false),
    ("done", StepReader::done, false),
    ("given back", |step| step.give_back().expect("the set redelivers"), true),
    (
        "a view that is dropped later",
        |step| drop((step.view::<u64>("array", Selection::All).expect("a view"), step)),
        false,
    ),
    ("a panic", |step| drop(std::thread::spawn(move || panic!("step {} failed", step.step())).join()), true),
];

fn check_first(step: &StepReader, again: bool) {
    assert_eq!((step.step().0, step.is_redelivered()), (0, again));
    assert_eq!(step.get::<u64>("array", Selection::All).expect("the values").len() as u64, LEN);
}

#[test]
fn what_is_given_back_or_dropped_in_a_panic_is_given_again() {
    for (way, let_go, comes_again) in WAYS {
        let place = Place::new();
        let mut publisher = place.publisher();
        let mut alone = member(&place, ShareMode::OnDemand);
        publish_steps(&mut publisher, 1);
        let first = take(&mut alone);
        check_first(&first, false);
        let_go(first);
        if comes_again {
            let again = take(&mut alone);
            check_first(&again, true);
            again.done();
        }
        publish_steps(&mut publisher, 1);
        let closing = std::thread::spawn(move || publisher.close());
        assert_eq!(rest(&mut alone), [(1, false)], "{way}");
        closing.join().expect("no panic").expect("closed");
    }
}

#[test]
fn where_steps_are_said_to_be_done_a_drop_and_a_close_give_back() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let explicit = options(&place, ShareMode::OnDemand).with_explicit_done(true);
    let mut careful = Subscriber::open(STREAM, explicit).expect("a member");
    publish_steps(&mut publisher, 1);
    drop(take(&mut careful));
    let again = take(&mut careful);
    check_first(&again, true);
    again.done();
    publish_steps(&mut publisher, 1);
    let held = take(&mut careful);
    assert_eq!(held.step().0, 1);
    let mut other = member(&place, ShareMode::OnDemand);
    careful.close().expect("left");
    let taken = take(&mut other);
    assert_eq!((taken.step().0, taken.is_redelivered()), (1, true));
    let late = held.give_back().expect_err("it was let go at the close");
    assert!(matches!(late, ReadError::Misuse { source: Misuse::Closed, .. }), "{late}");
}

#[test]
fn what_was_said_of_a_step_holds_though_its_view_outlives_the_subscriber() {
    for (says, comes_again) in [
        (Box::new(StepReader::done) as Box<dyn Fn(StepReader)>, false),
        (Box::new(|step: StepReader| step.give_back().expect("the set redelivers")), true),
    ] {
        // Of what nothing is said, the close says the other.
        let place = Place::new();
        let mut publisher = place.publisher();
        let options = options(&place, ShareMode::OnDemand).with_explicit_done(!comes_again);
        let mut leaves = Subscriber::open(STREAM, options).expect("a member");
        publish_steps(&mut publisher, 1);
        let step = take(&mut leaves);
        let view = step.view::<u64>("array", Selection::All).expect("a view");
        says(step);
        let mut stays = member(&place, ShareMode::OnDemand);
        leaves.close().expect("left");
        assert_eq!(view.len() as u64, LEN);
        publish_steps(&mut publisher, 1);
        let closing = std::thread::spawn(move || publisher.close());
        let mut taken = rest(&mut stays);
        taken.sort_unstable();
        // Before the publisher had heard of it, the last step may have been given to who has left. Then that comes again too.
        let last = taken.pop();
        assert!(matches!(last, Some((1, _))), "{last:?}");
        let expected: &[(u64, bool)] = if comes_again { &[(0, true)] } else { &[] };
        assert_eq!(taken, expected);
        closing.join().expect("no panic").expect("closed");
    }
}

#[test]
fn who_would_give_back_to_nobody_is_told() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let refused = Subscriber::open(STREAM, place.subscriber_options().with_explicit_done(true)).err();
    assert!(matches!(refused, Some(OpenError::NotRedelivered { .. })), "{refused:?}");
    let mut lone = place.subscriber();
    publish_steps(&mut publisher, 1);
    let refused = take(&mut lone).give_back().expect_err("nobody would get it");
    assert!(matches!(refused, ReadError::Misuse { source: Misuse::NotRedelivered { .. }, .. }), "{refused}");
    eventually("it is released", || publisher.queue_depth().iter().all(|(_, steps)| *steps == 0));
}
