//! Numbers that outlive an opening of a stream: a first step, a start after a step, a restart that goes on.

use crate::process::Process;
use crate::support::launcher::places;
use crate::support::{PATIENCE, Place, STREAM, eventually, nothing, publish, take, values};
use fp_core::{
    Cohort, Event, OnLoss, OpenError, Publisher, QueuePolicy, Selection, StartAt, StepId, Subscriber,
};
use std::time::Duration;

/// Elements of a step.
const LEN: u64 = 500;
/// Where a process of its own publishes, and from which step on.
const PLACE: &str = "FLEXPATH_TEST_NUMBERS";

fn publisher_from(place: &Place, first: u64, reserve: u32) -> Publisher {
    let options = place.publisher_options().with_first_step(first).with_reserve_steps(reserve);
    Publisher::open(STREAM, options).expect("the stream opens")
}

fn subscriber_after(place: &Place, step: u64) -> Subscriber {
    let options = place.subscriber_options().with_start_at(StartAt::After(StepId(step)));
    Subscriber::open(STREAM, options.with_limit_steps(20).with_credit_steps(10)).expect("attached")
}

fn publish_steps(publisher: &mut Publisher, steps: u64) {
    (0..steps).for_each(|_| {
        publish(publisher, LEN);
    });
}

/// Takes the next step and checks what it has: its number, and how many were skipped before it.
fn read(subscriber: &mut Subscriber) -> (u64, u64) {
    let reader = take(subscriber);
    let step = reader.step().0;
    assert_eq!(reader.get::<u64>("array", &Selection::All).expect("got"), values(step, LEN));
    (step, reader.skipped())
}

