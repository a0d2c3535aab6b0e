//! The bound of bytes that all streams of a process share.
//!
//! A binary of its own, as the bound is the process's.

mod support;

use fp_core::{Misuse, PutError, QueuePolicy, limit_process_bytes};
use fp_core::{NextStep, Subscriber};
use std::time::{Duration, Instant};
use support::{PATIENCE, Place, array, publish, take};

/// Elements of a step; 16,000 bytes.
const LEN: u64 = 2000;
const STEP_BYTES: u64 = 8 * LEN;

fn attached(place: &Place) -> Subscriber {
    let options = place.subscriber_options().with_limit_steps(8).with_credit_steps(8);
    Subscriber::open(support::STREAM, options).expect("attached")
}

#[test]
fn streams_of_a_process_wait_for_each_other_and_none_starves() {
    limit_process_bytes(4 * STEP_BYTES);
    let (here, there) = (Place::new(), Place::new());
    let (mut one, mut other) = (here.publisher(), there.publisher());
    let (mut of_one, mut of_other) = (attached(&here), attached(&there));
    let mut held: Vec<_> = (0..4)
        .map(|_| {
            publish(&mut one, LEN);
            take(&mut of_one)
        })
        .collect();

    // All is taken, and still a stream that holds nothing has its step.
    publish(&mut other, LEN);
    let second = take(&mut of_other);

    // Its next one waits for the other stream, whose release wakes it long before its owner's 60 s.
    let started = Instant::now();
    let waiting = std::thread::spawn(move || {
        publish(&mut other, LEN);
        other
    });
    assert!(matches!(of_other.next_step(Duration::from_millis(300)).expect("live"), NextStep::NotYet));
    assert!(!waiting.is_finished(), "the bound is passed by more than one step");
    held.truncate(2);
    let mut other = waiting.join().expect("no panic");
    assert!(started.elapsed() < PATIENCE / 2, "nobody woke it");
    drop((take(&mut of_other), second));

    // A subscription that may lose steps loses them instead.
    of_other.close().expect("left");
    support::eventually("the first has left", || !other.has_subscribers());
    let lossy = there.subscriber_options().with_policy(QueuePolicy::DropNewest).with_credit_steps(8);
    let mut lossy = Subscriber::open(support::STREAM, lossy.with_limit_steps(8)).expect("attached");
    publish(&mut other, LEN);
    let kept = take(&mut lossy);
    publish(&mut one, LEN);
    held.push(take(&mut of_one));
    publish(&mut other, LEN);
    drop(held);
    drop(kept);
    support::eventually("all is released", || other.queue_depth().iter().all(|(_, live)| *live == 0));
    publish(&mut other, LEN);
    assert_eq!(take(&mut lossy).skipped(), 1);

    // A step larger than the bound is an error at once.
    let len = 4 * LEN + 1;
    let (variable, region) = array(len);
    let mut step = other.begin_step().expect("begun");
    let error = step.put(&variable, &region, vec![0u64; len as usize]);
    let error = error.expect_err("too large");
    let PutError::Misuse { source: Misuse::StepTooLarge { len_bytes, limit_bytes, .. }, .. } = error else {
        panic!("{error}");
    };
    assert_eq!((len_bytes, limit_bytes), (8 * len, 4 * STEP_BYTES));
}
