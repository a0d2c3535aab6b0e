//! Attaching, policies, reserves and leaving while a stream runs: who gets which step, and what is told of the rest.

use crate::support::{
    PATIENCE, Place, STREAM, array, ending, eventually, named, nothing, publish, take, values,
};
use fp_core::{
    BeginError, CloseError, EndReason, Event, MemberEnd, Misuse, NextStep, OpenError, Publisher, QueuePolicy,
    ReadError, Selection, StartAt, Subscriber, SubscriberOptions,
};
use std::time::{Duration, Instant};

/// Elements of a step: more than fits into an announcement.
const LEN: u64 = 2000;

fn open(options: SubscriberOptions) -> Subscriber {
    Subscriber::open(STREAM, options).expect("attached")
}

/// Takes the next step, checks its content, and gives its number and how many were skipped before it.
fn read(subscriber: &mut Subscriber) -> (u64, u64) {
    let reader = take(subscriber);
    let step = reader.step().0;
    assert_eq!(reader.get::<u64>("array", &Selection::All).expect("got"), values(step, LEN));
    (step, reader.skipped())
}

fn publish_steps(publisher: &mut Publisher, steps: u64) {
    (0..steps).for_each(|_| {
        publish(publisher, LEN);
    });
}

/// Everything until the end: the numbers of the steps and the sum of those skipped.
fn read_to_the_end(subscriber: &mut Subscriber) -> (Vec<u64>, u64) {
    let (mut steps, mut skipped) = (Vec::new(), 0);
    loop {
        match subscriber.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(reader) => {
                assert_eq!(
                    reader.get::<u64>("array", &Selection::All).expect("got"),
                    values(reader.step().0, LEN)
                );
                steps.push(reader.step().0);
                skipped += reader.skipped();
            }
            NextStep::NotYet => panic!("neither a step nor the end after {steps:?}"),
            NextStep::Ended(_) => return (steps, skipped),
        }
    }
}

#[test]
fn a_late_subscriber_starts_at_the_next_step() {
    let place = Place::new();
    let mut publisher = place.publisher();
    publish_steps(&mut publisher, 5);
    let mut subscriber = place.subscriber();
    nothing(&mut subscriber);
    publish_steps(&mut publisher, 2);
    assert_eq!((read(&mut subscriber), read(&mut subscriber)), ((5, 0), (6, 0)));
    let started = |event: &Event| matches!(event, Event::SubscriptionStarted { first, .. } if first.0 == 5);
    assert!(publisher.events().iter().any(started));
    subscriber.close().expect("left");
    eventually("the subscriber has left", || !publisher.has_subscribers());
    publisher.close().expect("closed");
}

#[test]
fn dropping_the_oldest_keeps_the_newest() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options = place.subscriber_options().with_policy(QueuePolicy::DropOldest);
    let mut subscriber = open(options.with_limit_steps(3).with_credit_steps(1));
    publish_steps(&mut publisher, 10);
    // Step 0 was assigned at once and is pinned; of the others two fit beside it.
    assert_eq!(read(&mut subscriber), (0, 0));
    assert_eq!(read(&mut subscriber), (8, 7));
    let closing = std::thread::spawn(move || publisher.close());
    assert_eq!(read_to_the_end(&mut subscriber), (vec![9], 0));
    closing.join().expect("no panic").expect("closed");
    assert_eq!(subscriber.statistics().skipped_steps, 7);
}

#[test]
fn the_latest_step_alone_waits() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let options = place.subscriber_options().with_policy(QueuePolicy::LatestOnly).with_credit_steps(1);
    let mut subscriber = open(options);
    for round in 0..4 {
        publish_steps(&mut publisher, 5);
        let first = read(&mut subscriber);
        let second = read(&mut subscriber);
        assert_eq!(first, (round * 5, 0));
        assert_eq!(second, (round * 5 + 4, 3));
    }
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

