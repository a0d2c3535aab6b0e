//! Requests to the simulation: a publisher of one rank by hand.

use crate::conditions::{READER, heard, subscribe};
use crate::middle_rank::{CHILDREN, PARENT, START, contact, effects, middle_rank};
use fp_proto::commands::{Begin, BeginWait, BegunStep, CommandError};
use fp_proto::config::{CohortConfig, PublisherConfig, SubscriptionSpec};
use fp_proto::effect::Effect;
use fp_proto::message::{ChangeId, ChangeKind, Decision, Message};
use fp_proto::parameter::{Parameter, ParameterKind};
use fp_proto::publisher::PublisherMachine;
use fp_proto::steering::{SteeringEffect, SteeringOutcome, SteeringRefusal, SteeringRequest, Urgency};
use fp_types::{AttributeValue, Contribution, Epoch, Real, StepId, SubscriptionId};
use std::time::Duration;

fn parameters() -> Vec<Parameter> {
    let conductivity = ParameterKind::Real { least: Real(0.0), greatest: Real(10.0) };
    let pause = ParameterKind::Pause { longest: Duration::from_secs(10) };
    [("conductivity", conductivity), ("pause", pause), ("resume", ParameterKind::Resume)]
        .map(|(name, kind)| Parameter { name: name.to_owned(), kind, text: format!("the {name}") })
        .into()
}

fn publisher() -> PublisherMachine {
    publisher_with(|config| config.limit_requests_per_second = 40)
}

fn publisher_with(set: impl FnOnce(&mut PublisherConfig)) -> PublisherMachine {
    let mut config = PublisherConfig::new(CohortConfig::alone("stream", contact(0)), Epoch(99));
    config.parameters = parameters();
    set(&mut config);
    let mut machine = PublisherMachine::new(config, START);
    machine.handle_listing(START, Vec::new());
    effects(&mut machine);
    let spec = SubscriptionSpec { limit_steps: 100, ..SubscriptionSpec::default() };
    subscribe(&mut machine, READER, spec);
    machine
}

/// What the reader is told of requests at once.
fn steer(machine: &mut PublisherMachine, id: u64, name: &str, value: f64) -> Vec<Message> {
    ask(machine, id, name, AttributeValue::Real(Real(value)), Urgency::Ahead)
}

fn ask(
    machine: &mut PublisherMachine,
    id: u64,
    name: &str,
    value: AttributeValue,
    urgency: Urgency,
) -> Vec<Message> {
    machine.handle_message(START, READER, Message::Steer { id, name: name.to_owned(), value, urgency });
    steered(machine)
}

fn steered(machine: &mut PublisherMachine) -> Vec<Message> {
    let is_answer = |message: &Message| matches!(message, Message::Steered { .. });
    heard(machine, READER).into_iter().filter(is_answer).collect()
}

fn begin(machine: &mut PublisherMachine) -> BegunStep {
    let Ok(Begin::Started(begun)) = machine.begin_step(START) else { panic!("no step begins") };
    begun
}

fn end(machine: &mut PublisherMachine, step: StepId) {
    machine.end_step(START, step, Contribution::default(), Vec::new(), 10).expect("it ends");
}

fn answer(id: u64, outcome: SteeringOutcome) -> Vec<Message> {
    vec![Message::Steered { id, outcome }]
}

/// The application sees it as many steps later as ranks may be apart, and the answer comes when it has left that step.
#[test]
fn a_request_is_seen_once_and_answered_then() {
    let mut machine = publisher();
    let open = begin(&mut machine);
    assert_eq!(steer(&mut machine, 7, "conductivity", 2.0), []);
    end(&mut machine, open.step);
    let mut seen = Vec::new();
    for _ in 0..8 {
        let begun = begin(&mut machine);
        seen.extend(
            begun
                .steering
                .iter()
                .map(|(_, request)| (begun.step.0, request.value.clone(), request.by.clone())),
        );
        assert_eq!(steered(&mut machine), []);
        end(&mut machine, begun.step);
        let expected = if begun.step.0 == 5 {
            answer(7, SteeringOutcome::Applied { step: StepId(5) })
        } else {
            Vec::new()
        };
        assert_eq!(steered(&mut machine), expected, "step {}", begun.step);
    }
    assert_eq!(seen, [(5, AttributeValue::Real(Real(2.0)), "viewer".to_owned())]);
}

