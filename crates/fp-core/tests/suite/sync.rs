//! `sync`: it returns when all that was published is released, and otherwise says who holds what.

use crate::support::executor::block_on;
use crate::support::{PATIENCE, Place, STREAM, publish, take};
use fp_core::{QueuePolicy, Subscriber, SyncError};
use std::time::Duration;

/// Elements of a step: more than fits into an announcement.
const LEN: u64 = 2000;

fn held(synced: Result<(), SyncError>) -> String {
    let Err(SyncError::Held { held, .. }) = synced else { panic!("not held: {synced:?}") };
    held
}

#[test]
fn who_holds_what_is_told_until_it_is_released() {
    let place = Place::new();
    let mut publisher = place.publisher();
    publisher.sync(Duration::ZERO).expect("nothing was published");
    let mut subscriber = place.subscriber();
    publish(&mut publisher, LEN);
    publish(&mut publisher, LEN);
    let told = held(publisher.sync(Duration::from_millis(50)));
    assert!(told.starts_with("subscription ") && told.ends_with(": steps 0, 1"), "{told}");
    let (first, second) = (take(&mut subscriber), take(&mut subscriber));
    drop(first);
    // What is released is heard of in its own time; the second step is held all the while.
    while !held(publisher.sync(Duration::from_millis(10))).ends_with(": steps 1") {}
    std::thread::scope(|scope| {
        let synced = scope.spawn(|| publisher.sync(PATIENCE));
        drop(second);
        synced.join().expect("no panic").expect("all is released");
    });
    block_on(publisher.sync_async(PATIENCE)).expect("all is released still");
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn a_step_that_is_open_and_subscriptions_that_may_lose_steps_are_not_waited_for() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let lossy = place.subscriber_options().with_policy(QueuePolicy::DropOldest);
    let lossy = Subscriber::open(STREAM, lossy).expect("attached");
    publish(&mut publisher, LEN);
    publisher.sync(Duration::ZERO).expect("the subscription may lose it");
    let subscriber = place.subscriber();
    let step = publisher.begin_step().expect("a step");
    publisher.sync(Duration::ZERO).expect("no step has ended for the other");
    drop(step);
    lossy.close().expect("left");
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}
