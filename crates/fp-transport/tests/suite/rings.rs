//! Links whose small frames go through rings: the order of all frames, the bell, and peers that break the rules.

use crate::support::{pair, soon};
use fp_transport::frame::FrameLimits;
use fp_transport::{InFrame, Link, LinkError, OutFrame, Payload, TransportKind};
use proptest::prelude::*;
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// More than the frames after which a ring is offered.
const WARM: u32 = 12;

/// Two ends that have agreed on rings in both directions.
fn ringed(kind: TransportKind) -> (Link, Link) {
    let (mut here, mut there) = pair(kind);
    for number in 0..WARM {
        exchange(&mut here, &mut there, number);
        exchange(&mut there, &mut here, number);
    }
    assert!(here.watch_ring().is_some() && there.watch_ring().is_some(), "no ring was agreed on");
    (here, there)
}

fn exchange(from: &mut Link, to: &mut Link, number: u32) {
    from.send_all(small(number), soon()).expect("sent");
    assert_eq!(to.recv_deadline(soon()).expect("a frame").head, number.to_le_bytes());
}

fn small(number: u32) -> OutFrame {
    OutFrame::new(number.to_le_bytes().to_vec())
}

fn file(text: &str) -> Arc<OwnedFd> {
    let (reading, mut writing) = std::io::pipe().expect("a pipe");
    writing.write_all(text.as_bytes()).expect("room");
    Arc::new(reading.into())
}

/// What a frame of the mix is.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Small,
    Head(usize),
    Body(usize),
    Descriptor,
}

fn frame(number: u32, shape: Shape) -> OutFrame {
    let mut head = number.to_le_bytes().to_vec();
    match shape {
        Shape::Small => OutFrame::new(head),
        Shape::Head(more) => {
            head.resize(4 + more, number as u8);
            OutFrame::new(head)
        }
        Shape::Body(len) => OutFrame::new(head).with_body(vec![Payload::from_owner(vec![number as u8; len])]),
        Shape::Descriptor => OutFrame::new(head).with_descriptor(file(&number.to_string())),
    }
}

fn check(link: &mut Link, frame: InFrame, number: u32, shape: Shape) {
    assert_eq!(frame.head[..4], number.to_le_bytes(), "frame {number} is out of order");
    match shape {
        Shape::Small => assert_eq!(frame.head.len(), 4),
        Shape::Head(more) => assert_eq!(frame.head[4..], vec![number as u8; more]),
        Shape::Body(len) => {
            let mut body = vec![0; len];
            assert_eq!(link.recv_body_deadline(&mut body, soon()).expect("a body"), len);
            assert_eq!(body, vec![number as u8; len]);
        }
        Shape::Descriptor => {
            let mut text = String::new();
            let descriptor = frame.descriptors.into_iter().next().expect("a descriptor");
            File::from(descriptor).read_to_string(&mut text).expect("a text");
            assert_eq!(text, number.to_string());
        }
    }
}