#[test]
fn what_is_declined_is_told_with_its_reason() {
    let mut machine = publisher();
    steer(&mut machine, 7, "conductivity", 2.0);
    let begun = loop {
        let begun = begin(&mut machine);
        if !begun.steering.is_empty() {
            break begun;
        }
        end(&mut machine, begun.step);
    };
    let change = begun.steering[0].0;
    let wrong = machine.decline(StepId(begun.step.0 + 1), change, String::new());
    assert_eq!(wrong, Err(CommandError::StepNotOpen(StepId(begun.step.0 + 1))));
    machine.decline(begun.step, change, "not while it melts".to_owned()).expect("it is open");
    end(&mut machine, begun.step);
    let [Message::Steered { id: 7, outcome: SteeringOutcome::Declined { reason, .. } }] =
        &steered(&mut machine)[..]
    else {
        panic!("it was declined");
    };
    assert_eq!(reason, "not while it melts");
}

/// Who declines in the moment in which a rank of the cohort is lost is told so, and not that the step is not open.
#[test]
fn nobody_declines_in_a_cohort_that_is_lost() {
    let (mut machine, _) = middle_rank(READER);
    let step = begin(&mut machine).step;
    let declined = machine.decline(step, ChangeId(0), String::new());
    assert_eq!(declined, Err(CommandError::StepNotOpen(step)), "it saw no request");
    machine.handle_disconnected(START, PARENT);
    let declined = machine.decline(step, ChangeId(0), String::new());
    assert!(matches!(declined, Err(CommandError::Lost { .. })), "{declined:?}");
}

#[test]
fn what_the_simulation_does_not_take_is_refused_at_once() {
    let mut machine = publisher();
    let refused = |refusal| answer(1, SteeringOutcome::Refused(refusal));
    let known = parameters();
    for name in ["speed", ""] {
        let unknown = SteeringRefusal::Unknown { known: known.clone() };
        assert_eq!(steer(&mut machine, 1, name, 2.0), refused(unknown));
    }
    let takes = "a number from 0.0 to 10.0".to_owned();
    assert_eq!(steer(&mut machine, 1, "conductivity", 11.0), refused(SteeringRefusal::Value { takes }));
    (0..16).for_each(|id| assert_eq!(steer(&mut machine, id, "conductivity", 1.0), []));
    assert_eq!(steer(&mut machine, 1, "conductivity", 1.0), refused(SteeringRefusal::Busy { limit: 16 }));
    // The reader holds a step, so that closing waits for it.
    let open = begin(&mut machine).step;
    end(&mut machine, open);
    machine.close(START);
    assert_eq!(steered(&mut machine).len(), 16);
    assert_eq!(steer(&mut machine, 1, "conductivity", 1.0), refused(SteeringRefusal::Closing));
}

/// Within any second no more reach the simulation than may, whatever was refused between. To go on is not counted.
#[test]
fn requests_are_bounded_over_time() {
    let mut machine = publisher();
    let too_often = answer(1, SteeringOutcome::Refused(SteeringRefusal::TooOften { per_second: 40 }));
    let at = |millis| START.after(Duration::from_millis(millis));
    let mut ask = |millis: u64, name: &str, value: AttributeValue| {
        let step = begin(&mut machine);
        end(&mut machine, step.step);
        steered(&mut machine);
        let message = Message::Steer { id: 1, name: name.to_owned(), value, urgency: Urgency::Ahead };
        machine.handle_message(at(millis), READER, message);
        steered(&mut machine)
    };
    let one = AttributeValue::Real(Real(1.0));
    // 40 of them, 10 ms apart, and nonsense among them.
    for asked in 0..40 {
        assert_eq!(ask(10 * asked, "conductivity", one.clone()), []);
        assert_ne!(ask(10 * asked, "speed", one.clone()), too_often);
    }
    assert_eq!(ask(999, "conductivity", one.clone()), too_often);
    assert_ne!(ask(999, "resume", AttributeValue::Bool(true)), too_often);
    assert_eq!(ask(1000, "conductivity", one.clone()), [], "the first came a second ago");
    assert_eq!(ask(1001, "conductivity", one.clone()), too_often, "the second did not");
    assert_eq!(ask(1010, "conductivity", one), []);
}

