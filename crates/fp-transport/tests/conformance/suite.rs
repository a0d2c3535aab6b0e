//! The suite: each function is one promise of the link contract.

/// Gives the names of all tests of the suite to a macro: one list, so that no transport misses a promise.
macro_rules! promises {
    ($taker:ident) => {
        $taker! {
            frames_arrive_in_order,
            heads_of_all_sizes_arrive,
            bodies_are_gathered_and_scattered,
            a_large_body_goes_straight_to_its_destination,
            a_frame_beyond_one_call_goes_on_by_its_descriptor,
            both_directions_at_once,
            a_body_must_be_taken_before_the_next_frame,
            descriptors_arrive_with_their_frame,
            one_direction_can_end_before_the_other,
            a_full_queue_says_so_and_recovers,
            a_payload_is_released_when_it_is_written,
            too_large_frames_are_not_taken,
            corrupt_headers_end_the_link,
            a_peer_that_goes_in_a_frame_is_lost,
            a_peer_that_goes_between_frames_is_closed,
            a_reset_is_an_error_on_both_sides,
            deadlines_name_what_was_waited_for,
            finishing_delivers_everything,
            hostile_bytes_are_survived,
        }
    };
}

use super::case::Case;
use crate::support::{await_fd, bytes, soon};
use fp_transport::frame::{FRAME_KIND, HEAD_LIMIT_BYTES, Header};
use fp_transport::link::{CALL_LIMIT_BYTES, Faults};
use fp_transport::{Flushed, InFrame, Link, LinkError, OutFrame, Payload};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rustix::event::PollFlags;
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::io::{IoSliceMut, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A frame with its whole body.
fn receive(link: &mut Link) -> Result<Option<(InFrame, Vec<u8>)>, LinkError> {
    let Some(frame) = link.recv()? else { return Ok(None) };
    let mut body = vec![0; frame.body_len as usize];
    let deadline = soon();
    assert_eq!(link.recv_body_deadline(&mut body, deadline)? as u64, frame.body_len);
    Ok(Some((frame, body)))
}

/// Receives `count` frames at `to` while `from` writes, in one thread: nothing may depend on a second one.
fn pump(from: &mut Link, to: &mut Link, count: usize) -> Vec<(InFrame, Vec<u8>)> {
    let (mut frames, deadline) = (Vec::new(), soon());
    let mut open: Option<(InFrame, Vec<u8>, usize)> = None;
    while frames.len() < count {
        assert!(Instant::now() < deadline, "{} of {count} frames came", frames.len());
        from.flush().expect("writing goes on");
        if open.is_none() {
            open = to.recv().expect("reading goes on").map(|frame| {
                let body = vec![0; frame.body_len as usize];
                (frame, body, 0)
            });
        }
        let Some((frame, mut body, filled)) = open.take() else { continue };
        let received = to.recv_body(&mut [IoSliceMut::new(&mut body[filled..])]).expect("reading goes on");
        if to.body_remaining() == 0 {
            frames.push((frame, body));
        } else {
            open = Some((frame, body, filled + received));
        }
    }
    frames
}

fn payload(seed: usize, len: usize) -> Payload {
    Payload::from_owner(bytes(seed, len))
}

pub(crate) fn frames_arrive_in_order(case: Case) {
    let (mut one, mut other) = case.pair();
    let count = case.scaled(4000);
    for number in 0..count {
        let frame =
            OutFrame::new(number.to_le_bytes().to_vec()).with_body(vec![payload(number, number % 300)]);
        one.send(frame).expect("room");
    }
    for (number, (frame, body)) in pump(&mut one, &mut other, count).into_iter().enumerate() {
        assert_eq!(frame.head, number.to_le_bytes());
        assert_eq!(body, bytes(number, number % 300));
    }
}

pub(crate) fn heads_of_all_sizes_arrive(case: Case) {
    let (mut one, mut other) = case.pair();
    let buffer = 16 << 10;
    let large = case.scaled(5 << 20);
    let sizes = [0, 1, 15, 16, 17, buffer - 17, buffer - 16, buffer - 15, buffer, buffer + 1, large];
    for (number, size) in sizes.into_iter().enumerate() {
        one.send(OutFrame::new(bytes(number, size))).expect("room");
    }
    for (number, (frame, body)) in pump(&mut one, &mut other, sizes.len()).into_iter().enumerate() {
        assert_eq!(frame.head, bytes(number, sizes[number]), "head {number}");
        assert!(body.is_empty());
    }
}

pub(crate) fn bodies_are_gathered_and_scattered(case: Case) {
    let (mut one, mut other) = case.pair();
    // More pieces than one call gathers, some of them empty.
    let pieces: Vec<_> = (0..300).map(|number| payload(number, (number * 37) % 1000)).collect();
    let whole: Vec<u8> = pieces.iter().flat_map(|piece| piece.as_slice().to_vec()).collect();
    one.send(OutFrame::new(b"gathered".to_vec()).with_body(pieces)).expect("room");
    one.send(OutFrame::new(b"next".to_vec())).expect("room");
    let (mut frame, deadline) = (None, soon());
    while frame.is_none() {
        assert!(Instant::now() < deadline);
        one.flush().expect("writing goes on");
        frame = other.recv().expect("reading goes on");
    }
    assert_eq!(frame.map(|frame| frame.body_len), Some(whole.len() as u64));
    let mut memory = vec![0; whole.len()];
    // Runs of odd lengths, more than one call fills, one of them empty.
    let mut runs: Vec<IoSliceMut<'_>> = memory.chunks_mut(613).map(IoSliceMut::new).collect();
    runs.insert(1, IoSliceMut::new(&mut []));
    let mut runs = &mut runs[..];
    while other.body_remaining() > 0 {
        assert!(Instant::now() < deadline);
        one.flush().expect("writing goes on");
        let received = other.recv_body(runs).expect("reading goes on");
        IoSliceMut::advance_slices(&mut runs, received);
    }
    assert_eq!(memory, whole);
    assert_eq!(pump(&mut one, &mut other, 1)[0].0.head, b"next");
}

pub(crate) fn a_large_body_goes_straight_to_its_destination(case: Case) {
    let (mut one, mut other) = case.pair();
    let len = case.scaled(40 << 20);
    one.send(OutFrame::new(vec![]).with_body(vec![payload(5, len)])).expect("an empty queue takes any frame");
    let (_, body) = pump(&mut one, &mut other, 1).remove(0);
    assert!(body == bytes(5, len));
}

/// A holder writes when the descriptor is ready, and hears what came before it waits again. The peer reads as fast as it
/// can, so that a call often ends at its bound, with room to send.
pub(crate) fn a_frame_beyond_one_call_goes_on_by_its_descriptor(case: Case) {
    let (mut one, mut other) = case.pair();
    // No call comes to its bound where each moves a few bytes.
    let (len, deadline) = (case.faults.send_bytes.map_or(4 * CALL_LIMIT_BYTES, |_| 128 << 10), soon());
    let reader = std::thread::spawn(move || {
        let frame = other.recv_deadline(deadline).expect("a frame");
        let mut body = vec![0; frame.body_len as usize];
        let read = other.recv_body_deadline(&mut body, deadline).expect("all of it");
        (read, body, other)
    });
    one.send(OutFrame::new(vec![]).with_body(vec![payload(6, len)])).expect("an empty queue takes any frame");
    while one.wants_write() {
        // What is made to block is not told of when it does not any more.
        if case.faults.would_block_every.is_none() {
            await_fd(&one, PollFlags::IN | PollFlags::OUT, "room to send", deadline);
        }
        one.flush().expect("writing goes on");
        assert!(one.recv().expect("nothing comes").is_none());
    }
    let (read, body, _other) = reader.join().expect("it reads");
    assert!(read == len && body == bytes(6, len));
}

pub(crate) fn both_directions_at_once(case: Case) {
    let (mut one, mut other) = case.pair();
    let len = case.more_than_taken(6 << 20);
    one.send(OutFrame::new(vec![1]).with_body(vec![payload(1, len)])).expect("room");
    other.send(OutFrame::new(vec![2]).with_body(vec![payload(2, len)])).expect("room");
    // Each waits for the other to read, but neither blocks.
    assert!(one.wants_write() && other.wants_write());
    assert!(pump(&mut one, &mut other, 1)[0].1 == bytes(1, len));
    assert!(pump(&mut other, &mut one, 1)[0].1 == bytes(2, len));
}

pub(crate) fn a_body_must_be_taken_before_the_next_frame(case: Case) {
    let (mut one, mut other) = case.pair();
    let len = case.scaled(100_000);
    one.send(OutFrame::new(vec![1]).with_body(vec![payload(1, len)])).expect("room");
    one.send(OutFrame::new(vec![2])).expect("room");
    let deadline = soon();
    while other.recv().expect("reading goes on").is_none() {
        assert!(Instant::now() < deadline);
        one.flush().expect("writing goes on");
    }
    assert!(
        matches!(other.recv(), Err(LinkError::BodyPending { remaining_bytes }) if remaining_bytes == len as u64)
    );
    while other.skip_body().expect("reading goes on") > 0 {
        assert!(Instant::now() < deadline);
        one.flush().expect("writing goes on");
    }
    assert_eq!(pump(&mut one, &mut other, 1)[0].0.head, [2]);
}

fn file_of(text: &str) -> Arc<OwnedFd> {
    let mut file = File::from(memfd_create("test", MemfdFlags::CLOEXEC).expect("a memfd"));
    file.write_all(text.as_bytes()).expect("it takes bytes");
    Arc::new(file.into())
}

fn text_of(descriptor: OwnedFd) -> String {
    let (mut file, mut text) = (File::from(descriptor), String::new());
    file.rewind().expect("a file");
    file.read_to_string(&mut text).expect("text");
    text
}

pub(crate) fn descriptors_arrive_with_their_frame(case: Case) {
    let (mut one, mut other) = case.pair();
    let frame = |number: usize, descriptors: usize| {
        let mut frame =
            OutFrame::new(bytes(number, number * 11)).with_body(vec![payload(number, number * 100)]);
        for index in 0..descriptors {
            frame = frame.with_descriptor(file_of(&format!("{number}.{index}")));
        }
        frame
    };
    if !case.passes_descriptors() {
        assert!(matches!(one.send(frame(1, 1)), Err(LinkError::TooLarge { value: 1, limit: 0, .. })));
        return;
    }
    let counts = [0, 1, 16, 0, 0, 3, 1, 1, 0];
    for (number, count) in counts.into_iter().enumerate() {
        one.send(frame(number, count)).expect("room");
    }
    assert!(matches!(one.send(frame(1, 17)), Err(LinkError::TooLarge { value: 17, limit: 16, .. })));
    for (number, (frame, body)) in pump(&mut one, &mut other, counts.len()).into_iter().enumerate() {
        let texts: Vec<_> = frame.descriptors.into_iter().map(text_of).collect();
        let expected: Vec<_> = (0..counts[number]).map(|index| format!("{number}.{index}")).collect();
        assert_eq!(texts, expected, "frame {number}");
        assert_eq!(body, bytes(number, number * 100));
    }
}

pub(crate) fn one_direction_can_end_before_the_other(case: Case) {
    let (mut one, mut other) = case.pair();
    one.send_all(OutFrame::new(b"last".to_vec()), soon()).expect("it is written");
    one.end_sending();
    assert!(matches!(one.send(OutFrame::new(vec![])), Err(LinkError::Closed)));
    assert_eq!(other.recv_deadline(soon()).expect("the last frame").head, b"last");
    assert!(matches!(other.recv_deadline(soon()), Err(LinkError::Closed)));
    other.send_all(OutFrame::new(b"answer".to_vec()), soon()).expect("this direction is open");
    assert_eq!(one.recv_deadline(soon()).expect("the answer").head, b"answer");
}

pub(crate) fn a_full_queue_says_so_and_recovers(case: Case) {
    let (mut one, mut other) = case.pair();
    one.set_send_limit_bytes(100_000);
    let (mut sent, deadline) = (0, soon());
    let (queued_bytes, limit_bytes) = loop {
        assert!(Instant::now() < deadline, "the queue never filled");
        match one.send(OutFrame::new(bytes(sent, 10_000))) {
            Ok(()) => sent += 1,
            Err(LinkError::Full { queued_bytes, limit_bytes }) => break (queued_bytes, limit_bytes),
            Err(error) => panic!("{error}"),
        }
    };
    assert!(queued_bytes <= limit_bytes && queued_bytes + 10_016 > limit_bytes);
    assert!(!one.has_room(10_016) && one.queued_bytes() == queued_bytes);
    for (number, (frame, _)) in pump(&mut one, &mut other, sent).into_iter().enumerate() {
        assert_eq!(frame.head, bytes(number, 10_000));
    }
    assert!(one.has_room(1 << 40) && one.queued_bytes() == 0, "an empty queue takes one frame of any length");
    one.send(OutFrame::new(b"again".to_vec())).expect("room");
    assert_eq!(pump(&mut one, &mut other, 1)[0].0.head, b"again");
}

pub(crate) fn a_payload_is_released_when_it_is_written(case: Case) {
    struct Owner(Vec<u8>, Arc<AtomicUsize>);
    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    impl Drop for Owner {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::SeqCst);
        }
    }
    let released = Arc::new(AtomicUsize::new(0));
    let (mut one, mut other) = case.pair();
    let len = case.more_than_taken(8 << 20);
    let owned = Payload::from_owner(Owner(bytes(3, len), Arc::clone(&released)));
    one.send(OutFrame::new(vec![]).with_body(vec![owned])).expect("room");
    assert!(one.wants_write(), "more than the kernel takes");
    assert_eq!(released.load(Ordering::SeqCst), 0, "still needed");
    assert!(pump(&mut one, &mut other, 1)[0].1 == bytes(3, len));
    assert_eq!(released.load(Ordering::SeqCst), 1);
}

