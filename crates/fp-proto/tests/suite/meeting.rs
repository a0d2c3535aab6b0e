//! What travels to and from a meeting place: golden bytes, and bytes that are none of it.

use crate::wire::{golden, hex, kind, no_more_than};
use fp_proto::config::ContactText;
use fp_proto::meeting::{
    Decline, Entry, LIMIT_ENTRIES, LIMIT_REPLY_BYTES, LIMIT_REQUEST_BYTES, Reply, Request,
};
use fp_types::Epoch;
use proptest::prelude::*;

const REQUESTS: usize = 4;
const REPLIES: usize = 3;

fn entry(name: &str) -> Entry {
    let contact = ContactText("flexpath:1,tcp=192.0.2.7:4000".to_owned());
    Entry { name: name.to_owned(), epoch: Epoch(0x0123_4567_89ab_cdef_0011_2233_4455_6677), contact }
}

fn requests() -> Vec<Request> {
    let Entry { name, epoch, .. } = entry("heat");
    vec![
        Request::Register(entry("heat")),
        Request::Withdraw { name: name.clone(), epoch },
        Request::Lookup { name },
        Request::List,
    ]
}

fn replies() -> Vec<Reply> {
    let declines = [
        Decline::Full,
        Decline::NameFull,
        Decline::GuestFull,
        Decline::Another,
        Decline::Crowded,
        Decline::TooFast,
    ];
    let listed = Reply::Listed { settled: true, entries: vec![entry("cold"), entry("heat")] };
    [Reply::Done, listed].into_iter().chain(declines.map(Reply::Declined)).collect()
}

#[test]
fn the_bytes_of_a_meeting_place_do_not_change() {
    let request = |request: &Request| {
        let bytes = request.encode();
        assert_eq!(&Request::decode(&bytes).expect("it can be read again"), request);
        format!("{} {}\n", kind(request), hex(&bytes))
    };
    let reply = |reply: &Reply| {
        let bytes = reply.encode();
        assert_eq!(&Reply::decode(&bytes).expect("it can be read again"), reply);
        format!("{} {}\n", kind(reply), hex(&bytes))
    };
    no_more_than(REQUESTS, Request::decode(&[REQUESTS as u8]));
    no_more_than(REPLIES, Reply::decode(&[REPLIES as u8]));
    let (requests, replies) = (requests(), replies());
    let lines = requests.iter().map(request).chain(replies.iter().map(reply));
    golden("meeting.txt", &lines.collect::<String>());
}

#[test]
fn what_is_longer_or_more_than_it_may_be_is_refused() {
    let long = |name: usize, contact: usize| {
        let contact = ContactText("c".repeat(contact));
        Request::Register(Entry { name: "n".repeat(name), contact, ..entry("") }).encode()
    };
    assert!(long(255, 1024).len() <= LIMIT_REQUEST_BYTES && Request::decode(&long(255, 1024)).is_ok());
    for (name, contact) in [(0, 1), (256, 1), (1, 1025), (1, LIMIT_REQUEST_BYTES)] {
        assert!(Request::decode(&long(name, contact)).is_err(), "{name}, {contact}");
    }
    let full =
        Entry { name: "n".repeat(255), contact: ContactText("c".repeat(1024)), epoch: Epoch(u128::MAX) };
    let listed = |count| Reply::Listed { settled: false, entries: vec![full.clone(); count] }.encode();
    let most = listed(LIMIT_ENTRIES);
    assert!(most.len() <= LIMIT_REPLY_BYTES && Reply::decode(&most).is_ok());
    assert!(Reply::decode(&listed(LIMIT_ENTRIES + 1)).is_err());
    // More entries than there are bytes.
    assert!(Reply::decode(&[1, 1, 253, 0, 0, 0, 0, 0, 0, 0, 16]).is_err());
    assert!(Request::decode(&[&Request::List.encode()[..], &[0]].concat()).is_err());
}

#[test]
fn an_answer_to_another_question_is_a_lie() {
    let lookup = Request::Lookup { name: "heat".to_owned() };
    let listed = |name| Reply::Listed { settled: true, entries: vec![entry(name)] };
    assert_eq!(listed("heat").lie(&lookup), None);
    assert!(listed("cold").lie(&lookup).is_some_and(|lie| lie.contains("\"cold\"")));
    assert_eq!(listed("cold").lie(&Request::List), None);
    assert!(Reply::Done.lie(&Request::List).is_some());
    assert!(listed("heat").lie(&Request::Register(entry("heat"))).is_some());
    assert!(requests().iter().all(|request| Reply::Declined(Decline::Full).lie(request).is_none()));
}

proptest! {
    #[test]
    fn hostile_bytes_are_refused_or_mean_something(bytes in prop::collection::vec(any::<u8>(), 0..80), kind in 0u8..5) {
        let bytes = [&[kind], &bytes[..]].concat();
        if let Ok(request) = Request::decode(&bytes) {
            prop_assert_eq!(Request::decode(&request.encode()).ok(), Some(request));
        }
        if let Ok(reply) = Reply::decode(&bytes) {
            prop_assert_eq!(Reply::decode(&reply.encode()).ok(), Some(reply));
        }
    }
}