/// A publisher alone has nobody to agree with: what is urgent is seen at its very next step.
#[test]
fn what_is_urgent_is_seen_at_the_next_step() {
    let mut machine = publisher();
    let open = begin(&mut machine);
    ask(&mut machine, 7, "conductivity", AttributeValue::Real(Real(2.0)), Urgency::Now);
    assert!(open.steering.is_empty());
    end(&mut machine, open.step);
    let begun = begin(&mut machine);
    assert_eq!((begun.step, begun.steering.len()), (StepId(1), 1));
}

/// One that is urgent is seen before those that were asked for earlier.
#[test]
fn what_is_urgent_overtakes() {
    let mut machine = publisher();
    steer(&mut machine, 7, "conductivity", 1.0);
    ask(&mut machine, 8, "conductivity", AttributeValue::Real(Real(2.0)), Urgency::Now);
    let mut seen = Vec::new();
    for _ in 0..6 {
        let begun = begin(&mut machine);
        seen.extend(begun.steering.iter().map(|(_, request)| (begun.step.0, request.value.clone())));
        end(&mut machine, begun.step);
    }
    assert_eq!(seen, [(0, AttributeValue::Real(Real(2.0))), (4, AttributeValue::Real(Real(1.0)))]);
}

/// Whoever waits for a step that never begins is told so at once, and need not be waited for.
#[test]
fn who_waits_as_the_publisher_closes_is_told_so() {
    let mut machine = publisher();
    steer(&mut machine, 7, "conductivity", 1.0);
    steer(&mut machine, 8, "pause", 1.0);
    machine.close(START);
    let over = [7, 8].map(|id| Message::Steered { id, outcome: SteeringOutcome::Over });
    assert_eq!(steered(&mut machine), over);
}

/// The step before which a rank stops, and what was told of it by then.
fn run_until_paused(machine: &mut PublisherMachine) -> (u64, Vec<Message>) {
    let mut told = Vec::new();
    for next in 0.. {
        match machine.begin_step(START).expect("the stream is there") {
            Begin::Started(begun) => end(machine, begun.step),
            Begin::Wait { reason: BeginWait::Paused { by }, until } => {
                assert_eq!((by.as_str(), until), ("viewer", Some(START.after(Duration::from_secs(2)))));
                told.extend(steered(machine));
                return (next, told);
            }
            Begin::Wait { reason, .. } => panic!("it waits for {reason:?}"),
        }
        told.extend(steered(machine));
    }
    unreachable!("it is paused")
}

#[test]
fn a_pause_ends_by_itself() {
    let mut machine = publisher();
    steer(&mut machine, 7, "pause", 2.0);
    let (at, told) = run_until_paused(&mut machine);
    assert_eq!((at, told), (4, answer(7, SteeringOutcome::Applied { step: StepId(4) })));
    assert!(!machine.begins_freely());
    let over = START.after(Duration::from_secs(2));
    let Ok(Begin::Started(begun)) = machine.begin_step(over) else { panic!("the pause is over") };
    assert!(begun.steering.is_empty(), "the application need not know");
}

