//! Conditions: a publisher of one rank by hand, and subscribers that are about some of its steps.

use crate::middle_rank::{START, contact, effects};
use fp_proto::commands::{Begin, BeginWait};
use fp_proto::config::{CohortConfig, PublisherConfig, QueuePolicy, StartAt, SubscriptionSpec};
use fp_proto::effect::{Effect, PeerId};
use fp_proto::message::Message;
use fp_proto::outcome::RefusalReason;
use fp_proto::publisher::PublisherMachine;
use fp_types::{
    Condition, ConditionRefusal, Contribution, Dtype, Epoch, LIMIT_CONDITION_BYTES, StepId, VariableDef,
    VariablePut,
};
use std::time::Duration;

pub(crate) const READER: PeerId = PeerId(3);
pub(crate) const OTHER: PeerId = PeerId(4);

fn has(variable: &str) -> Option<Vec<u8>> {
    Some(Condition::Has { variable: variable.to_owned() }.encode())
}

fn particles() -> SubscriptionSpec {
    SubscriptionSpec { when: has("particles"), ..SubscriptionSpec::default() }
}

pub(crate) fn publisher(reserve_steps: u32) -> PublisherMachine {
    let mut config = PublisherConfig::new(CohortConfig::alone("stream", contact(0)), Epoch(99));
    config.reserve_steps = reserve_steps;
    let mut machine = PublisherMachine::new(config, START);
    machine.handle_listing(START, Vec::new());
    effects(&mut machine);
    machine
}

/// What a reader that asks for this is told.
pub(crate) fn subscribe(
    machine: &mut PublisherMachine,
    reader: PeerId,
    spec: SubscriptionSpec,
) -> Vec<Message> {
    machine.handle_accepted(START, reader);
    let label = "viewer".to_owned();
    let ask = Message::Subscribe { spec: spec.into(), label, cohort_size: 1, credit: 100, resume: None };
    machine.handle_message(START, reader, ask);
    heard(machine, reader)
}

/// Everything that is sent to a reader.
pub(crate) fn heard(machine: &mut PublisherMachine, reader: PeerId) -> Vec<Message> {
    let sent = |effect| {
        let Effect::Send { to, message } = effect else { return None };
        (to == reader).then_some(message)
    };
    effects(machine).into_iter().filter_map(sent).collect()
}

fn put(variable: &str) -> VariablePut {
    let def = VariableDef::local_array(variable, Dtype::F64, 1).into();
    VariablePut { def, shape: None, blocks: Vec::new(), bytes: 0 }
}

/// A step with the field, and with particles if they are there.
pub(crate) fn publish(machine: &mut PublisherMachine, with_particles: bool) {
    let Ok(Begin::Started(begun)) = machine.begin_step(START) else { panic!("no step begins") };
    let variables = [put("field")].into_iter().chain(with_particles.then(|| put("particles")));
    let contribution = Contribution { variables: variables.collect() };
    machine.end_step(START, begun.step, contribution, Vec::new(), 10).expect("it ends");
}

/// The steps of assignments with the numbers of those that were skipped; nothing else was sent.
fn steps(heard: &[Message]) -> Vec<(u64, u64)> {
    let step = |message: &Message| {
        let Message::AssignJudged { assignment, judgement } = message else { panic!("{message:?}") };
        assert!(judgement.unjudged.is_none() && judgement.measured.is_empty(), "{judgement:?}");
        (assignment.step.0, assignment.skipped)
    };
    heard.iter().map(step).collect()
}

#[test]
fn nothing_is_said_of_steps_that_a_subscription_is_not_about() {
    let mut machine = publisher(0);
    subscribe(&mut machine, READER, particles());
    for step in 0..7 {
        publish(&mut machine, step % 3 == 0);
        let told = steps(&heard(&mut machine, READER));
        let expected = if step % 3 == 0 { vec![(step, 0)] } else { Vec::new() };
        assert_eq!(told, expected, "step {step}");
    }
    assert_eq!(machine.queue_depth().into_iter().map(|(_, depth)| depth).sum::<usize>(), 3, "0, 3 and 6");
}

/// Neither a bound of one step nor a wait of nothing is hurt by steps of which the subscriber never hears.
#[test]
fn steps_that_are_not_its_take_no_place_once_they_are_judged() {
    let mut machine = publisher(0);
    let policy = QueuePolicy::EveryStep { max_wait: Duration::ZERO };
    subscribe(&mut machine, READER, SubscriptionSpec { policy, limit_steps: 1, ..particles() });
    (0..5).for_each(|_| publish(&mut machine, false));
    publish(&mut machine, true);
    assert_eq!(steps(&heard(&mut machine, READER)), [(5, 0)]);
    let Ok(Begin::Wait { reason: BeginWait::Subscription { .. }, .. }) = machine.begin_step(START) else {
        panic!("it has room for one step");
    };
}

#[test]
fn whether_a_step_begins_at_once_is_known() {
    let mut machine = publisher(0);
    assert!(machine.begins_freely());
    subscribe(&mut machine, READER, SubscriptionSpec { limit_steps: 2, ..SubscriptionSpec::default() });
    for is_free in [true, false] {
        publish(&mut machine, false);
        assert_eq!(machine.begins_freely(), is_free);
    }
    machine.close(START);
    assert!(!machine.begins_freely());
}

