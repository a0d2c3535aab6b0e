//! Calls that ask while they wait whether they are to end, and end as if their time were over.

use crate::support::{PATIENCE, Place, STREAM, array, publish, take};
use fp_core::{
    BeginError, CloseError, Interrupt, NextStep, OpenError, Publisher, PublisherOptions, QueuePolicy,
    Subscriber, SyncError,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Nobody waits so long in a test that passes.
const LONG: Duration = Duration::from_secs(600);

/// Says yes from its third question on, once it is armed.
#[derive(Clone, Default)]
struct Questions {
    asked: Arc<AtomicU32>,
    armed: Arc<AtomicBool>,
    elsewhere: Arc<AtomicBool>,
}

impl Questions {
    fn armed() -> Self {
        let questions = Self::default();
        questions.arm();
        questions
    }

    fn arm(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }

    fn count(&self) -> u32 {
        self.asked.load(Ordering::SeqCst)
    }

    /// To be asked on this thread.
    fn interrupt(&self) -> Interrupt {
        let (own, asker) = (self.clone(), thread::current().id());
        Interrupt::new(move || {
            own.elsewhere.fetch_or(thread::current().id() != asker, Ordering::SeqCst);
            own.asked.fetch_add(1, Ordering::SeqCst) >= 2 && own.armed.load(Ordering::SeqCst)
        })
    }

    /// It was asked three times, by whoever waited, and the wait ended long before its time.
    fn assert_ended(&self, began: Instant) {
        assert_eq!(self.count(), 3);
        assert!(!self.elsewhere.load(Ordering::SeqCst), "another thread asked");
        assert!(began.elapsed() < PATIENCE, "it waited on");
    }
}

fn patient(place: &Place, questions: &Questions) -> PublisherOptions {
    let options = place.publisher_options().with_open_timeout(LONG).with_close_timeout(LONG);
    options.with_limit_wait(LONG).with_interrupt(questions.interrupt())
}

#[test]
fn opening_ends() {
    let (place, questions, began) = (Place::new(), Questions::armed(), Instant::now());
    let alone = Publisher::open(STREAM, patient(&place, &questions).with_min_subscribers(1));
    assert!(matches!(alone, Err(OpenError::TooFewSubscribers { .. })), "{alone:?}", alone = alone.err());
    questions.assert_ended(began);

    let (questions, began) = (Questions::armed(), Instant::now());
    let options = place.subscriber_options().with_open_timeout(LONG).with_interrupt(questions.interrupt());
    assert!(Subscriber::open("nobody", options).is_err());
    questions.assert_ended(began);
}

#[test]
fn waiting_for_a_step_ends_and_the_step_still_comes() {
    let (place, questions) = (Place::new(), Questions::armed());
    let mut publisher = place.publisher();
    let options = place.subscriber_options().with_interrupt(questions.interrupt());
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    let (asked, began) = (questions.count(), Instant::now());
    assert_eq!(asked, 0, "attaching took no time worth a question");
    assert!(matches!(subscriber.next_step(LONG), Ok(NextStep::NotYet)));
    questions.assert_ended(began);
    publish(&mut publisher, 10);
    assert_eq!(take(&mut subscriber).step().0, 0);
    assert_eq!(questions.count(), 3, "who need not wait is not asked");
}

#[test]
fn what_a_slow_subscriber_holds_up_ends() {
    let (place, questions) = (Place::new(), Questions::armed());
    let mut publisher = Publisher::open(STREAM, patient(&place, &questions)).expect("open");
    let policy = QueuePolicy::EveryStep { max_wait: LONG };
    let options = place.subscriber_options().with_policy(policy).with_limit_steps(1);
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    publish(&mut publisher, 10);
    let held = take(&mut subscriber);
    let began = Instant::now();
    let refused = publisher.begin_step().map(drop);
    assert!(matches!(refused, Err(BeginError::TimedOut { .. })), "{refused:?}");
    questions.assert_ended(began);

    let refused = publisher.sync(LONG);
    assert!(matches!(refused, Err(SyncError::Held { .. })), "{refused:?}");
    assert_eq!(questions.count(), 4, "it is asked anew, and says yes again");
    drop(held);
    publish(&mut publisher, 10);
    assert_eq!(take(&mut subscriber).step().0, 1);
}

#[test]
fn closing_ends_while_a_step_is_held() {
    let (place, questions) = (Place::new(), Questions::armed());
    let mut publisher = Publisher::open(STREAM, patient(&place, &questions)).expect("open");
    let mut subscriber = place.subscriber();
    publish(&mut publisher, 10);
    let held = take(&mut subscriber);
    let began = Instant::now();
    let closed = publisher.close();
    assert!(matches!(closed, Err(CloseError::Coordinator { .. } | CloseError::Held { .. })), "{closed:?}");
    questions.assert_ended(began);
    drop(held);
}

#[test]
fn memory_that_was_lent_and_put_stays_as_it_is_while_it_is_kept() {
    let place = Place::new();
    let (mut publisher, mut subscriber) = (place.publisher(), place.subscriber());
    let (variable, region) = array(1 << 16);
    let mut writer = publisher.begin_step().expect("a step");
    let mut loan = writer.loan_bytes(&variable, &region).expect("lent");
    loan.fill(7);
    let at = loan.as_ptr() as usize;
    let (outcome, kept) = writer.put_loan_kept(loan);
    outcome.expect("put");
    writer.end().expect("ended");
    drop(take(&mut subscriber));
    let lent_again = |publisher: &mut Publisher| {
        let mut writer = publisher.begin_step().expect("a step");
        let loan = writer.loan_bytes(&variable, &region).expect("lent");
        loan.as_ptr() as usize
    };
    publisher.sync(PATIENCE).expect("released");
    assert!((0..8).all(|_| lent_again(&mut publisher) != at), "it was lent again while it was kept");
    drop(kept);
}
