//! Requests of subscribers to the simulation (`docs/protocol.md`, section 18). A request is a change with two passes. Each
//! rank answers the first one with a step that nobody can have begun when the second one comes.

use super::{Phase, PublisherMachine};
use crate::commands::{Begin, BeginWait};
use crate::effect::{Effect, Misbehaviour, PeerId};
use crate::message::{ChangeId, ChangeKind, Decision, MemberId, Message};
use crate::parameter::{LIMIT_PARAMETERS, Parameter};
use crate::publisher::log;
use crate::steering::{
    Awaited, LIMIT_DELEGATED, LIMIT_STEERING, SteeringEffect, SteeringOutcome, SteeringRefusal,
    SteeringRequest, Urgency, cut,
};
use crate::time::Moment;
use crate::transition::Transition;
use crate::wire::mutated;
use fp_types::{AttributeValue, Rank, StepId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// Within which requests are counted.
const SECOND: Duration = Duration::from_secs(1);

/// What the ranks of a subtree said to a request.
struct Answers {
    step: StepId,
    own: bool,
    missing: BTreeSet<Rank>,
    declined: Option<(Rank, String)>,
}

/// What a member asks for.
pub(crate) struct Asked {
    pub(crate) name: String,
    pub(crate) value: AttributeValue,
    pub(crate) urgency: Urgency,
}

/// A pause that a rank is to make before it begins a step.
struct Pause {
    step: StepId,
    change: ChangeId,
    at_most: Duration,
    by: String,
}

/// A pause that a rank makes. Those that are asked for meanwhile begin when it did, so that together they are no longer than
/// the longest of them.
struct Standing {
    since: Moment,
    until: Moment,
    by: String,
}

/// The requests that one rank knows.
#[derive(Default)]
pub(crate) struct Steering {
    /// Those that the application has not seen, with the step at which it does: by step, then as they were asked for.
    due: VecDeque<(StepId, ChangeId, Arc<SteeringRequest>)>,
    pauses: VecDeque<Pause>,
    /// Until the step begins, also where the time is over.
    standing: Option<Standing>,
    /// Those that it saw at the open step.
    seen: Vec<ChangeId>,
    answers: BTreeMap<ChangeId, Answers>,
    /// At the lead: how many urgent requests came since it began a step, and the next one.
    urgent: (StepId, usize),
    /// At the lead: when those came that reached the simulation within the last second.
    recent: VecDeque<Moment>,
    /// At the lead: what was asked, and is not answered. Also what was handed on.
    asked: BTreeMap<ChangeId, Pending>,
}

/// A request that is not answered.
struct Pending {
    member: MemberId,
    /// Its number, as the member counts.
    id: u64,
    /// Where it was handed on, whoever answers it sees by this that somebody waits.
    request: Arc<SteeringRequest>,
}

impl Steering {
    /// Whether a step may begin as far as pauses go.
    pub(crate) fn is_free(&self, step: StepId) -> bool {
        self.standing.is_none() && self.pauses.front().is_none_or(|pause| pause.step > step)
    }

    /// The requests that the application sees at a step.
    pub(crate) fn begin(&mut self, step: StepId) -> Vec<(ChangeId, Arc<SteeringRequest>)> {
        self.standing = None;
        if self.due.is_empty() {
            self.seen.clear();
            return Vec::new();
        }
        let mut seen = Vec::new();
        while let Some((_, change, request)) = self.due.pop_front_if(|(first, ..)| *first <= step) {
            seen.push((change, request));
        }
        self.seen = seen.iter().map(|(change, _)| *change).collect();
        seen
    }

    /// Whether fewer reached the simulation within the last second than may.
    fn is_in_time(&mut self, now: Moment, limit: u32) -> bool {
        while self.recent.pop_front_if(|came| now.since(*came) >= SECOND).is_some() {}
        self.recent.len() < limit as usize
    }

    /// Whether one more may be under way. What has all go on is not held up by what waits for that. Of urgent ones no more
    /// come before the next step, as each holds it up.
    fn has_room(&mut self, request: &SteeringRequest, next: StepId) -> bool {
        let resumes = |request: &SteeringRequest| request.effect == SteeringEffect::Resume;
        let alike = self.asked.values().filter(|other| resumes(&other.request) == resumes(request)).count();
        if self.urgent.0 != next {
            self.urgent = (next, 0);
        }
        let holds = request.urgency == Urgency::Now && !resumes(request);
        let is_free = alike < LIMIT_STEERING && (!holds || self.urgent.1 < LIMIT_STEERING);
        self.urgent.1 += usize::from(is_free && holds);
        is_free
    }
}

/// A member asks for something.
pub(crate) fn asked(machine: &mut PublisherMachine, from: PeerId, member: MemberId, id: u64, asked: Asked) {
    let Asked { name, value, urgency } = asked;
    let Some(known) = machine.lead.as_ref().and_then(|lead| lead.members.get(&member)) else { return };
    let (subscription, by) = (known.subscription, known.label.clone());
    let mut request = SteeringRequest { name, value, by, effect: SteeringEffect::Value, urgency };
    if let Err(refusal) = admit(machine, &mut request) {
        machine.wire.mark(Transition::SteeringRefused);
        answer_asker(machine, Some(from), id, Arc::new(request), SteeringOutcome::Refused(refusal));
        return;
    }
    let Some(lead) = &mut machine.lead else { return };
    let change = ChangeId(lead.next_change);
    lead.next_change += 1;
    let pending = Arc::new(request.clone());
    let awaited = Awaited(Arc::downgrade(&pending));
    machine.steering.asked.insert(change, Pending { member, id, request: pending });
    if machine.config.delegates_requests {
        return hand_on(machine, change, request, awaited);
    }
    let kind = ChangeKind::Steer(Box::new(request));
    log::append(machine, Decision::Prepare { change, subscription, kind });
}

/// Whether a request may be made.
fn admit(machine: &mut PublisherMachine, request: &mut SteeringRequest) -> Result<(), SteeringRefusal> {
    if machine.phase != Phase::Streaming {
        return Err(SteeringRefusal::Closing);
    }
    let is_delegated = machine.config.delegates_requests;
    if !is_delegated {
        admit_value(&machine.config.parameters, request)?;
    }
    let (now, per_second) = (machine.wire.now, machine.config.limit_requests_per_second);
    // What one that is handed on does is not known here.
    let is_counted = request.effect != SteeringEffect::Resume;
    let steering = &mut machine.steering;
    if is_counted && !steering.is_in_time(now, per_second) {
        return Err(SteeringRefusal::TooOften { per_second });
    }
    let (limit, has_room) = match is_delegated {
        true => (LIMIT_DELEGATED, steering.asked.len() < LIMIT_DELEGATED),
        false => (LIMIT_STEERING, steering.has_room(request, machine.ledger.next)),
    };
    if !has_room {
        return Err(SteeringRefusal::Busy { limit: limit as u32 });
    }
    if is_counted {
        steering.recent.push_back(now);
    }
    Ok(())
}

/// Whether there is such a parameter that takes the value, which becomes one of its kind.
fn admit_value(parameters: &[Parameter], request: &mut SteeringRequest) -> Result<(), SteeringRefusal> {
    let Some(parameter) = parameters.iter().find(|parameter| parameter.name == request.name) else {
        let known = parameters.iter().filter(|parameter| parameter.check().is_ok());
        return Err(SteeringRefusal::Unknown { known: known.take(LIMIT_PARAMETERS).cloned().collect() });
    };
    let takes = || SteeringRefusal::Value { takes: parameter.kind.to_string() };
    request.value = parameter.kind.admit(request.value.clone()).ok_or_else(takes)?;
    request.effect = SteeringEffect::of(&parameter.kind, &request.value);
    Ok(())
}

/// Somebody else answers it, whenever that is known.
fn hand_on(machine: &mut PublisherMachine, change: ChangeId, request: SteeringRequest, awaited: Awaited) {
    machine.wire.mark(Transition::SteeringDelegated);
    let request = Box::new(request);
    if mutated!(machine.wire, DelegatedTwice) {
        let (request, awaited) = (request.clone(), awaited.clone());
        machine.wire.push(Effect::Delegate { change, request, awaited });
    }
    machine.wire.push(Effect::Delegate { change, request, awaited });
}

/// A member has left. What was handed on for it nobody waits for any more: it makes room.
pub(crate) fn member_left(machine: &mut PublisherMachine, member: MemberId) {
    if !machine.config.delegates_requests {
        return;
    }
    let of_member = |_: &ChangeId, pending: &mut Pending| pending.member == member;
    let left: Vec<_> = machine.steering.asked.extract_if(.., of_member).collect();
    for (_, Pending { id, request, .. }) in left {
        let reason = "who asked has left".to_owned();
        answer_asker(machine, None, id, request, SteeringOutcome::Unanswered { reason });
    }
}

/// What became of a request that was handed on. Who closed meanwhile has told those who waited.
pub(crate) fn delegate_answered(machine: &mut PublisherMachine, change: ChangeId, outcome: SteeringOutcome) {
    let first = machine.steering.asked.keys().next().copied();
    let change = first.filter(|_| mutated!(machine.wire, DelegateMisheard)).unwrap_or(change);
    let Some(Pending { member, id, request }) = machine.steering.asked.remove(&change) else { return };
    let (peer, mut outcome) = (peer_of(machine, member), outcome.cut());
    if !outcome.is_within_bounds() {
        let reason = "the answer is longer than one may be".to_owned();
        outcome = SteeringOutcome::Unanswered { reason };
    }
    answer_asker(machine, peer, id, request, outcome);
}

/// By how much the step that a rank answers the first pass with lies behind its next one. Between its answer and the second
/// pass it goes on beginning steps. These are undecided until then, so that there are at most so many.
pub(crate) fn margin(machine: &PublisherMachine, kind: &ChangeKind) -> u64 {
    let ChangeKind::Steer(request) = kind else { return 0 };
    // Who waits for the second pass needs none, and who goes on at once does not look at the step.
    let is_free = request.urgency == Urgency::Now || request.effect == SteeringEffect::Resume;
    if is_free || mutated!(machine.wire, SteeredAtNext) {
        0
    } else {
        u64::from(machine.config.skew_steps.max(1))
    }
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
    match request.effect {
        SteeringEffect::Value => {
            // One that is urgent overtakes those that are not.
            let due = &mut machine.steering.due;
            let position = due.partition_point(|(other, ..)| *other <= step);
            due.insert(position, (step, change, Arc::new(request)));
        }
        SteeringEffect::Pause { at_most } => {
            let pause = Pause { step, change, at_most, by: request.by };
            let position = machine.steering.pauses.partition_point(|other| other.step <= step);
            machine.steering.pauses.insert(position, pause);
        }
        SteeringEffect::Resume => resume(machine, change),
    }
    if machine.phase != Phase::Streaming {
        end(machine);
    }
}

/// Ends the pause that is made, and those that are to come. Who asked for one that never began is told so.
fn resume(machine: &mut PublisherMachine, change: ChangeId) {
    machine.wire.mark(Transition::SteeringResumed);
    let own = machine.config.cohort.rank;
    machine.steering.standing = None;
    for pause in std::mem::take(&mut machine.steering.pauses) {
        let reason = "somebody had the simulation go on before it came to that step".to_owned();
        answer(machine, pause.change, Some((own, reason)));
    }
    answer(machine, change, None);
}

/// Why this rank may not begin its next step yet: it is paused, or must first know at which step a request is seen.
pub(crate) fn wait(machine: &mut PublisherMachine) -> Option<Begin> {
    let (next, now) = (machine.ledger.next, machine.wire.now);
    while let Some(pause) = machine.steering.pauses.pop_front_if(|pause| pause.step <= next) {
        machine.wire.mark(Transition::SteeringPaused);
        let since = machine.steering.standing.as_ref().map_or(now, |standing| standing.since);
        let standing = Standing { since, until: since.after(pause.at_most), by: pause.by };
        let known = machine.steering.standing.take_if(|known| known.until >= standing.until);
        machine.steering.standing = Some(known.unwrap_or(standing));
        answer(machine, pause.change, None);
    }
    let stands = |standing: &&Standing| now < standing.until;
    let forgotten = mutated!(machine.wire, PauseForgotten);
    if let Some(Standing { until, by, .. }) =
        machine.steering.standing.as_ref().filter(stands).filter(|_| !forgotten)
    {
        return Some(Begin::Wait { reason: BeginWait::Paused { by: by.clone() }, until: Some(*until) });
    }
    let (parameter, by) = machine.changes.held_by().filter(|_| !mutated!(machine.wire, NowNotAwaited))?;
    machine.wire.mark(Transition::BeginWaitsForRequest);
    Some(Begin::Wait { reason: BeginWait::Request { parameter, by }, until: None })
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
    if machine.steering.seen.is_empty() {
        return;
    }
    for change in std::mem::take(&mut machine.steering.seen) {
        answer(machine, change, None);
    }
}

/// This rank has done what it was asked to; or why it did not, where that is not known yet.
fn answer(machine: &mut PublisherMachine, change: ChangeId, declined: Option<(Rank, String)>) {
    if let Some(answers) = machine.steering.answers.get_mut(&change) {
        answers.own = true;
        add_declined(answers, declined);
    }
    answer_if_complete(machine, change);
}

/// Of those that declined it is the lowest rank that is named.
fn add_declined(answers: &mut Answers, declined: Option<(Rank, String)>) {
    let both = [answers.declined.take(), declined].into_iter().flatten();
    answers.declined = both.min_by_key(|(rank, _)| *rank);
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
    add_declined(answers, declined.filter(|_| !forgotten));
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
    let Some(Pending { member, id, request }) = machine.steering.asked.remove(&change) else { return };
    let peer = peer_of(machine, member);
    let outcome = match declined {
        None => SteeringOutcome::Applied { step },
        Some((rank, reason)) => SteeringOutcome::Declined { step, rank, reason },
    };
    machine.wire.mark(Transition::SteeringAnswered);
    answer_asker(machine, peer, id, request, outcome);
}

/// The application has closed: what it has not seen by now it never sees, and who waits for that is told so.
pub(crate) fn closing(machine: &mut PublisherMachine) {
    tell_askers(machine);
    end(machine);
}

/// This rank answers what it never comes to.
fn end(machine: &mut PublisherMachine) {
    let own = machine.config.cohort.rank;
    let answers = machine.steering.answers.iter();
    let open: Vec<_> = answers.filter(|(_, answers)| !answers.own).map(|(change, _)| *change).collect();
    let why = if matches!(machine.phase, Phase::Lost { .. }) {
        "this rank has lost another of its cohort"
    } else {
        "this rank has closed"
    };
    for change in open {
        let reason = format!("{why}, and never comes to that step");
        answer(machine, change, Some((own, reason)));
    }
}

fn tell_askers(machine: &mut PublisherMachine) {
    let Steering { asked, answers, .. } = &mut machine.steering;
    let is_seen = |change: &ChangeId| answers.get(change).is_some_and(|answers| answers.own);
    let over: Vec<_> = asked.extract_if(.., |change, _| !is_seen(change)).collect();
    let outcome = match machine.config.delegates_requests {
        true => SteeringOutcome::Unanswered {
            reason: "the stream ended here before there was an answer".to_owned(),
        },
        false => SteeringOutcome::Over,
    };
    for (_, Pending { member, id, request }) in over {
        let peer = peer_of(machine, member);
        answer_asker(machine, peer, id, request, outcome.clone());
    }
}

fn peer_of(machine: &PublisherMachine, member: MemberId) -> Option<PeerId> {
    machine.lead.as_ref().and_then(|lead| lead.members.get(&member)).map(|member| member.peer)
}

/// Tells who asked, unless he has left meanwhile, and the owner of the stream.
fn answer_asker(
    machine: &mut PublisherMachine,
    peer: Option<PeerId>,
    id: u64,
    request: Arc<SteeringRequest>,
    outcome: SteeringOutcome,
) {
    if let Some(peer) = peer {
        machine.wire.send(peer, Message::Steered { id, outcome: outcome.clone() });
    }
    machine.wire.push(Effect::LogRequest { peer, request: Box::new(Arc::unwrap_or_clone(request)), outcome });
}
