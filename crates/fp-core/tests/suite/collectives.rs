//! Cohorts that come together through their launcher's collectives: who calls them when, and what every rank is told
//! where one of them cannot.

use crate::support::launcher::{Fault, Place as Seat, SHORT, places};
use crate::support::{PATIENCE, Place, STREAM};
use fp_core::{
    CohortError, GatherError, NextStep, OpenError, Publisher, PublisherOptions, Region, Selection,
    Subscriber, SubscriberOptions, Variable,
};
use std::thread::ThreadId;

const STEPS: u64 = 3;
const CELLS: u64 = 4;

/// Only the lead has a rendezvous that works: the others could look nothing up.
fn rendezvous(place: &Place, seat: &Seat) -> std::path::PathBuf {
    if seat.rank == 0 {
        return place.path().to_owned();
    }
    let empty = place.path().join(format!("none-{}", seat.rank));
    std::fs::create_dir_all(&empty).expect("a directory");
    empty
}

fn publisher_options(place: &Place, seat: &Seat) -> PublisherOptions {
    let rendezvous = fp_core::Rendezvous::at(rendezvous(place, seat)).expect("a directory");
    place.publisher_options().with_rendezvous(rendezvous).with_collectives(seat.cohort(), seat.clone())
}

fn subscriber_options(place: &Place, seat: &Seat) -> SubscriberOptions {
    let rendezvous = fp_core::Rendezvous::at(rendezvous(place, seat)).expect("a directory");
    place.subscriber_options().with_rendezvous(rendezvous).with_collectives(seat.cohort(), seat.clone())
}

/// Runs every rank on a thread of its own.
fn ranks<T: Send>(seats: &[Seat], run: impl Fn(&Seat) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = seats.iter().map(|seat| scope.spawn(|| run(seat))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a rank ends")).collect()
    })
}

fn publish(place: &Place, seat: &Seat) -> ThreadId {
    let mut publisher =
        Publisher::open(STREAM, publisher_options(place, seat).with_min_subscribers(1)).expect("open");
    let (rank, size) = (u64::from(seat.rank), u64::from(seat.size));
    let grid = Variable::global::<u64>("grid", &[size * CELLS]).expect("a variable");
    for step in 0..STEPS {
        let mut writer = publisher.begin_step().expect("begun");
        let region = Region::new([rank * CELLS], [CELLS]).expect("a region");
        let cells = (rank * CELLS..(rank + 1) * CELLS).map(|cell| 1000 * step + cell).collect();
        writer.put(&grid, &region, cells).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
    std::thread::current().id()
}

fn subscribe(place: &Place, seat: &Seat, size: u64) -> ThreadId {
    let mut subscriber = Subscriber::open(STREAM, subscriber_options(place, seat)).expect("attached");
    let mut seen = 0;
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a step") {
        let expected: Vec<u64> = (0..size * CELLS).map(|cell| 1000 * seen + cell).collect();
        assert_eq!(step.get::<u64>("grid", &Selection::All).expect("the grid"), expected);
        seen += 1;
    }
    assert_eq!(seen, STEPS);
    subscriber.close().expect("left");
    std::thread::current().id()
}

/// 20 ranks: the tree has two levels.
#[test]
fn cohorts_open_without_a_rendezvous_of_their_own() {
    let (place, publishers, subscribers) = (Place::new(), places(20), places(3));
    let (publishing, subscribing) = std::thread::scope(|scope| {
        let publishing = scope.spawn(|| ranks(&publishers, |seat| publish(&place, seat)));
        let subscribing = scope.spawn(|| ranks(&subscribers, |seat| subscribe(&place, seat, 20)));
        (publishing.join().expect("published"), subscribing.join().expect("subscribed"))
    });
    let threads = publishing.into_iter().chain(subscribing);
    for (seat, thread) in publishers.iter().chain(&subscribers).zip(threads) {
        let calls = seat.calls.lock().expect("calls").clone();
        assert_eq!(calls, [("allgather", thread), ("barrier", thread)], "rank {}", seat.rank);
    }
    let files: Vec<String> = place.entries().into_iter().filter(|name| !name.starts_with("none-")).collect();
    assert!(files.is_empty(), "nothing is left: {files:?}");
}

fn open_all(place: &Place, seats: &[Seat], streams: &[&str]) -> Vec<String> {
    let complaint = |seat: &Seat| {
        let stream = streams[seat.rank as usize % streams.len()];
        let opened = Publisher::open(stream, publisher_options(place, seat).with_open_timeout(SHORT));
        opened.map(drop).map_or_else(|error| error.to_string(), |()| "open".to_owned())
    };
    ranks(seats, complaint)
}

