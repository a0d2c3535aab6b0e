//! What a process does that waits inside a call.
//!
//! A binary of its own, as the sleeps of the process's one background thread are counted.
mod support;

use fp_core::{NextStep, Publisher};
use std::time::{Duration, Instant};
use support::{Place, publish, take};

/// What a subscriber that opens may take, with the background thread of the publisher at it and on a loaded machine.
const SOON: Duration = Duration::from_millis(45);

/// How often threads of ours that are named so have gone to sleep.
fn sleeps(name: &str) -> u64 {
    let tasks = std::fs::read_dir("/proc/self/task").expect("the threads of this process");
    let statuses = tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("status")).ok());
    let of_thread = |status: String| {
        let line =
            |key: &str| Some(status.lines().find_map(|line| line.strip_prefix(key))?.trim().to_owned());
        if line("Name:")? == name { line("voluntary_ctxt_switches:")?.parse::<u64>().ok() } else { None }
    };
    statuses.filter_map(of_thread).sum()
}

/// Waits in a call for so long. Somebody comes meanwhile, so that the background thread hears of it and leaves it to
/// us.
fn wait_in_company(place: &Place, publisher: &Publisher, timeout: Duration) {
    std::thread::scope(|scope| {
        scope.spawn(|| drop(place.subscriber()));
        assert!(publisher.wait_for_subscriptions(9, timeout) < 9);
    });
}

/// One after the other: there is one background thread in a process.
#[test]
fn who_waits_in_a_call_leaves_the_background_thread_asleep_and_attending() {
    a_process_that_waits_sleeps();
    whoever_waited_long_and_goes_leaves_the_endpoint_attended();
}

fn a_process_that_waits_sleeps() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let mut subscriber = place.subscriber();
    publish(&mut publisher, 8);
    drop(take(&mut subscriber));
    let before = sleeps("flexpath");
    let next = subscriber.next_step(Duration::from_secs(2));
    assert!(matches!(next, Ok(NextStep::NotYet)), "{next:?}");
    let slept = sleeps("flexpath") - before;
    assert!(slept < 200, "the background thread woke {slept} times in two seconds");
}

fn whoever_waited_long_and_goes_leaves_the_endpoint_attended() {
    let place = Place::new();
    let publisher = place.publisher();
    let _subscriber = place.subscriber();
    let late = (0..10).filter(|_| {
        wait_in_company(&place, &publisher, Duration::from_millis(150));
        let started = Instant::now();
        drop(place.subscriber());
        started.elapsed() > SOON
    });
    let late = late.count();
    assert!(late <= 4, "{late} of 10 subscribers were heard late");
}