/// A subscriber that takes a step while 20 are published sees the last one all the same.
#[test]
fn the_newest_step_comes_last_at_every_credit_and_limit() {
    for policy in [QueuePolicy::DropOldest, QueuePolicy::LatestOnly] {
        for (limit, credit) in [(1, 1), (1, 2), (2, 1), (2, 2), (2, 8), (4, 2), (4, 8)] {
            let place = Place::new();
            let mut publisher = place.publisher();
            let options = place.subscriber_options().with_policy(policy);
            let mut subscriber = open(options.with_limit_steps(limit).with_credit_steps(credit));
            let mut steps = Vec::new();
            for _ in 0..3 {
                publish_steps(&mut publisher, 20);
                steps.push(read(&mut subscriber).0);
            }
            let closing = std::thread::spawn(move || publisher.close());
            steps.extend(read_to_the_end(&mut subscriber).0);
            closing.join().expect("no panic").expect("closed");
            let case = format!("{policy:?}, limit {limit}, credit {credit}: {steps:?}");
            assert_eq!(steps.last(), Some(&59), "{case}");
            assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{case}");
            let (own, told) = (steps.len() as u64, subscriber.statistics().skipped_steps);
            assert_eq!(own + told, 60, "{case}");
        }
    }
}

#[test]
fn nothing_is_dropped_at_the_limit_and_one_step_above_it() {
    for (published, expected) in [(4, vec![0, 1, 2, 3]), (5, vec![0, 1, 3, 4])] {
        let place = Place::new();
        let mut publisher = place.publisher();
        let options = place.subscriber_options().with_policy(QueuePolicy::DropOldest);
        let mut subscriber = open(options.with_limit_steps(4).with_credit_steps(2));
        publish_steps(&mut publisher, published);
        let closing = std::thread::spawn(move || publisher.close());
        assert_eq!(read_to_the_end(&mut subscriber).0, expected);
        closing.join().expect("no panic").expect("closed");
    }
}

/// A rank that has room for four steps keeps those that the policy's name says.
#[test]
fn at_the_byte_bound_each_policy_drops_what_its_name_says() {
    let cases = [
        (QueuePolicy::DropOldest, vec![0, 8, 9]),
        (QueuePolicy::LatestOnly, vec![0, 9]),
        (QueuePolicy::DropNewest, vec![0, 1, 2, 3]),
        (QueuePolicy::WaitAtMost { wait: Duration::ZERO }, vec![0, 1, 2, 3]),
    ];
    for (policy, expected) in cases {
        let place = Place::new();
        let options = place.publisher_options().with_limit_bytes(4 * LEN * 8);
        let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
        let options = place.subscriber_options().with_policy(policy);
        let mut subscriber = open(options.with_limit_steps(10).with_credit_steps(1));
        publish_steps(&mut publisher, 10);
        let closing = std::thread::spawn(move || publisher.close());
        assert_eq!(read_to_the_end(&mut subscriber).0, expected, "{policy:?}");
        closing.join().expect("no panic").expect("closed");
    }
}

