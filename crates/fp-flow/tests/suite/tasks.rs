//! Windows and families as tasks: a call that is dropped loses nothing.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use fp_core::{Interrupt, Subscriber, Variable};
use fp_flow::{Family, FamilyNext, NextWindow, Windows};

use crate::support::{KEY, PATIENCE, Place, number, publish, publish_all, until};

/// What one poll of a call gives, which is dropped then.
fn poll_once<T>(call: impl Future<Output = T>) -> Option<T> {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

/// Each step has another attribute, so that its key is asked for and the call is dropped meanwhile too.
#[test]
fn calls_that_are_dropped_lose_no_row() {
    let place = Place::new();
    let (publishers, streams) = place.streams(["a", "b"], 4);
    let mut windows = Windows::new(streams).by_attribute("t").tumbling(3).expect("enough credit");
    let publishing = publishers.map(|mut publisher| {
        std::thread::spawn(move || {
            for key in 0..30_i64 {
                let variable = Variable::scalar::<u8>("any").expect("a name").with_attribute("t", key);
                let mut writer = publisher.begin_step().expect("it begins");
                writer.put_scalar(&variable, 0_u8).expect("put");
                writer.end().expect("it ends");
            }
            publisher.close().expect("it closes");
        })
    });
    let mut keys = Vec::new();
    until("all windows", || match poll_once(windows.next_async(PATIENCE))?.expect("no error") {
        NextWindow::Window(window) => {
            keys.extend(window.rows().iter().map(|row| number(row.key())));
            None
        }
        NextWindow::Ended { .. } => Some(()),
        other @ (NextWindow::Missing { .. } | NextWindow::NotYet) => panic!("{other:?}"),
    });
    assert_eq!(keys, (0..30).collect::<Vec<_>>());
    publishing.into_iter().for_each(|thread| thread.join().expect("no panic"));
}

#[test]
fn calls_that_are_dropped_lose_no_step_of_a_family() {
    let place = Place::new();
    let publisher = place.publisher("run");
    let mut family = Family::open("run", place.holding(4)).expect("it opens");
    until("the member", || {
        matches!(poll_once(family.next_async(PATIENCE)), Some(Ok(FamilyNext::Event(_)))).then_some(())
    });
    let publishing = publish_all(publisher, 0..20);
    let mut steps = Vec::new();
    until("all steps", || match poll_once(family.next_async(PATIENCE))?.expect("no error") {
        FamilyNext::Step(step) => {
            steps.push(step.scalar::<i64>(KEY).expect("a key"));
            None
        }
        FamilyNext::Event(_) => Some(()),
        FamilyNext::NotYet => panic!("it has time"),
    });
    assert_eq!(steps, (0..20).collect::<Vec<_>>());
    publishing.join().expect("no panic");
}

/// Who waits is woken at its time, also by a family of nobody.
#[test]
fn waits_end_at_their_time() {
    let place = Place::new();
    let ([mut a], streams) = place.streams(["a"], 4);
    let mut windows = Windows::new(streams).tumbling(2).expect("enough credit");
    publish(&mut a, [1]);
    assert!(matches!(windows.next(Duration::from_millis(5)), Ok(NextWindow::NotYet)));
    assert!(matches!(windows.next(Duration::ZERO), Ok(NextWindow::NotYet)));
    let mut family = Family::open("nobody", place.holding(4)).expect("it opens");
    assert!(matches!(family.next(Duration::from_millis(5)), Ok(FamilyNext::NotYet)));
    assert!(matches!(family.next(Duration::ZERO), Ok(FamilyNext::NotYet)));
}

/// A signal of an interpreter, say: the call ends as if its time were over, and the next one goes on.
#[test]
fn waits_end_when_they_are_asked_to() {
    let place = Place::new();
    let mut a = place.publisher("a");
    let asked = Arc::new(AtomicBool::new(true));
    let is_asked = asked.clone();
    let options = place.holding(4).with_interrupt(Interrupt::new(move || is_asked.load(Ordering::Relaxed)));
    let mut family = Family::open("nobody", options).expect("it opens");
    assert!(matches!(family.next(PATIENCE), Ok(FamilyNext::NotYet)));
    asked.store(false, Ordering::Relaxed);
    let is_asked = asked.clone();
    let options = place.holding(4).with_interrupt(Interrupt::new(move || is_asked.load(Ordering::Relaxed)));
    let subscriber = Subscriber::open("a", options).expect("attached");
    let mut windows = Windows::new([subscriber]).tumbling(1).expect("enough credit");
    asked.store(true, Ordering::Relaxed);
    assert!(matches!(windows.next(PATIENCE), Ok(NextWindow::NotYet)));
    asked.store(false, Ordering::Relaxed);
    publish(&mut a, [1]);
    assert!(matches!(windows.next(PATIENCE), Ok(NextWindow::Window(_))));
}
