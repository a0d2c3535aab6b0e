//! Openings that come to nothing: who is missing, who has the name, and what to do.

use crate::support::{Place, STREAM};
use fp_core::{Cohort, OpenError, Publisher, Subscriber, TransportKind, TransportPolicy};
use std::time::{Duration, Instant};

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[test]
fn a_name_that_is_taken_says_by_whom_and_what_to_do() {
    let place = Place::new();
    let publisher = place.publisher();
    let error = Publisher::open(STREAM, place.publisher_options()).err().expect("it is taken");
    assert!(matches!(error, OpenError::NameTaken { .. }), "{error}");
    let expected = format!(
        "stream \"stream\", rank 0: the name is taken by process {} of this machine; close that one, or publish \
         under another name",
        std::process::id()
    );
    assert_eq!(text(error), expected);
    publisher.close().expect("closed");
}

/// A rank whose cohort is half open is told of the other half, and not to start what it is.
#[test]
fn a_lone_rank_of_a_cohort_is_told_who_is_missing() {
    let place = Place::new();
    for (rank, expected) in
        [(0, "1 of 2 ranks of the own cohort are here"), (1, "rank 0 of the own cohort is not here")]
    {
        let options = place.publisher_options().with_open_timeout(Duration::from_millis(300));
        let options = options.with_cohort(Cohort::of(rank, 2).expect("a cohort"));
        let error = text(Publisher::open(STREAM, options).err().expect("it is alone"));
        assert!(error.contains(expected) && !error.contains("is the publisher running"), "{error}");
    }
}

/// Somebody who listens on the loopback of another host is not left behind: nobody here can dial it.
#[test]
fn a_stream_on_the_loopback_of_another_host_is_told_to_listen() {
    let place = Place::new();
    let line = "flexpath:1,process=00000000000000000000000000000001,host=00000000000000000000000000000002,pid=7,\
                token=no,tcp=127.0.0.1:9";
    std::fs::write(place.path().join("far.00000000000000000000000000000003"), line).expect("written");
    let options = place.subscriber_options().with_open_timeout(Duration::from_millis(300));
    let error = text(Subscriber::open("far", options).err().expect("nobody can be reached"));
    let told = error.contains("the loopback of another host") && error.contains("FLEXPATH_LISTEN");
    assert!(told && !error.contains("stale"), "{error}");
}

/// Somebody who answers no more of those who come: the queue is full. Gives its address, and what keeps it so.
fn deaf() -> (std::net::SocketAddr, Vec<std::net::TcpStream>, std::net::TcpListener) {
    let family = rustix::net::AddressFamily::INET;
    let deaf = rustix::net::socket(family, rustix::net::SocketType::STREAM, None).expect("a socket");
    let any: std::net::SocketAddr = "127.0.0.1:0".parse().expect("an address");
    rustix::net::bind(&deaf, &any).expect("bound");
    rustix::net::listen(&deaf, 1).expect("it listens");
    let deaf = std::net::TcpListener::from(deaf);
    let address = deaf.local_addr().expect("an address");
    let fill = || std::net::TcpStream::connect_timeout(&address, Duration::from_millis(300));
    let callers: Vec<_> = std::iter::from_fn(|| fill().ok()).collect();
    (address, callers, deaf)
}

fn write_stale(place: &Place, address: std::net::SocketAddr, entries: u128) {
    for epoch in 1..=entries {
        let line = format!("flexpath:1,process={epoch:032x},host={:032x},pid=7,token=no,tcp={address}", 0);
        std::fs::write(place.path().join(format!("{STREAM}.{epoch:032x}")), line).expect("written");
    }
}

/// Somebody of this host takes the connection and says nothing. The opener itself waits for his answer, and gives him up
/// after the time of a silence.
#[test]
fn somebody_of_this_host_who_says_nothing_is_given_up_in_time() {
    let place = Place::new();
    let quiet = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let publisher = place.publisher();
    let mut contact = publisher.contact().clone();
    publisher.close().expect("closed");
    contact.endpoints = vec![fp_core::Endpoint::Tcp(quiet.local_addr().expect("bound"))];
    let entry = place.path().join("quiet.00000000000000000000000000000003");
    std::fs::write(entry, contact.to_string()).expect("written");
    let options = place.subscriber_options().with_silence(Duration::from_millis(200));
    let options = options.with_open_timeout(Duration::from_millis(900));
    let error = text(Subscriber::open("quiet", options).err().expect("he says nothing"));
    assert!(error.contains("the deadline is over while waiting for the reply"), "{error}");
    drop(quiet);
}

/// Entries of a host that answers nothing cost an opening a few seconds together, and not the time of a silence.
#[test]
fn entries_of_a_host_that_does_not_answer_hold_an_opening_up_for_seconds() {
    let place = Place::new();
    let (address, callers, deaf) = deaf();
    write_stale(&place, address, 64);
    let started = Instant::now();
    let publisher = place.publisher();
    assert!(started.elapsed() < Duration::from_secs(7), "after {:?}", started.elapsed());
    publisher.close().expect("closed");
    drop((callers, deaf));
}

/// Who looks for a publisher does not wait for entries that lead nowhere, be they as many as are looked at at once.
#[test]
fn a_subscriber_finds_its_publisher_beside_entries_of_a_host_that_does_not_answer() {
    let place = Place::new();
    let publisher = place.publisher();
    let (address, callers, deaf) = deaf();
    write_stale(&place, address, 100);
    let started = Instant::now();
    let subscriber = place.subscriber();
    assert!(started.elapsed() < Duration::from_millis(3500), "after {:?}", started.elapsed());
    subscriber.close().expect("left");
    publisher.close().expect("closed");
    drop((callers, deaf));
}

/// A publisher that cannot write its entry cannot be found, and does not open.
#[test]
fn an_entry_that_cannot_be_written_is_an_error_of_opening() {
    let place = Place::new();
    let folder = place.path().join("gone");
    std::fs::create_dir(&folder).expect("made");
    let rendezvous = fp_core::Rendezvous::at(&folder).expect("a rendezvous");
    std::fs::remove_dir(&folder).expect("removed");
    let options = place.publisher_options().with_rendezvous(rendezvous);
    let error = Publisher::open(STREAM, options).err().expect("it cannot be found");
    assert!(matches!(error, OpenError::Rendezvous(_)), "{error}");
    assert!(text(error).starts_with("cannot write the rendezvous entry"));
}

/// Over shared memory those of a user count together, over tcp those of an address.
#[test]
fn a_peer_has_no_more_subscriptions_than_the_owner_allows() {
    let place = Place::new();
    let publisher = Publisher::open(STREAM, place.publisher_options().with_limit_peer_subscriptions(2));
    let publisher = publisher.expect("the stream opens");
    let over = |kind| place.subscriber_options().with_transports(TransportPolicy::only(kind));
    let open = |kind| Subscriber::open(STREAM, over(kind));
    let first = open(TransportKind::Shm).expect("one");
    let second = open(TransportKind::Shm).expect("two");
    let told = open(TransportKind::Shm).map(drop).expect_err("no third").to_string();
    let user = rustix::process::geteuid().as_raw();
    let expected =
        format!("user {user} has 2 subscriptions already, and the publisher allows a peer no more");
    assert!(told.contains(&expected), "{told}");
    let other = open(TransportKind::Tcp).expect("an address is another peer");
    first.close().expect("left");
    let third = open(TransportKind::Shm).expect("there is a place again");
    drop((second, other, third));
    publisher.close().expect("closed");
}
