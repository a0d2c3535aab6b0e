//! What errors say: the whole sentence and each part once, in words of what the caller asked for; and what whoever
//! retries asks of them.

use crate::support::{Place, STREAM, publish, take, values};
use fp_core::{
    Cohort, Loss, NextStep, OpenError, Publisher, Record as _, Region, Rendezvous, Select, Share, ShareMode,
    StartAt, StepReader, Subscriber, TransportPolicy, Variable,
};
use std::error::Error;
use std::time::{Duration, Instant};

const LEN: u64 = 100;

/// All texts of a chain of errors.
fn chain(error: &dyn Error) -> Vec<String> {
    std::iter::successors(Some(error), |&error| error.source()).map(ToString::to_string).collect()
}

/// Whoever prints the chain prints no part of it twice.
fn check_chain(error: &dyn Error) {
    let texts = chain(error);
    for (at, text) in texts.iter().enumerate() {
        let said = texts[..at].iter().find(|before| before.contains(text.as_str()));
        assert_eq!(said, None, "{texts:?} say {text:?} twice");
    }
}

fn step_of(place: &Place) -> (Publisher, Subscriber, StepReader) {
    let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber());
    publish(&mut publisher, LEN);
    let step = take(&mut subscriber);
    (publisher, subscriber, step)
}

#[test]
fn a_chain_of_errors_says_nothing_twice() {
    let place = Place::new();
    let (_publisher, _subscriber, step) = step_of(&place);
    let all = || Select::from("[...]");
    check_chain(&step.get::<f32>("array", all()).expect_err("another type"));
    check_chain(&step.get::<u64>("array", "[0:1000]").expect_err("outside"));
    check_chain(&step.get::<u64>("array", "0:10").expect_err("no selection"));
    check_chain(&step.get::<u64>("array", "[block 0.9]").expect_err("no such block"));
    check_chain(&step.get::<u8>("array", all().with_conversion(Loss::Refused)).expect_err("too narrow"));
    check_chain(&Subscriber::open("", place.subscriber_options()).map(drop).expect_err("no name"));
    check_chain(&Rendezvous::at("/nowhere/at/all").expect_err("no directory"));
    check_chain(&Cohort::of(3, 2).expect_err("no such rank"));
    check_chain(&"carrier-pigeon".parse::<TransportPolicy>().expect_err("no transport"));
}

#[test]
fn whoever_retries_is_told_what_may_pass() {
    let place = Place::new();
    let absent = place.subscriber_options().with_open_timeout(Duration::from_millis(50));
    let nobody = Subscriber::open("absent", absent).map(drop).expect_err("nobody publishes it");
    assert!(nobody.is_retryable(), "{nobody}");
    let never = Subscriber::open("", place.subscriber_options()).map(drop).expect_err("no name");
    assert!(!never.is_retryable(), "{never}");
    let (mut publisher, subscriber, step) = step_of(&place);
    let mistaken = step.get::<f32>("array", "[...]").expect_err("another type");
    assert!(!mistaken.is_fatal() && !mistaken.is_retryable(), "{mistaken}");
    let open = publisher.begin_step().expect("a step");
    let second = publisher.begin_step().map(drop).expect_err("one is open");
    assert!(!second.is_fatal() && !second.is_retryable(), "{second}");
    open.end().expect("ended");
    subscriber.close().expect("left");
    let closed = step.get::<u64>("array", "[...]").expect_err("the subscriber is closed");
    assert!(closed.is_fatal() && !closed.is_retryable(), "{closed}");
}

#[test]
fn a_member_that_asks_for_something_else_is_told_what() {
    let place = Place::new();
    let _publisher = place.publisher();
    let share = |mode| Share { set: "workers".to_owned(), mode, redeliver: false };
    let options = || place.subscriber_options().with_share(share(ShareMode::OnDemand));
    let _first = Subscriber::open(STREAM, options()).expect("the first member");
    let others = [
        (options().with_start_at(StartAt::OldestReserved), "start_at"),
        (options().with_share(share(ShareMode::RoundRobin)), "mode"),
        (options().with_limit_steps(7), "limit_steps"),
        (options().with_variables(["array"]), "choice of variables"),
    ];
    for (other, part) in others {
        let refused = Subscriber::open(STREAM, other).map(drop).expect_err("another specification");
        let text = refused.to_string();
        assert!(
            text.contains(&format!("work-sharing set \"workers\" exists with another {part}:")),
            "{text}"
        );
        assert!(matches!(refused, OpenError::Failed { .. }) && !refused.is_retryable());
    }
}

#[derive(fp_derive::Record, Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[record(crate = fp_core)]
#[repr(C)]
struct Atom {
    id: u64,
}

#[test]
fn what_does_not_go_with_a_variable_says_what_goes() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber());
    let list = Variable::local::<u64>("list", 1).expect("a name");
    let atoms = Variable::global_records("atoms", &Atom::schema().expect("a type"), &[2]).expect("a name");
    let region = Region::new([0], [2]).expect("inside");
    let mut writer = publisher.begin_step().expect("a step");
    writer.put(&list, &region, values(0, 2)).expect("put");
    writer.put_records_copy(&atoms, &region, &[Atom { id: 1 }, Atom { id: 2 }]).expect("put");
    writer.end().expect("ended");
    let step = take(&mut subscriber);
    let sliced = step.get::<u64>("list", "[0:2]").expect_err("a local array").to_string();
    assert!(sliced.contains("\"list\": it is a local array: it has no positions over all ranks"), "{sliced}");
    assert_eq!(step.get::<u64>("list", "[rank 0]").expect("a rank"), values(0, 2));
    let numbers = step.get::<f64>("atoms", "[...]").expect_err("records").to_string();
    assert!(
        numbers.contains("elements are records, not f64: read them by records or get_records"),
        "{numbers}"
    );
}

#[test]
fn a_vector_is_made_as_long_as_the_selection() {
    let place = Place::new();
    let (_publisher, _subscriber, step) = step_of(&place);
    let (mut one, mut other) = (Vec::new(), vec![7u64; 500]);
    step.get_into::<u64>("array", "[...]", &mut one).expect("it grows");
    assert_eq!(one, values(0, LEN));
    step.get_into::<u64>("array", "[10:20]", &mut one).expect("it shrinks");
    assert_eq!(one, values(0, LEN)[10..20]);
    step.fetch().get("array", "[...]", &mut other).wait(Duration::from_secs(20)).expect("fetched");
    assert_eq!(other, values(0, LEN));
    let slice = step.get_into::<u64>("array", "[...]", &mut one[..]).expect_err("a slice has its length");
    assert!(slice.to_string().contains("has 100 elements, but 10 were given"), "{slice}");
}

/// A drop may be in a task, whose thread others need.
#[test]
fn the_drop_of_a_publisher_whose_steps_are_held_does_not_wait_for_them() {
    let place = Place::new();
    let (publisher, mut subscriber, step) = step_of(&place);
    let dropped = Instant::now();
    drop(publisher);
    assert!(dropped.elapsed() < Duration::from_secs(10), "it took {:?}", dropped.elapsed());
    assert_eq!(step.get::<u64>("array", "[...]").expect("it goes on closing, and serves"), values(0, LEN));
    drop(step);
    let next = subscriber.next_step(Duration::from_secs(20)).expect("the end");
    assert!(matches!(next, NextStep::Ended(_)), "{next:?}");
}
