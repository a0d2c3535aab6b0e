//! What conditions make of numbers that are none, and of arrays whose shape changes.

use crate::support::{PATIENCE, Place, STREAM};
use fp_core::{NextStep, Publisher, Region, Subscriber, TransportKind, Variable};

/// Steps that wait at the publisher: all that a test publishes.
const LIMIT_STEPS: u32 = 64;

fn publish(publisher: &mut Publisher, numbers: &[f64]) {
    let len = numbers.len() as u64;
    let variable = Variable::global::<f64>("T", &[len]).expect("a shape");
    let mut writer = publisher.begin_step().expect("a step");
    writer.put_copy(&variable, &Region::new([0], [len]).expect("inside"), numbers).expect("put");
    writer.end().expect("ended");
}

fn watcher(place: &Place, condition: &str) -> Subscriber {
    let options = place.over(TransportKind::Shm).with_limit_steps(LIMIT_STEPS).with_variables(["T"]);
    Subscriber::open(STREAM, options.with_condition(condition).expect(condition)).expect("attached")
}

/// The steps that come, each with whether it was judged.
fn come(mut subscriber: Subscriber) -> Vec<(u64, bool)> {
    let mut steps = Vec::new();
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a step or the end") {
        let is_judged = step.judgement().is_none_or(|judgement| judgement.unjudged.is_none());
        steps.push((step.step().0, is_judged));
    }
    steps
}

/// Publishes all steps for watchers of these conditions. Gives what comes to each.
fn come_to(conditions: &[&str], steps: &[&[f64]]) -> Vec<Vec<(u64, bool)>> {
    let place = Place::new();
    let mut publisher = place.publisher();
    let watchers: Vec<Subscriber> = conditions.iter().map(|condition| watcher(&place, condition)).collect();
    steps.iter().for_each(|numbers| publish(&mut publisher, numbers));
    std::thread::scope(|scope| {
        let reading: Vec<_> = watchers.into_iter().map(|watcher| scope.spawn(|| come(watcher))).collect();
        publisher.close().expect("all is taken");
        reading.into_iter().map(|thread| thread.join().expect("read")).collect()
    })
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
    for ((condition, expected), found) in expected.iter().zip(come_to(&conditions, &steps)) {
        let expected: Vec<(u64, bool)> = expected.iter().map(|step| (*step, true)).collect();
        assert_eq!(found, expected, "{condition}");
    }
}

/// A region that lies outside of a step's shape cannot be judged there: the step comes, and says so. What the condition
/// remembers passes over it.
#[test]
fn a_region_may_lie_outside_for_a_while() {
    let (low, high, short) = ([0.0; 8], [9.0; 8], [9.0; 3]);
    let steps: [&[f64]; 7] = [&low, &high, &short, &high, &low, &short, &high];
    let conditions = ["max(T[4:6]) > 5", "rises(max(T[4:6]) > 5)", "has(T) or max(T[4:6]) > 5"];
    let found = come_to(&conditions, &steps);
    assert_eq!(found[0], [(1, true), (2, false), (3, true), (5, false), (6, true)]);
    assert_eq!(found[1], [(1, true), (2, false), (5, false), (6, true)], "step 3 is high as step 1 was");
    assert_eq!(found[2].iter().map(|(step, _)| *step).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
}
