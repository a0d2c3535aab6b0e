//! A stream that is made of windows over others.

use std::thread;

use fp_core::{NextStep, Variable};
use fp_flow::{PublishError, Windows};

use crate::support::{KEY, PATIENCE, Place, content, number, publish, publish_all};

#[test]
fn a_function_makes_a_step_of_each_window() {
    let place = Place::new();
    let ([a, b], streams) = place.streams(["a", "b"], 4);
    let mut made = place.publisher("made");
    let mut subscriber = place.subscriber("made", 9);
    let publishing = [publish_all(a, 0..7), publish_all(b, (0..7).filter(|key| key % 3 != 1))];
    let transforming = thread::spawn(move || {
        let mut windows = Windows::new(streams).by(KEY).tumbling(2).expect("enough credit");
        let sum = Variable::scalar::<i64>("sum").expect("a name");
        let published = windows.publish(&mut made, PATIENCE, |window, step| {
            let of = |stream| window.steps(stream).map(content).sum::<i64>();
            Ok(step.put_scalar(&sum, of(0) + of(1))?)
        });
        made.close().expect("it closes");
        published.expect("no error")
    });
    let mut sums = Vec::new();
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("no error") {
        sums.push(step.scalar::<i64>("sum").expect("a sum"));
    }
    // The keys of both are 0 2, 3 5 and 6.
    assert_eq!(sums, [40, 160, 120]);
    let published = transforming.join().expect("no panic");
    assert_eq!((published.windows, published.ended.is_some()), (3, true));
    publishing.into_iter().for_each(|thread| thread.join().expect("no panic"));
}

#[test]
fn a_function_that_fails_gives_its_step_up_and_the_next_window_comes() {
    let place = Place::new();
    let ([mut a], streams) = place.streams(["a"], 9);
    let mut made = place.publisher("made");
    let mut subscriber = place.subscriber("made", 9);
    let mut windows = Windows::new(streams).by(KEY).tumbling(2).expect("enough credit");
    publish(&mut a, 4..8);
    let first = Variable::scalar::<i64>("first").expect("a name");
    let failed = windows.publish(&mut made, PATIENCE, |_, _| Err("no use".into()));
    let error = failed.expect_err("it failed");
    assert_eq!(error.to_string(), "the window of the keys 4 to 5: no use");
    assert!(matches!(error, PublishError::Transform { .. }));
    let published = windows.publish(&mut made, crate::support::SHORT, |window, step| {
        Ok(step.put_scalar(&first, number(window.first().key()))?)
    });
    let published = published.expect("no error");
    assert_eq!((published.windows, published.ended.is_none()), (1, true), "until nothing comes");
    let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("no error") else { panic!("no step") };
    assert_eq!(step.scalar::<i64>("first").expect("a key"), 6);
}