pub(crate) fn too_large_frames_are_not_taken(case: Case) {
    let (mut one, mut other) = case.pair();
    let head = vec![0; HEAD_LIMIT_BYTES as usize + 1];
    let limit = u64::from(HEAD_LIMIT_BYTES);
    assert!(matches!(
        one.send(OutFrame::new(head)),
        Err(LinkError::TooLarge { what: "head length", value, limit: l }) if value == limit + 1 && l == limit
    ));
    one.send(OutFrame::new(b"sound".to_vec())).expect("the link is sound");
    assert_eq!(pump(&mut one, &mut other, 1)[0].0.head, b"sound");
}

fn malformed_by(case: Case, wire: &[u8]) -> (&'static str, u64, u64) {
    let (mut one, mut other) = case.pair();
    one.send_raw(wire).expect("a fresh socket has room");
    let error = other.recv_deadline(soon()).expect_err("not a frame");
    assert!(matches!(other.recv(), Err(LinkError::Closed)), "the link is of no more use");
    let LinkError::Malformed { what, value, limit } = error else { panic!("{error}") };
    (what, value, limit)
}

pub(crate) fn corrupt_headers_end_the_link(case: Case) {
    let header = |head_len, descriptors, body_len| {
        Header { head_len, is_of_rings: false, descriptors, body_len }.encode()
    };
    assert_eq!(malformed_by(case, &[0xee; 16]), ("kind", 0xeeee, FRAME_KIND.into()));
    let limit = u64::from(HEAD_LIMIT_BYTES);
    assert_eq!(malformed_by(case, &header(u32::MAX, 0, 0)), ("head length", u32::MAX.into(), limit));
    assert_eq!(malformed_by(case, &header(0, 0, u64::MAX)), ("body length", u64::MAX, 1 << 40));
    assert_eq!(malformed_by(case, &header(0, 17, 0)), ("number of descriptors", 17, 16));
    let missing = malformed_by(case, &header(0, 2, 0));
    let what = if case.passes_descriptors() {
        "number of descriptors, of which came fewer"
    } else {
        "number of descriptors over tcp or verbs"
    };
    assert_eq!(missing, (what, 2, 0));
}

