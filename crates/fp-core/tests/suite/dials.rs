//! Dials of a handle: whoever drives it gives them up, and they go with it. A subscriber that is alone is dialled
//! by nobody.

use crate::support::executor::{Bell, poll};
use crate::support::{PATIENCE, Place, STREAM, eventually};
use fp_core::diagnosis::status::{StatusScope, status};
use fp_core::{Endpoint, Subscriber, SubscriberOptions};
use std::io::{ErrorKind, Read as _};
use std::net::{TcpListener, TcpStream};
use std::pin::pin;
use std::time::Duration;

/// Somebody of this host who takes connections and says nothing.
struct Quiet(TcpListener);

impl Quiet {
    /// He has an entry of that name.
    fn with_entry(place: &Place, name: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("set");
        let publisher = place.publisher();
        let mut contact = publisher.contact().clone();
        publisher.close().expect("closed");
        contact.endpoints = vec![Endpoint::Tcp(listener.local_addr().expect("bound"))];
        let entry = place.path().join(format!("{name}.00000000000000000000000000000003"));
        std::fs::write(entry, contact.to_string()).expect("written");
        Self(listener)
    }

    /// The next who dials, with his hello read.
    fn dialler(&self) -> TcpStream {
        let mut came = None;
        eventually("somebody dials", || {
            came = self.0.accept().ok();
            came.is_some()
        });
        let (mut stream, _) = came.expect("it was seen");
        stream.set_nonblocking(false).expect("set");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        stream.read_exact(&mut [0; fp_transport::hello::HELLO_LEN]).expect("a hello");
        stream
    }
}

fn is_over(mut stream: TcpStream) -> bool {
    match stream.read(&mut [0; 1]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

/// An opening that no time of its own ends while a test looks.
fn patient(place: &Place) -> SubscriberOptions {
    place.subscriber_options().with_open_timeout(4 * PATIENCE).with_silence(4 * PATIENCE)
}

/// A task is polled when it was woken. Nothing wakes it here.
#[test]
fn a_dial_of_a_task_that_nobody_polls_is_given_up() {
    let place = Place::new();
    let quiet = Quiet::with_entry(&place, "quiet");
    let options = patient(&place).with_silence(Duration::from_millis(200));
    let (mut opening, bell) = (pin!(Subscriber::open_async("quiet", options)), Bell::new());
    assert!(poll(opening.as_mut(), &bell).is_pending());
    for _ in 0..2 {
        assert!(is_over(quiet.dialler()), "it was not given up");
    }
}

#[test]
fn a_dial_goes_with_its_handle() {
    let place = Place::new();
    let quiet = Quiet::with_entry(&place, "quiet");
    let bell = Bell::new();
    let stream = {
        let mut opening = pin!(Subscriber::open_async("quiet", patient(&place)));
        assert!(poll(opening.as_mut(), &bell).is_pending());
        quiet.dialler()
    };
    assert!(is_over(stream), "the handle is gone, and its dial is there");
}

/// It is asked over the link that it made itself.
#[test]
fn a_subscriber_that_nobody_can_dial_says_how_it_is() {
    let place = Place::new();
    let (publisher, subscriber) = (place.publisher(), place.subscriber());
    let report = status(STREAM, StatusScope::Stream, &place.subscriber_options().link, PATIENCE);
    let cohorts = report.expect("an answer").cohorts;
    let told: Vec<_> = cohorts.iter().map(|cohort| (cohort.publishes, cohort.answered)).collect();
    assert_eq!(told, [(true, 1), (false, 1)]);
    subscriber.close().expect("left");
    publisher.close().expect("closed");
}
