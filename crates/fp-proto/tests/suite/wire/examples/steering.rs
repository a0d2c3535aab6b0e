//! Examples of what is asked of a simulation, and what becomes of it.

use super::{CHANGE, RANK, STEP, SUBSCRIPTION, denial};
use fp_proto::message::{ChangeKind, Decision, Message};
use fp_proto::parameter::{Parameter, ParameterKind};
use fp_proto::steering::{SteeringEffect, SteeringOutcome, SteeringRefusal, SteeringRequest, Urgency};
use fp_types::{AttributeValue, Real};
use std::time::Duration;

/// One of each kind.
fn parameters() -> Vec<Parameter> {
    let kinds = [
        ParameterKind::Real { least: Real(-1.5), greatest: Real(300.0) },
        ParameterKind::Integer { least: -300, greatest: 70_000 },
        ParameterKind::Bool,
        ParameterKind::Text,
        ParameterKind::Signal,
        ParameterKind::Pause { longest: Duration::from_secs(2) },
        ParameterKind::Resume,
    ];
    let named = |(number, kind)| Parameter { name: format!("p{number}"), kind, text: "of it".to_owned() };
    kinds.into_iter().enumerate().map(named).collect()
}

/// What is asked of a simulation, and what becomes of it.
pub(super) fn about_steering() -> Vec<Message> {
    let steered = |outcome| Message::Steered { id: 300, outcome };
    let refused = |refusal| steered(SteeringOutcome::Refused(refusal));
    let request = |name: &str, effect, urgency| SteeringRequest {
        name: name.to_owned(),
        value: AttributeValue::Real(Real(2.0)),
        by: "viewer".to_owned(),
        effect,
        urgency,
    };
    let pause = SteeringEffect::Pause { at_most: Duration::from_secs(2) };
    let requests = [
        request("conductivity", SteeringEffect::Value, Urgency::Ahead),
        request("pause", pause, Urgency::Now),
        request("resume", SteeringEffect::Resume, Urgency::Ahead),
    ];
    let prepare = |request: SteeringRequest| Decision::Prepare {
        change: CHANGE,
        subscription: SUBSCRIPTION,
        kind: ChangeKind::Steer(request.into()),
    };
    let entries = requests.map(prepare).into();
    let (name, value) = ("level".to_owned(), AttributeValue::Integer(-2));
    vec![
        Message::Log { serial: 9, entries },
        Message::Steer { id: 300, name, value, urgency: Urgency::Now },
        steered(SteeringOutcome::Applied { step: STEP }),
        steered(SteeringOutcome::Declined { step: STEP, rank: RANK, reason: "not now".to_owned() }),
        steered(SteeringOutcome::Over),
        steered(SteeringOutcome::Unanswered { reason: "it went".to_owned() }),
        refused(SteeringRefusal::Unknown { known: parameters() }),
        refused(SteeringRefusal::Value { takes: "true or false".to_owned() }),
        refused(SteeringRefusal::Busy { limit: 16 }),
        refused(SteeringRefusal::TooOften { per_second: 1000 }),
        refused(SteeringRefusal::Closing),
        refused(SteeringRefusal::Unreachable { reason: "too far".to_owned() }),
        refused(SteeringRefusal::Denied(denial())),
        Message::SteeringAnswer { change: CHANGE, declined: None },
        Message::SteeringAnswer { change: CHANGE, declined: Some((RANK, "not now".to_owned())) },
    ]
}