#[test]
fn steps_count_from_the_first_step_that_is_said() {
    let place = Place::new();
    let mut publisher = publisher_from(&place, 1_000_000, 0);
    let mut subscriber = place.subscriber();
    assert_eq!((publish(&mut publisher, LEN), publish(&mut publisher, LEN)), (1_000_000, 1_000_001));
    assert_eq!((read(&mut subscriber), read(&mut subscriber)), ((1_000_000, 0), (1_000_001, 0)));
    assert_eq!(subscriber.epoch(), Some(publisher.epoch()));
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn a_first_step_that_leaves_no_room_is_refused() {
    let place = Place::new();
    let options = place.publisher_options().with_first_step(u64::MAX);
    let error = Publisher::open(STREAM, options).map(drop).expect_err("refused");
    assert!(matches!(error, OpenError::FirstStep { first_step: u64::MAX, .. }), "{error}");
    let expected =
        "stream \"stream\": first_step is 18446744073709551615: say a number up to 9223372036854775807";
    assert_eq!(error.to_string(), expected);
}

/// Of the steps 3 to 9 the reserve has the last four.
#[test]
fn what_is_kept_is_given_and_what_is_gone_is_counted() {
    let place = Place::new();
    let mut publisher = publisher_from(&place, 3, 4);
    publish_steps(&mut publisher, 7);
    let mut near = subscriber_after(&place, 7);
    let mut far = subscriber_after(&place, 0);
    publish(&mut publisher, LEN);
    assert_eq!([read(&mut near), read(&mut near), read(&mut near)], [(8, 0), (9, 0), (10, 0)]);
    // 1 and 2 were never published, 3 to 5 are gone.
    assert_eq!([read(&mut far), read(&mut far)], [(6, 5), (7, 0)]);
    assert_eq!(far.statistics().skipped_steps, 5);
    near.close().expect("left");
    far.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn without_a_reserve_all_that_is_gone_is_counted() {
    let place = Place::new();
    let mut publisher = publisher_from(&place, 3, 0);
    publish_steps(&mut publisher, 7);
    let mut subscriber = subscriber_after(&place, 4);
    publish(&mut publisher, LEN);
    assert_eq!(read(&mut subscriber), (10, 5));
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn a_step_of_the_future_is_awaited() {
    let place = Place::new();
    let mut publisher = publisher_from(&place, 0, 2);
    publish(&mut publisher, LEN);
    let mut subscriber = subscriber_after(&place, 4);
    publish_steps(&mut publisher, 4);
    nothing(&mut subscriber);
    publish_steps(&mut publisher, 2);
    assert_eq!([read(&mut subscriber), read(&mut subscriber)], [(5, 0), (6, 0)]);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

/// The ranks 0 and 1, each with its own first step.
fn open_two(place: &Place, first: [Option<u64>; 2], patience: Duration) -> Vec<Result<(), String>> {
    let open = |rank: u32| {
        let options = place.publisher_options().with_cohort(Cohort::of(rank, 2).expect("a cohort"));
        let mut options = options.with_open_timeout(patience);
        options.first_step = first[rank as usize];
        Publisher::open(STREAM, options).map(drop).map_err(|error| error.to_string())
    };
    std::thread::scope(|scope| {
        let ranks = [0, 1].map(|rank| scope.spawn(move || open(rank)));
        ranks.into_iter().map(|rank| rank.join().expect("no panic")).collect()
    })
}

#[test]
fn a_rank_with_another_first_step_is_named() {
    let place = Place::new();
    let opened = open_two(&place, [Some(5), Some(6)], Duration::from_secs(1));
    let refused = opened[1].as_ref().expect_err("refused");
    let reason = "rank 1 says first step 6, its lead says first step 5: say the same on all ranks";
    assert!(refused.contains(reason), "{refused}");
    assert!(opened[0].as_ref().is_err_and(|error| error.contains("1 of 2 ranks")), "{opened:?}");
    let opened = open_two(&place, [Some(5), None], Duration::from_secs(1));
    let refused = opened[1].as_ref().expect_err("refused");
    assert!(refused.contains("rank 1 says no first step, its lead says first step 5"), "{refused}");
    assert_eq!(open_two(&place, [Some(5), Some(5)], PATIENCE), [Ok(()), Ok(())]);
}

#[test]
fn a_launcher_tells_all_ranks_who_has_another_first_step() {
    let (place, seats) = (Place::new(), places(2));
    let open = |seat: &crate::support::launcher::Place| {
        let options = place.publisher_options().with_collectives(seat.cohort(), seat.clone());
        let opened = Publisher::open(STREAM, options.with_first_step(4 + u64::from(seat.rank)));
        opened.map(drop).expect_err("refused").to_string()
    };
    let errors: Vec<String> = std::thread::scope(|scope| {
        let ranks: Vec<_> = seats.iter().map(|seat| scope.spawn(|| open(seat))).collect();
        ranks.into_iter().map(|rank| rank.join().expect("no panic")).collect()
    });
    let of = |first| format!("the stream \"stream\" as a publisher of 2, from step {first} on");
    assert!(errors[0].ends_with(&format!("rank 1 opens {}, this rank {}", of(5), of(4))), "{errors:?}");
    assert!(errors[1].ends_with(&format!("rank 0 opens {}, this rank {}", of(4), of(5))), "{errors:?}");
}

/// The role of a process that publishes until it is killed: a step for each line that it reads.
#[test]
fn publishes_in_a_process_of_its_own() {
    let Ok(said) = std::env::var(PLACE) else { return };
    let (path, first) = said.rsplit_once(' ').expect("a place and a first step");
    let options = fp_core::PublisherOptions::default()
        .with_rendezvous(fp_core::Rendezvous::at(path).expect("a rendezvous"))
        .with_min_subscribers(1)
        .with_open_timeout(PATIENCE);
    let options = match first {
        "none" => options,
        first => options.with_first_step(first.parse().expect("a number")),
    };
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    for line in std::io::stdin().lines() {
        if line.expect("a line") == "step" {
            println!("published {}", publish(&mut publisher, LEN));
        }
    }
}

/// Such a process.
fn start(place: &Place, first: &str) -> Process {
    let what = format!("{} {first}", place.path().display());
    Process::start("numbers::publishes_in_a_process_of_its_own", PLACE, &what)
}

fn awaiting(place: &Place) -> Subscriber {
    let options = place.subscriber_options().with_on_loss(OnLoss::AwaitRestart(PATIENCE));
    let options = options.with_policy(QueuePolicy::EveryStep { max_wait: Duration::from_secs(60) });
    Subscriber::open(STREAM, options.with_limit_steps(20).with_credit_steps(20)).expect("attached")
}

/// The event of a restart: whether numbers go on.
pub(crate) fn restarted(subscriber: &mut Subscriber) -> bool {
    let mut found = None;
    eventually("the next epoch is told of", || {
        let told =
            |event| if let Event::Restarted { continues, .. } = event { Some(continues) } else { None };
        found = found.or(subscriber.events().into_iter().find_map(told));
        found.is_some()
    });
    found.expect("found")
}

/// A publisher is killed before step 12 and comes again from step 9 on. The next begins with 20, the last counts anew.
#[test]
fn who_awaits_a_restart_goes_on_after_the_last_step_that_it_took() {
    let place = Place::new();
    let mut publisher = start(&place, "5");
    let mut subscriber = awaiting(&place);
    (5..12).for_each(|step| assert_eq!(publisher.publish("step"), step));
    (5..11).for_each(|step| assert_eq!(read(&mut subscriber), (step, 0)));
    let epoch = subscriber.epoch();
    // Step 11 waits in this process, and goes with its epoch.
    publisher.kill();
    let mut publisher = start(&place, "9");
    assert!(restarted(&mut subscriber), "numbers go on");
    assert_ne!(subscriber.epoch(), epoch);
    (9..14).for_each(|step| assert_eq!(publisher.publish("step"), step));
    (11..14).for_each(|step| assert_eq!(read(&mut subscriber), (step, 0)));

    publisher.kill();
    let mut publisher = start(&place, "20");
    assert!(restarted(&mut subscriber), "numbers go on");
    publisher.publish("step");
    assert_eq!(read(&mut subscriber), (20, 6), "14 to 19 are nowhere");

    publisher.kill();
    let mut publisher = start(&place, "none");
    assert!(!restarted(&mut subscriber), "it counts anew");
    publisher.publish("step");
    assert_eq!(read(&mut subscriber), (0, 0));
    publisher.kill();
    subscriber.close().expect("left");
}

/// Steps 7 and 9 are held as the publisher is killed, and 8 was let go of.
#[test]
fn what_is_held_as_the_publisher_is_lost_comes_again_where_that_is_asked_for() {
    let place = Place::new();
    let mut publisher = start(&place, "5");
    let options = place.subscriber_options().with_on_loss(OnLoss::AwaitRestart(PATIENCE));
    let options = options.with_held_again(true).with_limit_steps(20).with_credit_steps(20);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    (5..12).for_each(|step| assert_eq!(publisher.publish("step"), step));
    (5..7).for_each(|step| assert_eq!(read(&mut subscriber), (step, 0)));
    let seven = take(&mut subscriber);
    assert_eq!(read(&mut subscriber), (8, 0));
    let nine = take(&mut subscriber);
    assert!(!subscriber.continues());
    publisher.kill();
    let mut publisher = start(&place, "5");
    assert!(restarted(&mut subscriber) && subscriber.continues(), "numbers go on");
    assert!(!seven.continues() && !nine.continues(), "what came before it came of one that did not");
    (5..11).for_each(|step| assert_eq!(publisher.publish("step"), step));
    // What is let go of now is of an epoch that is over.
    drop((seven, nine));
    (7..10).for_each(|step| assert_eq!(read(&mut subscriber), (step, 0)));
    assert!(take(&mut subscriber).continues());
    publisher.kill();
    subscriber.close().expect("left");
}

#[test]
fn a_process_goes_on_for_one_before_it_where_the_numbers_do() {
    let place = Place::new();
    let mut publisher = start(&place, "5");
    let mut before = place.subscriber();
    (5..8).for_each(|step| assert_eq!(publisher.publish("step"), step));
    (5..7).for_each(|step| assert_eq!(read(&mut before), (step, 0)));
    let epoch = before.epoch().expect("attached");
    drop(before);
    publisher.kill();
    for (first, expected) in [("5", Some((7, 0))), ("9", Some((9, 2))), ("none", None)] {
        let mut publisher = start(&place, first);
        let options = place.subscriber_options().with_resumption((epoch, StepId(7)));
        let options = options.with_start_at(StartAt::OldestReserved).with_limit_steps(20);
        let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
        (0..3).for_each(|_| _ = publisher.publish("step"));
        assert_eq!(
            (subscriber.continues(), read(&mut subscriber)),
            (expected.is_some(), expected.unwrap_or((0, 0)))
        );
        publisher.kill();
        subscriber.close().expect("left");
    }
}
