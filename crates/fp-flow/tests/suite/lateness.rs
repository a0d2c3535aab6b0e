//! A partner that is missing, one that is late, and one that begins anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fp_core::{OnLoss, Subscriber};
use fp_flow::{Cut, MissingPartner, NextWindow, Windows};

use crate::support::{KEY, PATIENCE, Place, SHORT, next_window, number, publish, publish_all, rows, until};

/// Nobody is silent for longer on purpose.
const HOLD: Duration = Duration::from_millis(50);

/// The key that is told to be missing, and where.
fn next_missing(windows: &mut Windows) -> (i64, Vec<String>) {
    let next = windows.next(PATIENCE).expect("no error");
    let NextWindow::Missing { key, streams } = next else { panic!("{next:?}") };
    (number(key), streams)
}

#[test]
fn a_key_that_was_passed_is_told_without_a_wait() {
    let place = Place::new();
    let ([mut a, mut b], streams) = place.streams(["a", "b"], 5);
    let join = Windows::new(streams).by(KEY).with_missing(MissingPartner::Wait(10 * PATIENCE));
    let mut windows = join.tumbling(2).expect("enough credit");
    publish(&mut a, [1, 2, 3]);
    publish(&mut b, [1, 3]);
    assert_eq!(next_missing(&mut windows), (2, vec!["b".to_owned()]));
    assert_eq!(rows(&next_window(&mut windows)), [(1, vec![10, 10]), (3, vec![30, 30])]);
    assert_eq!(windows.statistics().rows, 2);
}

#[test]
fn who_is_waited_for_is_not_late_yet() {
    let place = Place::new();
    let ([mut a, mut b], streams) = place.streams(["a", "b"], 5);
    let join = Windows::new(streams).by(KEY).with_missing(MissingPartner::Wait(10 * PATIENCE));
    let mut windows = join.tumbling(1).expect("enough credit");
    publish(&mut a, [1]);
    for _ in 0..3 {
        assert!(matches!(windows.next(SHORT), Ok(NextWindow::NotYet)));
    }
    publish(&mut b, [1]);
    assert_eq!(rows(&next_window(&mut windows)), [(1, vec![10, 10])]);
}

/// Streams that are silent together wait for one another, and none of them is late.
#[test]
fn nobody_is_late_while_nobody_waits() {
    let place = Place::new();
    let ([mut a, _b], streams) = place.streams(["a", "b"], 5);
    // Far longer than the short wait below takes on a busy machine.
    let hold = 50 * SHORT;
    let join = Windows::new(streams).by(KEY).with_missing(MissingPartner::Wait(hold));
    let mut windows = join.tumbling(1).expect("enough credit");
    assert!(matches!(windows.next(hold + SHORT), Ok(NextWindow::NotYet)));
    publish(&mut a, [1]);
    assert!(matches!(windows.next(SHORT), Ok(NextWindow::NotYet)));
    assert_eq!(next_missing(&mut windows), (1, vec!["b".to_owned()]));
}

#[test]
fn who_is_late_is_told_and_may_come_again() {
    let place = Place::new();
    let ([mut a, mut b], streams) = place.streams(["a", "b"], 5);
    let join = Windows::new(streams).by(KEY).with_missing(MissingPartner::Wait(HOLD));
    let mut windows = join.tumbling(1).expect("enough credit");
    publish(&mut a, [1]);
    assert_eq!(next_missing(&mut windows), (1, vec!["b".to_owned()]));
    publish(&mut a, [2]);
    assert_eq!(next_missing(&mut windows), (2, vec!["b".to_owned()]), "it is late until it gives a step");
    publish(&mut b, [2]);
    until("the late step came", || {
        assert!(matches!(windows.next(SHORT), Ok(NextWindow::NotYet)), "it was told that it is missing");
        (windows.statistics().late_steps == 1).then_some(())
    });
    publish(&mut b, [3]);
    publish(&mut a, [3]);
    assert_eq!(rows(&next_window(&mut windows)), [(3, vec![30, 30])]);
    assert_eq!(windows.statistics().missing_keys, 2);
}

