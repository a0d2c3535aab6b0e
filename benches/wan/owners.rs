//! One rank that takes an array of many owners, over a wire of 1 ms. All blocks in one get are next to one get for each
//! owner, one after the other.

use super::hosts::{Hosts, Wire};
use super::roles::{PATIENCE, address, token};
use super::{middle, report, stream};
use flexpath::{
    Cohort, NextStep, Publisher, PublisherOptions, Region, Rendezvous, Selection, StepReader, Subscriber,
    SubscriberOptions, Variable,
};
use std::path::Path;
use std::time::{Duration, Instant};

/// No packet is lost, however many come at once: a wait for one would hide what is measured.
const WIRE: Wire = Wire { delay_us: 1000, rate_mbit: 10_000, loss_per_million: 0, queue_packets: 20_000 };
const OWNERS: u32 = 64;
/// Elements of each block, and how much of the time apart one get may take. All are longer than what comes with the
/// announcement of a step. Of long ones the bytes take a time of their own.
const BLOCKS: [(u64, f64); 2] = [(640, 0.1), (1 << 13, 0.2)];
/// Two steps for each pair of times, and a pair while links are dialled.
const PAIRS: usize = 20;
const WARM_PAIRS: usize = 2;

/// The time of a get from all owners, next to as many gets.
pub(crate) fn measure(place: &Path) -> Result<(), String> {
    let round_trip_ms = WIRE.delay_us as f64 / 500.0;
    println!("a wire of {} Mb/s, {round_trip_ms} ms there and back, no packet lost", WIRE.rate_mbit);
    let hosts = Hosts::new(place, WIRE)?;
    for (len, most) in BLOCKS {
        let roles = ["publish-owners", "subscribe-owners"];
        let times = stream(&hosts, place, roles, &[len.to_string()])?;
        let every_other = |first: usize| times.iter().skip(2 * WARM_PAIRS + first).step_by(2).copied();
        let (together, apart) = (middle(every_other(0).collect()), middle(every_other(1).collect()));
        let name = format!("{OWNERS} owners, {} KiB each, one get", len * 8 / 1024);
        let target = (together <= most * apart, &*format!("ratio <= {most}"));
        report(&name, (together, apart), "ms", target);
    }
    hosts.told().iter().for_each(|line| println!("the wire: {line}"));
    Ok(())
}

fn len(words: &[String]) -> u64 {
    words[1].parse().expect("a length")
}

/// The part of the array that is that owner's.
fn part(owner: u32, len: u64) -> Region {
    Region::new([u64::from(owner) * len], [len]).expect("a region")
}

/// Role: all publisher ranks, each a thread.
pub(crate) fn publish(words: &[String]) {
    std::thread::scope(|scope| {
        for rank in 0..OWNERS {
            scope.spawn(move || publish_rank(words, rank));
        }
    });
}

fn publish_rank(words: &[String], rank: u32) {
    let options = PublisherOptions::default()
        .with_rendezvous(Rendezvous::at(&words[0]).expect("a directory"))
        .with_tcp(Some(address(0)))
        .with_token(token())
        .with_cohort(Cohort::of(rank, OWNERS).expect("a rank"))
        .with_min_subscribers(1);
    let mut publisher = Publisher::open("wan", options).expect("the stream opens");
    let len = len(words);
    let variable = Variable::global::<u64>("numbers", &[u64::from(OWNERS) * len]).expect("a variable");
    for step in 0..2 * PAIRS as u64 {
        let mut writer = publisher.begin_step().expect("begun");
        let numbers = vec![step + u64::from(rank); usize::try_from(len).expect("a length")];
        writer.put(&variable, &part(rank, len), numbers).expect("put");
        writer.end().expect("ended");
    }
    publisher.close().expect("closed");
}

/// Role: prints the transports. Then for each step the time in milliseconds: of one get, or of one for each owner.
pub(crate) fn subscribe(words: &[String]) {
    let options = SubscriberOptions::default()
        .with_rendezvous(Rendezvous::at(&words[0]).expect("a directory"))
        .with_tcp(Some(address(1)))
        .with_token(token());
    let mut subscriber = Subscriber::open("wan", options).expect("attached");
    let (len, mut times) = (len(words), Vec::new());
    while let NextStep::Step(step) = subscriber.next_step(PATIENCE).expect("a sound stream") {
        let number = step.step().0;
        let (took, numbers) = if number % 2 == 0 { together(&step, len) } else { apart(&step, len) };
        times.push(took);
        let expected = |at: usize| number + at as u64 / len;
        assert!(
            (0..numbers.len()).all(|at| numbers[at] == expected(at)),
            "step {number} is not what was put"
        );
    }
    assert_eq!(times.len(), 2 * PAIRS, "steps are missing");
    println!("{:?}", subscriber.transports());
    times.iter().for_each(|time| println!("{:.6}", 1000.0 * time.as_secs_f64()));
}

fn numbers(len: u64) -> Vec<u64> {
    vec![0; usize::try_from(u64::from(OWNERS) * len).expect("a length")]
}

fn together(step: &StepReader, len: u64) -> (Duration, Vec<u64>) {
    let (mut numbers, begin) = (numbers(len), Instant::now());
    step.get_into("numbers", Selection::All, &mut numbers).expect("the numbers");
    (begin.elapsed(), numbers)
}

fn apart(step: &StepReader, len: u64) -> (Duration, Vec<u64>) {
    let (mut numbers, begin) = (numbers(len), Instant::now());
    for (owner, numbers) in (0..).zip(numbers.chunks_exact_mut(usize::try_from(len).expect("a length"))) {
        step.get_into("numbers", part(owner, len), numbers).expect("a part");
    }
    (begin.elapsed(), numbers)
}
