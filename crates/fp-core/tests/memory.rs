//! Memory runs short: the publisher waits before a put would fail, and newcomers wait until there is more.
//!
//! A binary of its own with one test, as the limit of address space is one of the whole process.

mod support;

use fp_core::{NextStep, OpenError, Publisher, QueuePolicy, Subscriber};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use support::{Place, STREAM, publish, take};

/// Elements of a step: 16 MiB.
const LEN: u64 = 2 << 20;
/// What is left to the process: some steps, and what is never given away.
const LEFT_BYTES: u64 = 160 << 20;
/// More steps than that.
const STEPS: usize = 24;

/// Leaves so many bytes of address space to this process, or as many as there are.
fn leave(bytes: Option<u64>) {
    let text = std::fs::read_to_string("/proc/self/statm").expect("the system counts");
    let pages: u64 = text.split(' ').next().expect("a number").parse().expect("a number");
    let taken_bytes = pages * rustix::param::page_size() as u64;
    let before = getrlimit(Resource::As);
    let current = bytes.map(|bytes| taken_bytes + bytes);
    setrlimit(Resource::As, Rlimit { current, ..before }).expect("a limit");
}

/// The reader holds all that comes. When nothing comes any more it lets go of the oldest step. No put fails.
fn a_publisher_waits_before_a_put_would_fail(place: &Place) {
    let mut publisher = Publisher::open(STREAM, place.publisher_options()).expect("the stream opens");
    let options = place.subscriber_options().with_limit_steps(64).with_credit_steps(64);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    publish(&mut publisher, LEN);
    drop(take(&mut subscriber));
    leave(Some(LEFT_BYTES));
    let reader = std::thread::spawn(move || {
        let (mut held, mut taken) = (VecDeque::new(), 0);
        while taken < STEPS {
            match subscriber.next_step(Duration::from_millis(100)).expect("the stream is sound") {
                NextStep::Step(step) => {
                    held.push_back(step);
                    taken += 1;
                }
                NextStep::NotYet => drop(held.pop_front()),
                NextStep::Ended(ending) => panic!("{ending}"),
            }
        }
        subscriber
    });
    // Fails where a put does.
    for _ in 0..STEPS {
        publish(&mut publisher, LEN);
    }
    let subscriber = reader.join().expect("every step came");
    let waited_ns = publisher.statistics().begin_subscription_ns;
    assert!(waited_ns > 0, "it waited");
    drop(subscriber);
    publisher.close().expect("closed");
}

/// Who keeps what it has, and reads nothing more, loses steps. The stream goes on.
fn a_lossy_subscription_goes_without(place: &Place) {
    let mut publisher = Publisher::open(STREAM, place.publisher_options()).expect("the stream opens");
    let options = place.subscriber_options().with_policy(QueuePolicy::DropNewest).with_limit_steps(64);
    let mut subscriber = Subscriber::open(STREAM, options.with_credit_steps(64)).expect("attached");
    leave(Some(LEFT_BYTES));
    let mut held = Vec::new();
    for _ in 0..STEPS {
        publish(&mut publisher, LEN);
        let next = subscriber.next_step(Duration::from_millis(20)).expect("the stream is sound");
        held.extend(if let NextStep::Step(reader) = next { Some(reader) } else { None });
    }
    assert!((2..STEPS).contains(&held.len()), "{} steps of {STEPS}", held.len());
    drop(held);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

/// Nobody new is let in while less is left than the publisher keeps. Then it is, without being asked anew.
fn a_newcomer_waits_for_memory(place: &Place) {
    leave(Some(LEFT_BYTES));
    let options = place.publisher_options().with_kept_bytes(2 * LEFT_BYTES);
    let publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let patience = |patience| place.subscriber_options().with_open_timeout(patience);
    let began = Instant::now();
    let refused = Subscriber::open(STREAM, patience(Duration::from_secs(2)));
    assert!(began.elapsed() >= Duration::from_secs(2), "it tries again");
    let refused = refused.err().expect("there is too little memory");
    assert!(matches!(refused, OpenError::Failed { .. }), "{refused:?}");
    assert!(refused.is_retryable(), "memory may come free");
    let text = refused.to_string();
    assert!(text.contains("bytes of memory left and keeps 335544320 for its own steps"), "{text}");
    let options = patience(Duration::from_secs(60));
    let newcomer = std::thread::spawn(move || Subscriber::open(STREAM, options));
    leave(None);
    newcomer.join().expect("it ends").expect("there is memory").close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn memory_runs_short() {
    for part in [
        a_publisher_waits_before_a_put_would_fail,
        a_lossy_subscription_goes_without,
        a_newcomer_waits_for_memory,
    ] {
        leave(None);
        part(&Place::new());
    }
}
