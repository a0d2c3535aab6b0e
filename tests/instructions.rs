//! Instructions of a step's hot paths, one publisher and one subscriber: put, announce, fetch, release. Both are in the
//! process that is watched, over each transport in turn.

#[path = "guard/mod.rs"]
mod guard;

use std::time::Duration;

use flexpath::{
    NextStep, Publisher, PublisherOptions, Region, Rendezvous, Selection, StepReader, StepWriter, Subscriber,
    SubscriberOptions, TransportKind, TransportPolicy, Variable,
};
use guard::HotPath;

const PATIENCE: Duration = Duration::from_secs(60);
/// Steps before any is counted.
const WARM_STEPS: u64 = 16;
const STEPS: u64 = 200;
const ELEMENTS: u64 = 64;

/// What a part of a step costs. Announcing takes in what came meanwhile, as the step is small. Beginning a step and
/// waiting for the next have no line of their own. How much of them the background thread takes over differs from run to
/// run. The whole step has them.
const fn path(name: &'static str, instructions: u64, tolerance_percent: u64) -> HotPath {
    HotPath { name, calls: STEPS, instructions, tolerance_percent }
}

/// Where nothing is sent through a socket.
const fn in_memory(step: u64) -> [HotPath; 5] {
    [
        path("put", 1_950, 15),
        path("announce", 11_400, 12),
        path("fetch", 4_700, 5),
        path("release", 1_800, 25),
        path("step", step, 12),
    ]
}

const INPROC: &[HotPath] = &in_memory(26_500);
const SHM: &[HotPath] = &in_memory(26_500);
/// What a socket has to say may come in one turn or in the next.
const TCP: &[HotPath] = &[
    path("put", 1_950, 15),
    path("announce", 12_200, 18),
    path("fetch", 5_600, 5),
    path("release", 1_650, 25),
    path("step", 28_200, 15),
];

#[test]
fn steps_cost_what_they_did() {
    if guard::is_watched() {
        return;
    }
    for (work, paths) in [
        ("publish_and_fetch_in_one_process", INPROC),
        ("publish_and_fetch_over_shm", SHM),
        ("publish_and_fetch_over_tcp", TCP),
    ] {
        println!("{work}:");
        guard::compare(work, paths);
    }
}

/// The work that is watched; by itself a test like any other.
#[test]
fn publish_and_fetch_in_one_process() {
    publish_and_fetch(TransportKind::Inproc);
}

/// As above, with memory that is mapped.
#[test]
fn publish_and_fetch_over_shm() {
    publish_and_fetch(TransportKind::Shm);
}

/// As above, with sockets.
#[test]
fn publish_and_fetch_over_tcp() {
    publish_and_fetch(TransportKind::Tcp);
}

fn publish_and_fetch(transport: TransportKind) {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let rendezvous = Rendezvous::at(folder.path()).expect("a rendezvous directory");
    let options = PublisherOptions::default().with_rendezvous(rendezvous.clone());
    let mut publisher = Publisher::open("guarded", options).expect("the stream opens");
    let options = SubscriberOptions::default()
        .with_rendezvous(rendezvous)
        .with_transports(TransportPolicy::only(transport))
        .with_open_timeout(PATIENCE)
        .with_selection("x", Selection::All);
    let mut subscriber = Subscriber::open("guarded", options).expect("the stream is there");
    assert_eq!(publisher.wait_for_subscriptions(1, PATIENCE), 1);
    let variable = Variable::global::<u64>("x", &[ELEMENTS]).expect("a variable");
    let region = Region::new([0], [ELEMENTS]).expect("a region");
    let (mut source, mut destination) = ([0; ELEMENTS as usize], [0; ELEMENTS as usize]);
    for number in 0..WARM_STEPS + STEPS {
        source.fill(number);
        let mut step = Step { variable: &variable, region: &region, destination: &mut destination };
        if number < WARM_STEPS {
            step.take(&mut publisher, &mut subscriber, &source);
        } else {
            watched_step(&mut step, &mut publisher, &mut subscriber, &source);
        }
        assert_eq!(source, destination);
    }
    let (reached, wanted) = (subscriber.transports(), format!("transport={}", transport.name()));
    assert!(reached.iter().all(|(_, how)| how.starts_with(&wanted)), "{reached:?}");
    subscriber.close().expect("it leaves");
    publisher.close().expect("all is delivered");
}

struct Step<'a> {
    variable: &'a Variable,
    region: &'a Region,
    destination: &'a mut [u64],
}

impl Step<'_> {
    fn take(&mut self, publisher: &mut Publisher, subscriber: &mut Subscriber, source: &[u64]) {
        let mut writer = publisher.begin_step().expect("a step");
        writer.put_copy(self.variable, self.region, source).expect("a put");
        writer.end().expect("its end");
        let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a sound stream") else {
            panic!("no step")
        };
        step.get_into("x", &Selection::All, self.destination).expect("its data");
    }

    /// The same, each part in a function of its own.
    fn take_watched(&mut self, publisher: &mut Publisher, subscriber: &mut Subscriber, source: &[u64]) {
        let mut writer = publisher.begin_step().expect("a step");
        watched_put(&mut writer, self.variable, self.region, source);
        watched_announce(writer);
        let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a sound stream") else {
            panic!("no step")
        };
        watched_fetch(&step, self.destination);
        watched_release(step);
    }
}

#[inline(never)]
fn watched_step(step: &mut Step<'_>, publisher: &mut Publisher, subscriber: &mut Subscriber, source: &[u64]) {
    step.take_watched(publisher, subscriber, source);
}

#[inline(never)]
fn watched_put(writer: &mut StepWriter, variable: &Variable, region: &Region, source: &[u64]) {
    writer.put_copy(variable, region, source).expect("a put");
}

#[inline(never)]
fn watched_announce(writer: StepWriter) {
    writer.end().expect("its end");
}

#[inline(never)]
fn watched_fetch(step: &StepReader, destination: &mut [u64]) {
    step.get_into("x", &Selection::All, destination).expect("its data");
}

#[inline(never)]
fn watched_release(step: StepReader) {
    drop(step);
}