/// A rank that is paused goes on, and one that is to be paused is not.
#[test]
fn whoever_may_has_a_paused_simulation_go_on() {
    let mut machine = publisher();
    steer(&mut machine, 7, "pause", 2.0);
    let (at, _) = run_until_paused(&mut machine);
    let applied = answer(8, SteeringOutcome::Applied { step: StepId(at) });
    assert_eq!(ask(&mut machine, 8, "resume", AttributeValue::Bool(true), Urgency::Ahead), applied);
    let begun = begin(&mut machine);
    end(&mut machine, begun.step);
    steer(&mut machine, 9, "pause", 2.0);
    let told = ask(&mut machine, 10, "resume", AttributeValue::Bool(true), Urgency::Ahead);
    let [Message::Steered { id: 9, outcome: SteeringOutcome::Declined { .. } }, resumed] = &told[..] else {
        panic!("{told:?}");
    };
    assert!(matches!(resumed, Message::Steered { id: 10, outcome: SteeringOutcome::Applied { .. } }));
    (0..20).for_each(|_| {
        let begun = begin(&mut machine);
        end(&mut machine, begun.step);
    });
}

#[test]
fn a_pause_is_no_longer_than_its_owner_lets_it_be() {
    let mut machine = publisher();
    let takes = "a number of seconds, more than 0 and at most 10.0, or no value".to_owned();
    let refused = answer(1, SteeringOutcome::Refused(SteeringRefusal::Value { takes }));
    for seconds in [0.0, -1.0, 10.5, f64::NAN, f64::INFINITY] {
        assert_eq!(steer(&mut machine, 1, "pause", seconds), refused, "{seconds}");
    }
}

/// Whatever waits for the simulation to go on does not keep it from going on.
#[test]
fn a_resume_is_never_one_too_many() {
    let mut machine = publisher();
    steer(&mut machine, 7, "pause", 2.0);
    run_until_paused(&mut machine);
    (0..16).for_each(|id| assert_eq!(steer(&mut machine, id, "conductivity", 1.0), []));
    let resumed = ask(&mut machine, 8, "resume", AttributeValue::Bool(true), Urgency::Now);
    assert!(matches!(&resumed[..], [Message::Steered { id: 8, outcome: SteeringOutcome::Applied { .. } }]));
    begin(&mut machine);
}

/// A pause that is asked for in another does not make it longer than the longest.
#[test]
fn pauses_before_one_step_begin_together() {
    let mut machine = publisher();
    steer(&mut machine, 7, "pause", 2.0);
    run_until_paused(&mut machine);
    let until = |machine: &mut PublisherMachine, ms: u64| match machine
        .begin_step(START.after(Duration::from_millis(ms)))
    {
        Ok(Begin::Wait { until, .. }) => until.map(|until| until.since(START).as_millis()),
        _ => None,
    };
    let pause = |machine: &mut PublisherMachine, id, seconds: f64| {
        ask(machine, id, "pause", AttributeValue::Real(Real(seconds)), Urgency::Now)
    };
    assert_eq!(pause(&mut machine, 8, 1.0), []);
    assert_eq!(until(&mut machine, 1500), Some(2000));
    // All stand, and who asked is told so.
    assert_eq!(steered(&mut machine).len(), 1);
    assert_eq!(pause(&mut machine, 9, 3.0), []);
    assert_eq!(until(&mut machine, 1900), Some(3000));
    assert_eq!(steered(&mut machine).len(), 1);
    assert_eq!(until(&mut machine, 3000), None);
}

/// Each urgent request holds the next step up: so many, and no more until it has begun.
#[test]
fn urgent_requests_do_not_hold_a_step_up_for_ever() {
    let mut machine = publisher();
    let urgent = |machine: &mut PublisherMachine, id| {
        ask(machine, id, "conductivity", AttributeValue::Real(Real(1.0)), Urgency::Now)
    };
    (0..16).for_each(|id| assert_eq!(urgent(&mut machine, id), []));
    assert_eq!(
        urgent(&mut machine, 16),
        answer(16, SteeringOutcome::Refused(SteeringRefusal::Busy { limit: 16 }))
    );
    let begun = begin(&mut machine);
    assert_eq!(begun.steering.len(), 16);
    end(&mut machine, begun.step);
    assert_eq!(steered(&mut machine).len(), 16);
    assert_eq!(urgent(&mut machine, 17), []);
}

