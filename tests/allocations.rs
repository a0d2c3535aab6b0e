//! How often the calling thread asks for memory in the steady state, on either side. It is bounded, so that a new
//! request on the way of every step is seen. Over shared memory each side is a process of its own (this binary again);
//! in one process both are counted together.

#[path = "allocations/counting.rs"]
mod counting;

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use counting::Counting;
use flexpath::{
    NextStep, Publisher, PublisherOptions, Region, Rendezvous, Selection, Subscriber, SubscriberOptions,
    TransportPolicy, Variable,
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const PATIENCE: Duration = Duration::from_secs(60);
const ROLE: &str = "FLEXPATH_ALLOCATIONS_ROLE";
const PLACE: &str = "FLEXPATH_ALLOCATIONS_PLACE";
/// Has each role show where so many steps ask for memory: run with `--nocapture`.
const SHOW: &str = "FLEXPATH_SHOW_ALLOCATIONS";
/// Steps before any is counted: maps and queues have their size then.
const WARM_STEPS: u64 = 200;
const STEPS: u64 = 10_000;
const ELEMENTS: u64 = 4096;

/// Most allocations of a step, and most bytes of them.
struct Bound {
    allocations: f64,
    bytes: f64,
}

/// Over shared memory: hardly any.
const SHM: Bound = Bound { allocations: 0.01, bytes: 10.0 };
/// What it takes now and a tenth more: what is in one process lies in a table of the process.
const BOTH_INPROC: Bound = Bound { allocations: 2.2, bytes: 500.0 };

/// Allocations and bytes of them for each step.
#[derive(Clone, Copy, Debug)]
struct Each {
    allocations: f64,
    bytes: f64,
}

impl Each {
    fn since((count, bytes): (u64, u64)) -> Self {
        let (count_now, bytes_now) = Counting::counted();
        let each = |now: u64, then: u64| (now - then) as f64 / STEPS as f64;
        Self { allocations: each(count_now, count), bytes: each(bytes_now, bytes) }
    }

    fn assert_within(self, who: &str, bound: &Bound) {
        println!("{who}: {self:?}");
        assert!(
            self.allocations <= bound.allocations,
            "{who}: {self:?}, at most {} allocations",
            bound.allocations
        );
        assert!(self.bytes <= bound.bytes, "{who}: {self:?}, at most {} bytes", bound.bytes);
    }
}

fn publisher(place: &Path, transport: &str) -> Publisher {
    let rendezvous = Rendezvous::at(place).expect("a rendezvous directory");
    let transports: TransportPolicy = transport.parse().expect("a transport");
    let options = PublisherOptions::default().with_rendezvous(rendezvous).with_transports(transports);
    Publisher::open("counted", options).expect("the stream opens")
}

fn subscriber(place: &Path, transport: &str) -> Subscriber {
    let rendezvous = Rendezvous::at(place).expect("a rendezvous directory");
    let transports: TransportPolicy = transport.parse().expect("a transport");
    let options = SubscriberOptions::default().with_rendezvous(rendezvous).with_transports(transports);
    Subscriber::open("counted", options.with_selection("x", Selection::All)).expect("the stream is there")
}

/// Does as many more steps as anybody wants to see, and shows where they ask for memory.
fn show(mut step: impl FnMut()) {
    let wanted = std::env::var(SHOW).ok().and_then(|steps| steps.parse().ok());
    (0..wanted.unwrap_or(0)).for_each(|_| Counting::shown(&mut step));
}

/// Publishes one step: every other one by a loan.
fn publish(publisher: &mut Publisher, variable: &Variable, region: &Region, source: &[u64]) {
    let mut writer = publisher.begin_step().expect("a step");
    if writer.step().0.is_multiple_of(2) {
        writer.put_copy(variable, region, source).expect("a put");
    } else {
        let mut loan = writer.loan::<u64>(variable, region).expect("memory");
        loan.copy_from_slice(source);
        writer.put_loan(loan).expect("a put");
    }
    writer.end().expect("its end");
}

/// Takes one step.
fn take(subscriber: &mut Subscriber, destination: &mut [u64]) {
    match subscriber.next_step(PATIENCE).expect("a sound stream") {
        NextStep::Step(step) => step.get_into("x", &Selection::All, destination).expect("its data"),
        NextStep::NotYet | NextStep::Ended(_) => panic!("no step"),
    }
}

/// What a step is made of.
fn content() -> (Variable, Region, Vec<u64>) {
    let variable = Variable::global::<u64>("x", &[ELEMENTS]).expect("a variable");
    (variable, Region::new([0], [ELEMENTS]).expect("a region"), vec![7; ELEMENTS as usize])
}

/// Starts this binary in a role; nothing else runs in its process.
fn start(role: &str, place: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("the path of this binary"));
    command.args(["child_entry", "--exact", "--nocapture"]).env(ROLE, role).env(PLACE, place);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("a process")
}

