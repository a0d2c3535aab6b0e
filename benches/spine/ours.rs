//! Opening both sides of a stream the way a user would, from a role's words.

use crate::machine::pin;
use crate::process::Words;
use flexpath::{
    Cohort, NextStep, Publisher, PublisherOptions, Region, Rendezvous, StepReader, Subscriber,
    SubscriberOptions, TransportPolicy,
};
use std::time::Duration;

/// The stream's name; each has a rendezvous directory of its own.
pub(crate) const STREAM: &str = "bench";
/// No wait of a bench is longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Pins the process as its words say: `core=1`, or `core=any`.
pub(crate) fn take_core(words: &Words) {
    if let Ok(core) = words.text("core").parse() {
        pin(core);
    }
}

fn rendezvous(words: &Words) -> Rendezvous {
    Rendezvous::at(words.text("directory")).expect("a rendezvous directory")
}

/// `transport=shm`, `tcp`, or `all`.
fn transports(words: &Words) -> TransportPolicy {
    match words.text("transport") {
        "all" => TransportPolicy::default(),
        name => name.parse().expect("a transport"),
    }
}

/// `rank=0 size=1`.
fn cohort(words: &Words) -> Cohort {
    Cohort::of(words.number("rank"), words.number("size")).expect("a rank below the size")
}

/// How a publisher of the benches opens its stream.
pub(crate) fn publisher_options(words: &Words) -> PublisherOptions {
    PublisherOptions::default()
        .with_rendezvous(rendezvous(words))
        .with_transports(transports(words))
        .with_cohort(cohort(words))
}

/// How a subscriber of the benches attaches.
pub(crate) fn subscriber_options(words: &Words) -> SubscriberOptions {
    SubscriberOptions::default()
        .with_rendezvous(rendezvous(words))
        .with_transports(transports(words))
        .with_cohort(cohort(words))
        .with_name("reading")
}

/// A publisher that waits for one subscription.
pub(crate) fn publisher(words: &Words) -> Publisher {
    take_core(words);
    let options = publisher_options(words).with_min_subscribers(1);
    Publisher::open(STREAM, options).expect("the stream opens")
}

/// A subscriber.
pub(crate) fn subscriber(options: SubscriberOptions) -> Subscriber {
    Subscriber::open(STREAM, options).expect("the stream is there")
}

/// The next step; `None` at the end.
pub(crate) fn next(subscriber: &mut Subscriber) -> Option<StepReader> {
    match subscriber.next_step(PATIENCE).expect("the stream is sound") {
        NextStep::Step(step) => Some(step),
        NextStep::NotYet => panic!("no step in {PATIENCE:?}"),
        NextStep::Ended(_) => None,
    }
}

/// The region of that corner and extent.
pub(crate) fn region(start: &[u64], count: &[u64]) -> Region {
    let dims = |of: &[u64]| flexpath::Dims::from_slice(of).expect("few dimensions");
    Region::new(dims(start), dims(count)).expect("a region")
}
