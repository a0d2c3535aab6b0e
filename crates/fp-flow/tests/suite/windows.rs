//! Windows over streams of different rates, and what holds them up.

use std::time::Duration;

use fp_core::{Publisher, QueuePolicy, Subscriber, Variable};
use fp_flow::{Cut, Join, Key, MissingPartner, NextWindow, WindowError, Windows};

use crate::support::{KEY, PATIENCE, Place, SHORT, next_window, publish, publish_all, rows, until};

/// The rows of a window, and why it was cut.
type Found = (Vec<(i64, Vec<i64>)>, Option<Cut>);

/// All windows of two streams that give these keys, with why each is cut, and what was counted.
fn all(
    keys: [Vec<i64>; 2],
    holding: u32,
    join: impl FnOnce(Join) -> Result<Windows, WindowError>,
) -> (Vec<Found>, u64) {
    let place = Place::new();
    let ([a, b], streams) = place.streams(["a", "b"], holding);
    let mut windows = join(Windows::new(streams).by("time_step")).expect("enough credit");
    let [one, other] = keys;
    let publishing = [publish_all(a, one), publish_all(b, other)];
    let mut found = Vec::new();
    loop {
        match windows.next(PATIENCE).expect("no error") {
            NextWindow::Window(window) => found.push((rows(&window), window.cut())),
            NextWindow::Ended { .. } => break,
            other @ (NextWindow::Missing { .. } | NextWindow::NotYet) => panic!("{other:?}"),
        }
    }
    assert!(matches!(windows.next(PATIENCE), Ok(NextWindow::Ended { .. })), "it stays so");
    // Nothing is held any more, though the windows are still there: so the publishers close.
    publishing.into_iter().for_each(|thread| thread.join().expect("no panic"));
    (found, windows.statistics().missing_keys)
}

fn pairs(keys: impl Iterator<Item = i64>) -> Vec<(i64, Vec<i64>)> {
    keys.map(|key| (key, vec![10 * key; 2])).collect()
}

#[test]
fn what_not_both_have_is_left_out() {
    let every_third = || (0..22).step_by(3);
    let (found, missing) = all([(0..22).collect(), every_third().collect()], 4, |join| join.tumbling(3));
    let keys: Vec<i64> = every_third().collect();
    let wanted = [(&keys[..3], None), (&keys[3..6], None), (&keys[6..], Some(Cut::Ended))];
    assert_eq!(found, wanted.map(|(keys, cut)| (pairs(keys.iter().copied()), cut)));
    assert_eq!(missing, 14, "those of the first stream alone");
}

#[test]
fn the_last_step_stands_in_for_later_keys() {
    let join = |join: Join| join.with_missing(MissingPartner::Last).tumbling(4);
    let (found, missing) = all([(3..22).collect(), (0..22).step_by(3).collect()], 5, join);
    let found: Vec<_> = found.into_iter().flat_map(|(rows, _)| rows).collect();
    let wanted: Vec<_> = (3..22).map(|key| (key, vec![10 * key, 10 * (key / 3 * 3)])).collect();
    assert_eq!(found, wanted);
    assert_eq!(missing, 1, "the 0 of the second, before the first began");
}

#[test]
fn sliding_windows_share_rows() {
    let (found, _) = all([(0..9).collect(), (0..9).collect()], 5, |join| join.sliding(4, 2));
    let wanted = [(0..4, None), (2..6, None), (4..8, None), (6..9, Some(Cut::Ended))];
    assert_eq!(found, wanted.map(|(keys, cut)| (pairs(keys), cut)));
}

