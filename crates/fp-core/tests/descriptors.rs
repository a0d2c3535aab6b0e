//! Descriptors of a process whose subscribers come and go.
//!
//! A binary of its own, as descriptors are counted: those of other tests in the same process would be among them.

mod support;

use fp_core::{Event, MemberEnd, Publisher, Selection, Subscriber};
use support::{Place, eventually, publish, take, values};

/// Elements of a step: more than fits into an announcement.
const LEN: u64 = 2000;

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

/// Descriptors of this process.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("proc is there").count()
}

#[test]
fn subscribers_come_and_go_a_hundred_times() {
    let place = Place::new();
    let mut publisher = place.publisher();
    publish_steps(&mut publisher, 1);
    let before = descriptors();
    let mut next = 1;
    for cycle in 0..100 {
        let mut subscriber = place.subscriber();
        for _ in 0..1 + cycle % 3 {
            publish_steps(&mut publisher, 1);
            assert_eq!(read(&mut subscriber), (next, 0));
            next += 1;
        }
        if cycle % 2 == 0 {
            subscriber.close().expect("left");
        }
    }
    eventually("the last has left", || !publisher.has_subscribers());
    eventually("descriptors are closed", || descriptors() < before + 60);
    let left = publisher
        .events()
        .into_iter()
        .filter(|event| matches!(event, Event::MemberLeft { reason: MemberEnd::Left, .. }));
    assert_eq!(left.count(), 100);
    publisher.close().expect("closed");
}
