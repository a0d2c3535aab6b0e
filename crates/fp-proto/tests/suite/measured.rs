//! Conditions for which something is measured: a publisher of one rank by hand.

use crate::conditions::{OTHER, READER, heard, subscribe};
use crate::middle_rank::{START, contact, effects};
use fp_proto::commands::{Begin, BegunStep};
use fp_proto::config::{CohortConfig, PublisherConfig, StartAt, SubscriptionSpec};
use fp_proto::message::{MeasurePart, Message};
use fp_proto::outcome::RefusalReason;
use fp_proto::publisher::PublisherMachine;
use fp_proto::time::Moment;
use fp_types::{
    Condition, ConditionRefusal, Contribution, Epoch, Found, Judgement, Measure, MeasureParts, Measured,
    MeasuredNumber, Rank, Unmeasured,
};
use std::sync::Arc;
use std::time::Duration;

/// A part is a number of one byte.
#[derive(Debug)]
struct Bytes;

impl MeasureParts for Bytes {
    fn knows(&self, _: &Measure) -> bool {
        true
    }

    fn limit_part_bytes(&self, _: &Measure) -> usize {
        600
    }

    fn merge(&self, _: &str, one: &[u8], other: &[u8]) -> Option<Vec<u8>> {
        Some(vec![one.first()? + other.first()?])
    }

    fn finish(&self, measure: &str, part: &[u8]) -> Found {
        let number = part.first().map(|number| MeasuredNumber::Unsigned((*number).into()));
        Ok(Measured { measure: measure.to_owned(), number, place: None })
    }
}

pub(crate) fn publisher(reserve_steps: u32) -> PublisherMachine {
    let mut config = PublisherConfig::new(CohortConfig::alone("stream", contact(0)), Epoch(99));
    (config.reserve_steps, config.measures) = (reserve_steps, Arc::new(Bytes));
    let mut machine = PublisherMachine::new(config, START);
    machine.handle_listing(START, Vec::new());
    effects(&mut machine);
    machine
}

pub(crate) fn when(condition: &str) -> SubscriptionSpec {
    let condition: Condition = condition.parse().expect(condition);
    SubscriptionSpec { when: Some(condition.encode()), limit_steps: 100, ..SubscriptionSpec::default() }
}

pub(crate) fn begin(machine: &mut PublisherMachine) -> BegunStep {
    let Ok(Begin::Started(begun)) = machine.begin_step(START) else { panic!("no step begins") };
    begun
}

/// A step in which each measure is that much, or is not measured.
pub(crate) fn publish(machine: &mut PublisherMachine, number: Option<u8>) {
    publish_at(machine, START, number);
}

fn publish_at(machine: &mut PublisherMachine, now: Moment, number: Option<u8>) {
    let begun = begin(machine);
    let part = |measure: &Arc<str>| MeasurePart {
        measure: measure.to_string(),
        part: number.into_iter().collect(),
        unmeasured: number.is_none().then(|| Unmeasured::new(Rank(0), "no time".to_owned())),
    };
    machine.measured(begun.step, begun.measures.iter().map(part).collect()).expect("the step is open");
    machine.end_step(now, begun.step, Contribution::default(), Vec::new(), 10).expect("it ends");
}

/// The steps of assignments, what was told of each, and how many were skipped before.
fn told(heard: &[Message]) -> Vec<(u64, Option<Judgement>)> {
    let step = |message: &Message| {
        if let Message::Assign(assignment) = message {
            return (assignment.step.0, assignment.skipped, None);
        }
        let Message::AssignJudged { assignment, judgement } = message else { panic!("{message:?}") };
        (assignment.step.0, assignment.skipped, Some(Judgement::clone(judgement)))
    };
    let all = heard.iter().map(step);
    all.map(|(step, skipped, judgement)| {
        assert_eq!(skipped, 0, "step {step}");
        (step, judgement)
    })
    .collect()
}

fn number(judgement: &Option<Judgement>, measure: &str) -> Option<f64> {
    judgement.as_ref()?.number(measure).map(MeasuredNumber::as_f64)
}

#[test]
fn steps_come_where_a_number_is_as_asked_and_with_the_number() {
    let mut machine = publisher(0);
    subscribe(&mut machine, READER, when("rises(max(T) > 5)"));
    [4, 6, 7, 3, 9].into_iter().for_each(|number| publish(&mut machine, Some(number)));
    let told = told(&heard(&mut machine, READER));
    let numbers: Vec<_> = told.iter().map(|(step, judgement)| (*step, number(judgement, "max(T)"))).collect();
    assert_eq!(numbers, [(1, Some(6.0)), (4, Some(9.0))]);
    assert_eq!(
        machine.queue_depth().into_iter().map(|(_, depth)| depth).sum::<usize>(),
        2,
        "no other is kept"
    );
}

/// What several ask for is measured once, and each is judged by itself.
#[test]
fn equal_measures_are_one() {
    let mut machine = publisher(0);
    subscribe(&mut machine, READER, when("max(T) > 5 and min(T) > 0"));
    subscribe(&mut machine, OTHER, when("max(T) > 7"));
    let measures = begin(&mut machine).measures;
    assert_eq!(measures.iter().map(|measure| &**measure).collect::<Vec<_>>(), ["max(T)", "min(T)"]);
    machine.abandon_step(START, fp_types::StepId(0)).expect("it is open");
    [6, 8].into_iter().for_each(|number| publish(&mut machine, Some(number)));
    let sent = effects(&mut machine);
    let to = |reader| {
        let of = sent.iter().filter(|effect| {
            matches!(effect, fp_proto::effect::Effect::Send { to, message: Message::AssignJudged { .. } } if *to == reader)
        });
        of.count()
    };
    assert_eq!((to(READER), to(OTHER)), (2, 1));
}

