//! A side that does not read has no receive posted any more: its peer waits, and nothing is lost or broken.

use super::harness::Test;
use super::support::{bytes, soon, verbs_pair};
use fp_transport::{Link, OutFrame};
use std::thread;
use std::time::{Duration, Instant};

/// Frames that are sent: many times what the receives of a link hold.
const FRAMES: usize = 200;
/// Bytes of each: it takes a receive of its own.
const LEN: usize = 8000;
/// How long nobody reads.
const STILL: Duration = Duration::from_millis(400);

/// The tests.
pub(crate) fn tests() -> Vec<Test> {
    vec![
        Test::new("a_sender_waits_for_receives", || exhaust([true, false])),
        Test::new("both_out_of_receives_go_on", || exhaust([true, true])),
    ]
}

/// Those who send do so, while nobody reads; then everybody reads, and everything has come in order.
fn exhaust(sends: [bool; 2]) {
    let (one, other) = verbs_pair();
    let mut links = [one, other];
    for (link, sends) in links.iter_mut().zip(sends) {
        for number in 0..if sends { FRAMES } else { 0 } {
            link.send(OutFrame::new(bytes(number, LEN))).expect("room in the queue");
        }
    }
    let until = Instant::now() + STILL;
    while Instant::now() < until {
        for link in &mut links {
            link.flush().expect("sound");
        }
        thread::yield_now();
    }
    let waiting = [links[0].wants_write(), links[1].wants_write()];
    assert_eq!(waiting, sends, "who sends waits for receives");
    assert_eq!(links.each_ref().map(Link::breakage), [None, None]);
    let mut come = [0, 0];
    let (wanted, deadline) = (sends.map(|sends| if sends { FRAMES } else { 0 }), soon());
    while [come[1], come[0]] != wanted {
        assert!(Instant::now() < deadline, "{come:?} frames came of {wanted:?}, told from the other side");
        for (link, come) in links.iter_mut().zip(&mut come) {
            link.flush().expect("sound");
            while let Some(frame) = link.recv().expect("sound") {
                assert!(frame.head == bytes(*come, LEN), "frame {come}");
                *come += 1;
            }
        }
        thread::yield_now();
    }
    assert_eq!(links.each_ref().map(Link::breakage), [None, None]);
}