#[test]
fn every_third_step_comes() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let policy = QueuePolicy::EveryKth { every: 3, max_wait: Duration::from_millis(10_000) };
    let mut subscriber = open(place.subscriber_options().with_policy(policy).with_limit_steps(8));
    publish_steps(&mut publisher, 11);
    assert_eq!(read(&mut subscriber), (0, 0));
    // Nothing that was asked for is skipped.
    assert_eq!(read(&mut subscriber), (3, 0));
    assert_eq!(read(&mut subscriber), (6, 0));
    assert_eq!(read(&mut subscriber), (9, 0));
    nothing(&mut subscriber);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn dropping_the_newest_keeps_the_oldest() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let policy = QueuePolicy::DropNewest;
    let mut subscriber = open(place.subscriber_options().with_policy(policy).with_limit_steps(2));
    publish_steps(&mut publisher, 6);
    assert_eq!((read(&mut subscriber), read(&mut subscriber)), ((0, 0), (1, 0)));
    eventually("the steps are released", || publisher.queue_depth().iter().all(|(_, steps)| *steps == 0));
    publish_steps(&mut publisher, 1);
    assert_eq!(read(&mut subscriber), (6, 4));
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn the_publisher_waits_at_most_so_long() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let policy = QueuePolicy::WaitAtMost { wait: Duration::from_millis(120) };
    let mut subscriber = open(place.subscriber_options().with_policy(policy).with_limit_steps(2));
    publish_steps(&mut publisher, 2);
    let started = Instant::now();
    publish_steps(&mut publisher, 1);
    let waited = started.elapsed();
    assert!(waited >= Duration::from_millis(120) && waited < Duration::from_secs(3), "{waited:?}");
    assert_eq!((read(&mut subscriber), read(&mut subscriber)), ((0, 0), (1, 0)));
    eventually("the steps are released", || publisher.queue_depth().iter().all(|(_, steps)| *steps == 0));
    publish_steps(&mut publisher, 1);
    assert_eq!(read(&mut subscriber), (3, 1));
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn a_subscriber_that_never_releases_is_expelled_in_time() {
    for max_wait in [Duration::ZERO, Duration::from_millis(150)] {
        let place = Place::new();
        let mut publisher = place.publisher();
        let policy = QueuePolicy::EveryStep { max_wait };
        let mut slow = open(place.subscriber_options().with_policy(policy).with_limit_steps(2));
        publish_steps(&mut publisher, 2);
        let started = Instant::now();
        publish_steps(&mut publisher, 1);
        let waited = started.elapsed();
        assert!(waited >= max_wait, "{waited:?}");
        assert!(waited < max_wait + Duration::from_secs(2), "{waited:?}");
        let expelled = |event: &Event| matches!(event, Event::MemberLeft { reason: MemberEnd::Expelled, .. });
        assert!(publisher.events().iter().any(expelled));
        // What was assigned before can be read to the end, and then it learns why there is no more.
        let (steps, _) = read_to_the_end_of_an_expelled(&mut slow);
        assert!(steps.len() <= 2, "{steps:?}");
        let reason = ending(&mut slow).reason;
        assert!(matches!(reason, EndReason::Expelled { .. }), "{reason}");
        publish_steps(&mut publisher, 20);
        publisher.close().expect("closed");
    }
}

#[test]
fn no_policy_waits_longer_than_the_owner_allows() {
    let longest = Duration::from_millis(200);
    let place = Place::new();
    let mut publisher =
        Publisher::open(STREAM, place.publisher_options().with_limit_wait(longest)).expect("a publisher");
    let hour = Duration::from_secs(3600);
    let policies = [
        QueuePolicy::EveryStep { max_wait: hour },
        QueuePolicy::EveryKth { every: 1, max_wait: hour },
        QueuePolicy::WaitAtMost { wait: hour },
    ];
    let options = |policy| place.subscriber_options().with_policy(policy).with_limit_steps(2);
    let mut slow: Vec<Subscriber> = policies.into_iter().map(|policy| open(options(policy))).collect();
    publish_steps(&mut publisher, 2);
    let started = Instant::now();
    publish_steps(&mut publisher, 20);
    let waited = started.elapsed();
    // The three wait at the same time, and who drops steps is not waited for again before it releases one.
    assert!(waited >= longest && waited < 5 * longest + Duration::from_secs(2), "{waited:?}");
    let lossy = slow.pop().expect("three subscribers");
    for mut expelled in slow {
        assert!(read_to_the_end_of_an_expelled(&mut expelled).0.len() <= 2);
        let reason = ending(&mut expelled).reason.to_string();
        assert!(reason.contains("to release a step"), "{reason}");
    }
    lossy.close().expect("left");
    publisher.close().expect("closed");
}

