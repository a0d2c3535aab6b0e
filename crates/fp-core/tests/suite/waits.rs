//! What calls waited for is counted: the reasons add up to the time in the call.

use crate::support::{PATIENCE, Place, STREAM, publish, take, values};
use fp_core::{Cohort, NextStep, Publisher, QueuePolicy, Selection, Subscriber, TransportKind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Elements of a step: more than fits into an announcement.
const LEN: u64 = 2000;
/// How long one side keeps the other waiting.
const PAUSE: Duration = Duration::from_millis(50);
/// Lets that time pass.
fn keep_waiting() {
    let (_never, news) = mpsc::channel::<()>();
    assert_eq!(news.recv_timeout(PAUSE), Err(RecvTimeoutError::Timeout));
}

/// How often a call is tried: beside other work its thread may be held up as it returns.
const TRIES: usize = 10;

/// Tries until what was counted of a call is within 2 % of how long it took.
fn add_up(what: &str, mut call: impl FnMut() -> (u64, Duration)) {
    let tries: Vec<(u64, Duration)> = (0..TRIES).map(|_| call()).collect();
    let close = |(counted, took): &(u64, Duration)| {
        let took = took.as_nanos() as u64;
        *counted <= took && *counted >= took - took / 50
    };
    assert!(tries.iter().any(close), "{what}: counted (ns) and took: {tries:?}");
}

#[test]
fn a_publisher_counts_what_it_waited_for_a_subscription() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let policy = QueuePolicy::EveryStep { max_wait: Duration::from_secs(60) };
    let options = place.subscriber_options().with_policy(policy).with_limit_steps(1);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    publish(&mut publisher, LEN);
    add_up("begin_subscription_ns", || {
        let held = take(&mut subscriber);
        let before = publisher.statistics();
        let started = thread::scope(|scope| {
            scope.spawn(|| {
                keep_waiting();
                drop(held);
            });
            let started = Instant::now();
            let step = publisher.begin_step().expect("a step");
            let took = started.elapsed();
            step.end().expect("ended");
            took
        });
        let after = publisher.statistics();
        assert_eq!((after.begin_skew_ns, after.begin_opening_ns), (0, 0));
        (after.begin_subscription_ns - before.begin_subscription_ns, started)
    });
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn a_publisher_counts_what_it_waited_for_a_rank_that_lags() {
    let place = Place::new();
    let ranks = [0, 1].map(|rank| {
        let cohort = Cohort::of(rank, 2).expect("a cohort");
        let options = place.publisher_options().with_cohort(cohort).with_skew_steps(1);
        thread::spawn(move || Publisher::open(STREAM, options).expect("open"))
    });
    let [mut ahead, mut behind] = ranks.map(|rank| rank.join().expect("no panic"));
    // Without a subscription nobody need agree on steps; this one holds nobody up.
    let lossy = place.subscriber_options().with_policy(QueuePolicy::LatestOnly);
    let subscriber = Subscriber::open(STREAM, lossy).expect("attached");
    let later = thread::spawn(move || {
        (0..=TRIES).for_each(|_| {
            keep_waiting();
            behind.begin_step().expect("a step").end().expect("ended");
        });
        behind
    });
    ahead.begin_step().expect("a step").end().expect("ended");
    add_up("begin_skew_ns", || {
        let before = ahead.statistics().begin_skew_ns;
        let started = Instant::now();
        let step = ahead.begin_step().expect("a step");
        let took = started.elapsed();
        step.end().expect("ended");
        (ahead.statistics().begin_skew_ns - before, took)
    });
    subscriber.close().expect("left");
    let behind = later.join().expect("no panic");
    let closing = thread::spawn(move || behind.close());
    ahead.close().expect("closed");
    closing.join().expect("no panic").expect("closed");
}

#[test]
fn a_subscriber_counts_what_it_waited_for_steps_layouts_and_elements() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = place.subscriber_over(TransportKind::Tcp);
    add_up("next_step_ns", || {
        let before = subscriber.statistics().next_step_ns;
        let started = Instant::now();
        let next = subscriber.next_step(PAUSE).expect("no failure");
        let took = started.elapsed();
        assert!(matches!(next, NextStep::NotYet), "{next:?}");
        (subscriber.statistics().next_step_ns - before, took)
    });
    // Every step has another layout and much to fetch, so that the first get of it waits for both.
    let mut len = 4 << 20;
    add_up("resolve_ns and fetch_ns", || {
        len += 1;
        publish(&mut publisher, len);
        let step = take(&mut subscriber);
        let mut elements = vec![0u64; len as usize];
        let before = subscriber.statistics();
        let started = Instant::now();
        step.get_into("array", Selection::All, &mut elements[..]).expect("read");
        let took = started.elapsed();
        let after = subscriber.statistics();
        assert_eq!(elements, values(step.step().0, len));
        let (resolved, fetched) = (after.resolve_ns - before.resolve_ns, after.fetch_ns - before.fetch_ns);
        assert!(resolved > 0 && fetched > 0, "{resolved} and {fetched}");
        (resolved + fetched, took)
    });
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn sync_counts_how_long_it_waited() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = place.subscriber();
    publish(&mut publisher, LEN);
    let held = take(&mut subscriber);
    add_up("sync_ns", || {
        let before = publisher.statistics().sync_ns;
        let started = Instant::now();
        publisher.sync(PAUSE).expect_err("it is held");
        let took = started.elapsed();
        (publisher.statistics().sync_ns - before, took)
    });
    drop(held);
    publisher.sync(PATIENCE).expect("released");
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}
