//! Workers in C that share the steps of a stream, and one that awaits a publisher that was killed.

use crate::support::{LIBRARY, TestProcess, place, start};
use crate::{ALONE, BOUND};
use fp_core::{Publisher, PublisherOptions, Rendezvous, Variable};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::PoisonError;
use std::time::Instant;

/// A process that is spoken to in lines.
struct Talker {
    process: TestProcess,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Talker {
    fn start(program: &Path, arguments: &[&str], place: &Path) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).env("FLEXPATH_RENDEZVOUS", place).stdin(Stdio::piped());
        let mut process = start(&mut command);
        let (input, output) = process.pipes();
        Self { process, input, lines: BufReader::new(output).lines() }
    }

    fn hear(&mut self) -> String {
        self.lines.next().expect("it says something").expect("a line")
    }

    fn expect(&mut self, line: &str) {
        assert_eq!(self.hear(), line);
    }

    fn say(&mut self, word: &str) {
        writeln!(self.input, "{word}").expect("it listens");
    }

    /// What it says until it ends, which must be well.
    fn rest(mut self) -> Vec<String> {
        let lines: Vec<String> = self.lines.by_ref().map_while(Result::ok).collect();
        let Self { process, .. } = self;
        process.printed();
        lines
    }
}

/// A publisher whose first step waits for so many subscriptions.
fn publisher(stream: &str, place: &Path, subscriptions: u32) -> Publisher {
    let rendezvous = Rendezvous::at(place).expect("a place");
    let options = PublisherOptions::default().with_rendezvous(rendezvous).with_min_subscribers(subscriptions);
    Publisher::open(stream, options).expect("opened")
}

fn publish(publisher: &mut Publisher, steps: usize) {
    let number = Variable::scalar::<u64>("number").expect("a name");
    for _ in 0..steps {
        let mut step = publisher.begin_step().expect("begun");
        step.put_scalar(&number, 7_u64).expect("put");
        step.end().expect("ended");
    }
}

/// Three workers that have joined, one after the other.
fn join(mode: &str, place: &Path) -> [Talker; 3] {
    let program = LIBRARY.compile("tests/failures/worker.c");
    std::array::from_fn(|_| {
        let mut worker = Talker::start(&program, &[mode], place);
        worker.expect("joined");
        worker
    })
}

/// Waits until so many steps are held by workers, or wait for them.
fn await_depth(publisher: &Publisher, steps: usize) {
    let deadline = Instant::now() + BOUND;
    while publisher.queue_depth().iter().map(|(_, depth)| depth).sum::<usize>() != steps {
        assert!(Instant::now() < deadline, "{:?} are not {steps} steps", publisher.queue_depth());
        std::thread::yield_now();
    }
}

/// All that these workers say when they do whatever comes, in order.
fn do_the_rest(workers: Vec<Talker>) -> Vec<String> {
    let mut said: Vec<String> = workers
        .into_iter()
        .flat_map(|mut worker| {
            worker.say("rest");
            worker.rest()
        })
        .collect();
    said.sort();
    said
}

#[test]
fn what_a_killed_worker_has_goes_to_another_though_the_stream_is_over() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = place();
    let mut publisher = publisher("shared", place.path(), 0);
    let [mut first, mut second, mut killed] = join("RoundRobin", place.path());
    publish(&mut publisher, 7);
    let closing = std::thread::spawn(move || publisher.close());
    first.expect("0");
    second.expect("1");
    killed.expect("2");
    first.say("done");
    first.expect("3");
    second.say("done");
    second.expect("4");
    killed.process.signal("-KILL");
    drop(killed);
    second.say("back");
    let reading = std::thread::spawn(move || do_the_rest(vec![second]));
    let mut said = do_the_rest(vec![first]);
    said.extend(reading.join().expect("no panic"));
    said.sort();
    assert_eq!(said, ["2 again", "4 again", "5", "6", "over", "over"]);
    closing.join().expect("no panic").expect("all of it was done");
}

#[test]
fn on_demand_the_step_goes_to_whoever_was_served_longest_ago() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = place();
    let mut publisher = publisher("shared", place.path(), 0);
    let [mut busy, mut earlier, mut later] = join("OnDemand", place.path());
    publish(&mut publisher, 3);
    busy.expect("0");
    earlier.expect("1");
    later.expect("2");
    later.say("done");
    await_depth(&publisher, 2);
    earlier.say("done");
    await_depth(&publisher, 1);
    publish(&mut publisher, 2);
    earlier.expect("3");
    later.expect("4");
    let closing = std::thread::spawn(move || publisher.close());
    let workers = [busy, earlier, later].map(|worker| std::thread::spawn(|| do_the_rest(vec![worker])));
    for worker in workers {
        assert_eq!(worker.join().expect("no panic"), ["over"]);
    }
    closing.join().expect("no panic").expect("all of it was done");
}

#[test]
fn a_subscriber_in_c_awaits_the_publisher_that_was_killed() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (place, dying) = (place(), LIBRARY.compile("tests/failures/dying.c"));
    let first = Talker::start(&dying, &["0", "kill"], place.path());
    let mut reader = Talker::start(&LIBRARY.compile("tests/failures/awaiting.c"), &[], place.path());
    reader.expect("0");
    assert!(!first.process.output().status.success(), "it was killed");
    let mut second = publisher("dying", place.path(), 1);
    publish(&mut second, 3);
    let closing = std::thread::spawn(move || second.close());
    let said = reader.rest();
    let (old, new) = said.split_at(said.len() - 4);
    assert!(
        ["1", "2", "3", "4"].starts_with(&old.iter().map(String::as_str).collect::<Vec<_>>()),
        "{said:?}"
    );
    assert_eq!(new, ["0", "1", "2", "over"]);
    closing.join().expect("no panic").expect("closed");
}
