//! The ring against a queue, against a hostile sender, and with two threads.

use super::super::mapping::Mapping;
use super::super::segment::{Segment, sealed_memfd};
use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::thread;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

#[test]
fn frames_before_and_after_attach_arrive_in_order() {
    let (mut sender, data) = RingSender::new(256).expect("a ring");
    assert!(sender.try_send(b"early").expect("sound"));
    let (mut receiver, control) = RingReceiver::open(data).expect("a ring");
    sender.attach(control).expect("a control segment");
    assert!(sender.try_send(b"").expect("sound"));
    let mut frame = Vec::new();
    assert!(receiver.try_recv(&mut frame).expect("sound"));
    assert_eq!(frame, b"early");
    assert!(receiver.try_recv(&mut frame).expect("sound"));
    assert_eq!(frame, b"");
    assert!(!receiver.try_recv(&mut frame).expect("sound"));
}

#[test]
fn a_frame_that_can_never_fit_is_an_error_and_a_full_ring_is_not() {
    let (mut sender, _receiver) = pair(64).expect("a ring");
    assert!(matches!(sender.try_send(&[0; 25]), Err(RingError::TooLarge { len_bytes: 25, limit_bytes: 24 })));
    assert!(sender.try_send(&[1; 24]).expect("sound") && sender.try_send(&[1; 24]).expect("sound"));
    assert!(!sender.try_send(&[]).expect("sound"), "eight words are full");
    assert!(matches!(RingSender::new(10), Err(RingError::Capacity { capacity_bytes: 10 })));
}

#[test]
fn a_sleeper_is_woken() {
    let (mut sender, mut receiver) = pair(4096).expect("a ring");
    let waiting = thread::spawn(move || {
        let deadline = soon();
        while !receiver.wait(deadline).expect("sound") {
            assert!(Instant::now() < deadline, "never woken");
        }
        receiver
    });
    let deadline = soon();
    while !sender.receiver_sleeps() {
        assert!(Instant::now() < deadline, "it never sleeps");
        thread::yield_now();
    }
    assert!(sender.try_send(b"wake").expect("sound"));
    let mut receiver = waiting.join().expect("no panic");
    let mut frame = Vec::new();
    assert!(receiver.try_recv(&mut frame).expect("sound"));
    assert!(!receiver.wait(Instant::now()).expect("sound"), "a deadline in the past returns at once");
}

#[test]
fn many_frames_between_two_threads() {
    let (mut sender, mut receiver) = pair(4096).expect("a ring");
    const FRAMES: u64 = 300_000;
    let sending = thread::spawn(move || {
        let deadline = soon();
        for number in 0..FRAMES {
            let bytes = vec![number as u8; (number % 97) as usize];
            while !sender.try_send(&bytes).expect("sound") {
                assert!(Instant::now() < deadline, "the receiver does not read");
                thread::yield_now();
            }
        }
    });
    let (mut frame, deadline) = (Vec::new(), soon());
    for number in 0..FRAMES {
        while !receiver.try_recv(&mut frame).expect("sound") {
            assert!(Instant::now() < deadline, "frame {number} did not arrive");
            receiver.wait(deadline).expect("sound");
        }
        assert_eq!(frame, vec![number as u8; (number % 97) as usize], "frame {number}");
    }
    sending.join().expect("no panic");
}

#[test]
fn what_is_no_ring_is_refused() {
    let segment = Segment::make(8192, true).expect("a segment");
    let fd = segment.fd.as_ref().expect("shareable").try_clone().expect("a descriptor");
    assert!(matches!(RingReceiver::open(fd), Err(RingError::Malformed { what: "first word", .. })));
    let (fd, _mapping) = sealed_memfd(4096).expect("a segment");
    assert!(matches!(
        RingReceiver::open(fd),
        Err(RingError::Malformed { what: "length of the segment", .. })
    ));
}

#[test]
fn a_receiver_that_lies_is_noticed() {
    let (mut sender, _data) = RingSender::new(64).expect("a ring");
    let (fd, control) = sealed_memfd(4096).expect("a segment");
    sender.attach(fd).expect("the length and the seals are right");
    control.words()[control::TAIL_WORD].store(1 << 40, Ordering::Release);
    assert!(sender.try_send(&[0; 24]).expect("room") && sender.try_send(&[0; 24]).expect("room"));
    assert!(matches!(sender.try_send(&[0; 24]), Err(RingError::Malformed { limit: 8, .. })));
}

proptest! {
    /// Against a queue of frames with the room counted by hand.
    #[test]
    fn behaves_like_a_bounded_queue(steps in prop::collection::vec(prop::option::of(0usize..60), 1..200)) {
        let (mut sender, mut receiver) = pair(128).expect("a ring");
        let mut model: VecDeque<Vec<u8>> = VecDeque::new();
        let mut frame = Vec::new();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Some(len) if len <= sender.frame_limit_bytes() => {
                    let bytes: Vec<u8> = (0..len).map(|index| (number * 31 + index) as u8).collect();
                    let used: usize = model.iter().map(|frame| 1 + frame.len().div_ceil(8)).sum();
                    let fits = used + 1 + len.div_ceil(8) <= 16;
                    prop_assert_eq!(sender.try_send(&bytes).expect("sound"), fits);
                    if fits { model.push_back(bytes); }
                }
                Some(len) => prop_assert!(sender.try_send(&vec![0; len]).is_err()),
                None => {
                    let expected = model.pop_front();
                    prop_assert_eq!(receiver.try_recv(&mut frame).expect("sound"), expected.is_some());
                    if let Some(expected) = expected { prop_assert_eq!(&frame, &expected); }
                }
            }
        }
    }

    /// A sender that writes anything at all: the receiver returns frames or an error, and comes to an end.
    #[test]
    fn survives_any_words(head in any::<u64>(), words in prop::collection::vec(any::<u64>(), 16),
                          small in prop::collection::vec(0u64..80, 16), take_small in any::<bool>()) {
        let (sender, data) = RingSender::new(128).expect("a ring");
        let words = if take_small { small } else { words };
        let view = Mapping::shared_writable(data.as_fd(), 8192);
        prop_assert!(view.is_err(), "a sealed segment cannot be mapped writable again");
        let head = if take_small { head % 40 } else { head };
        sender.scribble(head, &words);
        let (mut receiver, _control) = RingReceiver::open(data).expect("a ring");
        let (mut frame, mut frames) = (Vec::new(), 0);
        while let Ok(true) = receiver.try_recv(&mut frame) {
            frames += 1;
            prop_assert!(frames <= 16 && frame.len() <= 56);
        }
    }
}
