//! Every order in which a machine may let two ends of a ring see each other's words, by the model checker loom. What
//! only one order in a million shows is shown here each time.

use super::data;
use super::receiver::Taken;
use super::receiving_end::ReceivingEnd;
use super::sending_end::SendingEnd;
use super::words::{Word, Words};
use crate::head::Head;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, fence};
use std::sync::atomic::Ordering;

/// The smallest ring: each frame of these tests takes two of its words.
const CAPACITY_WORDS: u64 = 8;

impl Word for AtomicU64 {
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }

    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }

    fn fence() {
        fence(Ordering::SeqCst);
    }
}

/// Words that two threads of the model share.
#[derive(Clone)]
struct Shared(Arc<Vec<AtomicU64>>);

impl Shared {
    fn new(len: usize) -> Self {
        Self(Arc::new((0..len).map(|_| AtomicU64::new(0)).collect()))
    }
}

impl Words for Shared {
    type Word = AtomicU64;

    fn words(&self) -> &[AtomicU64] {
        &self.0
    }
}

fn ends() -> (SendingEnd<Shared, Shared>, ReceivingEnd<Shared, Shared>) {
    let data = Shared::new(data::FRAMES_WORD + CAPACITY_WORDS as usize);
    let control = Shared::new(16);
    let receiver = ReceivingEnd::new(data.clone(), control.clone(), CAPACITY_WORDS);
    (SendingEnd::new(data, control, CAPACITY_WORDS), receiver)
}

/// Runs it in every order, but for those in which a thread is interrupted very often.
fn in_every_order(test: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(test);
}

fn frame(number: u64) -> [u8; 8] {
    (0x0101_0101_0101_0101 * (number + 1)).to_le_bytes()
}

/// More frames than there is room for: their words lie where others lay.
#[test]
fn frames_come_whole_and_in_their_order() {
    const FRAMES: u64 = 5;
    in_every_order(|| {
        let (mut sender, mut receiver) = ends();
        let sending = loom::thread::spawn(move || {
            for number in 0..FRAMES {
                while !sender.try_send(&frame(number)).expect("the receiver is honest") {
                    loom::thread::yield_now();
                }
            }
        });
        let mut into = Head::new();
        for number in 0..FRAMES {
            while receiver.take(&mut into).expect("the sender is honest") == Taken::Nothing {
                loom::thread::yield_now();
            }
            assert_eq!(into, frame(number));
        }
        sending.join().expect("it ends");
    });
}

/// Whoever goes to sleep because nothing is there is rung for what comes.
#[test]
fn nobody_sleeps_beside_a_frame_without_a_bell() {
    in_every_order(|| {
        let (mut sender, mut receiver) = ends();
        let sending = loom::thread::spawn(move || {
            assert!(sender.try_send(&frame(0)).expect("the receiver is honest"), "there is room");
            sender.wants_bell().expect("the receiver is honest")
        });
        receiver.arm(true);
        let sleeps = receiver.is_empty_for_sure().expect("the sender is honest");
        let is_rung = sending.join().expect("it ends");
        assert!(!sleeps || is_rung, "it sleeps, and nobody wakes it");
    });
}

/// The same of the second frame: one bell is enough until all that it was for is read.
#[test]
fn a_bell_is_rung_again_for_what_comes_after_all_was_read() {
    in_every_order(|| {
        let (mut sender, mut receiver) = ends();
        receiver.arm(true);
        assert!(sender.try_send(&frame(0)).expect("the receiver is honest"), "there is room");
        assert!(sender.wants_bell().expect("the receiver is honest"), "it is armed");
        let sending = loom::thread::spawn(move || {
            assert!(sender.try_send(&frame(1)).expect("the receiver is honest"), "there is room");
            sender.wants_bell().expect("the receiver is honest")
        });
        let mut into = Head::new();
        let first = receiver.take(&mut into).expect("the sender is honest");
        assert_eq!((first, &into[..]), (Taken::Frame, frame(0).as_slice()));
        let sleeps = receiver.is_empty_for_sure().expect("the sender is honest");
        let is_rung = sending.join().expect("it ends");
        assert!(!sleeps || is_rung, "it sleeps, and nobody wakes it");
    });
}