#[test]
fn each_kth_is_counted_among_all_steps() {
    let mut machine = publisher(0);
    let policy = QueuePolicy::EveryKth { every: 2, max_wait: Duration::ZERO };
    subscribe(&mut machine, READER, SubscriptionSpec { policy, limit_steps: 9, ..particles() });
    (0..13).for_each(|step| publish(&mut machine, step % 3 == 0));
    assert_eq!(steps(&heard(&mut machine, READER)), [(0, 0), (6, 0), (12, 0)]);
}

#[test]
fn the_reserve_gives_what_the_newcomer_is_about() {
    let mut machine = publisher(6);
    subscribe(&mut machine, OTHER, SubscriptionSpec { limit_steps: 50, ..SubscriptionSpec::default() });
    (0..9).for_each(|step| publish(&mut machine, step % 3 == 0));
    effects(&mut machine);
    let spec = SubscriptionSpec { start_at: StartAt::OldestReserved, ..particles() };
    let told = subscribe(&mut machine, READER, spec);
    let [Message::Subscribed { first: StepId(3), .. }, given @ ..] = &told[..] else { panic!("{told:?}") };
    assert_eq!(steps(given), [(3, 0), (6, 0)]);
    (9..13).for_each(|step| publish(&mut machine, step % 3 == 0));
    assert_eq!(steps(&heard(&mut machine, READER)), [(9, 0), (12, 0)]);
}

/// What is gone cannot be judged: who starts at a number is told how many steps there were.
#[test]
fn steps_that_are_gone_count_as_skipped_whatever_they_had() {
    let mut machine = publisher(4);
    subscribe(&mut machine, OTHER, SubscriptionSpec { limit_steps: 50, ..SubscriptionSpec::default() });
    (0..9).for_each(|step| publish(&mut machine, step % 3 == 0));
    effects(&mut machine);
    let spec = SubscriptionSpec { start_at: StartAt::After(StepId(1)), ..particles() };
    let told = subscribe(&mut machine, READER, spec);
    assert_eq!(steps(&told[1..]), [(6, 3)], "2, 3 and 4 are gone, and 5 is none of its");
    publish(&mut machine, true);
    assert_eq!(steps(&heard(&mut machine, READER)), [(9, 0)]);
}

#[test]
fn what_cannot_be_judged_is_refused_by_name() {
    let refused = |when: &[u8]| {
        let spec = SubscriptionSpec { when: Some(when.to_vec()), ..SubscriptionSpec::default() };
        let told = subscribe(&mut publisher(0), READER, spec);
        let [Message::Refused { reason: RefusalReason::Condition(refusal) }] = &told[..] else {
            panic!("{told:?}");
        };
        refusal.to_string()
    };
    let unknown = refused(b"\x01\x05above\x01\x00T");
    assert!(
        unknown.starts_with("the publisher cannot judge by above(...): it knows has(variable), "),
        "{unknown}"
    );
    assert_eq!(
        refused(b"\x02"),
        "the publisher cannot judge by a condition of version 2: it knows version 1"
    );
    assert_eq!(refused(b""), "the publisher cannot read the bytes of the condition");
    let long =
        SubscriptionSpec { when: Some(vec![1; LIMIT_CONDITION_BYTES + 1]), ..SubscriptionSpec::default() };
    let message = Message::Reselect { spec: long.into() };
    assert_eq!(message.check(), Err("spec.when"));
    let endless = ConditionRefusal::UnknownWord { word: "a".repeat(33), known: Vec::new() };
    let message = Message::Refused { reason: RefusalReason::Condition(endless) };
    assert_eq!(message.check(), Err("refused.condition"));
}

/// Another condition is agreed as another selection is, and steps are judged by it from its first step on.
#[test]
fn another_condition_holds_from_its_first_step_on() {
    let mut machine = publisher(0);
    subscribe(&mut machine, READER, particles());
    publish(&mut machine, true);
    assert_eq!(steps(&heard(&mut machine, READER)), [(0, 0)]);
    let other = SubscriptionSpec { when: Some(every(3)), ..particles() };
    machine.handle_message(START, READER, Message::Reselect { spec: other.clone().into() });
    let first = StepId(1);
    assert_eq!(heard(&mut machine, READER), [Message::Reselected { first, spec: other.clone().into() }]);
    for _ in 1..7 {
        publish(&mut machine, false);
    }
    assert_eq!(steps(&heard(&mut machine, READER)), [(3, 0), (6, 0)]);
    let unknown = SubscriptionSpec { when: Some(b"\x01\x05above\x01\x00T".to_vec()), ..particles() };
    machine.handle_message(START, READER, Message::Reselect { spec: unknown.into() });
    let told = heard(&mut machine, READER);
    assert!(
        matches!(&told[..], [Message::Refused { reason: RefusalReason::Condition(_) }]),
        "the subscription goes on: {told:?}"
    );
    for _ in 7..10 {
        publish(&mut machine, false);
    }
    assert_eq!(steps(&heard(&mut machine, READER)), [(9, 0)]);
}

fn every(steps: u32) -> Vec<u8> {
    format!("every({steps})").parse::<Condition>().expect("a condition").encode()
}

/// Who has a condition goes on with one, and who has none without: other steps would count as missed.
#[test]
fn a_subscription_with_a_condition_keeps_having_one() {
    let mut machine = publisher(0);
    subscribe(&mut machine, READER, particles());
    machine.handle_message(START, READER, Message::Reselect { spec: SubscriptionSpec::default().into() });
    let told = effects(&mut machine);
    assert!(told.iter().any(|effect| matches!(effect, Effect::Disconnect { peer: READER, .. })), "{told:?}");
}
