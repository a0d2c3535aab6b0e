//! Many watches of one publisher: each is told as if it were alone, and steps are kept for all of them together.

use crate::conditions::{OTHER, READER, subscribe};
use crate::measured::{begin, publish, publisher, when};
use crate::middle_rank::{START, effects};
use fp_proto::commands::{Begin, BegunStep};
use fp_proto::config::{QueuePolicy, SubscriptionSpec};
use fp_proto::effect::{Effect, PeerId};
use fp_proto::message::Message;
use fp_proto::publisher::PublisherMachine;
use fp_types::{Contribution, StepId, SubscriptionId};
use std::collections::BTreeMap;
use std::time::Duration;

/// What `max(T)` has to be, and whether a number is; of no number nobody knows.
type Wish = (String, Box<dyn Fn(u8) -> bool>);

fn wishes() -> Vec<Wish> {
    let mut all: Vec<Wish> = Vec::new();
    for at in 0..7u8 {
        all.push((format!("max(T) > {at}"), Box::new(move |number| number > at)));
        all.push((format!("max(T) >= {at}"), Box::new(move |number| number >= at)));
        all.push((format!("max(T) < {at}"), Box::new(move |number| number < at)));
        all.push((format!("max(T) <= {at}"), Box::new(move |number| number <= at)));
        all.push((format!("max(T) > {at}.5"), Box::new(move |number| number > at)));
        all.push((format!("not max(T) > {at}"), Box::new(move |number| number <= at)));
    }
    all
}

fn reader(at: usize) -> PeerId {
    PeerId(10 + at as u64)
}

/// Who was given which steps.
fn given(machine: &mut PublisherMachine) -> BTreeMap<PeerId, Vec<u64>> {
    let mut given: BTreeMap<PeerId, Vec<u64>> = BTreeMap::new();
    for effect in effects(machine) {
        let Effect::Send { to, message: Message::AssignJudged { assignment, .. } } = effect else { continue };
        assert_eq!(assignment.skipped, 0);
        given.entry(to).or_default().push(assignment.step.0);
    }
    given
}

#[test]
fn each_is_told_as_if_it_were_alone() {
    let (mut machine, wishes) = (publisher(0), wishes());
    let mut expected: BTreeMap<PeerId, Vec<u64>> = BTreeMap::new();
    let mut told: BTreeMap<PeerId, Vec<u64>> = BTreeMap::new();
    // One is there from each step on, so that some are new and some are not.
    for step in 0..2 * wishes.len() {
        if let Some((condition, _)) = wishes.get(step) {
            subscribe(&mut machine, reader(step), when(condition));
        }
        let number = (step % 5 > 0).then_some((step * step % 8) as u8);
        publish(&mut machine, number);
        for (at, (_, wants)) in wishes.iter().enumerate().take(step + 1) {
            if number.is_none_or(wants) {
                expected.entry(reader(at)).or_default().push(step as u64);
            }
        }
        // Half of them let go of what they have, and the others hold it.
        for (to, steps) in given(&mut machine) {
            for &step in steps.iter().filter(|_| to.0.is_multiple_of(2)) {
                let release = Message::Release { step: StepId(step), retire: false, given_back: false };
                machine.handle_message(START, to, release);
            }
            told.entry(to).or_default().extend(steps);
        }
    }
    assert_eq!(told, expected);
}

/// Two watches of a step in which the number is more than 5, who have had their first.
fn watched(limit_steps: u32) -> PublisherMachine {
    let mut machine = publisher(0);
    let policy = QueuePolicy::EveryStep { max_wait: Duration::ZERO };
    for reader in [READER, OTHER] {
        subscribe(&mut machine, reader, SubscriptionSpec { policy, limit_steps, ..when("max(T) > 5") });
    }
    publish(&mut machine, Some(1));
    assert_eq!(freed(&mut machine), [0]);
    machine
}

fn freed(machine: &mut PublisherMachine) -> Vec<u64> {
    let free = |effect| if let Effect::Free { step, .. } = effect { Some(step.0) } else { None };
    effects(machine).into_iter().filter_map(free).collect()
}

fn end(machine: &mut PublisherMachine, begun: &BegunStep) {
    machine.end_step(START, begun.step, Contribution::default(), Vec::new(), 10).expect("it ends");
}

const WATCHES: [SubscriptionId; 2] = [SubscriptionId(2), SubscriptionId(3)];

#[test]
fn a_step_is_kept_for_all_of_them_until_it_is_judged() {
    let mut machine = watched(2);
    let begun = begin(&mut machine);
    assert!(begun.kept.is_empty() && begun.unjudged.is_empty() && begun.is_kept());
    assert_eq!((&*begun.watches, begun.measures.len()), (&WATCHES[..], 1));
    assert!(machine.keeps(begun.step, "anything"));
    end(&mut machine, &begun);
    let held = |steps: &[u64]| WATCHES.map(|id| (id, steps.iter().copied().map(StepId).collect::<Vec<_>>()));
    assert_eq!(machine.unreleased().expect("it streams"), held(&[1]), "nobody knows yet");
    assert!(machine.begins_freely());
    let begun = begin(&mut machine);
    end(&mut machine, &begun);
    assert_eq!(machine.unreleased().expect("it streams"), held(&[1, 2]));
    assert!(!machine.begins_freely(), "of each two steps may be live");
    assert_eq!(freed(&mut machine), [1, 2], "no element was put");
    assert_eq!(machine.unreleased().expect("it streams"), []);
    assert!(machine.begins_freely());
}

#[test]
fn whoever_has_as_many_steps_as_it_may_is_waited_for() {
    let mut machine = watched(1);
    publish(&mut machine, Some(9));
    assert_eq!(given(&mut machine).len(), 2);
    let waits = |machine: &mut PublisherMachine| matches!(machine.begin_step(START), Ok(Begin::Wait { .. }));
    assert!(!machine.begins_freely() && waits(&mut machine));
    let release = Message::Release { step: StepId(1), retire: false, given_back: false };
    machine.handle_message(START, READER, release.clone());
    assert!(waits(&mut machine), "the other has it");
    machine.handle_message(START, OTHER, release);
    assert!(machine.begins_freely() && !waits(&mut machine));
}

#[test]
fn a_step_is_kept_no_longer_than_somebody_watches() {
    let mut machine = watched(4);
    let begun = begin(&mut machine);
    for (leaver, keeps) in [(READER, true), (OTHER, false)] {
        machine.handle_message(START, leaver, Message::Unsubscribe);
        assert_eq!(machine.keeps(begun.step, "anything"), keeps);
    }
    assert_eq!(freed(&mut machine), [], "it is open");
    end(&mut machine, &begun);
    assert_eq!(freed(&mut machine), [1]);
    assert!(!begin(&mut machine).is_kept());
}
