//! The last hits of a condition, which a publisher keeps for who comes late.

use crate::support::{PATIENCE, Place, STREAM, take};
use fp_core::{
    Cohort, NextStep, OpenError, Publisher, PublisherOptions, Region, StartAt, Subscriber, SubscriberOptions,
    TransportKind, Variable,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

const RANKS: u64 = 2;
const LEN: u64 = 6;
/// How many hits are kept.
const KEPT: usize = 5;
/// Steps that are over before anybody comes. The last of them is hot, and so is the next one.
const BEFORE: u64 = 58;

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
        assert!(is_hot(BEFORE - 1) && is_hot(BEFORE));
        run(BEFORE);
        wait();
        let hits: Vec<u64> = (0..BEFORE).filter(|step| is_hit(*step)).collect();
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
        // What it was told of goes on: an edge among the hits is none again with its first live step.
        for step in (BEFORE..80).filter(|step| is_hit(*step)) {
            assert_eq!(next(&mut watcher), (step, 0, Some(greatest(step))), "{kind:?} {condition}");
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

/// When ranks stop: the first is told, and says which step is the last. It lies beyond what any other has begun.
#[derive(Default)]
struct Stop {
    told: AtomicBool,
    /// One more than its number; none is known while it is 0.
    after_last: AtomicU64,
}

impl Stop {
    /// More than ranks are apart.
    const APART: u64 = 64;

    fn is_over(&self, rank: u32, step: u64) -> bool {
        if rank == 0 && self.told.load(Ordering::SeqCst) && self.after_last.load(Ordering::SeqCst) == 0 {
            self.after_last.store(step + Self::APART, Ordering::SeqCst);
        }
        let after_last = self.after_last.load(Ordering::SeqCst);
        after_last != 0 && step >= after_last
    }
}

/// One rank, until it is told to stop.
fn publish_until(options: PublisherOptions, rank: u32, stop: &Stop) {
    let cohort = Cohort::of(rank, RANKS as u32).expect("a cohort");
    let mut publisher = Publisher::open(STREAM, options.with_cohort(cohort)).expect("the stream opens");
    let variable = Variable::global::<f64>("T", &[RANKS * LEN]).expect("a shape");
    let first = u64::from(rank) * LEN;
    let region = Region::new([first], [LEN]).expect("inside");
    for step in (0..).take_while(|step| !stop.is_over(rank, *step)) {
        let elements: Vec<f64> = (first..first + LEN).map(|at| element(step, at)).collect();
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&variable, &region, elements).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

/// All steps that come to a watcher.
fn edges_of(mut watcher: Subscriber) -> Vec<u64> {
    let mut edges = Vec::new();
    while let NextStep::Step(step) = watcher.next_step(PATIENCE).expect("a step or the end") {
        assert_eq!(step.judgement().expect("it was measured").unjudged, None);
        edges.push(step.step().0);
    }
    edges
}

/// Steps that are not decided yet when somebody comes are judged for the reserve, and those after for the newcomer.
#[test]
fn who_comes_while_steps_are_published_is_told_of_each_edge_once() {
    let (place, stop) = (Place::new(), Stop::default());
    let condition = "rises(max(T) > 17)";
    let all = std::thread::scope(|scope| {
        for rank in 0..RANKS as u32 {
            let (options, stop) = (options(&place, condition), &stop);
            scope.spawn(move || publish_until(options, rank, stop));
        }
        let mut reading = Vec::new();
        for _ in 0..20 {
            let options = place.over(TransportKind::Shm).with_condition(condition).expect(condition);
            let watcher = late(options.with_variables(Vec::<String>::new()));
            reading.push(scope.spawn(|| edges_of(watcher)));
        }
        stop.told.store(true, Ordering::SeqCst);
        reading.into_iter().map(|reading| reading.join().expect("read")).collect::<Vec<_>>()
    });
    let edges: Vec<u64> = (0..stop.after_last.load(Ordering::SeqCst)).filter(|step| rises(*step)).collect();
    for told in all {
        let hits = edges.len() - told.len().min(edges.len());
        assert!(!told.is_empty() && edges[hits..] == told, "{told:?} of {edges:?}");
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