fn shapes() -> impl Strategy<Value = Shape> {
    prop_oneof![
        6 => Just(Shape::Small),
        2 => (0usize..12_000).prop_map(Shape::Head),
        1 => (0usize..100_000).prop_map(Shape::Body),
        1 => Just(Shape::Descriptor),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Each receiver waits on its descriptor alone, or looks by itself for a while. A lost bell would end in the
    /// deadline, a frame that takes the wrong way in disorder.
    #[test]
    fn frames_keep_their_order_whichever_way_they_go(
        mix in prop::collection::vec((shapes(), any::<bool>()), 1..200),
        inproc in any::<bool>(),
    ) {
        let (mut here, mut there) = ringed(if inproc { TransportKind::Inproc } else { TransportKind::Shm });
        let sent = mix.clone();
        let sending = thread::spawn(move || {
            for (number, (shape, _)) in (0..).zip(sent) {
                here.send_all(frame(number, shape), soon()).expect("sent");
            }
            here
        });
        for (number, (shape, look)) in (0..).zip(mix) {
            there.arm(!look);
            let frame = match there.recv_here().expect("sound") {
                Some(frame) => frame,
                None => there.recv_deadline(soon()).expect("a frame"),
            };
            check(&mut there, frame, number, shape);
        }
        sending.join().expect("no panic");
    }
}

#[test]
fn over_tcp_there_are_no_rings() {
    let (mut here, mut there) = pair(TransportKind::Tcp);
    (0..WARM).for_each(|number| exchange(&mut here, &mut there, number));
    assert!(there.watch_ring().is_none());
}

#[test]
fn what_was_put_in_before_the_end_is_received() {
    let (mut here, mut there) = ringed(TransportKind::Shm);
    (0..100).for_each(|number| here.send(small(number)).expect("room"));
    drop(here);
    for number in 0..100u32 {
        assert_eq!(there.recv_deadline(soon()).expect("a frame").head, number.to_le_bytes());
    }
    assert!(matches!(there.recv_deadline(soon()), Err(LinkError::Closed)));
    assert!(matches!(there.recv(), Err(LinkError::Closed)), "and stays so");
}

#[test]
fn a_receiver_that_stands_still_fills_the_ring_and_then_the_queue() {
    let (mut here, mut there) = ringed(TransportKind::Shm);
    here.set_send_limit_bytes(100_000);
    let mut sent = 0u32;
    let full = loop {
        match here.send(small(sent)) {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, LinkError::Full { limit_bytes: 100_000, .. }), "{full}");
    let receiving = thread::spawn(move || {
        for number in 0..sent {
            assert_eq!(there.recv_deadline(soon()).expect("a frame").head, number.to_le_bytes());
        }
        there
    });
    here.flush_all(soon()).expect("read");
    let mut there = receiving.join().expect("no panic");
    assert!(there.watch_ring().is_none(), "it follows the sender to the socket");
    exchange(&mut here, &mut there, 1);
    assert!(there.watch_ring().is_some(), "and back into the ring");
}

#[test]
fn the_descriptor_is_readable_for_an_armed_end_alone() {
    let (mut here, mut there) = ringed(TransportKind::Shm);
    assert!(there.recv().expect("sound").is_none());
    assert!(!there.arm(false));
    here.send(small(1)).expect("room");
    assert!(!is_readable(&there), "nobody asked for a bell");
    assert!(there.has_buffered() && there.watch_ring().is_some_and(|watch| watch.has_news()));
    assert!(there.arm(true), "what is here already is told");
    assert!(there.recv_here().expect("sound").is_some());
    here.send(small(2)).expect("room");
    assert!(is_readable(&there));
    assert!(there.recv().expect("sound").is_some() && there.recv().expect("sound").is_none());
    assert!(!is_readable(&there), "the bell is taken with the frame");
}

fn is_readable(link: &Link) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let fd = link.as_fd();
    poll(&mut [PollFd::from_borrowed_fd(fd, PollFlags::IN)], Some(&Timespec::default())).expect("poll works")
        > 0
}

/// A frame about rings with this word: header, then the word.
fn word(kind: u8, body: u8) -> Vec<u8> {
    let mut wire = vec![1, 0, 0, 0, 0x52, 0x50, 0, 0, body, 0, 0, 0, 0, 0, 0, 0];
    wire.push(kind);
    wire
}

#[test]
fn words_about_rings_out_of_place_end_the_link() {
    for (kind, wire) in [
        (TransportKind::Shm, word(1, 0)),
        (TransportKind::Shm, word(2, 0)),
        (TransportKind::Shm, word(3, 0)),
        (TransportKind::Shm, word(9, 0)),
        (TransportKind::Shm, word(0, 1)),
        (TransportKind::Tcp, word(0, 0)),
    ] {
        let (mut here, mut there) = pair(kind);
        here.send_raw(&wire).expect("room");
        let error = there.recv_deadline(soon()).expect_err("out of place");
        assert!(matches!(error, LinkError::Malformed { .. }), "{error}");
        assert!(matches!(there.recv(), Err(LinkError::Closed)), "the link is of no more use");
    }
}

