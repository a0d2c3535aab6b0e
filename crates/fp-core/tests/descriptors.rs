//! Descriptors of a process whose subscribers come and go.
//!
//! A binary of its own, as descriptors are counted: those of other tests in the same process would be among them.

mod support;

use fp_core::{Event, MemberEnd, Publisher, Selection, Subscriber};
use std::sync::{Mutex, MutexGuard, PoisonError};
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

/// Of these tests one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Inodes of all sockets that listen, of every process.
fn listening() -> Vec<String> {
    // The columns of the state and of the inode.
    let tables = [("unix", 3, "00010000", 6), ("tcp", 3, "0A", 9)];
    let lines = tables.map(|(table, state, listens, inode)| {
        let text = std::fs::read_to_string(format!("/proc/self/net/{table}")).expect("proc is there");
        let columns = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let listen = columns.filter(|columns| columns.get(state) == Some(&listens));
        listen.filter_map(|columns| Some((*columns.get(inode)?).to_owned())).collect::<Vec<_>>()
    });
    lines.concat()
}

/// Sockets of this process that listen.
fn listeners() -> usize {
    let listening = listening();
    let own = std::fs::read_dir("/proc/self/fd").expect("proc is there");
    let links = own.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let names = links.map(|link| link.to_string_lossy().into_owned());
    let inode = |name: &str| Some(name.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned());
    names.filter_map(|name| inode(&name)).filter(|inode| listening.contains(inode)).count()
}

/// Nobody is told where it is. One that was told where to listen does: for shared memory too.
#[test]
fn a_lone_subscriber_does_not_listen() {
    let _alone = alone();
    let place = Place::new();
    let publisher = place.publisher();
    let of_publisher = listeners();
    let lone = place.subscriber();
    assert_eq!((of_publisher, listeners()), (2, 2));
    let address = "127.0.0.2:0".parse().expect("an address");
    let told = place.subscriber_options().with_tcp(Some(address));
    let told = Subscriber::open(support::STREAM, told).expect("attached");
    assert_eq!(listeners(), 4);
    drop((lone, told));
    publisher.close().expect("closed");
}

#[test]
fn subscribers_come_and_go_a_hundred_times() {
    let _alone = alone();
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