/// While it is agreed at which step a request is seen, a rank begins no more steps than it may be ahead, though nobody is given
/// any, and reports none. So it cannot pass that step.
#[test]
fn a_rank_cannot_pass_a_request_that_is_agreed() {
    let (mut machine, _) = middle_rank(READER);
    (0..20).for_each(|_| {
        let step = begin(&mut machine).step;
        end(&mut machine, step);
    });
    let request = SteeringRequest {
        name: "conductivity".to_owned(),
        value: AttributeValue::Real(Real(2.0)),
        by: "viewer".to_owned(),
        effect: SteeringEffect::Value,
        urgency: Urgency::Ahead,
    };
    let (change, subscription) = (ChangeId(0), SubscriptionId(0));
    let prepare = Decision::Prepare { change, subscription, kind: ChangeKind::Steer(request.into()) };
    machine.handle_message(START, PARENT, Message::Log { serial: 0, entries: vec![prepare] });
    for (child, _) in CHILDREN {
        machine.handle_message(START, child, Message::Prepared { change, next: StepId(9) });
    }
    let answered = heard(&mut machine, PARENT);
    let first = StepId(24);
    assert!(answered.contains(&Message::Prepared { change, next: first }), "{answered:?}");
    let begun = std::iter::from_fn(|| match machine.begin_step(START).expect("the stream is there") {
        Begin::Started(begun) => {
            end(&mut machine, begun.step);
            Some(begun.step)
        }
        Begin::Wait { .. } => None,
    });
    let begun: Vec<StepId> = begun.take(50).collect();
    assert_eq!(begun.last(), Some(&StepId(23)), "{begun:?}");
    let started = Decision::Start { change, first, reserved: Vec::new(), reserve_from: first };
    machine.handle_message(START, PARENT, Message::Log { serial: 1, entries: vec![started] });
    let seen = begin(&mut machine);
    assert_eq!((seen.step, seen.steering.len()), (first, 1));
}

/// What is handed on of what the reader asks now, and what that is told at once.
fn handed_on(
    machine: &mut PublisherMachine,
    id: u64,
    name: &str,
    value: AttributeValue,
) -> (Vec<(ChangeId, SteeringRequest)>, Vec<Message>) {
    let message = Message::Steer { id, name: name.to_owned(), value, urgency: Urgency::Now };
    machine.handle_message(START, READER, message);
    let (mut handed, mut told) = (Vec::new(), Vec::new());
    for effect in effects(machine) {
        if let Effect::Delegate { change, request, .. } = effect {
            handed.push((change, *request));
        } else if let Effect::Send { message: message @ Message::Steered { .. }, .. } = effect {
            told.push(message);
        }
    }
    (handed, told)
}

/// It is handed on as it was sent, whatever this publisher declares, and answered whenever that is known.
#[test]
fn a_request_that_is_handed_on_is_answered_by_another() {
    let mut machine = publisher_with(|config| config.delegates_requests = true);
    let mut asked = Vec::new();
    let sent: [(u64, &str, AttributeValue); 3] =
        [(7, "", true.into()), (8, "speed", 2.0.into()), (9, "resume", 1.into())];
    for (id, name, value) in sent {
        let (handed, told) = handed_on(&mut machine, id, name, value.clone());
        let [(change, request)] = &handed[..] else { panic!("{handed:?}") };
        assert_eq!((request.name.as_str(), &request.value, told), (name, &value, Vec::new()));
        assert_eq!((request.by.as_str(), request.urgency), ("viewer", Urgency::Now));
        asked.push((id, *change));
    }
    // No step waits for it, and none has it.
    let begun = begin(&mut machine);
    assert!(begun.steering.is_empty());
    end(&mut machine, begun.step);
    let long = SteeringOutcome::Unanswered { reason: "e".repeat(5000) };
    let cut = SteeringOutcome::Unanswered { reason: "e".repeat(1024) };
    let unknown = SteeringOutcome::Refused(SteeringRefusal::Unknown { known: parameters() });
    let applied = SteeringOutcome::Applied { step: StepId(700) };
    for ((id, change), (outcome, expected)) in
        asked.into_iter().rev().zip([(applied.clone(), applied), (long, cut), (unknown.clone(), unknown)])
    {
        machine.answer_delegated(START, change, outcome.clone());
        assert_eq!(steered(&mut machine), answer(id, expected));
        machine.answer_delegated(START, change, outcome);
        assert_eq!(steered(&mut machine), [], "it is answered once");
    }
}