#[test]
fn a_frame_on_the_socket_beside_the_ring_ends_the_link() {
    let (mut here, mut there) = ringed(TransportKind::Shm);
    here.send_raw(&[1, 0, 0, 0, 0x46, 0x50, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]).expect("room");
    let error = there.recv_deadline(soon()).expect_err("out of order");
    assert!(
        matches!(error, LinkError::Malformed { what: "frame on the socket beside the ring", .. }),
        "{error}"
    );
}

#[test]
fn nonsense_in_a_ring_ends_the_link() {
    let (mut here, mut there) = ringed(TransportKind::Shm);
    here.scribble_in_ring(1 << 40, &[]);
    let error = there.recv().expect_err("no ring is so large");
    assert!(matches!(error, LinkError::Malformed { what: "words filled by the sender", .. }), "{error}");
    assert!(matches!(there.recv(), Err(LinkError::Closed)));
}

#[test]
fn a_part_of_a_frame_does_not_outlast_the_deadline() {
    for kind in [TransportKind::Shm, TransportKind::Tcp] {
        let (mut here, mut there) = pair(kind);
        here.send_raw(&[1, 0, 0]).expect("room");
        let deadline = Instant::now() + Duration::from_millis(50);
        assert!(matches!(there.recv_deadline(deadline), Err(LinkError::Deadline { .. })));
        assert!(!there.has_buffered(), "nothing can be returned");
    }
}

#[test]
fn bells_without_end_do_not_keep_the_receiver() {
    let (mut here, mut there) = ringed(TransportKind::Shm);
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let ringing = thread::spawn(move || {
        let bells = word(0, 0).repeat(500);
        while !stopped.load(Ordering::Relaxed) {
            // Full is as good as sent.
            let _ = here.send_raw(&bells);
        }
    });
    for _ in 0..200 {
        let deadline = Instant::now() + Duration::from_secs(5);
        assert!(there.recv().is_ok_and(|frame| frame.is_none()));
        assert!(Instant::now() < deadline, "one call took seconds");
    }
    stop.store(true, Ordering::Relaxed);
    ringing.join().expect("no panic");
}

/// A sealed memfd with this many bytes.
fn sealed(len: u64) -> Arc<OwnedFd> {
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
    let fd = memfd_create("ring", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).expect("a memfd");
    ftruncate(&fd, len).expect("room");
    let seals = SealFlags::FUTURE_WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    fcntl_add_seals(&fd, seals).expect("sealed");
    Arc::new(fd)
}

#[test]
fn a_ring_that_is_too_large_is_refused_before_it_is_mapped() {
    let (mut here, mut there) = pair(TransportKind::Shm);
    here.send_of_rings(1, vec![sealed(1 << 30)]).expect("room");
    let error = there.recv_deadline(soon()).expect_err("too large");
    let what = "length of a ring in bytes";
    assert!(
        matches!(&error, LinkError::Malformed { what: found, value, .. } if *found == what && *value == 1 << 30),
        "{error}"
    );
}

#[test]
fn frames_in_a_ring_are_as_long_as_the_limits_allow() {
    let (mut here, mut there) = ringed(TransportKind::Shm);
    there.set_frame_limits(FrameLimits { head_bytes: 100, body_bytes: 100 });
    here.send(OutFrame::new(vec![0; 101])).expect("room");
    let error = there.recv_deadline(soon()).expect_err("too long");
    assert!(matches!(error, LinkError::Malformed { what: "head length", value: 101, limit: 100 }), "{error}");
}

#[test]
fn a_peer_that_closes_with_an_offer_unread_has_closed() {
    let (mut here, there) = pair(TransportKind::Shm);
    (0..WARM).for_each(|number| here.send(small(number)).expect("room"));
    drop(there);
    assert!(matches!(here.recv_deadline(soon()), Err(LinkError::Closed)));
}
