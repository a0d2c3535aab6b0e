//! What the tests of this crate share: a stream in one process, contents that tell where they belong, waiting.
#![allow(dead_code, unreachable_pub)] // each test binary uses its part

pub mod bonds;
pub mod executor;
pub mod launcher;
pub mod way;

use fp_core::{
    Event, NextStep, Publisher, PublisherOptions, Region, Rendezvous, StepReader, StreamEnding, Subscriber,
    SubscriberOptions, TransportKind, TransportPolicy, Variable,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Long enough that only a hang reaches it.
pub const PATIENCE: Duration = Duration::from_secs(15);
/// The name of every stream of these tests.
pub const STREAM: &str = "stream";

/// A rendezvous directory of one test's own, removed at its end.
pub struct Place(PathBuf);

impl Place {
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("flexpath-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn entries(&self) -> Vec<String> {
        let files = std::fs::read_dir(&self.0).expect("the directory is there");
        files.flatten().map(|file| file.file_name().to_string_lossy().into_owned()).collect()
    }

    pub fn rendezvous(&self) -> Rendezvous {
        Rendezvous::at(&self.0).expect("a rendezvous")
    }

    pub fn publisher_options(&self) -> PublisherOptions {
        PublisherOptions::default()
            .with_rendezvous(self.rendezvous())
            .with_transports(TransportPolicy::default())
            .with_open_timeout(PATIENCE)
            .with_close_timeout(PATIENCE)
            // Unless a test is about it, nothing is cut off however busy the machine is.
            .with_derive_budget(PATIENCE)
    }

    pub fn subscriber_options(&self) -> SubscriberOptions {
        SubscriberOptions::default()
            .with_rendezvous(self.rendezvous())
            .with_transports(TransportPolicy::default())
            .with_open_timeout(PATIENCE)
            .with_close_timeout(PATIENCE)
            .with_fetch_timeout(PATIENCE)
    }

    pub fn publisher(&self) -> Publisher {
        Publisher::open(STREAM, self.publisher_options()).expect("the stream opens")
    }

    pub fn subscriber(&self) -> Subscriber {
        Subscriber::open(STREAM, self.subscriber_options()).expect("attached")
    }

    pub fn subscriber_over(&self, kind: TransportKind) -> Subscriber {
        Subscriber::open(STREAM, self.over(kind)).expect("attached")
    }

    pub fn over(&self, kind: TransportKind) -> SubscriberOptions {
        self.subscriber_options().with_transports(TransportPolicy::only(kind))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A list of `len` elements, one block.
pub fn array(len: u64) -> (Variable, Region) {
    named("array", len)
}

pub fn named(name: &str, len: u64) -> (Variable, Region) {
    let variable = Variable::global::<u64>(name, &[len]).expect("a shape");
    (variable, Region::new([0], [len]).expect("inside"))
}

/// Elements that tell their step and index.
pub fn values(step: u64, len: u64) -> Vec<u64> {
    (0..len).map(|index| (step << 32) | index).collect()
}

/// Publishes the next step: the one array.
pub fn publish(publisher: &mut Publisher, len: u64) -> u64 {
    let (variable, region) = array(len);
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    writer.put(&variable, &region, values(step, len)).expect("put");
    writer.end().expect("ended");
    step
}

/// The next step, which must come.
pub fn take(subscriber: &mut Subscriber) -> StepReader {
    let next = subscriber.next_step(PATIENCE).expect("a step");
    let NextStep::Step(step) = next else { panic!("no step: {next:?}") };
    step
}

/// The end of the stream, which must come now.
pub fn ending(subscriber: &mut Subscriber) -> StreamEnding {
    let next = subscriber.next_step(PATIENCE).expect("the end");
    let NextStep::Ended(ending) = next else { panic!("not the end: {next:?}") };
    ending
}

/// No step is there. What was sent before has arrived when something newer has; here a moment must do.
pub fn nothing(subscriber: &mut Subscriber) {
    let next = subscriber.next_step(Duration::from_millis(60)).expect("nothing");
    assert!(matches!(next, NextStep::NotYet), "something came: {next:?}");
}

/// Asks again and again until it is so.
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::yield_now();
    }
}

/// Waits until what was asked for is agreed. Gives the step from which on it holds.
pub fn agreed(subscriber: &mut Subscriber) -> u64 {
    let mut first = None;
    eventually("the other placement is agreed", || {
        let told = subscriber
            .events()
            .into_iter()
            .find_map(|event| if let Event::Reselected { first } = event { Some(first.0) } else { None });
        first = first.or(told);
        first.is_some()
    });
    first.expect("told")
}