/// The publisher of a stream whose partner is silent is not held up for longer than that is waited for.
#[test]
fn who_is_late_holds_no_publisher_up() {
    for missing in [MissingPartner::Skip, MissingPartner::Last] {
        let place = Place::new();
        let ([a, mut b], streams) = place.streams(["a", "b"], 3);
        let join = Windows::new(streams).by(KEY).with_missing(missing).with_hold(HOLD);
        let mut windows = join.tumbling(2).expect("enough credit");
        publish(&mut b, [0]);
        let publishing = publish_all(a, 0..40);
        let mut found = 0;
        let ended = until("the first stream ends", || match windows.next(SHORT).expect("no error") {
            NextWindow::Window(window) => {
                found += window.rows().len();
                None
            }
            NextWindow::Ended { stream, .. } => Some(stream),
            NextWindow::Missing { .. } | NextWindow::NotYet => None,
        });
        publishing.join().expect("no panic");
        let wanted = if missing == MissingPartner::Last { 40 } else { 1 };
        assert_eq!((found, ended.as_str()), (wanted, "a"), "{missing:?}");
    }
}

/// There is always a stream that waits for another one, so nobody asks for the one that is late. It is looked at all the same.
#[test]
fn who_was_late_is_joined_again_however_busy_the_others_are() {
    let place = Place::new();
    let ([a, b, mut c], streams) = place.streams(["a", "b", "c"], 3);
    let join = Windows::new(streams).by(KEY).with_missing(MissingPartner::Last).with_hold(HOLD);
    let mut windows = join.tumbling(1).expect("enough credit");
    publish(&mut c, [0]);
    // No key of one is a key of the other, so that one of them is always ahead.
    let is_over = Arc::new(AtomicBool::new(false));
    let publishing = [(a, 0), (b, 1)].map(|(publisher, first)| {
        let is_over = is_over.clone();
        publish_all(publisher, (first..).step_by(2).take_while(move |_| !is_over.load(Ordering::Relaxed)))
    });
    let row = |windows: &mut Windows| rows(&next_window(windows)).remove(0).1[2];
    for _ in 0..10 {
        assert_eq!(row(&mut windows), 0);
    }
    publish(&mut c, [3]);
    until("the late stream's step", || (row(&mut windows) == 30).then_some(()));
    is_over.store(true, Ordering::Relaxed);
    drop(windows);
    publishing.into_iter().for_each(|thread| thread.join().expect("no panic"));
}

#[test]
fn no_window_has_steps_of_two_openings() {
    let place = Place::new();
    let mut a = place.publisher("a");
    let mut child = place.child("b", &[1, 2, 3]);
    let again = place.holding(5).with_on_loss(OnLoss::AwaitRestart(PATIENCE)).with_silence(PATIENCE);
    let streams = [
        place.subscriber("a", 5),
        Subscriber::open("b", again.with_open_timeout(PATIENCE)).expect("attached"),
    ];
    let mut windows =
        Windows::new(streams).by(KEY).with_hold(10 * PATIENCE).tumbling(2).expect("enough credit");
    publish(&mut a, [1, 2, 3]);
    assert_eq!(rows(&next_window(&mut windows)), [(1, vec![10, 10]), (2, vec![20, 20])]);
    until("the third row", || {
        assert!(matches!(windows.next(SHORT), Ok(NextWindow::NotYet)));
        (windows.statistics().rows == 3).then_some(())
    });
    child.kill();
    // Its keys begin anew, and go on with those of the other.
    let _child = place.child("b", &[2, 5, 6]);
    publish(&mut a, [5, 6]);
    let cut = next_window(&mut windows);
    assert_eq!((cut.rows().len(), number(cut.first().key()), cut.cut()), (1, 3, Some(Cut::Restarted)));
    drop(cut);
    let window = next_window(&mut windows);
    assert_eq!((rows(&window), window.cut()), (vec![(5, vec![50, 50]), (6, vec![60, 60])], None));
}