fn read_to_the_end_of_an_expelled(subscriber: &mut Subscriber) -> (Vec<u64>, u64) {
    let mut steps = Vec::new();
    loop {
        match subscriber.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(reader) => {
                match reader.get::<u64>("array", &Selection::All) {
                    Ok(got) => assert_eq!(got, values(reader.step().0, LEN)),
                    // Over a connection it may be gone; then the error says so.
                    Err(ReadError::Gone { .. } | ReadError::Lost { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
                steps.push(reader.step().0);
            }
            NextStep::NotYet => panic!("neither a step nor the end"),
            NextStep::Ended(_) => return (steps, 0),
        }
    }
}

#[test]
fn a_newcomer_may_start_in_the_reserve() {
    let place = Place::new();
    let options = place.publisher_options().with_reserve_steps(3);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    publish_steps(&mut publisher, 7);
    let options = place.subscriber_options().with_start_at(StartAt::OldestReserved);
    let mut subscriber = open(options.with_limit_steps(10).with_credit_steps(8));
    publish_steps(&mut publisher, 2);
    for step in 4..9 {
        assert_eq!(read(&mut subscriber), (step, 0));
    }
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn a_precious_first_step_comes_to_every_newcomer() {
    let place = Place::new();
    let options = place.publisher_options().with_precious_first(true);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    publish_steps(&mut publisher, 4);
    for next in 4..7 {
        let mut subscriber = place.subscriber();
        publish_steps(&mut publisher, 1);
        assert_eq!(read(&mut subscriber).0, 0);
        assert_eq!(read(&mut subscriber).0, next);
        subscriber.close().expect("left");
        eventually("it has left", || !publisher.has_subscribers());
    }
    publisher.close().expect("closed");
}

#[test]
fn another_selection_of_variables_holds_from_a_step_on() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let ((near, region), (far, _)) = (named("near", LEN), named("far", LEN));
    let put_both = |publisher: &mut Publisher| {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_copy(&near, &region, &values(1, LEN)).expect("put");
        writer.put_copy(&far, &region, &values(2, LEN)).expect("put");
        writer.end().expect("ended");
    };
    let mut subscriber = open(place.subscriber_options().with_variables(["near"]));
    put_both(&mut publisher);
    let reader = take(&mut subscriber);
    assert_eq!(reader.get::<u64>("near", &Selection::All).expect("got"), values(1, LEN));
    let error = reader.get::<u64>("far", &Selection::All).expect_err("not asked for");
    assert!(matches!(error, ReadError::Misuse { source: Misuse::NotSubscribed { .. }, .. }), "{error}");
    drop(reader);

    subscriber.select_variables(["far"]).expect("asked");
    let mut first = None;
    eventually("the other selection holds", || {
        let reselected =
            |event: Event| if let Event::Reselected { first } = event { Some(first) } else { None };
        first = first.or(subscriber.events().into_iter().find_map(reselected));
        first.is_some()
    });
    put_both(&mut publisher);
    let reader = take(&mut subscriber);
    assert!(Some(reader.step()) >= first);
    assert_eq!(reader.get::<u64>("far", &Selection::All).expect("got"), values(2, LEN));
    let error = reader.get::<u64>("near", &Selection::All).expect_err("not asked for any more");
    assert!(matches!(error, ReadError::Misuse { source: Misuse::NotSubscribed { .. }, .. }), "{error}");
    drop(reader);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn closing_says_who_held_what() {
    let place = Place::new();
    let options = place.publisher_options().with_close_timeout(Duration::from_millis(300));
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let mut subscriber = place.subscriber();
    publish_steps(&mut publisher, 2);
    let held = take(&mut subscriber);
    let started = Instant::now();
    let error = publisher.close().expect_err("a step is held");
    assert!(started.elapsed() < Duration::from_secs(3));
    let CloseError::Held { stream, held: who, .. } = &error else { panic!("{error}") };
    assert_eq!(stream, STREAM);
    assert!(who.contains("subscription 2") && who.contains("0"), "{error}");
    // What it holds it may still look at.
    assert_eq!(held.step().0, 0);
    drop(held);
    assert_eq!(place.entries(), Vec::<String>::new());
}

/// A view is the application's own: it outlives the reader and the subscriber, whatever the publisher does meanwhile.
#[test]
fn a_view_outlives_its_subscriber() {
    for clean in [true, false] {
        let place = Place::new();
        let mut publisher = place.publisher();
        let mut subscriber = place.subscriber_over(fp_core::TransportKind::Shm);
        publish(&mut publisher, LEN);
        let reader = take(&mut subscriber);
        let view = reader.view::<u64>("array", &Selection::All).expect("a view");
        assert!(view.is_zero_copy());
        drop(reader);
        if clean {
            subscriber.close().expect("left");
        } else {
            drop(subscriber);
        }
        eventually("it has left", || !publisher.has_subscribers());
        // Others come, and their steps fill whatever memory there is.
        let mut other = place.subscriber_over(fp_core::TransportKind::Shm);
        for _ in 0..12 {
            publish(&mut publisher, LEN);
            drop(take(&mut other));
        }
        assert_eq!(*view, values(0, LEN)[..], "clean: {clean}");
        other.close().expect("left");
        publisher.close().expect("closed");
    }
}

#[test]
fn too_few_subscribers_are_counted() {
    let place = Place::new();
    let options = place.publisher_options().with_min_subscribers(2);
    let options = options.with_open_timeout(Duration::from_millis(500));
    let rendezvous = place.subscriber_options();
    let one = std::thread::spawn(move || Subscriber::open(STREAM, rendezvous));
    let error = Publisher::open(STREAM, options).err().expect("one is too few");
    let OpenError::TooFewSubscribers { present, wanted, .. } = error else { panic!("{error}") };
    assert_eq!((present, wanted), (1, 2));
    drop(one.join().expect("no panic"));
    assert_eq!(place.entries(), Vec::<String>::new());
}

#[test]
fn a_step_that_is_open_or_too_large_is_an_error_at_once() {
    let place = Place::new();
    let options = place.publisher_options().with_limit_bytes(1000);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let mut subscriber = place.subscriber();
    let (variable, region) = array(LEN);
    let mut writer = publisher.begin_step().expect("a step");
    let error = publisher.begin_step().err().expect("one is open");
    assert!(matches!(error, BeginError::Misuse { source: Misuse::StepOpen(_), .. }), "{error}");
    let error = writer.put(&variable, &region, values(0, LEN)).expect_err("too large");
    let text = error.to_string();
    assert!(text.contains("16000 bytes") && text.contains("1000"), "{text}");
    drop(writer);
    let (variable, region) = array(100);
    let mut writer = publisher.begin_step().expect("a step");
    writer.put(&variable, &region, values(1, 100)).expect("put");
    writer.end().expect("ended");
    let reader = take(&mut subscriber);
    assert_eq!((reader.step().0, reader.skipped()), (1, 1), "nobody got the first");
    drop(reader);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}

#[test]
fn who_polls_busily_sleeps_when_nothing_comes_and_wakes_when_something_does() {
    let place = Place::new();
    let mut publisher = place.publisher();
    let busy = Duration::from_millis(20);
    let mut subscriber = open(place.subscriber_options().with_busy_poll(busy));
    let started = Instant::now();
    assert!(matches!(subscriber.next_step(busy * 4), Ok(NextStep::NotYet)));
    assert!(started.elapsed() >= busy * 4, "it came back after {:?}", started.elapsed());
    let publishing = std::thread::spawn(move || {
        publish_steps(&mut publisher, 3);
        publisher.close().expect("closed");
    });
    assert_eq!([(); 3].map(|()| read(&mut subscriber)), [(0, 0), (1, 0), (2, 0)]);
    subscriber.close().expect("left");
    publishing.join().expect("no panic");
}

#[test]
fn lossy_subscriptions_never_make_a_put_fail() {
    const BOUND: u64 = 1 << 20;
    let len = BOUND / 8 * 15 / 16;
    let lossy = [QueuePolicy::DropOldest, QueuePolicy::DropNewest, QueuePolicy::LatestOnly];
    for pair in lossy.into_iter().flat_map(|one| lossy.map(|other| [one, other])) {
        let place = Place::new();
        let mut options = place.publisher_options().with_limit_bytes(BOUND);
        options.segment_len_bytes = 64 << 10;
        let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
        let mut subscribers = pair.map(|policy| open(place.subscriber_options().with_policy(policy)));
        let (mut held, mut taken) = ([None, None], [0, 0]);
        for turn in 0..16 {
            // Fails where a put does.
            publish(&mut publisher, len);
            let who = turn % 2;
            held[who] = None;
            let next = subscribers[who].next_step(Duration::from_millis(50)).expect("the stream is sound");
            if let NextStep::Step(reader) = next {
                let step = reader.step().0;
                let found = reader.get::<u64>("array", &Selection::All).expect("got");
                assert_eq!(found, values(step, len), "{pair:?}");
                taken[who] += 1;
                held[who] = Some(reader);
            }
        }
        assert!(taken.iter().all(|taken| *taken > 1), "{pair:?}: {taken:?} steps");
    }
}