/// A newcomer is told the same time of a reserved step as whoever had it at once.
#[test]
fn the_time_that_is_told_is_that_of_the_decision() {
    let mut config = PublisherConfig::new(CohortConfig::alone("stream", contact(0)), Epoch(99));
    (config.reserve_steps, config.measures) = (1, Arc::new(Bytes));
    (config.clock_origin_micros, config.reserve_when) = (7_000_000, when("max(T) > 5").when);
    let mut machine = PublisherMachine::new(config, START);
    machine.handle_listing(START, Vec::new());
    subscribe(&mut machine, READER, when("max(T) > 5"));
    let decided = START.after(Duration::from_millis(2));
    machine.handle_timeout(decided);
    publish_at(&mut machine, decided, Some(6));
    let at_once = heard(&mut machine, READER);
    machine.handle_timeout(decided.after(Duration::from_millis(3)));
    let spec = SubscriptionSpec { start_at: StartAt::OldestReserved, ..when("max(T) > 5") };
    let late = subscribe(&mut machine, OTHER, spec);
    let expected = 7_002_000 + START.as_micros();
    for heard in [&at_once[..], &late[1..]] {
        let told: Vec<_> = told(heard)
            .into_iter()
            .map(|(step, judgement)| (step, judgement.map(|told| told.decided_at_micros)))
            .collect();
        assert_eq!(told, [(0, Some(expected))]);
    }
}

#[test]
fn what_was_not_measured_is_told_as_that() {
    let mut machine = publisher(0);
    subscribe(&mut machine, READER, when("max(T) > 5"));
    [Some(1), None, Some(6)].into_iter().for_each(|number| publish(&mut machine, number));
    let told = told(&heard(&mut machine, READER));
    let [(1, Some(unjudged)), (2, Some(judged))] = &told[..] else { panic!("{told:?}") };
    assert_eq!(unjudged.unjudged.as_ref().map(|why| why.reason.as_str()), Some("no time"));
    assert_eq!(judged.unjudged, None);
}

/// Nobody measured steps that were published before the condition was there: they are given, and it is said.
#[test]
fn what_is_older_than_the_condition_is_not_judged() {
    let mut machine = publisher(2);
    subscribe(&mut machine, OTHER, SubscriptionSpec { limit_steps: 50, ..SubscriptionSpec::default() });
    (0..4).for_each(|_| publish(&mut machine, Some(9)));
    effects(&mut machine);
    let spec = SubscriptionSpec { start_at: StartAt::OldestReserved, ..when("max(T) > 5") };
    let heard_at_once = subscribe(&mut machine, READER, spec);
    publish(&mut machine, Some(9));
    let told = [told(&heard_at_once[1..]), told(&heard(&mut machine, READER))].concat();
    let unjudged =
        |judgement: &Option<Judgement>| judgement.as_ref().is_some_and(|told| told.unjudged.is_some());
    let found: Vec<_> = told.iter().map(|(step, judgement)| (*step, unjudged(judgement))).collect();
    assert_eq!(found, [(2, true), (3, true), (4, false)]);
}

/// Ranks tell one another at most 64 KiB of measures for each step. Equal ones count once.
#[test]
fn more_than_ranks_can_tell_is_refused() {
    let mut machine = publisher(0);
    let many = |from: u32| {
        let measures: Vec<String> = (from..from + 52).map(|at| format!("max(v{at}) > 1")).collect();
        when(&measures.join(" or "))
    };
    let reply = |machine: &mut PublisherMachine, reader: u64, from| {
        subscribe(machine, fp_proto::effect::PeerId(reader), many(from)).remove(0)
    };
    for reader in 10..15 {
        assert!(matches!(reply(&mut machine, reader, 0), Message::Subscribed { .. }));
    }
    assert!(matches!(reply(&mut machine, 15, 100), Message::Subscribed { .. }));
    let Message::Refused { reason: RefusalReason::Condition(refusal) } = reply(&mut machine, 16, 200) else {
        panic!("it is taken");
    };
    assert!(matches!(refusal, ConditionRefusal::TooManyMeasures { limit_bytes: 65_536, .. }), "{refusal:?}");
}

#[test]
fn parts_that_are_too_long_or_out_of_order_are_refused() {
    let part = |measure: &str, len: usize| MeasurePart {
        measure: measure.to_owned(),
        part: vec![0; len],
        unmeasured: None,
    };
    let check = |parts: Vec<MeasurePart>| {
        let (step, report) = (fp_types::StepId(1), Box::default());
        Message::ReadyMeasured { step, again: None, report, parts }.check()
    };
    assert_eq!(check(vec![part("max(T)", 9), part("min(T)", 9)]), Ok(()));
    assert_eq!(check(vec![part("max(T)", 64 << 10)]), Err("ready.parts"));
    assert_eq!(check(vec![part("min(T)", 9), part("max(T)", 9)]), Err("ready.parts"));
    assert_eq!(check(vec![part("max(T)", 9), part("max(T)", 9)]), Err("ready.parts"));
}
