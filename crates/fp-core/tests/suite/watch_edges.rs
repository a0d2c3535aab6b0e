//! What conditions make of numbers that are none, of arrays that are not there, and of arrays whose shape changes.

use crate::support::{PATIENCE, Place, STREAM};
use fp_core::{Judgement, NextStep, Publisher, Region, Subscriber, TransportKind, Variable};

/// Steps that wait at the publisher: all that a test publishes.
const LIMIT_STEPS: u32 = 64;

/// What a step has: the elements of `T`, if it has that.
pub(crate) type Elements<'e> = Option<&'e [f64]>;

/// Every step as it is published.
pub(crate) fn reals<S: AsRef<[f64]>>(steps: &[S]) -> Vec<Elements<'_>> {
    steps.iter().map(|step| Some(step.as_ref())).collect()
}

fn publish(publisher: &mut Publisher, elements: Elements<'_>) {
    let mut writer = publisher.begin_step().expect("a step");
    if let Some(numbers) = elements {
        let len = numbers.len() as u64;
        let variable = Variable::global::<f64>("T", &[len]).expect("a shape");
        writer.put_copy(&variable, &Region::new([0], [len]).expect("inside"), numbers).expect("put");
    }
    let step = writer.step().0;
    writer.put_scalar(&Variable::scalar::<u64>("number").expect("a name"), step).expect("put");
    writer.end().expect("ended");
}

fn watcher(place: &Place, condition: &str) -> Subscriber {
    let options = place.over(TransportKind::Shm).with_limit_steps(LIMIT_STEPS).with_variables(["T"]);
    Subscriber::open(STREAM, options.with_condition(condition).expect(condition)).expect("attached")
}

/// The steps that come, each with what was found.
fn come(mut subscriber: Subscriber) -> Vec<(u64, Judgement)> {
    let mut steps = Vec::new();
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a step or the end") {
        steps.push((step.step().0, step.judgement().cloned().unwrap_or_default()));
    }
    steps
}

