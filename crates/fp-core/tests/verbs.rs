//! Streams over verbs: contents and copies of several cohorts, within one process, between processes, and between two
//! machines (`FLEXPATH_TEST_ROLE`, see `verbs/far.rs`).
//!
//! A binary of its own: it needs an RDMA device, and has a main that says `skipped` without one and passes nothing.
//! `FLEXPATH_REQUIRE_VERBS=1` makes that an error.

#[path = "verbs/bench.rs"]
mod bench;
#[path = "verbs/far.rs"]
mod far;
#[path = "../../fp-transport/tests/verbs/harness.rs"]
mod harness;
#[path = "verbs/processes.rs"]
mod processes;
mod support;

use fp_core::{
    Cohort, NextStep, Publisher, PublisherOptions, Region, Selection, Statistics, StepReader, Subscriber,
    SubscriberOptions, Token, TransportPolicy, Variable, verbs_devices,
};
use harness::Test;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;
use support::{Place, STREAM};

const ROWS: u64 = 64;
const COLUMNS: u64 = 1024;
const STEPS: u64 = 24;
/// Steps of a subscription that are live at one time.
const LIMIT_STEPS: u32 = 3;
/// What may be registered in all, however ranks take turns: less than one piece of memory a step. A publisher has
/// memory for the steps that are live and the open one, and receives from five. A subscriber has two links, and
/// memory for reads over both and for two views of two blocks.
const MOST_REGISTRATIONS: u64 = 16;
const PATIENCE: Duration = Duration::from_secs(60);
/// Payload by RDMA, and control by tcp.
const TRANSPORTS: &str = "verbs,tcp";

fn value(step: u64, row: u64, column: u64) -> u64 {
    (step << 40) | (row << 20) | column
}

fn device_address() -> Result<SocketAddr, String> {
    let devices = verbs_devices().map_err(|trouble| trouble.to_string())?;
    let mut up = devices.iter().filter(|device| device.port.is_ok());
    let address = up.find_map(|device| device.addresses.first());
    address.map(|ip| SocketAddr::new(*ip, 0)).ok_or_else(|| format!("no device with an address: {devices:?}"))
}

fn policy() -> TransportPolicy {
    TRANSPORTS.parse().expect("a list")
}

fn token() -> Token {
    Token::new([9; 32]).expect("no zeros")
}

fn publishing(place: &Place, address: SocketAddr) -> PublisherOptions {
    place.publisher_options().with_transports(policy()).with_tcp(Some(address)).with_token(token())
}

fn subscribing(place: &Place) -> SubscriberOptions {
    let options = place.subscriber_options().with_transports(policy()).with_token(token());
    options.with_open_timeout(PATIENCE).with_fetch_timeout(PATIENCE).with_limit_steps(LIMIT_STEPS)
}

/// Where the elements of a step go to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taking {
    /// An array that the call makes.
    Get,
    /// The caller's array, under a guard.
    Registered,
    /// A view, while the one before is still there.
    View,
}

fn taking(name: &str) -> Taking {
    match name {
        "wide" | "far" => Taking::Registered,
        "halves" => Taking::View,
        _ => Taking::Get,
    }
}

/// One of two publisher ranks: each lends memory for its half of the rows.
fn publish(options: PublisherOptions, rank: u32, subscribers: u32) -> Statistics {
    let options =
        options.with_cohort(Cohort::of(rank, 2).expect("a cohort")).with_min_subscribers(subscribers);
    let mut publisher = Publisher::open(STREAM, options.with_open_timeout(PATIENCE)).expect("it opens");
    let region = Region::new([u64::from(rank) * ROWS / 2, 0], [ROWS / 2, COLUMNS]).expect("inside");
    (0..STEPS).for_each(|_| put(&mut publisher, region));
    let statistics = publisher.statistics();
    check_registrations("publisher", &statistics);
    publisher.close().expect("closed");
    statistics
}

/// Publishes the next step: these whole rows of the array, in memory of the pool.
fn put(publisher: &mut Publisher, region: Region) {
    let array = Variable::global::<u64>("array", &[ROWS, COLUMNS]).expect("a shape");
    let first = region.start().as_slice()[0];
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    let mut loan = writer.loan::<u64>(&array, &region).expect("a loan");
    for (at, element) in loan.iter_mut().enumerate() {
        *element = value(step, first + at as u64 / COLUMNS, at as u64 % COLUMNS);
    }
    writer.put_loan(loan).expect("put");
    writer.end().expect("ended");
}

fn next(subscriber: &mut Subscriber) -> StepReader {
    let next = subscriber.next_step(PATIENCE).expect("a step");
    let NextStep::Step(step) = next else { panic!("no step: {next:?}") };
    step
}

