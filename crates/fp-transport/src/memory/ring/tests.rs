//! The ring against a queue, against a hostile sender, and with two threads.

use super::super::memory_map::Mapping;
use super::super::segment::{Segment, sealed_memfd};
use super::*;
use crate::head::Head;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(20);

#[test]
fn frames_and_marks_arrive_in_order() {
    let (mut sender, mut receiver) = pair(256).expect("a ring");
    assert!(sender.try_send(b"early").expect("sound"));
    sender.leave();
    assert!(sender.try_send(b"").expect("sound"));
    let mut frame = Head::new();
    assert_eq!(receiver.take(&mut frame).expect("sound"), Taken::Frame);
    assert_eq!(frame, b"early");
    assert_eq!(receiver.take(&mut frame).expect("sound"), Taken::Leave);
    assert_eq!(receiver.take(&mut frame).expect("sound"), Taken::Frame);
    assert_eq!(frame, b"");
    assert_eq!(receiver.take(&mut frame).expect("sound"), Taken::Nothing);
}

#[test]
fn a_full_ring_has_room_for_the_mark_of_leaving() {
    let (mut sender, mut receiver) = pair(64).expect("a ring");
    assert!(!sender.try_send(&[0; 17]).expect("sound"), "that can never fit");
    assert!(sender.try_send(&[1; 16]).expect("sound") && sender.try_send(&[1; 16]).expect("sound"));
    assert!(sender.try_send(&[]).expect("sound") && !sender.try_send(&[]).expect("sound"));
    assert!(!sender.has_half_its_room().expect("sound"));
    sender.leave();
    let mut frame = Head::new();
    let taken: Vec<Taken> = (0..5).map(|_| receiver.take(&mut frame).expect("sound")).collect();
    assert_eq!(taken, [Taken::Frame, Taken::Frame, Taken::Frame, Taken::Leave, Taken::Nothing]);
    assert!(sender.has_half_its_room().expect("sound"));
    assert!(matches!(RingOffer::new(10), Err(RingError::Capacity { capacity_bytes: 10 })));
}

#[test]
fn the_bell_is_rung_once_for_what_one_look_finds() {
    let (mut sender, mut receiver) = pair(4096).expect("a ring");
    let mut frame = Head::new();
    assert!(sender.try_send(b"a").expect("sound") && !sender.wants_bell().expect("sound"), "nobody is armed");
    let watch = receiver.watch();
    receiver.arm(true);
    assert!(!receiver.is_empty_for_sure().expect("sound"), "what came before is seen by looking");
    assert!(watch.has_news());
    assert_eq!(receiver.take(&mut frame).expect("sound"), Taken::Frame);
    assert!(receiver.is_empty_for_sure().expect("sound") && !receiver.watch().has_news());
    assert!(sender.try_send(b"b").expect("sound") && sender.wants_bell().expect("sound"));
    assert!(sender.try_send(b"c").expect("sound") && !sender.wants_bell().expect("sound"), "it was rung");
    assert_eq!(receiver.take(&mut frame).expect("sound"), Taken::Frame);
    assert_eq!(receiver.take(&mut frame).expect("sound"), Taken::Frame);
    assert!(sender.try_send(b"d").expect("sound") && sender.wants_bell().expect("sound"));
    receiver.arm(false);
    assert!(sender.try_send(b"e").expect("sound") && !sender.wants_bell().expect("sound"));
}

/// A receiver that only ever waits for the bell, which is a channel here: a lost one would end in its deadline.
#[test]
fn many_frames_between_two_threads() {
    const FRAMES: u64 = 300_000;
    let (mut sender, mut receiver) = pair(4096).expect("a ring");
    let (bell, rung) = mpsc::channel::<()>();
    receiver.arm(true);
    let sending = thread::spawn(move || {
        let deadline = Instant::now() + PATIENCE;
        for number in 0..FRAMES {
            let bytes = vec![number as u8; (number % 97) as usize];
            while !sender.try_send(&bytes).expect("sound") {
                assert!(Instant::now() < deadline, "the receiver does not read");
                thread::yield_now();
            }
            if sender.wants_bell().expect("sound") {
                bell.send(()).expect("it listens");
            }
        }
        sender
    });
    let mut frame = Head::new();
    for number in 0..FRAMES {
        while receiver.take(&mut frame).expect("sound") == Taken::Nothing {
            if receiver.is_empty_for_sure().expect("sound") {
                rung.recv_timeout(PATIENCE).expect("a bell was lost");
            }
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
    let (offer, _data) = RingOffer::new(64).expect("a ring");
    let (fd, control) = sealed_memfd(4096).expect("a segment");
    let mut sender = offer.accepted(fd).expect("the length and the seals are right");
    control.words()[control::TAIL_WORD].store(1 << 40, Ordering::Release);
    assert!(sender.try_send(&[0; 16]).expect("room") && sender.try_send(&[0; 16]).expect("room"));
    assert!(matches!(sender.try_send(&[0; 16]), Err(RingError::Malformed { limit: 6, .. })));
    control.words()[control::ARMED_WORD].store(7, Ordering::Release);
    assert!(matches!(sender.wants_bell(), Err(RingError::Malformed { limit: 6, .. })));
}

proptest! {
    /// Against a queue of frames with the room counted by hand.
    #[test]
    fn behaves_like_a_bounded_queue(steps in prop::collection::vec(prop::option::of(0usize..60), 1..200)) {
        let (mut sender, mut receiver) = pair(128).expect("a ring");
        let mut model: VecDeque<Vec<u8>> = VecDeque::new();
        let mut frame = Head::new();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Some(len) => {
                    let bytes: Vec<u8> = (0..len).map(|index| (number * 31 + index) as u8).collect();
                    let used: usize = model.iter().map(|frame| 1 + frame.len().div_ceil(8)).sum();
                    let fits = len <= sender.frame_limit_bytes() && used + 2 + len.div_ceil(8) <= 16;
                    prop_assert_eq!(sender.try_send(&bytes).expect("sound"), fits);
                    if fits { model.push_back(bytes); }
                }
                None => {
                    let expected = model.pop_front();
                    let taken = receiver.take(&mut frame).expect("sound");
                    prop_assert_eq!(taken == Taken::Frame, expected.is_some());
                    if let Some(expected) = expected { prop_assert_eq!(&frame, &expected); }
                }
            }
        }
    }

    /// A sender that writes anything at all: the receiver returns frames or an error, and comes to an end.
    #[test]
    fn survives_any_words(head in any::<u64>(), words in prop::collection::vec(any::<u64>(), 16),
                          small in prop::collection::vec(0u64..80, 16), take_small in any::<bool>()) {
        let (offer, data) = RingOffer::new(128).expect("a ring");
        let view = Mapping::shared_writable(data.as_fd(), 8192);
        prop_assert!(view.is_err(), "a sealed segment cannot be mapped writable again");
        let (mut receiver, control) = RingReceiver::open(data).expect("a ring");
        let sender = offer.accepted(control).expect("a control segment");
        let (words, head) = if take_small { (small, head % 40) } else { (words, head) };
        sender.scribble(head, &words);
        let (mut frame, mut taken) = (Head::new(), 0);
        while let Ok(Taken::Frame | Taken::Leave) = receiver.take(&mut frame) {
            taken += 1;
            prop_assert!(taken <= 16 && frame.len() <= 48);
        }
    }
}
