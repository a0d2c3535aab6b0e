//! Requests of subscribers to the simulation (`docs/protocol.md`, section 18). A request is a change with two passes. Each
//! rank answers the first one with a step that nobody can have begun when the second one comes.

use super::{Phase, PublisherMachine};
use crate::bounds::LIMIT_NAME_BYTES;
use crate::effect::{Misbehaviour, PeerId};
use crate::message::{ChangeId, ChangeKind, Decision, MemberId, Message};
use crate::publisher::log;
use crate::steering::{
    LIMIT_PARAMETERS, LIMIT_STEERING, SteeringOutcome, SteeringRefusal, SteeringRequest, cut,
};
use crate::transition::Transition;
use crate::wire::mutated;
use fp_types::{AttributeValue, Rank, StepId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// What the ranks of a subtree said to a request.
struct Answers {
    step: StepId,
    own: bool,
    missing: BTreeSet<Rank>,
    declined: Option<(Rank, String)>,
}

/// The requests that one rank knows.
#[derive(Default)]
pub(crate) struct Steering {
    /// Those that the application has not seen, with the step at which it does.
    due: VecDeque<(StepId, ChangeId, Arc<SteeringRequest>)>,
    /// Those that it saw at the open step.
    seen: Vec<ChangeId>,
    answers: BTreeMap<ChangeId, Answers>,
    /// At the lead: who asked.
    asked: BTreeMap<ChangeId, (MemberId, u64)>,
}

impl Steering {
    /// The requests that the application sees at a step.
    pub(crate) fn begin(&mut self, step: StepId) -> Vec<(ChangeId, Arc<SteeringRequest>)> {
        let mut seen = Vec::new();
        while let Some((_, change, request)) = self.due.pop_front_if(|(first, ..)| *first <= step) {
            seen.push((change, request));
        }
        self.seen = seen.iter().map(|(change, _)| *change).collect();
        seen
    }
}

/// A member asks for something.
pub(crate) fn asked(
    machine: &mut PublisherMachine,
    from: PeerId,
    member: MemberId,
    (id, name, value): (u64, String, AttributeValue),
) {
    let admitted = admit(machine, &name, value);
    let Some(lead) = &mut machine.lead else { return };
    let Some(known) = lead.members.get(&member) else { return };
    let value = match admitted {
        Ok(value) => value,
        Err(refusal) => {
            machine.wire.mark(Transition::SteeringRefused);
            machine.wire.send(from, Message::Steered { id, outcome: SteeringOutcome::Refused(refusal) });
            return;
        }
    };
    let (subscription, by) = (known.subscription, known.label.clone());
    let change = ChangeId(lead.next_change);
    lead.next_change += 1;
    machine.steering.asked.insert(change, (member, id));
    let kind = ChangeKind::Steer(Box::new(SteeringRequest { name, value, by }));
    log::append(machine, Decision::Prepare { change, subscription, kind });
}

fn admit(
    machine: &PublisherMachine,
    name: &str,
    value: AttributeValue,
) -> Result<AttributeValue, SteeringRefusal> {
    if machine.phase != Phase::Streaming {
        return Err(SteeringRefusal::Closing);
    }
    let parameters = &machine.config.parameters;
    let Some(parameter) = parameters.iter().find(|parameter| parameter.name == name) else {
        let can_be_asked = |name: &&String| name.len() <= LIMIT_NAME_BYTES;
        let known = parameters.iter().map(|parameter| &parameter.name).filter(can_be_asked);
        let known = known.take(LIMIT_PARAMETERS).cloned().collect();
        return Err(SteeringRefusal::Unknown { known });
    };
    let takes = || SteeringRefusal::Value { takes: parameter.kind.to_string() };
    let value = parameter.kind.admit(value).ok_or_else(takes)?;
    match machine.steering.asked.len() {
        under_way if under_way < LIMIT_STEERING => Ok(value),
        _ => Err(SteeringRefusal::Busy { limit: LIMIT_STEERING as u32 }),
    }
}

/// By how much the step that a rank answers the first pass with lies behind its next one. Between its answer and the second
/// pass it goes on beginning steps. These are undecided until then, so that there are at most so many.
pub(crate) fn margin(machine: &PublisherMachine, kind: &ChangeKind) -> u64 {
    let steers = matches!(kind, ChangeKind::Steer(_)) && !mutated!(machine.wire, SteeredAtNext);
    if steers { u64::from(machine.config.skew_steps.max(1)) } else { 0 }
}

/// Second pass: all ranks see it at this step.
pub(crate) fn start(
    machine: &mut PublisherMachine,
    change: ChangeId,
    step: StepId,
    request: SteeringRequest,
) {
    machine.wire.mark(Transition::SteeringStarted);
    let missing = machine.cohort.children().map(|(rank, _)| rank).collect();
    machine.steering.answers.insert(change, Answers { step, own: false, missing, declined: None });
    machine.steering.due.push_back((step, change, Arc::new(request)));
}

/// This rank does not take a request that it saw at the open step; whether it saw that one.
pub(crate) fn decline(machine: &mut PublisherMachine, change: ChangeId, reason: String) -> bool {
    let own = machine.config.cohort.rank;
    let is_seen = machine.steering.seen.contains(&change);
    if let Some(answers) = machine.steering.answers.get_mut(&change).filter(|_| is_seen) {
        answers.declined = Some((own, cut(reason)));
    }
    is_seen
}

/// The application has left a step, and with it answered what it saw there.
pub(crate) fn step_left(machine: &mut PublisherMachine) {
    for change in std::mem::take(&mut machine.steering.seen) {
        if let Some(answers) = machine.steering.answers.get_mut(&change) {
            answers.own = true;
        }
        answer_if_complete(machine, change);
    }
}

/// A child's subtree has answered.
pub(crate) fn child_answered(
    machine: &mut PublisherMachine,
    from: PeerId,
    child: Rank,
    change: ChangeId,
    declined: Option<(Rank, String)>,
) {
    let Some(answers) =
        machine.steering.answers.get_mut(&change).filter(|answers| answers.missing.contains(&child))
    else {
        machine.misbehaved(from, Misbehaviour::OutOfOrder("SteeringAnswer"));
        return;
    };
    answers.missing.remove(&child);
    let forgotten = mutated!(machine.wire, DeclineForgotten);
    let lowest = [answers.declined.take(), declined.filter(|_| !forgotten)].into_iter().flatten();
    answers.declined = lowest.min_by_key(|(rank, _)| *rank);
    answer_if_complete(machine, change);
}

fn answer_if_complete(machine: &mut PublisherMachine, change: ChangeId) {
    let early = mutated!(machine.wire, AnsweredBeforeChildren);
    let is_complete = |answers: &Answers| answers.own && (answers.missing.is_empty() || early);
    if !machine.steering.answers.get(&change).is_some_and(is_complete) {
        return;
    }
    let Some(Answers { step, declined, .. }) = machine.steering.answers.remove(&change) else { return };
    if machine.lead.is_none() {
        machine.cohort.tell_parent(&mut machine.wire, Message::SteeringAnswer { change, declined });
        return;
    }
    let Some((member, id)) = machine.steering.asked.remove(&change) else { return };
    let peer = machine.lead.as_ref().and_then(|lead| lead.members.get(&member)).map(|member| member.peer);
    let outcome = match declined {
        None => SteeringOutcome::Applied { step },
        Some((rank, reason)) => SteeringOutcome::Declined { step, rank, reason },
    };
    machine.wire.mark(Transition::SteeringAnswered);
    // Who asked may have left meanwhile.
    if let Some(peer) = peer {
        machine.wire.send(peer, Message::Steered { id, outcome });
    }
}
