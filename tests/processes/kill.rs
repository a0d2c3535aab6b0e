//! `kill -9`, and silence, of any rank at any point. The calls of the others return, what can go on goes on, and
//! nothing is left behind.

use crate::audit::{Belongings, expect_as_before, settled_belongings};
use crate::cast::{
    Actor, PATIENCE, Stage, heed, number, publisher_options, rendezvous, setting, subscriber_options, tell,
};
use crate::grid::Dice;
use flexpath::{
    BeginError, NextStep, Publisher, PutError, ReadError, Region, Selection, StepReader, Subscriber,
    SubscriberOptions, Variable,
};
use std::time::{Duration, Instant};

const SILENCE: Duration = Duration::from_millis(1500);
/// What a loaded machine may take on top of it.
const SLACK: Duration = Duration::from_secs(4);
/// Elements of one rank's block.
const LEN: u64 = 20_000;
const STEPS: u64 = 300;
/// Here the publisher waits for the test's word, so that it is still there when somebody is killed.
const PAUSE: u64 = 240;

fn value(step: u64, index: u64) -> u64 {
    (step << 32) | index
}

/// What the process still has after a handle was opened and closed: the library's own thread stays.
fn before() -> Belongings {
    let options = flexpath::PublisherOptions::default().with_rendezvous(rendezvous());
    let warm = Publisher::open(&format!("warm-{}", std::process::id()), options).expect("opened");
    warm.close().expect("closed");
    settled_belongings()
}

/// A publisher rank.
pub(crate) fn publish() {
    let before = before();
    let (rank, size) = (number("rank"), number("size"));
    let options =
        publisher_options().with_silence(SILENCE).with_min_subscribers(number("subscribers") as u32);
    let mut publisher = Publisher::open("killed", options).expect("the stream opens");
    let array = Variable::global::<u64>("array", &[LEN * size]).expect("a shape");
    let region = Region::new([rank * LEN], [LEN]).expect("inside");
    for step in 0..STEPS {
        if step == PAUSE && rank == 0 {
            tell("paused");
            assert_eq!(heed(), "go on");
        }
        let values = (rank * LEN..(rank + 1) * LEN).map(|index| value(step, index)).collect();
        if let Some(error) = publish_step(&mut publisher, &array, &region, values) {
            tell(format!("lost {error}"));
            break;
        }
    }
    match publisher.close() {
        Ok(()) => tell("closed"),
        Err(error) => tell(format!("closed {error}")),
    }
    expect_as_before(&before);
    tell("as before");
}

/// The error of a lost rank, if that is what happened.
fn publish_step(
    publisher: &mut Publisher,
    array: &Variable,
    region: &Region,
    values: Vec<u64>,
) -> Option<String> {
    let mut writer = match publisher.begin_step() {
        Ok(writer) => writer,
        Err(error @ BeginError::Lost { .. }) => return Some(error.to_string()),
        Err(error) => panic!("{error}"),
    };
    writer.put(array, region, values).expect("put");
    match writer.end() {
        Ok(()) => None,
        Err(error @ PutError::Lost { .. }) => Some(error.to_string()),
        Err(error) => panic!("{error}"),
    }
}

fn options() -> SubscriberOptions {
    let options = subscriber_options().with_silence(SILENCE);
    match setting("standing") {
        Some(_) => options.with_selection("array", Selection::All),
        None => options,
    }
}

/// A subscriber rank: reads every step to the end.
pub(crate) fn subscribe() {
    let before = before();
    let mut subscriber = Subscriber::open("killed", options()).expect("attached");
    let mut next = 0;
    let ending = loop {
        match subscriber.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(step) => {
                assert_eq!(step.step().0, next, "every step, in order");
                next += 1;
                match read(&step) {
                    Ok(()) => tell(format!("step {}", step.step())),
                    Err(error) => tell(format!("unread {error}")),
                }
            }
            NextStep::NotYet => panic!("nothing after {next} steps"),
            NextStep::Ended(ending) => break ending,
        }
    };
    tell(format!("ended {}", ending.reason));
    tell(format!("steps {next}"));
    subscriber.close().expect("closed");
    expect_as_before(&before);
    tell("as before");
}

/// Reads all of a step; what a lost owner had may be gone.
fn read(step: &StepReader) -> Result<(), ReadError> {
    let half: Vec<u64> = {
        let region = Region::new([LEN / 2], [LEN / 2]).expect("inside");
        step.get("array", Selection::Region(region))?
    };
    assert!(half.into_iter().eq((LEN / 2..LEN).map(|index| value(step.step().0, index))));
    let all: Vec<u64> = match step.get("array", &Selection::All) {
        Err(error @ ReadError::Lost { .. }) => return Err(error),
        other => other.expect("whole"),
    };
    assert!(all.iter().copied().eq((0..all.len() as u64).map(|index| value(step.step().0, index))));
    Ok(())
}

/// Two publishers; a cohort of two subscribers over shared memory, and a lone one over tcp.
struct Cast {
    stage: Stage,
    publishers: Vec<Actor>,
    cohort: Vec<Actor>,
    lone: Actor,
}

