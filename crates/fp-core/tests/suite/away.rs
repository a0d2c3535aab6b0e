//! A subscriber that loses the way to its publisher, while that goes on: it comes back to the same opening.

use crate::support::way::Way;
use crate::support::{PATIENCE, Place, STREAM, ending, eventually, publish, take, values};
use fp_core::{
    Contact, EndReason, Event, ExpulsionCause, OnLoss, Publisher, PublisherOptions, QueuePolicy, Selection,
    Subscriber, SubscriberOptions, TransportKind,
};
use std::sync::Arc;
use std::time::Duration;

/// Elements of a step.
const LEN: u64 = 500;

/// A publisher, and a subscriber whose control goes by a way.
fn apart(
    publisher: impl FnOnce(PublisherOptions) -> PublisherOptions,
    subscriber: impl FnOnce(SubscriberOptions) -> SubscriberOptions,
) -> (Place, Publisher, Arc<Way>, Subscriber) {
    let place = Place::new();
    let publisher = Publisher::open(STREAM, publisher(place.publisher_options())).expect("the stream opens");
    let target = publisher.contact().tcp_addresses().next().expect("it listens for tcp");
    let (way, begin) = Way::to(target);
    let options = place.over(TransportKind::Tcp).with_publisher_contact(Contact::from_address(begin));
    let options = options.with_on_loss(OnLoss::AwaitRestart(PATIENCE)).with_limit_steps(20);
    let options = subscriber(options.with_credit_steps(20));
    let subscriber = Subscriber::open(STREAM, options).expect("attached");
    (place, publisher, way, subscriber)
}

/// Takes the next step and checks what it has: its number, and how many were skipped before it.
fn read(subscriber: &mut Subscriber) -> (u64, u64) {
    let reader = take(subscriber);
    let step = reader.step().0;
    assert_eq!(reader.get::<u64>("array", &Selection::All).expect("got"), values(step, LEN));
    (step, reader.skipped())
}

fn publish_steps(publisher: &mut Publisher, steps: usize) {
    (0..steps).for_each(|_| _ = publish(publisher, LEN));
}

/// The next event that says it. Later ones stay: a subscriber may be back before this one is looked at.
fn told<T>(subscriber: &Subscriber, what: &str, says: impl Fn(Event) -> Option<T>) -> T {
    let events = subscriber.event_queue();
    loop {
        let event = events.next(PATIENCE).unwrap_or_else(|| panic!("never: {what}"));
        if let Some(said) = says(event) {
            return said;
        }
    }
}

/// Why it waits for the publisher.
fn awaited(subscriber: &Subscriber) -> EndReason {
    told(subscriber, "the loss is told of", |event| {
        if let Event::AwaitingRestart { reason } = event { Some(reason) } else { None }
    })
}

/// Whether numbers go on, once it is back.
fn back(subscriber: &Subscriber) -> bool {
    told(subscriber, "it is attached again", |event| {
        if let Event::Restarted { continues, .. } = event { Some(continues) } else { None }
    })
}

#[test]
fn who_loses_the_way_comes_back_to_the_same_epoch_and_goes_on() {
    let (_place, mut publisher, way, mut subscriber) = apart(|options| options, |options| options);
    publish_steps(&mut publisher, 4);
    assert_eq!([read(&mut subscriber), read(&mut subscriber)], [(0, 0), (1, 0)]);
    let held = take(&mut subscriber);
    assert_eq!(held.step().0, 2);
    way.cut();
    assert!(matches!(awaited(&subscriber), EndReason::Lost { .. }));
    eventually("the publisher knows of it", || !publisher.has_subscribers());
    publish_steps(&mut publisher, 3);
    way.mend();
    assert!(back(&subscriber), "numbers go on, though the publisher said no first step");
    assert_eq!(subscriber.epoch(), Some(publisher.epoch()));
    // What was taken before belongs to another attachment, and its release to none.
    held.get::<u64>("array", &Selection::All).expect_err("of before");
    drop(held);
    publish_steps(&mut publisher, 2);
    // Step 2 was taken; 3 waited here, and 4 to 6 were published meanwhile.
    assert_eq!([read(&mut subscriber), read(&mut subscriber)], [(7, 4), (8, 0)]);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn of_what_was_missed_the_reserve_gives_what_it_has() {
    let reserve = |options: PublisherOptions| options.with_reserve_steps(8);
    let (_place, mut publisher, way, mut subscriber) = apart(reserve, |options| options);
    publish_steps(&mut publisher, 3);
    (0..3).for_each(|step| assert_eq!(read(&mut subscriber), (step, 0)));
    for first in [3, 6] {
        way.cut();
        awaited(&subscriber);
        eventually("the publisher knows of it", || !publisher.has_subscribers());
        publish_steps(&mut publisher, 2);
        way.mend();
        assert!(back(&subscriber));
        publish_steps(&mut publisher, 1);
        (first..first + 3)
            .for_each(|step| assert_eq!(read(&mut subscriber), (step, 0), "none missed, none twice"));
    }
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn who_was_given_up_because_nothing_was_heard_of_it_comes_back() {
    let silence = Duration::from_secs(3);
    let short = |options: PublisherOptions| options.with_silence(silence);
    let (_place, mut publisher, way, mut subscriber) = apart(short, |options| options);
    publish_steps(&mut publisher, 1);
    assert_eq!(read(&mut subscriber), (0, 0));
    way.mute();
    let reason = awaited(&subscriber);
    let is_silence = matches!(reason, EndReason::Expelled { cause: ExpulsionCause::Silent { .. }, .. });
    assert!(is_silence, "{reason}");
    assert!(back(&subscriber));
    publish_steps(&mut publisher, 1);
    assert_eq!(read(&mut subscriber), (1, 0));
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn who_was_expelled_for_being_slow_does_not_come_back_by_itself() {
    let slow = |options: SubscriberOptions| {
        options.with_policy(QueuePolicy::EveryStep { max_wait: Duration::ZERO }).with_limit_steps(2)
    };
    let (_place, mut publisher, _way, mut subscriber) = apart(|options| options, slow);
    publish_steps(&mut publisher, 3);
    let held: Vec<_> = (0..2).map(|_| take(&mut subscriber)).collect();
    let reason = ending(&mut subscriber).reason;
    let is_slow = matches!(reason, EndReason::Expelled { cause: ExpulsionCause::Unreleased { .. }, .. });
    assert!(is_slow, "{reason}");
    drop(held);
    assert!(!subscriber.events().iter().any(|event| matches!(event, Event::AwaitingRestart { .. })));
    publisher.close().expect("closed");
}