/// Publishes all steps for watchers of these conditions. Gives what comes to each.
pub(crate) fn come_to(conditions: &[&str], steps: &[Elements<'_>]) -> Vec<Vec<(u64, Judgement)>> {
    let place = Place::new();
    let limit = conditions.len() as u32;
    let options = place.publisher_options().with_limit_subscriptions(limit);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let watchers: Vec<Subscriber> = conditions.iter().map(|condition| watcher(&place, condition)).collect();
    steps.iter().for_each(|elements| publish(&mut publisher, *elements));
    std::thread::scope(|scope| {
        let reading: Vec<_> = watchers.into_iter().map(|watcher| scope.spawn(|| come(watcher))).collect();
        publisher.close().expect("all is taken");
        reading.into_iter().map(|thread| thread.join().expect("read")).collect()
    })
}

/// The steps that come, each with whether it was judged.
fn judged(found: &[(u64, Judgement)]) -> Vec<(u64, bool)> {
    found.iter().map(|(step, judgement)| (*step, judgement.unjudged.is_none())).collect()
}

/// A comparison with NaN does not hold, and its `not` does. What looks at each element passes over those that are NaN.
#[test]
fn nan_compares_with_nothing_also_through_a_stream() {
    const NAN: f64 = f64::NAN;
    let steps: [&[f64]; 5] = [&[1.0, 12.0], &[1.0, NAN], &[NAN, 12.0], &[NAN, NAN], &[1.0, 2.0]];
    let expected: [(&str, &[u64]); 12] = [
        ("max(T) > 9", &[0]),
        ("not max(T) > 9", &[1, 2, 3, 4]),
        ("max(T) <= 9", &[4]),
        ("min(T) < 9", &[0, 4]),
        ("min(T) >= 9", &[]),
        ("sum(T) > 0", &[0, 4]),
        ("mean(T) < 100", &[0, 4]),
        ("variance(T) >= 0", &[0, 4]),
        ("any(T > 9)", &[0, 2]),
        ("all(T > 0)", &[0, 4]),
        ("count(T > 9) >= 1", &[0, 2]),
        ("not all(T > 0)", &[1, 2, 3]),
    ];
    let conditions = expected.map(|(condition, _)| condition);
    for ((condition, expected), found) in expected.iter().zip(come_to(&conditions, &reals(&steps))) {
        let expected: Vec<(u64, bool)> = expected.iter().map(|step| (*step, true)).collect();
        assert_eq!(judged(&found), expected, "{condition}");
    }
}

/// A region that lies outside of a step's shape cannot be judged there: the step comes, and says so. What the condition
/// remembers passes over it.
#[test]
fn a_region_may_lie_outside_for_a_while() {
    let (low, high, short) = ([0.0; 8], [9.0; 8], [9.0; 3]);
    let steps: [&[f64]; 7] = [&low, &high, &short, &high, &low, &short, &high];
    let conditions = ["max(T[4:6]) > 5", "rises(max(T[4:6]) > 5)", "has(T) or max(T[4:6]) > 5"];
    let found: Vec<_> = come_to(&conditions, &reals(&steps)).iter().map(|found| judged(found)).collect();
    assert_eq!(found[0], [(1, true), (2, false), (3, true), (5, false), (6, true)]);
    assert_eq!(found[1], [(1, true), (2, false), (5, false), (6, true)], "step 3 is high as step 1 was");
    assert_eq!(found[2].iter().map(|(step, _)| *step).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
}

/// Of a name that comes later, or never, nothing is known to be so before. It has no number, and neither have steps without it.
#[test]
fn what_is_not_there_yet_has_no_number() {
    let (low, high) = ([1.0], [9.0]);
    let steps = [None, None, Some(&high[..]), None, Some(&low), Some(&high), None, Some(&high)];
    let expected: [(&str, &[u64]); 12] = [
        ("max(T) > 5", &[2, 5, 7]),
        ("max(T) <= 5", &[4]),
        ("not max(T) > 5", &[0, 1, 3, 4, 6]),
        ("has(T) and not max(T) > 5", &[4]),
        ("rises(max(T) > 5)", &[2, 5, 7]),
        ("rises(not max(T) > 5)", &[0, 3, 6]),
        ("change(max(T)) > 0", &[5]),
        ("change(max(T)) >= 0", &[5, 7]),
        ("window(max(T), 2, min) > 5", &[7]),
        ("hysteresis(max(T) > 5, max(T) < 5)", &[2, 3, 5, 6, 7]),
        ("held(max(T) > 5, 1, 2)", &[2, 3, 5, 6, 7]),
        ("max(never) > 5", &[]),
    ];
    let conditions = expected.map(|(condition, _)| condition);
    for ((condition, expected), found) in expected.iter().zip(come_to(&conditions, &steps)) {
        assert_eq!(found.iter().map(|(step, _)| *step).collect::<Vec<_>>(), *expected, "{condition}");
        for (step, judgement) in found {
            assert_eq!(judgement.unjudged, None, "{condition}");
            let [told] = &judgement.measured[..] else { panic!("{condition}: {judgement:?}") };
            let elements = steps[step as usize];
            assert_eq!(told.number.map(|number| number.as_f64()), elements.map(|all| all[0]), "{condition}");
            assert_eq!(told.place, elements.map(|_| vec![0]), "{condition}");
        }
    }
}

/// What a condition of two variables says of the elements of both.
type OfBoth = fn(f64, f64) -> bool;

/// Numbers of several variables meet in one condition.
#[test]
fn a_condition_looks_at_several_variables() {
    let place = Place::new();
    let expected: [(&str, OfBoth); 4] = [
        ("max(T) > 1 and min(p) < 2", |high, low| high > 1.0 && low < 2.0),
        ("max(T) > 2 or sum(p) >= 3", |high, low| high > 2.0 || low >= 3.0),
        ("not (max(T) > 1 and any(p > 0))", |high, low| !(high > 1.0 && low > 0.0)),
        ("(max(T) > 2 or max(p) > 2) and count(T > 0) >= 1 and has(p)", |high, low| {
            (high > 2.0 || low > 2.0) && high > 0.0
        }),
    ];
    let mut publisher = Publisher::open(STREAM, place.publisher_options()).expect("the stream opens");
    let watchers: Vec<_> = expected.iter().map(|(condition, _)| watcher(&place, condition)).collect();
    let both = |step: u64| ((step / 4) as f64, (step % 4) as f64);
    for step in 0..16 {
        let mut writer = publisher.begin_step().expect("a step");
        for (name, number) in [("T", both(step).0), ("p", both(step).1)] {
            let variable = Variable::global::<f64>(name, &[1]).expect("a shape");
            writer.put_copy(&variable, &Region::new([0], [1]).expect("inside"), &[number]).expect("put");
        }
        writer.end().expect("ended");
    }
    std::thread::scope(|scope| {
        let reading: Vec<_> = watchers.into_iter().map(|watcher| scope.spawn(|| come(watcher))).collect();
        publisher.close().expect("all is taken");
        for ((condition, holds), found) in expected.iter().zip(reading) {
            let found = judged(&found.join().expect("read"));
            let is_hit = |step: &u64| holds(both(*step).0, both(*step).1);
            let hits: Vec<_> = (0..16).filter(is_hit).map(|step| (step, true)).collect();
            assert_eq!(found, hits, "{condition}");
        }
    });
}
