//! A subscriber that is stopped while it is given up learns why when it wakes, however late that is.

use crate::cast::{
    Actor, PATIENCE, Stage, heed, number, publisher_options, setting, subscriber_options, tell,
};
use flexpath::{Event, MemberEnd, NextStep, Publisher, QueuePolicy, Region, Subscriber, Variable};
use std::time::{Duration, Instant};

const LEN: u64 = 20_000;
const SILENCE: Duration = Duration::from_millis(1500);

fn put_step(publisher: &mut Publisher) {
    let array = Variable::global::<u64>("array", &[LEN]).expect("a shape");
    let mut writer = publisher.begin_step().expect("a step");
    writer.put(&array, &Region::new([0], [LEN]).expect("inside"), (0..LEN).collect()).expect("put");
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
    put_step(&mut publisher);
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
    assert!(matches!(first, NextStep::Step(_)), "{first:?}");
    if setting("holds").is_none() {
        drop(first);
    }
    tell("ready");
    loop {
        match subscriber.next_step(PATIENCE).expect("a step or the end") {
            NextStep::Step(_) => {}
            NextStep::NotYet => panic!("neither a step nor the end"),
            NextStep::Ended(ending) => break tell(format!("ended {}", ending.reason)),
        }
    }
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
