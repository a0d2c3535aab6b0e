//! Guests of a meeting place that are none: they lose their own link, and nobody else notices.

use crate::support::{PATIENCE, eventually};
use fp_core::Rendezvous;
use fp_core::rendezvous::place::MeetingPlace;
use fp_proto::config::ContactText;
use fp_proto::meeting::{Decline, EPOCH, Entry, Reply, Request};
use fp_transport::{Contact, DialOptions, Link, LinkError, OutFrame, TransportKind, TransportPolicy, dial};
use fp_types::Epoch;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Has a place at hand for so long.
fn at_a_place(visit: impl FnOnce(SocketAddr)) {
    let any = "127.0.0.1:0".parse().expect("an address");
    let place = MeetingPlace::listen(any, None, None, None).expect("it listens");
    let (address, stop) = (place.address(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let serving = scope.spawn(|| place.serve(&|| stop.load(Ordering::Relaxed)));
        visit(address);
        stop.store(true, Ordering::Relaxed);
        serving.join().expect("no panic").expect("served");
    });
}

fn guest(address: SocketAddr) -> Link {
    let options = DialOptions::new(Instant::now() + PATIENCE).with_epoch(Some(EPOCH));
    let options = options.with_policy(TransportPolicy::only(TransportKind::Tcp));
    dial(&Contact::from_address(address), &options).expect("let in")
}

fn say(link: &mut Link, bytes: Vec<u8>) -> Result<(), LinkError> {
    link.send_all(OutFrame::new(bytes), Instant::now() + PATIENCE)
}

fn hear(link: &mut Link) -> Result<Reply, LinkError> {
    let frame = link.recv_deadline(Instant::now() + PATIENCE)?;
    Ok(Reply::decode(&frame.head).expect("a reply"))
}

fn entry(name: &str) -> Request {
    let contact = ContactText(Contact::from_address("192.0.2.7:4000".parse().expect("one")).to_string());
    Request::Register(Entry { name: name.to_owned(), epoch: Epoch(7), contact })
}

fn names(address: SocketAddr) -> Vec<String> {
    let rendezvous = Rendezvous::at(format!("tcp://{address}")).expect("an address");
    rendezvous.list().expect("it answers").into_iter().map(|entry| entry.name).collect()
}

#[test]
fn an_entry_goes_with_the_link_that_it_came_over() {
    at_a_place(|address| {
        let mut link = guest(address);
        say(&mut link, entry("heat").encode()).expect("sent");
        assert_eq!(hear(&mut link).expect("a reply"), Reply::Done);
        assert_eq!(names(address), ["heat"]);
        drop(link);
        eventually("the entry is gone", || names(address).is_empty());
    });
}

#[test]
fn who_sends_what_is_no_request_is_turned_away_alone() {
    at_a_place(|address| {
        let mut sound = guest(address);
        say(&mut sound, entry("heat").encode()).expect("sent");
        hear(&mut sound).expect("a reply");
        for wrong in [b"garbage".to_vec(), Vec::new(), vec![0; 4096], vec![3; 1 << 20]] {
            let mut link = guest(address);
            // The place may be done with it before all is sent.
            let _ = say(&mut link, wrong);
            assert!(matches!(hear(&mut link), Err(LinkError::Closed | LinkError::Lost(_))));
        }
        say(&mut sound, Request::List.encode()).expect("sent");
        assert!(matches!(hear(&mut sound), Ok(Reply::Listed { entries, .. }) if entries.len() == 1));
    });
}

#[test]
fn who_asks_without_end_is_told_so_and_turned_away() {
    at_a_place(|address| {
        let mut link = guest(address);
        let ask = |link: &mut Link| {
            say(link, Request::List.encode())?;
            hear(link)
        };
        let last = std::iter::repeat_with(|| ask(&mut link))
            .take(100_000)
            .find(|reply| !matches!(reply, Ok(Reply::Listed { .. })));
        assert!(matches!(last, Some(Ok(Reply::Declined(Decline::TooFast)))), "{last:?}");
        assert!(matches!(hear(&mut link), Err(LinkError::Closed | LinkError::Lost(_))));
        assert!(names(address).is_empty(), "others are served");
    });
}