impl Cast {
    fn new(standing: bool) -> Self {
        let stage = Stage::new();
        let mut of_cohort = vec![("name", "cohort".to_owned())];
        let mut of_lone = vec![("name", "lone".to_owned()), ("transports", "tcp".to_owned())];
        if standing {
            of_cohort.push(("standing", "yes".to_owned()));
            of_lone.push(("standing", "yes".to_owned()));
        }
        let cohort = stage.cohort("killed-subscriber", 2, &of_cohort);
        let lone = stage.start("killed-subscriber", &of_lone);
        let publishers = stage.cohort("killed-publisher", 2, &[("subscribers", "2".to_owned())]);
        Self { stage, publishers, cohort, lone }
    }

    /// Waits until a rank of the cohort has read a step that the seed draws.
    fn run_to_a_point(&self, seed: u64) {
        let step = 1 + Dice::new(seed).below(PAUSE - 40);
        self.cohort[(seed % 2) as usize].hear(&format!("step {step}"));
    }

    /// The stream is over for everybody but the publisher rank `lost`.
    fn expect_the_end(&mut self, lost: usize, since: Instant) {
        let survivor = &self.publishers[1 - lost];
        let error = survivor.hear("lost ");
        assert!(error.contains(&format!("rank {lost} ")), "{error}");
        for reader in self.cohort.iter().chain([&self.lone]) {
            let ending = reader.hear("ended ");
            assert!(ending.contains(&format!("publisher rank {lost} is lost")), "{ending}");
        }
        assert!(since.elapsed() < SILENCE + SLACK, "noticed after {:?}", since.elapsed());
        for actor in self.cohort.iter().chain([&self.lone, survivor]) {
            actor.hear("as before");
        }
    }

    fn entries_of_stream(&self) -> usize {
        self.stage.entries().iter().filter(|name| name.starts_with("killed.")).count()
    }
}

fn kill_publisher(lost: usize, seed: u64) {
    let mut cast = Cast::new(seed % 2 == 0);
    cast.run_to_a_point(seed);
    cast.publishers[lost].kill();
    let since = Instant::now();
    cast.expect_the_end(lost, since);
    // A lead that was killed cannot withdraw its entry: it is the one thing that stays, and it is passed over.
    assert_eq!(cast.entries_of_stream(), usize::from(lost == 0));
}

fn kill_subscriber(lost: usize, seed: u64) {
    let mut cast = Cast::new(seed % 2 == 0);
    cast.run_to_a_point(seed);
    cast.cohort[lost].kill();
    let since = Instant::now();
    let ending = cast.cohort[1 - lost].hear("ended ");
    assert!(ending.contains(&format!("rank {lost} of the own cohort is lost")), "{ending}");
    assert!(since.elapsed() < SILENCE + SLACK, "noticed after {:?}", since.elapsed());
    cast.cohort[1 - lost].hear("as before");
    cast.publishers[0].hear("paused");
    cast.publishers[0].say("go on");
    assert!(cast.lone.hear("ended ").contains("closed the stream"));
    assert_eq!(cast.lone.hear("steps "), STEPS.to_string(), "the other subscriber gets every step");
    for actor in cast.publishers.iter().chain([&cast.lone]) {
        actor.hear("as before");
    }
    assert_eq!(cast.entries_of_stream(), 0);
}

#[test]
fn a_killed_publisher_lead_ends_the_stream_for_all() {
    (0..4).for_each(|seed| kill_publisher(0, seed));
}

#[test]
fn a_killed_publisher_rank_ends_the_stream_for_all() {
    (10..14).for_each(|seed| kill_publisher(1, seed));
}

#[test]
fn a_killed_subscriber_lead_ends_its_cohort_alone() {
    (20..24).for_each(|seed| kill_subscriber(0, seed));
}

#[test]
fn a_killed_subscriber_rank_ends_its_cohort_alone() {
    (30..34).for_each(|seed| kill_subscriber(1, seed));
}

/// A rank that is only silent is noticed after `silence`.
#[test]
fn a_silent_publisher_rank_ends_the_stream_for_all() {
    for lost in 0..2 {
        let mut cast = Cast::new(true);
        cast.run_to_a_point(40 + lost as u64);
        cast.publishers[lost].stop();
        cast.expect_the_end(lost, Instant::now());
    }
}

#[test]
fn a_silent_subscriber_rank_ends_its_cohort_alone() {
    for lost in 0..2 {
        let mut cast = Cast::new(false);
        cast.run_to_a_point(50 + lost as u64);
        cast.cohort[lost].stop();
        let since = Instant::now();
        let ending = cast.cohort[1 - lost].hear("ended ");
        assert!(ending.contains(&format!("rank {lost} of the own cohort is lost")), "{ending}");
        assert!(since.elapsed() < SILENCE + SLACK, "noticed after {:?}", since.elapsed());
        cast.publishers[0].hear("paused");
        cast.publishers[0].say("go on");
        assert_eq!(cast.lone.hear("steps "), STEPS.to_string());
        // It wakes up to find its cohort gone.
        cast.cohort[lost].resume();
        cast.cohort[lost].hear("ended ");
        cast.cohort[lost].hear("as before");
    }
}
