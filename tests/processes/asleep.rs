//! A subscriber that is stopped while it is given up learns why when it wakes, however late that is. Memory that it
//! looks at has kept its step until then.

use crate::cast::{
    Actor, PATIENCE, Stage, heed, number, publisher_options, setting, subscriber_options, tell,
};
use flexpath::{
    Event, MemberEnd, NextStep, Publisher, QueuePolicy, Region, Selection, StepReader, Subscriber, Variable,
};
use std::time::{Duration, Instant};

const LEN: u64 = 20_000;
const SILENCE: Duration = Duration::from_millis(1500);

/// How many steps are put after the sleeper was given up: memory that is free is written again many times.
const STEPS_AFTER: usize = 50;

fn values(step: u64) -> Vec<u64> {
    (0..LEN).map(|index| (step << 32) | index).collect()
}

fn put_step(publisher: &mut Publisher) {
    let array = Variable::global::<u64>("array", &[LEN]).expect("a shape");
    let mut writer = publisher.begin_step().expect("a step");
    let step = writer.step().0;
    writer.put(&array, &Region::new([0], [LEN]).expect("inside"), values(step)).expect("put");
    writer.end().expect("ended");
}

/// Publishes until its subscriber is gone, and then until the parent has heard enough.
pub(crate) fn publish() {
    let options = publisher_options().with_min_subscribers(1).with_silence(silence());
    let mut publisher = Publisher::open("asleep", options).expect("the stream opens");
    put_step(&mut publisher);
    assert_eq!(heed(), "go on");
    let left =
        |event: &Event| if let Event::MemberLeft { reason, .. } = event { Some(*reason) } else { None };
    let deadline = Instant::now() + PATIENCE;
    let reason = loop {
        put_step(&mut publisher);
        if let Some(reason) = publisher.events().iter().find_map(left) {
            break reason;
        }
        assert!(Instant::now() < deadline, "nobody is given up");
    };
    tell(if reason == MemberEnd::Expelled { "gone expelled".to_owned() } else { format!("gone {reason}") });
    (0..STEPS_AFTER).for_each(|_| put_step(&mut publisher));
    tell("went on");
    assert_eq!(heed(), "close");
    publisher.close().expect("closed");
}

fn silence() -> Duration {
    Duration::from_millis(number("silence_ms"))
}

/// Takes a step, and then waits for the end.
pub(crate) fn subscribe() {
    let options = subscriber_options()
        .with_silence(silence())
        .with_policy(QueuePolicy::EveryStep { max_wait: Duration::from_millis(number("max_wait_ms")) });
    let mut subscriber = Subscriber::open("asleep", options).expect("attached");
    let first = subscriber.next_step(PATIENCE).expect("a step");
    let NextStep::Step(first) = first else { panic!("no step: {first:?}") };
    match setting("holds") {
        Some(_) => look_before_and_after(first),
        None => {
            drop(first);
            tell("ready");
        }
    }
    loop {
        match subscriber.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(_) => {}
            NextStep::NotYet => panic!("neither a step nor the end"),
            NextStep::Ended(ending) => break tell(format!("ended {}", ending.reason)),
        }
    }
}

/// Looks at the elements of a step, is stopped, and looks at them again. What is fetched then is right, or an error.
fn look_before_and_after(step: StepReader) {
    let number = step.step().0;
    let view = step.view::<u64>("array", Selection::All).expect("a view");
    assert!(*view == values(number)[..], "before it sleeps");
    tell("ready");
    assert_eq!(heed(), "look");
    let wrong = view.iter().zip(values(number)).position(|(found, expected)| *found != expected);
    assert_eq!(wrong, None, "the first element of step {number} that is another now");
    let fetched = step.get::<u64>("array", Selection::All);
    assert!(fetched.is_err() || fetched.is_ok_and(|fetched| fetched == values(number)));
    tell("the same");
}

/// What the publisher says of the sleeper, and the sleeper of itself when it wakes.
fn sleep_through(transports: &str, silence: Duration, max_wait_ms: u64) -> (String, String) {
    let stage = Stage::new();
    let settings = [
        ("transports", transports.to_owned()),
        ("silence_ms", silence.as_millis().to_string()),
        ("max_wait_ms", max_wait_ms.to_string()),
    ];
    let sleeper = stage.start("asleep-subscriber", &settings);
    let mut publisher = stage.start("asleep-publisher", &settings);
    sleeper.hear("ready");
    sleeper.stop();
    publisher.say("go on");
    let gone = publisher.hear("gone ");
    let told = wake(&sleeper);
    publisher.say("close");
    publisher.finish();
    (gone, told)
}

/// Over tcp the elements are the sleeper's own; over shared memory they are the publisher's.
#[test]
fn what_a_sleeper_looks_at_stays_as_it_was_after_it_was_given_up() {
    for transports in ["tcp", "shm"] {
        let stage = Stage::new();
        let settings = [
            ("transports", transports.to_owned()),
            ("silence_ms", PATIENCE.as_millis().to_string()),
            ("max_wait_ms", 300.to_string()),
            ("holds", "yes".to_owned()),
        ];
        let mut sleeper = stage.start("asleep-subscriber", &settings);
        let mut publisher = stage.start("asleep-publisher", &settings);
        sleeper.hear("ready");
        sleeper.stop();
        publisher.say("go on");
        assert_eq!(publisher.hear("gone "), "expelled", "{transports}");
        publisher.hear("went on");
        sleeper.say("look");
        sleeper.resume();
        sleeper.hear("the same");
        sleeper.hear("ended ");
        publisher.say("close");
        publisher.finish();
        sleeper.finish();
    }
}

fn wake(sleeper: &Actor) -> String {
    sleeper.resume();
    sleeper.hear("ended ")
}

#[test]
fn who_was_expelled_asleep_learns_so_when_it_wakes() {
    for transports in ["tcp", "shm"] {
        let (gone, told) = sleep_through(transports, PATIENCE, 300);
        assert_eq!(gone, "expelled", "{transports}");
        assert!(told.starts_with("detached: publisher rank 0 waited "), "{transports}: {told}");
    }
}

#[test]
fn who_was_given_up_as_silent_learns_so_when_it_wakes() {
    for transports in ["tcp", "shm"] {
        let (gone, told) = sleep_through(transports, SILENCE, 60_000);
        assert!(gone.contains("nothing was heard of it for 1500 ms"), "{transports}: {gone}");
        let expected = "detached: publisher rank 0 heard nothing of this subscriber for 1500 ms";
        assert!(told.starts_with(expected), "{transports}: {told}");
    }
}
