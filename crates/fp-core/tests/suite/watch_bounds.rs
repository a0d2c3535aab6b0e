//! More watches than a stream has room for: those that there is room for are told, and the others hear why they are not.

use crate::support::{PATIENCE, Place, STREAM, take};
use fp_core::{Publisher, Region, Subscriber, SubscriberOptions, TransportKind, Variable};

/// As many as a stream has at most.
const MANY: u32 = 1024;

fn watching(place: &Place, condition: &str) -> SubscriberOptions {
    let options = place.over(TransportKind::Inproc).with_condition(condition).expect(condition);
    options.with_variables(Vec::<String>::new())
}

fn publish(publisher: &mut Publisher, numbers: &[f64]) {
    let variable = Variable::global::<f64>("T", &[numbers.len() as u64]).expect("a shape");
    let region = Region::new([0], [numbers.len() as u64]).expect("inside");
    let mut writer = publisher.begin_step().expect("a step");
    writer.put_copy(&variable, &region, numbers).expect("put");
    writer.end().expect("ended");
}

/// Of ten thousand watches the first are told of one step, each by its own threshold. The rest are refused at once.
#[test]
fn ten_thousand_watches_are_as_many_as_there_is_room_for() {
    let place = Place::new();
    let options = place.publisher_options().with_derive_budget(PATIENCE).with_limit_subscriptions(MANY);
    let mut publisher = Publisher::open(STREAM, options).expect("the stream opens");
    let open = |at: u32| Subscriber::open(STREAM, watching(&place, &format!("max(T) > {at}")));
    let mut watchers: Vec<Subscriber> = (0..MANY).map(|at| open(at).expect("there is room")).collect();
    for at in (MANY..10_000).step_by(400) {
        let refused = open(at).err().expect("there is no room").to_string();
        assert!(refused.contains("the publisher allows 1024 subscriptions"), "{refused}");
    }
    let above = 700;
    publish(&mut publisher, &[3.0, f64::from(above) + 0.5]);
    for watcher in &mut watchers[..=above as usize] {
        let step = take(watcher);
        assert_eq!(step.judgement().expect("told").measured[0].place, Some(vec![1]));
    }
    for watcher in &mut watchers[above as usize + 1..] {
        assert!(matches!(
            watcher.next_step(std::time::Duration::ZERO).expect("no failure"),
            fp_core::NextStep::NotYet
        ));
    }
    assert_eq!(publisher.statistics().derivations, 1, "one measure for all of them");
}

/// What all measures of a stream may take is bounded: the one too many is told the numbers, and is taken when others left.
#[test]
fn measures_that_pass_the_bound_are_refused() {
    let place = Place::new();
    let mut publisher = Publisher::open(STREAM, place.publisher_options()).expect("the stream opens");
    let open = |share: u32| {
        Subscriber::open(STREAM, watching(&place, &format!("quantile(T, 0.{share}, 0..1 / 1024) > 0.5")))
    };
    let mut watchers: Vec<Subscriber> = (1..8).map(|share| open(share).expect("there is room")).collect();
    let refused = open(8).err().expect("64 KiB are too few for 8 times 1,024 counts").to_string();
    assert!(refused.contains("may take 65536 bytes in each step"), "{refused}");
    let same = open(3).expect("what is measured already takes nothing");
    publish(&mut publisher, &[0.75; 9]);
    for watcher in &mut watchers {
        assert_eq!(
            take(watcher).judgement().expect("told").measured[0].number.map(|found| found.as_f64()),
            Some(0.75)
        );
    }
    drop(watchers.pop());
    drop(same);
    let mut another = open(8);
    crate::support::eventually("the other one has left", || {
        another = open(8);
        another.is_ok()
    });
    publish(&mut publisher, &[0.25; 9]);
}
