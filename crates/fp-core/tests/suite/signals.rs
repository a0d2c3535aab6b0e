//! Descriptors for a program's own `poll`: readable while a call would find something, and not otherwise.

use crate::support::{PATIENCE, Place, array, publish};
use fp_core::{Event, EventQueue, NextStep, Publisher, Signal, Subscriber, TransportKind};
use rustix::event::{PollFd, PollFlags, poll};
use std::time::Duration;

const KINDS: [TransportKind; 3] = [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp];

fn is_readable(signal: &Signal, timeout: Duration) -> bool {
    let mut watched = [PollFd::new(signal, PollFlags::IN)];
    let timeout = timeout.try_into().expect("a time");
    poll(&mut watched, Some(&timeout)).expect("polled") == 1
}

/// Waits by `poll` alone.
fn awaited(signal: &Signal) {
    assert!(is_readable(signal, PATIENCE), "it was never set");
}

fn is_set(signal: &Signal) -> bool {
    is_readable(signal, Duration::ZERO)
}

fn look(subscriber: &mut Subscriber) -> NextStep {
    subscriber.next_step(Duration::ZERO).expect("a step, none, or the end")
}

/// Takes events until there are none.
fn taken(events: &EventQueue) -> Vec<Event> {
    std::iter::from_fn(|| events.next(Duration::ZERO)).collect()
}

#[test]
fn a_step_sets_it_and_the_last_one_taken_clears_it() {
    for kind in KINDS {
        let place = Place::new();
        let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber_over(kind));
        let signal = subscriber.step_signal().expect("a descriptor");
        assert!(!is_set(&signal), "{kind}: nothing was published");
        for _ in 0..2 {
            publish(&mut publisher, 10);
        }
        for step in 0..2 {
            awaited(&signal);
            let other = subscriber.step_signal().expect("another");
            assert!(is_set(&other), "{kind}: it begins as it should be");
            let NextStep::Step(taken) = look(&mut subscriber) else { panic!("{kind}: no step {step}") };
            assert_eq!(taken.step().0, step);
        }
        assert!(!is_set(&signal), "{kind}: both are taken");
        assert!(matches!(look(&mut subscriber), NextStep::NotYet) && !is_set(&signal), "{kind}");
        publisher.close().expect("closed");
        awaited(&signal);
        assert!(matches!(look(&mut subscriber), NextStep::Ended(_)), "{kind}");
        assert!(is_set(&signal), "{kind}: the end stays");
        subscriber.close().expect("left");
    }
}

/// Publishes as fast as the subscription allows, with all that a put may do.
fn publish_many(mut publisher: Publisher, steps: u64) {
    let (variable, region) = array(100);
    for step in 0..steps {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&variable, &region, vec![step; 100]).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

#[test]
fn none_of_many_steps_is_missed() {
    const STEPS: u64 = 1000;
    for kind in KINDS {
        let place = Place::new();
        let publisher = place.publisher();
        let mut subscriber = place.subscriber_over(kind);
        let signal = subscriber.step_signal().expect("a descriptor");
        let publishing = std::thread::spawn(move || publish_many(publisher, STEPS));
        let (mut next, mut in_vain) = (0, 0);
        'stream: loop {
            awaited(&signal);
            for looks in 0.. {
                match look(&mut subscriber) {
                    NextStep::Step(step) => {
                        assert_eq!(step.step().0, next, "{kind}");
                        let elements: Vec<u64> = step.get("array", "[...]").expect("fetched");
                        assert_eq!(elements, vec![next; 100], "{kind}");
                        next += 1;
                    }
                    NextStep::NotYet => {
                        in_vain += u64::from(looks == 0);
                        break;
                    }
                    NextStep::Ended(_) => break 'stream,
                }
            }
        }
        assert_eq!((next, in_vain), (STEPS, 0), "{kind}: all came, and each look found one");
        publishing.join().expect("no panic");
    }
}

#[test]
fn events_set_it_at_both_ends() {
    let place = Place::new();
    let publisher = place.publisher();
    let events = publisher.event_queue();
    let signal = events.signal().expect("a descriptor");
    assert!(is_set(&signal) && !taken(&events).is_empty() && !is_set(&signal), "it was opened");
    let subscriber = place.subscriber();
    awaited(&signal);
    let joined = |event: &Event| matches!(event, Event::MemberJoined { .. });
    let mut all = taken(&events);
    while !all.iter().any(joined) {
        awaited(&signal);
        all.extend(taken(&events));
    }
    let of_subscriber = subscriber.event_queue();
    let other = of_subscriber.signal().expect("a descriptor");
    assert!(is_set(&other) && !taken(&of_subscriber).is_empty() && !is_set(&other), "it was attached");
    subscriber.close().expect("left");
    awaited(&signal);
    while !all.iter().any(|event| matches!(event, Event::MemberLeft { .. })) {
        awaited(&signal);
        all.extend(taken(&events));
    }
}