#[test]
fn too_little_credit_is_refused_with_both_numbers() {
    let place = Place::new();
    let (_publishers, [wide, narrow]) = place.streams(["wide", "narrow"], 8);
    let wider = Subscriber::open("wide", place.holding(9).with_credit_steps(12)).expect("attached");
    let (refused, taken) = (Windows::new([narrow, wide]).tumbling(8), Windows::new([wider]).tumbling(8));
    let text = refused.err().expect("it holds 8 and needs 9").to_string();
    assert!(
        text.starts_with(r#"stream "narrow": it gives 8 steps at one time, and windows of 8 rows need 9:"#),
        "{text}"
    );
    taken.expect("it holds 9");
    let credit = place.holding(9).with_credit_steps(8);
    let by_credit = Windows::new([Subscriber::open("wide", credit).expect("attached")]).sliding(8, 2);
    assert!(matches!(by_credit, Err(WindowError::Credit { credit: 8, length: 8, least: 9, .. })));
}

#[test]
fn lengths_that_leave_rows_out_are_refused() {
    let place = Place::new();
    let _publisher = place.publisher("a");
    for (length, hop) in [(0, 0), (4, 0), (4, 5)] {
        let refused = Windows::new([place.subscriber("a", 9)]).sliding(length, hop);
        assert!(matches!(refused, Err(WindowError::Length { .. })), "{length} {hop}");
    }
    assert!(matches!(Windows::new([]).tumbling(1), Err(WindowError::NoStreams)));
}

#[test]
fn windows_that_hold_everything_are_named() {
    let place = Place::new();
    let ([mut publisher], streams) = place.streams(["a"], 5);
    let mut windows = Windows::new(streams).tumbling(4).expect("enough credit");
    let publishing = std::thread::spawn(move || {
        publish(&mut publisher, 0..12);
        publisher
    });
    let first = next_window(&mut windows);
    let error = until("all credit is held", || windows.next(SHORT).err());
    let text = error.to_string();
    assert!(
        text.starts_with(r#"stream "a": 5 of its steps are held by windows, and it gives 5 at one time"#),
        "{text}"
    );
    assert_eq!(rows(&first).len(), 4);
    drop(first);
    assert_eq!(rows(&next_window(&mut windows)).first(), Some(&(4, vec![40])), "nothing was lost by it");
    assert_eq!(rows(&next_window(&mut windows)).last(), Some(&(11, vec![110])));
    drop(windows);
    publishing.join().expect("no panic").close().expect("it closes");
}

/// The first stream has ended, so the other one is left: its publisher waits for nobody, though the windows are still there.
#[test]
fn who_goes_on_is_left_at_the_end() {
    let place = Place::new();
    let publishers = ["a", "b"].map(|name| place.publisher(name));
    let options = place.holding(3).with_policy(QueuePolicy::EveryStep { max_wait: 10 * PATIENCE });
    let streams = ["a", "b"].map(|name| Subscriber::open(name, options.clone()).expect("attached"));
    let mut windows = Windows::new(streams).by(KEY).tumbling(1).expect("enough credit");
    let [a, b] = publishers;
    let publishing = [publish_all(a, 0..1), publish_all(b, 0..40)];
    let window = next_window(&mut windows);
    let next = windows.next(PATIENCE).expect("no error");
    assert!(matches!(&next, NextWindow::Ended { stream, .. } if stream == "a"), "{next:?}");
    assert_eq!(rows(&window), [(0, vec![0, 0])]);
    drop(window);
    until("both close", || publishing.iter().all(|thread| thread.is_finished()).then_some(()));
    publishing.into_iter().for_each(|thread| thread.join().expect("no panic"));
    drop(windows);
}

/// Who asks without waiting gets what is there.
#[test]
fn no_time_at_all_is_enough_for_what_is_there() {
    let place = Place::new();
    let ([mut a], streams) = place.streams(["a"], 5);
    let mut windows = Windows::new(streams).by(KEY).tumbling(4).expect("enough credit");
    publish(&mut a, 0..4);
    let window = until("a window", || match windows.next(Duration::ZERO).expect("no error") {
        NextWindow::Window(window) => Some(window),
        NextWindow::NotYet | NextWindow::Missing { .. } | NextWindow::Ended { .. } => None,
    });
    assert_eq!(window.rows().len(), 4);
}

#[test]
fn a_window_can_be_read_when_its_streams_are_left() {
    let place = Place::new();
    let ([mut publisher, mut other], streams) = place.streams(["a", "b"], 5);
    let mut windows = Windows::new(streams).tumbling(2).expect("enough credit");
    publish(&mut publisher, 0..2);
    publish(&mut other, 0..2);
    let window = next_window(&mut windows);
    drop(windows);
    assert_eq!(rows(&window), [(0, vec![0, 0]), (1, vec![10, 10])]);
    assert_eq!(window.rows()[1][0].step().0, 1);
    drop(window);
    publisher.close().expect("it closes");
    other.close().expect("it closes");
}

/// An integer of one stream and a real number of another, and an attribute that is both.
#[test]
fn keys_are_numbers_of_any_type() {
    let place = Place::new();
    let ([mut a, mut b], streams) = place.streams(["a", "b"], 5);
    let mut windows = Windows::new(streams).by("t").tumbling(1).expect("enough credit");
    publish_scalar(&mut a, (1_u8..4).map(|key| (Variable::scalar::<u8>("t").expect("a name"), key)));
    publish_scalar(
        &mut b,
        [1.0_f32, 2.5, 3.0].map(|key| (Variable::scalar::<f32>("t").expect("a name"), key)),
    );
    let keys: Vec<Key> = (0..2).map(|_| next_window(&mut windows).first().key()).collect();
    assert_eq!(keys, [Key::Integer(1), Key::Integer(3)]);

    let place = Place::new();
    let ([mut a, mut b], streams) = place.streams(["a", "b"], 5);
    let mut windows = Windows::new(streams).by_attribute("t").tumbling(1).expect("enough credit");
    let having = |key: f64| Variable::scalar::<u8>("anything").expect("a name").with_attribute("t", key);
    publish_scalar(&mut a, [0.5, 0.75, 1.0].map(|key| (having(key), 0_u8)));
    publish_scalar(&mut b, [0.5, 1.0].map(|key| (having(key), 0_u8)));
    let keys: Vec<Key> = (0..2).map(|_| next_window(&mut windows).first().key()).collect();
    assert_eq!(keys, [Key::Real(0.5), Key::Integer(1)]);
}

/// Publishes steps of one scalar each.
fn publish_scalar<T: fp_core::Element>(
    publisher: &mut Publisher,
    steps: impl IntoIterator<Item = (Variable, T)>,
) {
    for (variable, value) in steps {
        let mut writer = publisher.begin_step().expect("it begins");
        writer.put_scalar(&variable, value).expect("put");
        writer.end().expect("it ends");
    }
}