/// What a role found.
fn finish(child: Child) -> Each {
    let output = child.wait_with_output().expect("its end");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    each_of(&text)
}

#[test]
fn steps_in_one_process_ask_for_little_memory() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    finish(start("both", folder.path())).assert_within("both sides, inproc", &BOTH_INPROC);
}

#[test]
fn steps_over_shared_memory_ask_for_little_memory() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let children = ["publisher", "subscriber"].map(|role| start(role, folder.path()));
    let [publisher, subscriber] = children.map(finish);
    publisher.assert_within("publisher, shm", &SHM);
    subscriber.assert_within("subscriber, shm", &SHM);
}

/// What a child said.
fn each_of(text: &str) -> Each {
    let words =
        text.lines().find_map(|line| line.split_once("each ")).map(|(_, words)| words.split_whitespace());
    let numbers: Vec<f64> = words.into_iter().flatten().map_while(|word| word.parse().ok()).collect();
    assert_eq!(numbers.len(), 2, "{text}");
    Each { allocations: numbers[0], bytes: numbers[1] }
}

/// Runs the role that the environment names; in the parent, nothing.
#[test]
fn child_entry() {
    let (Ok(role), Some(place)) = (std::env::var(ROLE), std::env::var_os(PLACE)) else { return };
    let place = Path::new(&place);
    let each = match role.as_str() {
        "publisher" => publish_all(place),
        "subscriber" => take_all(place),
        _ => both(place),
    };
    println!("each {} {}", each.allocations, each.bytes);
}

/// Publishes and takes in turns.
fn both(place: &Path) -> Each {
    let mut publisher = publisher(place, "inproc");
    let mut subscriber = subscriber(place, "inproc");
    assert_eq!(publisher.wait_for_subscriptions(1, PATIENCE), 1);
    let (variable, region, source) = content();
    let (mut destination, mut since) = (vec![0; source.len()], Counting::counted());
    for number in 0..WARM_STEPS + STEPS {
        if number == WARM_STEPS {
            since = Counting::counted();
        }
        publish(&mut publisher, &variable, &region, &source);
        take(&mut subscriber, &mut destination);
    }
    let each = Each::since(since);
    show(|| {
        publish(&mut publisher, &variable, &region, &source);
        take(&mut subscriber, &mut destination);
    });
    assert_eq!(source, destination);
    subscriber.close().expect("it leaves");
    publisher.close().expect("all is delivered");
    each
}

fn publish_all(place: &Path) -> Each {
    let mut publisher = publisher(place, "shm");
    assert_eq!(publisher.wait_for_subscriptions(1, PATIENCE), 1);
    let (variable, region, source) = content();
    let mut since = Counting::counted();
    for number in 0..WARM_STEPS + STEPS {
        if number == WARM_STEPS {
            since = Counting::counted();
        }
        publish(&mut publisher, &variable, &region, &source);
    }
    let each = Each::since(since);
    show(|| publish(&mut publisher, &variable, &region, &source));
    publisher.close().expect("all is delivered");
    each
}

fn take_all(place: &Path) -> Each {
    let mut subscriber = subscriber(place, "shm");
    let (mut destination, mut since) = (vec![0; ELEMENTS as usize], Counting::counted());
    for number in 0..WARM_STEPS + STEPS {
        if number == WARM_STEPS {
            since = Counting::counted();
        }
        take(&mut subscriber, &mut destination);
    }
    let each = Each::since(since);
    show(|| take(&mut subscriber, &mut destination));
    subscriber.close().expect("it leaves");
    each
}
