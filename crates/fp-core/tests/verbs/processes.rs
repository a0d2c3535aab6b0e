//! Streams over verbs between processes. Every rank is one of its own; ranks are killed, and one is stopped, expelled
//! and goes on. Falling back to another transport is forbidden throughout.

use super::support::Place;
use super::{
    COLUMNS, PATIENCE, ROWS, check, device_address, next, policy, publish, put, subscribe, taking, token,
};
use fp_core::{
    Cohort, EndReason, Event, MemberEnd, NextStep, Publisher, PublisherOptions, QueuePolicy, ReadError,
    Region, Rendezvous, Selection, StepReader, Subscriber, SubscriberOptions,
};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

/// Steps where a rank is killed or expelled meanwhile.
const MANY: u64 = 12;

pub(crate) fn publishing(folder: &Path) -> PublisherOptions {
    let options = PublisherOptions::default().with_tcp(Some(device_address().expect("a device")));
    let options = options.with_transports(policy().with_forbid_fallback(true)).with_token(token());
    let options = options.with_open_timeout(PATIENCE).with_close_timeout(PATIENCE);
    options.with_rendezvous(Rendezvous::at(folder).expect("a rendezvous"))
}

pub(crate) fn subscribing(folder: &Path) -> SubscriberOptions {
    let options = SubscriberOptions::default().with_token(token()).with_fetch_timeout(PATIENCE);
    let options = options.with_transports(policy().with_forbid_fallback(true));
    let options = options.with_open_timeout(PATIENCE).with_close_timeout(PATIENCE);
    let options = options.with_limit_steps(super::LIMIT_STEPS);
    options.with_rendezvous(Rendezvous::at(folder).expect("a rendezvous"))
}

/// A rank that is a process of its own; killed when the test is over, however it ends.
struct Rank(Child);

impl Rank {
    fn start(place: &Place, role: &str) -> Rank {
        let mut command = Command::new(std::env::current_exe().expect("this binary"));
        command.env("FLEXPATH_TEST_ROLE", role).env("FLEXPATH_TEST_PLACE", place.path());
        Rank(command.stdout(Stdio::piped()).spawn().expect("it starts"))
    }

