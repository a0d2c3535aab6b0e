//! What lies around an extremum: the place that an event tells gives a region, which ends at the edges of the array.

use crate::support::{PATIENCE, Place, STREAM};
use fp_core::{
    Cohort, Dims, NextStep, Publisher, Region, Subscriber, SubscriberOptions, TransportKind, Variable,
};

const RANKS: u64 = 2;
const SHAPE: [u64; 3] = [6, 5, 4];
const LEN: u64 = 6 * 5 * 4;

/// The field of a step: one element, at another place in each step, is the greatest.
fn field(step: u64) -> Vec<f64> {
    let mut elements: Vec<f64> = (0..LEN).map(|at| ((at * 37 + step * 11) % 91) as f64).collect();
    elements[(step * 7 % LEN) as usize] = if is_hot(step) { 100.5 } else { 99.5 };
    elements
}

/// Whether that element is above 100: so it is in steps of the first place and of the last.
fn is_hot(step: u64) -> bool {
    step % 3 != 1
}

fn place_of(at: u64) -> [u64; 3] {
    [at / 20, at / 4 % 5, at % 4]
}

/// The slowest obvious way: every element that is no further away in any dimension, in row-major order.
fn around(step: u64, reach: u64) -> Vec<f64> {
    let centre = place_of(step * 7 % LEN);
    let is_near =
        |at: &u64| place_of(*at).iter().zip(centre).all(|(one, other)| one.abs_diff(other) <= reach);
    let field = field(step);
    (0..LEN).filter(is_near).map(|at| field[at as usize]).collect()
}

fn publish(place: &Place, rank: u64, subscribers: u32) {
    let cohort = Cohort::of(rank as u32, RANKS as u32).expect("a cohort");
    let options = place.publisher_options().with_cohort(cohort).with_min_subscribers(subscribers);
    let mut publisher =
        Publisher::open(STREAM, options.with_derive_budget(PATIENCE)).expect("the stream opens");
    let variable = Variable::global::<f64>("T", &SHAPE).expect("a shape");
    let region = Region::new([3 * rank, 0, 0], [3, 5, 4]).expect("inside");
    for step in 0..LEN {
        let half = (LEN / RANKS) as usize;
        let elements = field(step)[rank as usize * half..][..half].to_vec();
        let mut writer = publisher.begin_step().expect("a step");
        writer.put(&variable, &region, elements).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

/// Watches, and takes what is around each greatest element: the steps of which it was told.
fn watch(options: SubscriberOptions, reach: u64) -> Vec<u64> {
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    let (mut steps, mut bytes) = (Vec::new(), 0);
    loop {
        let step = match subscriber.next_step(PATIENCE).expect("a step") {
            NextStep::Step(step) => step,
            NextStep::NotYet => panic!("no step"),
            NextStep::Ended(_) => break,
        };
        let judgement = step.judgement().expect("it is told why");
        let place = judgement.measured[0].place.clone().expect("of a global array");
        let shape = *step.variable("T").expect("the variable").shape();
        let region =
            Region::around(&Dims::from_slice(&place).expect("three"), reach, &shape).expect("inside");
        let number = step.step().0;
        let wanted = around(number, reach);
        bytes += 8 * wanted.len() as u64;
        assert_eq!(step.get::<f64>("T", region).expect("got"), wanted, "step {number}, {region}");
        steps.push(number);
    }
    assert_eq!(subscriber.statistics().payload_bytes, bytes, "nothing else was delivered");
    steps
}

/// Two of three places of the array, its first and its last among them; one reach is over all of it.
#[test]
fn what_is_around_a_greatest_element_is_taken() {
    for kind in [TransportKind::Inproc, TransportKind::Shm, TransportKind::Tcp] {
        let place = Place::new();
        let reaches = [0, 1, 2, 9];
        let wanted: Vec<u64> = (0..LEN).filter(|step| is_hot(*step)).collect();
        std::thread::scope(|scope| {
            let place = &place;
            for rank in 0..RANKS {
                scope.spawn(move || publish(place, rank, reaches.len() as u32));
            }
            let watchers = reaches.map(|reach| {
                let options = place.over(kind).with_condition("max(T) > 100").expect("a condition");
                scope.spawn(move || watch(options, reach))
            });
            watchers
                .into_iter()
                .for_each(|watcher| assert_eq!(watcher.join().expect("it ends well"), wanted));
        });
    }
}