#[test]
fn all_ranks_learn_that_one_cannot() {
    let (place, seats) = (Place::new(), places(3));
    let complaints = open_all(&place, &seats, &["heat", "heat", "he/at"]);
    for rank in [0, 1] {
        let expected = format!("stream \"heat\", rank {rank}: rank 2 could not open its part: stream name: ");
        assert!(complaints[rank].starts_with(&expected), "{complaints:?}");
    }
    assert!(complaints[2].starts_with("stream name: "), "{complaints:?}");
    seats.iter().for_each(|seat| assert_eq!(seat.called(), ["allgather", "barrier"]));
    assert!(place.entries().iter().all(|name| name.starts_with("none-")), "the name is given back");
}

#[test]
fn all_ranks_learn_that_the_name_is_taken() {
    let (place, seats) = (Place::new(), places(2));
    let incumbent = place.publisher();
    let complaints = open_all(&place, &seats, &[STREAM]);
    assert!(complaints[0].contains("taken"), "{complaints:?}");
    assert!(complaints[1].contains("rank 0 could not open its part"), "{complaints:?}");
    assert!(complaints[1].contains("taken"), "{complaints:?}");
    incumbent.close().expect("closed");
}

#[test]
fn ranks_that_open_different_things_are_told_what() {
    let (place, seats) = (Place::new(), places(2));
    let complaints = open_all(&place, &seats, &["heat", "cold"]);
    let heat = "the stream \"heat\" as a publisher of 2";
    let cold = "the stream \"cold\" as a publisher of 2";
    let expected = [
        format!("stream \"heat\", rank 0: rank 1 opens {cold}, this rank {heat}"),
        format!("stream \"cold\", rank 1: rank 0 opens {heat}, this rank {cold}"),
    ];
    assert_eq!(complaints, expected);
}

#[test]
fn ranks_that_believe_in_different_sizes_are_told() {
    let (place, mut seats) = (Place::new(), places(2));
    seats[1].size = 3;
    let complaints = open_all(&place, &seats, &[STREAM]);
    assert!(
        complaints[0].contains("rank 1 opens the stream \"stream\" as a publisher of 3"),
        "{complaints:?}"
    );
    assert!(complaints[1].contains("gave 1024 bytes, where 3 ranks of 512 have 1536"), "{complaints:?}");
}

#[test]
fn what_is_wrong_with_a_collective_is_said() {
    let faults = [
        (Fault::Fails, "the launcher's allgather failed: the network is down"),
        (Fault::TooShort, "gave 1023 bytes, where 2 ranks of 512 have 1024"),
        (Fault::Unwritten, "in the place of rank 0 the launcher's allgather gave no record of a rank"),
        (Fault::Swapped, "in the place of rank 0 the launcher's allgather gave the record of rank 1"),
        (Fault::BarrierFails, "the launcher's barrier failed: the barrier is down"),
    ];
    for (fault, expected) in faults {
        let (place, mut seats) = (Place::new(), places(2));
        seats[1].fault = Some(fault);
        let complaints = open_all(&place, &seats, &[STREAM]);
        assert!(complaints[1].contains(expected), "{fault:?}: {complaints:?}");
        assert_eq!(
            complaints[0],
            "stream \"stream\", rank 0: timed out: 1 of 2 ranks of the own cohort are here; are the others \
             running?"
        );
        seats.iter().for_each(|seat| assert_eq!(seat.called(), ["allgather", "barrier"], "{fault:?}"));
    }
}

#[test]
fn a_publisher_and_a_subscriber_do_not_make_a_cohort() {
    let (place, seats) = (Place::new(), places(2));
    let complaints = ranks(&seats, |seat| match seat.rank {
        0 => Publisher::open(STREAM, publisher_options(&place, seat))
            .map(drop)
            .map_err(|error| error.to_string()),
        _ => Subscriber::open(STREAM, subscriber_options(&place, seat))
            .map(drop)
            .map_err(|error| error.to_string()),
    });
    assert!(
        complaints.iter().all(|one| one.as_ref().is_err_and(|text| text.contains("as a subscriber of 2")))
    );
}

#[test]
fn a_task_is_refused_before_any_collective() {
    let (place, seats) = (Place::new(), places(1));
    let opened = crate::support::executor::block_on(Publisher::open_async(
        STREAM,
        publisher_options(&place, &seats[0]),
    ));
    assert!(matches!(opened.map(drop), Err(OpenError::Gather { source: GatherError::InTask, .. })));
    assert!(seats[0].called().is_empty());
    assert!(matches!(fp_core::Cohort::of(2, 2), Err(CohortError::OutOfRange { .. })));
}