pub(crate) fn a_peer_that_goes_in_a_frame_is_lost(case: Case) {
    let header = Header { head_len: 10, is_of_rings: false, descriptors: 0, body_len: 100 }.encode();
    let cut = |extra: &[u8]| {
        let (mut one, other) = case.pair();
        one.send_raw(&[&header, extra].concat()).expect("room");
        drop(one);
        other
    };
    assert!(matches!(cut(&[0; 4]).recv_deadline(soon()), Err(LinkError::Lost(_))), "in the head");
    let mut link = cut(&[0; 40]);
    assert_eq!(link.recv_deadline(soon()).expect("the head is whole").body_len, 100);
    let mut body = [0; 100];
    assert!(matches!(link.recv_body_deadline(&mut body, soon()), Err(LinkError::Lost(_))), "in the body");
    assert!(
        matches!(link.recv_body(&mut [IoSliceMut::new(&mut body)]), Err(LinkError::Closed)),
        "and stays so"
    );
}

pub(crate) fn a_peer_that_goes_between_frames_is_closed(case: Case) {
    let (mut one, mut other) = case.pair();
    one.send_all(OutFrame::new(b"goodbye".to_vec()), soon()).expect("it is written");
    drop(one);
    assert_eq!(other.recv_deadline(soon()).expect("what was written arrives").head, b"goodbye");
    assert!(matches!(other.recv_deadline(soon()), Err(LinkError::Closed)));
    let deadline = soon();
    loop {
        assert!(Instant::now() < deadline, "writing to nobody goes on for ever");
        match other.send(OutFrame::new(vec![0; 1000])) {
            Ok(()) => {}
            Err(LinkError::Closed | LinkError::Lost(_)) => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(!other.wants_write(), "what waited is discarded");
}

pub(crate) fn a_reset_is_an_error_on_both_sides(case: Case) {
    let (mut one, mut other) = case.pair();
    one.set_faults(Faults { send_bytes: Some(1000), reset_after_bytes: Some(10_000), ..Faults::default() });
    let sent = one.send(OutFrame::new(vec![]).with_body(vec![payload(1, 100_000)]));
    assert!(matches!(sent, Err(LinkError::Lost(_))));
    assert!(matches!(one.send(OutFrame::new(vec![])), Err(LinkError::Closed)), "and stays so");
    let received = loop {
        match receive(&mut other) {
            Ok(None) => await_fd(other.as_fd(), PollFlags::IN, "the reset", soon()),
            Ok(Some(_)) => panic!("the frame was cut"),
            Err(error) => break error,
        }
    };
    assert!(matches!(received, LinkError::Lost(_)));
}

pub(crate) fn deadlines_name_what_was_waited_for(case: Case) {
    let (mut one, mut other) = case.pair();
    let short = || Instant::now() + Duration::from_millis(10);
    assert!(matches!(one.recv_deadline(short()), Err(LinkError::Deadline { waiting_for: "a frame" })));
    let large = OutFrame::new(vec![]).with_body(vec![payload(1, 64 << 20)]);
    let unread = one.send_all(large, Instant::now());
    assert!(matches!(unread, Err(LinkError::Deadline { waiting_for: "the peer to read" })));
    while other.recv().expect("reading goes on").is_none() {
        one.flush().expect("writing goes on");
    }
    let mut body = vec![0; 64 << 20];
    let partial = other.recv_body_deadline(&mut body, short());
    assert!(matches!(partial, Err(LinkError::Deadline { waiting_for: "the body of a frame" })));
    one.set_send_limit_bytes(10);
    let full = one.send_all(OutFrame::new(vec![0; 100]), Instant::now());
    assert!(matches!(full, Err(LinkError::Deadline { waiting_for: "room to send" })));
}

pub(crate) fn finishing_delivers_everything(case: Case) {
    let (mut one, mut other) = case.pair();
    let len = case.scaled(1 << 20);
    other.send(OutFrame::new(b"unread".to_vec())).expect("room");
    one.send(OutFrame::new(b"all".to_vec()).with_body(vec![payload(9, len)])).expect("room");
    let finishing = std::thread::spawn(move || one.finish(soon()));
    let frame = other.recv_deadline(soon()).expect("a frame");
    let mut body = vec![0; frame.body_len as usize];
    other.recv_body_deadline(&mut body, soon()).expect("its body");
    assert!(body == bytes(9, len));
    assert!(matches!(other.recv_deadline(soon()), Err(LinkError::Closed)));
    assert_eq!(other.flush().expect("nothing waits"), Flushed::All);
    other.end_sending();
    finishing.join().expect("no panic").expect("everything has arrived");
}

/// Whatever a peer writes ends in frames or in an error, and allocates no more than came.
pub(crate) fn hostile_bytes_are_survived(case: Case) {
    let mut runner = TestRunner::new(Config { cases: 24, failure_persistence: None, ..Config::default() });
    let hostile = (prop::collection::vec(any::<u8>(), 0..300), 0u32..400, 0u16..3, 0u64..400);
    runner
        .run(&hostile, |(noise, head_len, descriptors, body_len)| {
            let (mut one, mut other) = case.pair();
            let sound = Header { head_len, is_of_rings: false, descriptors, body_len }.encode();
            one.send_raw(&[&sound[..], &noise].concat()).expect("room");
            drop(one);
            let deadline = soon();
            loop {
                match receive(&mut other) {
                    Ok(None) => await_fd(other.as_fd(), PollFlags::IN, "the end", deadline),
                    Ok(Some((frame, _))) => prop_assert!(frame.head.len() <= noise.len()),
                    Err(_) => return Ok(()),
                }
            }
        })
        .expect("survived");
}
