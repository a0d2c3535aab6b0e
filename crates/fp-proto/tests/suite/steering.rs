//! Requests to the simulation: a publisher of one rank by hand.

use crate::conditions::{READER, heard, subscribe};
use crate::middle_rank::{START, contact, effects};
use fp_proto::commands::{Begin, BegunStep, CommandError};
use fp_proto::config::{CohortConfig, PublisherConfig, SubscriptionSpec};
use fp_proto::message::Message;
use fp_proto::publisher::PublisherMachine;
use fp_proto::steering::{Parameter, ParameterKind, SteeringOutcome, SteeringRefusal};
use fp_types::{AttributeValue, Contribution, Epoch, Real, StepId};

fn publisher() -> PublisherMachine {
    let mut config = PublisherConfig::new(CohortConfig::alone("stream", contact(0)), Epoch(99));
    let kind = ParameterKind::Real { least: Real(0.0), greatest: Real(10.0) };
    config.parameters = vec![Parameter { name: "conductivity".to_owned(), kind }];
    let mut machine = PublisherMachine::new(config, START);
    machine.handle_listing(START, Vec::new());
    effects(&mut machine);
    let spec = SubscriptionSpec { limit_steps: 100, ..SubscriptionSpec::default() };
    subscribe(&mut machine, READER, spec);
    machine
}

/// What the reader is told of requests at once.
fn steer(machine: &mut PublisherMachine, id: u64, name: &str, value: f64) -> Vec<Message> {
    let (name, value) = (name.to_owned(), AttributeValue::Real(Real(value)));
    machine.handle_message(START, READER, Message::Steer { id, name, value });
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

#[test]
fn what_the_simulation_does_not_take_is_refused_at_once() {
    let mut machine = publisher();
    let refused = |refusal| answer(1, SteeringOutcome::Refused(refusal));
    let known = vec!["conductivity".to_owned()];
    assert_eq!(steer(&mut machine, 1, "speed", 2.0), refused(SteeringRefusal::Unknown { known }));
    let takes = "a number from 0.0 to 10.0".to_owned();
    assert_eq!(steer(&mut machine, 1, "conductivity", 11.0), refused(SteeringRefusal::Value { takes }));
    (0..16).for_each(|id| assert_eq!(steer(&mut machine, id, "conductivity", 1.0), []));
    assert_eq!(steer(&mut machine, 1, "conductivity", 1.0), refused(SteeringRefusal::Busy { limit: 16 }));
    // The reader holds a step, so that closing waits for it.
    let open = begin(&mut machine).step;
    end(&mut machine, open);
    machine.close(START);
    assert_eq!(steer(&mut machine, 1, "conductivity", 1.0), refused(SteeringRefusal::Closing));
}