/// A peer would cut the link for it: it is told in words that can be.
#[test]
fn an_answer_that_cannot_be_told_is_not_told() {
    let mut machine = publisher_with(|config| config.delegates_requests = true);
    let (handed, _) = handed_on(&mut machine, 7, "", true.into());
    let known = std::iter::repeat_n(parameters(), 100).flatten().collect();
    let outcome = SteeringOutcome::Refused(SteeringRefusal::Unknown { known });
    machine.answer_delegated(START, handed[0].0, outcome);
    let told = steered(&mut machine);
    assert!(
        matches!(&told[..], [Message::Steered { id: 7, outcome: SteeringOutcome::Unanswered { .. } }]),
        "{told:?}"
    );
}

#[test]
fn no_more_is_handed_on_than_may_be() {
    let mut machine = publisher_with(|config| config.delegates_requests = true);
    let refused = |refusal| answer(99, SteeringOutcome::Refused(refusal));
    let asked: Vec<ChangeId> =
        (0..32).map(|id| handed_on(&mut machine, id, "level", 1.into()).0[0].0).collect();
    let busy = (Vec::new(), refused(SteeringRefusal::Busy { limit: 32 }));
    assert_eq!(handed_on(&mut machine, 99, "level", 1.into()), busy);
    machine.answer_delegated(START, asked[5], SteeringOutcome::Over);
    assert_eq!(steered(&mut machine), answer(5, SteeringOutcome::Over));
    assert_eq!(handed_on(&mut machine, 32, "level", 1.into()).0.len(), 1);
    // The reader holds a step, so that closing waits for it.
    let open = begin(&mut machine).step;
    end(&mut machine, open);
    machine.close(START);
    let told = steered(&mut machine);
    let is_unanswered = |message: &Message| {
        matches!(message, Message::Steered { outcome: SteeringOutcome::Unanswered { .. }, .. })
    };
    assert!(told.len() == 32 && told.iter().all(is_unanswered), "{told:?}");
    let closing = (Vec::new(), refused(SteeringRefusal::Closing));
    assert_eq!(handed_on(&mut machine, 99, "level", 1.into()), closing);
    machine.answer_delegated(START, asked[0], SteeringOutcome::Over);
    assert_eq!(steered(&mut machine), []);
    let mut machine = publisher_with(|config| {
        (config.delegates_requests, config.limit_requests_per_second) = (true, 2);
    });
    (0..2).for_each(|id| assert_eq!(handed_on(&mut machine, id, "level", 1.into()).0.len(), 1));
    let too_often = (Vec::new(), refused(SteeringRefusal::TooOften { per_second: 2 }));
    assert_eq!(handed_on(&mut machine, 99, "level", 1.into()), too_often);
}

/// Who asks and leaves takes no room, and whoever answers hears of it.
#[test]
fn what_was_asked_by_one_who_has_left_makes_room() {
    let mut machine = publisher_with(|config| config.delegates_requests = true);
    let message = Message::Steer { id: 7, name: "level".to_owned(), value: 1.into(), urgency: Urgency::Now };
    machine.handle_message(START, READER, message);
    let handed = effects(&mut machine).into_iter().find_map(|effect| {
        if let Effect::Delegate { change, awaited, .. } = effect { Some((change, awaited)) } else { None }
    });
    let (change, awaited) = handed.expect("it is handed on");
    assert!(awaited.is_so());
    machine.handle_disconnected(START, READER);
    assert!(!awaited.is_so());
    let logged = effects(&mut machine).into_iter().find_map(|effect| {
        if let Effect::LogRequest { peer, outcome, .. } = effect { Some((peer, outcome)) } else { None }
    });
    let reason = "who asked has left".to_owned();
    assert_eq!(logged, Some((None, SteeringOutcome::Unanswered { reason })));
    machine.answer_delegated(START, change, SteeringOutcome::Over);
    assert!(effects(&mut machine).is_empty(), "nobody waits for it");
}
