//! The last hits of a condition, which a publisher keeps for who comes late.

use crate::support::{PATIENCE, Place, STREAM, take};
use fp_core::{
    Cohort, OpenError, Publisher, PublisherOptions, Region, StartAt, Subscriber, SubscriberOptions,
    TransportKind, Variable,
};
use std::sync::mpsc::{Receiver, Sender, channel};

const RANKS: u64 = 2;
const LEN: u64 = 6;
/// How many hits are kept.
const KEPT: usize = 5;

fn element(step: u64, at: u64) -> f64 {
    let mixed = (step * 7919 + at * 104_729 + 17).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 40) % 41) as f64 - 20.0
}

fn greatest(step: u64) -> f64 {
    (0..RANKS * LEN).map(|at| element(step, at)).fold(f64::NEG_INFINITY, f64::max)
}

fn is_hot(step: u64) -> bool {
    greatest(step) > 17.0
}

fn rises(step: u64) -> bool {
    is_hot(step) && (step == 0 || !is_hot(step - 1))
}

fn options(place: &Place, condition: &str) -> PublisherOptions {
    let options = place.publisher_options().with_derive_budget(PATIENCE);
    options.with_reserved_hits(KEPT as u32, condition).expect(condition)
}

/// A rank: publishes up to each step that it is told.
fn publish(options: PublisherOptions, rank: u32, until: &Receiver<u64>, done: &Sender<()>) {
    let cohort = Cohort::of(rank, RANKS as u32).expect("a cohort");
    let mut publisher = Publisher::open(STREAM, options.with_cohort(cohort)).expect("the stream opens");
    let variable = Variable::global::<f64>("T", &[RANKS * LEN]).expect("a shape");
    let first = u64::from(rank) * LEN;
    let region = Region::new([first], [LEN]).expect("inside");
    let mut next = 0;
    for end in until {
        for step in next..end {
            let elements: Vec<f64> = (first..first + LEN).map(|at| element(step, at)).collect();
            let mut writer = publisher.begin_step().expect("a step");
            writer.put(&variable, &region, elements).expect("put");
            writer.end().expect("ended");
        }
        next = end;
        publisher.sync(PATIENCE).expect("nobody holds a step");
        done.send(()).expect("it is awaited");
    }
    publisher.close().expect("closed");
}

/// The step that comes next, what was missed before it, and its greatest element as it was told, if it was.
fn next(subscriber: &mut Subscriber) -> (u64, u64, Option<f64>) {
    let step = take(subscriber);
    let told = step.judgement().map(|judgement| {
        assert_eq!(judgement.unjudged, None);
        judgement.number("max(T)").expect("it was measured").as_f64()
    });
    let elements = step.get::<f64>("T", "[:]").expect("the field");
    assert_eq!(elements.into_iter().fold(f64::NEG_INFINITY, f64::max), greatest(step.step().0));
    (step.step().0, step.skipped(), told)
}

fn late(options: SubscriberOptions) -> Subscriber {
    Subscriber::open(STREAM, options.with_start_at(StartAt::OldestReserved)).expect("attached")
}

fn hits_of(condition: &str, is_hit: fn(u64) -> bool, kind: TransportKind) {
    let place = Place::new();
    let (ends, dones): (Vec<_>, Vec<_>) = (0..RANKS).map(|_| (channel::<u64>(), channel::<()>())).unzip();
    let (tell, told): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
    let (done, did): (Vec<_>, Vec<_>) = dones.into_iter().unzip();
    std::thread::scope(|scope| {
        for (rank, (until, done)) in told.into_iter().zip(done).enumerate() {
            let options = options(&place, condition);
            scope.spawn(move || publish(options, rank as u32, &until, &done));
        }
        let run = |end: u64| tell.iter().for_each(|tell| tell.send(end).expect("it is there"));
        let wait = || did.iter().for_each(|did| did.recv_timeout(PATIENCE).expect("it is done"));
        run(60);
        wait();
        let hits: Vec<u64> = (0..60).filter(|step| is_hit(*step)).collect();
        let kept = &hits[hits.len() - KEPT..];
        assert!(kept[KEPT - 1] - kept[0] > KEPT as u64, "some steps between are none: {kept:?}");
        let mut watcher = late(place.over(kind).with_condition(condition).expect(condition));
        for step in kept {
            assert_eq!(next(&mut watcher), (*step, 0, Some(greatest(*step))), "{kind:?} {condition}");
        }
        // Who has no condition gets the same, and is told how many steps lie between.
        let mut other = late(place.over(kind));
        let mut before = kept[0];
        for step in kept {
            assert_eq!(next(&mut other), (*step, (step - before).saturating_sub(1), None));
            before = *step;
        }
        other.close().expect("left");
        run(80);
        for step in (60..80).filter(|step| is_hit(*step) || (*step == 60 && is_hot(*step))) {
            assert_eq!(next(&mut watcher), (step, 0, Some(greatest(step))));
        }
        wait();
        watcher.close().expect("left");
        drop(tell);
    });
}

#[test]
fn who_comes_late_has_the_last_hits() {
    for kind in [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp] {
        hits_of("max(T) > 17", is_hot, kind);
        hits_of("rises(max(T) > 17)", rises, kind);
    }
}

#[test]
fn a_reserve_that_could_never_have_a_step_is_refused() {
    let place = Place::new();
    let refused = |options: PublisherOptions| match Publisher::open(STREAM, options) {
        Err(error @ OpenError::Reserve { .. }) => error.to_string(),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it opens"),
    };
    let none = options(&place, "max(T) > 17").with_reserve_steps(0);
    let said = "the reserve is to have steps with max(T) > 17.0, but reserve_steps is 0: say how many";
    assert!(refused(none).ends_with(said));
    let unmeasured = options(&place, "max(T) > 17").with_derivations(false);
    assert!(refused(unmeasured).contains("nothing is measured"));
    let without_numbers = options(&place, "has(T)").with_derivations(false);
    Publisher::open(STREAM, without_numbers).expect("it opens").close().expect("closed");
    let module = place.publisher_options().with_reserved_hits(1, "max(module(m, T)) > 1");
    assert!(module.expect_err("nobody hands one over").to_string().contains("module(m, ...)"));
}