/// Reads a region of every step and compares each element; gives what was counted, and the transports.
fn subscribe(options: SubscriberOptions, region: Region, taking: Taking) -> (Statistics, Vec<String>) {
    let mut subscriber = Subscriber::open(STREAM, options).expect("attached");
    let (start, count) = (region.start().as_slice().to_vec(), region.count().as_slice().to_vec());
    let mut array = vec![0u64; (count[0] * count[1]) as usize];
    let mut registered = subscriber.register(&mut array);
    let mut held = None;
    for step in 0..STEPS {
        let reader = next(&mut subscriber);
        assert_eq!(reader.step().0, step);
        let (elements, view);
        let found: &[u64] = match taking {
            Taking::Get => {
                elements = reader.get::<u64>("array", Selection::Region(region)).expect("read");
                &elements
            }
            Taking::Registered => {
                registered.fill(u64::MAX);
                reader.get_into("array", Selection::Region(region), &mut registered).expect("read");
                &registered
            }
            Taking::View => {
                view = reader.view::<u64>("array", Selection::Region(region)).expect("read");
                held.insert(view)
            }
        };
        assert_eq!(found.len() as u64, count[0] * count[1]);
        for (at, element) in found.iter().enumerate() {
            let (row, column) = (start[0] + at as u64 / count[1], start[1] + at as u64 % count[1]);
            assert_eq!(*element, value(step, row, column), "step {step}, row {row}, column {column}");
        }
    }
    let transports = subscriber.transports().into_iter().map(|(_, text)| text).collect();
    let statistics = subscriber.statistics();
    subscriber.close().expect("left");
    (statistics, transports)
}

/// M ranks to N: whole, wide columns (READ), narrow ones (gathered and sent), and a cohort of two.
fn two_publishers_to_five_subscribers() {
    let address = device_address().expect("a device");
    let place = Place::new();
    let region = |start: [u64; 2], count: [u64; 2]| Region::new(start, count).expect("inside");
    let alone = [
        ("whole", region([0, 0], [ROWS, COLUMNS])),
        ("wide", region([3, 256], [ROWS - 5, 512])),
        ("narrow", region([0, 5], [ROWS, 3])),
    ];
    let halves = [0u32, 1].map(|rank| region([0, u64::from(rank) * COLUMNS / 2], [ROWS, COLUMNS / 2]));
    let publishers = [0u32, 1].map(|rank| {
        let options = publishing(&place, address);
        thread::spawn(move || publish(options, rank, 4))
    });
    let of_cohort = [0u32, 1].map(|rank| {
        let options =
            subscribing(&place).with_name("halves").with_cohort(Cohort::of(rank, 2).expect("a cohort"));
        let region = halves[rank as usize];
        thread::spawn(move || subscribe(options, region, taking("halves")))
    });
    let alone = alone.map(|(name, region)| {
        let options = subscribing(&place).with_name(name);
        (name, region, thread::spawn(move || subscribe(options, region, taking(name))))
    });
    for subscriber in of_cohort {
        check("halves", halves[0], subscriber.join().expect("no panic"));
    }
    for (name, region, subscriber) in alone {
        check(name, region, subscriber.join().expect("no panic"));
    }
    for publisher in publishers {
        let statistics = publisher.join().expect("no panic");
        println!("publisher: {statistics:?}");
        // The narrow columns alone are copied by a processor here. The last of them may be asked for after this was
        // read.
        let narrow = STEPS * ROWS / 2 * 3 * 8;
        assert_eq!((statistics.put_copied_bytes, statistics.shared_copied_bytes), (0, 0));
        assert!(statistics.gathered_bytes <= narrow, "what is READ is not copied");
    }
}

fn check(name: &str, region: Region, (all, transports): (Statistics, Vec<String>)) {
    println!("{name}: {all:?} {transports:?}");
    assert!(
        !transports.is_empty() && transports.iter().all(|text| text.starts_with("transport=verbs ")),
        "{transports:?}"
    );
    let bytes: u64 = region.count().as_slice().iter().product::<u64>() * 8;
    assert_eq!(all.payload_bytes, STEPS * bytes);
    if name == "narrow" {
        assert!(all.requests > 0, "asked for, as it is badly strided");
    } else {
        // A view before the first link is of memory that no device writes to.
        let most = match taking(name) {
            Taking::Get => STEPS * bytes,
            Taking::Registered => 0,
            Taking::View => bytes,
        };
        assert_eq!(all.received_bytes, STEPS * bytes - all.staged_bytes, "straight to its place");
        assert_eq!(all.get_copied_bytes, all.staged_bytes);
        assert!(all.staged_bytes <= most, "{name}: read through other memory");
        // What is asked for, as its place was told late, comes straight to any place.
        assert!(all.staged_bytes == most || all.requests > 0, "{name}: not registered, and read into");
    }
    check_registrations(name, &all);
}

/// Memory is registered once and used again.
fn check_registrations(name: &str, all: &Statistics) {
    let registrations = all.registrations;
    assert!((1..=MOST_REGISTRATIONS).contains(&registrations), "{name}: {registrations} registrations");
}

fn main() -> ExitCode {
    if let Ok(role) = std::env::var("FLEXPATH_TEST_ROLE") {
        return processes::child(&role);
    }
    let tests = [
        Test::new("two_publishers_to_five_subscribers", two_publishers_to_five_subscribers),
        Test::new("two_publishers_to_three_subscribers", processes::two_publishers_to_three_subscribers),
        Test::new("a_killed_subscriber_holds_nobody_up", processes::a_killed_subscriber_holds_nobody_up),
        Test::new("a_killed_publisher_is_told", processes::a_killed_publisher_is_told),
        Test::new(
            "an_expelled_subscriber_is_told_that_its_step_is_gone",
            processes::an_expelled_subscriber_is_told_that_its_step_is_gone,
        ),
    ];
    harness::run(&tests, device_address().err())
}