    /// Waits until it says a word.
    fn says(&mut self, word: &str) {
        let lines = BufReader::new(self.0.stdout.as_mut().expect("piped")).lines();
        let found = lines.map_while(Result::ok).any(|line| line == word);
        assert!(found, "it ended without saying {word}");
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    /// Waits for its end, which must be a good one.
    fn ends_well(mut self) {
        // A pipe that nobody reads would fill.
        let mut output = self.0.stdout.take().expect("piped");
        std::io::copy(&mut output, &mut std::io::stdout()).expect("output");
        assert_eq!(self.0.wait().expect("it ends").code(), Some(0));
    }
}

impl Drop for Rank {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn whole() -> Region {
    Region::new([0, 0], [ROWS, COLUMNS]).expect("inside")
}

fn half(rank: u32) -> Region {
    Region::new([0, u64::from(rank) * COLUMNS / 2], [ROWS, COLUMNS / 2]).expect("inside")
}

/// What a rank does that was started as a process.
pub(crate) fn child(role: &str) -> ExitCode {
    let folder = std::env::var_os("FLEXPATH_TEST_PLACE").unwrap_or_default();
    let folder = Path::new(&folder);
    let cohort = |rank| Cohort::of(rank, 2).expect("a cohort");
    let read = |name: &str, options: SubscriberOptions, region| {
        check(name, region, subscribe(options.with_name(name), region, taking(name)));
    };
    match role {
        "publisher0" => drop(publish(publishing(folder), 0, 2)),
        "publisher1" => drop(publish(publishing(folder), 1, 2)),
        "whole" => read(role, subscribing(folder), whole()),
        "half0" => read("halves", subscribing(folder).with_cohort(cohort(0)), half(0)),
        "half1" => read("halves", subscribing(folder).with_cohort(cohort(1)), half(1)),
        "reads one" => read_one(subscribing(folder)),
        "reads all" => read_all(subscribing(folder)),
        "publishes for ever" => publish_for_ever(folder),
        "stamps" => super::bench::stamp(folder, false),
        "stamps busily" => super::bench::stamp(folder, true),
        "bench" => return super::bench::run(),
        "counts" => return super::bench::count(),
        "holds" => return hold(folder),
        "publishes far" => super::far::publish_to_another_machine(),
        "subscribes far" => super::far::subscribe_from_another_machine(),
        _ => return ExitCode::FAILURE,
    }
    ExitCode::SUCCESS
}

/// Whether these are the elements of this step, throughout.
fn is_of_step(step: u64, found: &[u64]) -> bool {
    let right = |(at, element): (usize, &u64)| {
        *element == super::value(step, at as u64 / COLUMNS, at as u64 % COLUMNS)
    };
    found.len() as u64 == ROWS * COLUMNS && found.iter().enumerate().all(right)
}

fn get(reader: &StepReader) -> Result<Vec<u64>, ReadError> {
    reader.get("array", Selection::All)
}

/// Takes a step and reads it, and then does nothing more.
fn read_one(options: SubscriberOptions) {
    let mut subscriber = Subscriber::open(super::STREAM, options).expect("attached");
    let reader = next(&mut subscriber);
    assert!(is_of_step(reader.step().0, &get(&reader).expect("read")));
    println!("reading");
    loop {
        get(&reader).expect("it is killed before anything else happens");
    }
}

fn read_all(options: SubscriberOptions) {
    let mut subscriber = Subscriber::open(super::STREAM, options).expect("attached");
    for step in 0..MANY {
        let reader = next(&mut subscriber);
        assert_eq!(reader.step().0, step);
        assert!(is_of_step(step, &get(&reader).expect("read")), "step {step}");
    }
    let ended = subscriber.next_step(PATIENCE).expect("the end");
    assert!(matches!(ended, NextStep::Ended(_)), "{ended:?}");
}

fn publish_for_ever(folder: &Path) {
    let options = publishing(folder).with_min_subscribers(1);
    let mut publisher = Publisher::open(super::STREAM, options).expect("it opens");
    loop {
        put(&mut publisher, whole());
    }
}

/// Holds its first step and reads it again and again, until that fails: then it must be told that the step is gone.
fn hold(folder: &Path) -> ExitCode {
    let policy = QueuePolicy::EveryStep { max_wait: Duration::from_millis(1000) };
    let options = subscribing(folder).with_policy(policy).with_limit_steps(2);
    let mut subscriber = Subscriber::open(super::STREAM, options).expect("attached");
    let reader = next(&mut subscriber);
    let step = reader.step().0;
    let mut reads = 0;
    loop {
        match get(&reader) {
            Ok(found) if is_of_step(step, &found) => {}
            Ok(_) => return ExitCode::from(3),
            Err(error @ ReadError::Gone { .. }) => {
                println!("after {reads} reads: {error}");
                return ExitCode::SUCCESS;
            }
            Err(error) => {
                println!("not told that it is gone: {error}");
                return ExitCode::from(4);
            }
        }
        if reads == 0 {
            println!("reading");
        }
        reads += 1;
    }
}

pub(crate) fn two_publishers_to_three_subscribers() {
    let place = Place::new();
    let roles = ["publisher0", "publisher1", "whole", "half0", "half1"];
    let ranks = roles.map(|role| Rank::start(&place, role));
    ranks.into_iter().for_each(Rank::ends_well);
}

/// Memory for a few steps alone, so that what the dead one held must be had back.
pub(crate) fn a_killed_subscriber_holds_nobody_up() {
    let place = Place::new();
    let limit = 3 * ROWS * COLUMNS * 8;
    let options = publishing(place.path()).with_min_subscribers(2).with_limit_bytes(limit);
    let mut killed = Rank::start(&place, "reads one");
    let other = Rank::start(&place, "reads all");
    let mut publisher = Publisher::open(super::STREAM, options).expect("it opens");
    put(&mut publisher, whole());
    killed.says("reading");
    kill_process(killed.pid(), Signal::KILL).expect("ours");
    for _ in 1..MANY {
        put(&mut publisher, whole());
    }
    publisher.close().expect("closed");
    other.ends_well();
}

pub(crate) fn a_killed_publisher_is_told() {
    let place = Place::new();
    let publisher = Rank::start(&place, "publishes for ever");
    let mut subscriber = Subscriber::open(super::STREAM, subscribing(place.path())).expect("attached");
    for _ in 0..3 {
        let reader = next(&mut subscriber);
        assert!(is_of_step(reader.step().0, &get(&reader).expect("read")));
    }
    let held = next(&mut subscriber);
    kill_process(publisher.pid(), Signal::KILL).expect("ours");
    let ending = loop {
        match get(&held) {
            Ok(found) => assert!(is_of_step(held.step().0, &found)),
            Err(error) => break error,
        }
    };
    assert!(matches!(ending, ReadError::Lost { .. }), "{ending}");
    drop(held);
    let ended = loop {
        match subscriber.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(_) => {}
            NextStep::Ended(ended) => break ended,
            NextStep::NotYet => panic!("neither a step nor the end"),
        }
    };
    assert!(matches!(ended.reason, EndReason::Lost { .. }), "{ended:?}");
}

/// One rank is stopped in the middle of its READs and expelled. It goes on when others' bytes lie where its step was.
pub(crate) fn an_expelled_subscriber_is_told_that_its_step_is_gone() {
    let place = Place::new();
    let options = publishing(place.path()).with_min_subscribers(1);
    let mut rank = Rank::start(&place, "holds");
    let mut publisher = Publisher::open(super::STREAM, options).expect("it opens");
    put(&mut publisher, whole());
    rank.says("reading");
    kill_process(rank.pid(), Signal::STOP).expect("ours");
    waitpid(Some(rank.pid()), WaitOptions::UNTRACED).expect("a child").expect("it stopped");
    let before = publisher.pool_statistics();
    for _ in 0..6 {
        put(&mut publisher, whole());
    }
    let expelled = |event: &Event| matches!(event, Event::MemberLeft { reason: MemberEnd::Expelled, .. });
    assert!(publisher.events().iter().any(expelled), "it was expelled");
    let after = publisher.pool_statistics();
    assert!(after.recycled > before.recycled, "its memory was refilled: {before:?}, {after:?}");
    kill_process(rank.pid(), Signal::CONT).expect("ours");
    rank.ends_well();
    publisher.close().expect("closed");
}
