//! Subscribing, leaving, expulsion: who the members are.

use super::lead::{Ask, Member, Served};
use crate::config::{QueuePolicy, SubscriptionSpec, VariableSet};
use crate::effect::{DisconnectReason, Misbehaviour, PeerId};
use crate::event::{Event, MemberEnd};
use crate::few::Few;
use crate::message::{ChangeId, ChangeKind, Decision, MemberId, Message};
use crate::outcome::{EndReason, ExpulsionCause, LossReason, RefusalReason, SharePart, SpecPart};
use crate::publisher::{Phase, PublisherMachine};
use crate::publisher::{assignment, condition, drain, log, steering};
use crate::transition::Transition;
use crate::wire::{Role, mutated};
use fp_types::{Epoch, Rank, StandingCondition, StepId, StepSet, SubscriptionId};
use std::time::Duration;

/// A subscriber cohort asks for a subscription.
pub(crate) fn subscribe(machine: &mut PublisherMachine, from: PeerId, mut ask: Ask) {
    if machine.phase == Phase::Opening {
        machine.wire.set_role(from, Role::Early);
        if let Some(lead) = &mut machine.lead {
            lead.early.push((from, ask));
        }
        return;
    }
    if machine.wire.role(from).is_none() {
        return;
    }
    allow(machine, &mut ask.spec);
    match subscription_for(machine, from, &ask) {
        Ok(subscription) => add_member(machine, from, subscription, ask),
        Err(reason) => {
            machine.wire.mark(Transition::SubscribeRefused);
            machine.wire.send(from, Message::Refused { reason });
            machine.wire.disconnect(from, DisconnectReason::Refused);
        }
    }
}

/// The set that it joins, or `None` for a new subscription.
fn subscription_for(
    machine: &PublisherMachine,
    from: PeerId,
    ask: &Ask,
) -> Result<Option<SubscriptionId>, RefusalReason> {
    check_spec(machine, &ask.spec, ask.credit)?;
    if machine.phase != Phase::Streaming {
        return Err(RefusalReason::Closing);
    }
    let Some(lead) = &machine.lead else { return Err(RefusalReason::Closing) };
    check_peer(machine, from)?;
    check_memory(machine)?;
    if let Some(share) = &ask.spec.share {
        let of_set = |served: &Served| served.spec.share.as_ref().is_some_and(|other| other.set == share.set);
        let mut live = lead.served.iter().filter(|(_, served)| !served.removed);
        if let Some((&id, served)) = live.find(|(_, served)| of_set(served)) {
            let part = difference(&served.spec, &ask.spec);
            let mismatch = |part| RefusalReason::ShareMismatch { set: share.set.clone(), part };
            return part.map_or(Ok(Some(id)), |part| Err(mismatch(part)));
        }
    }
    let limit = machine.config.limit_subscriptions;
    if lead.live_subscriptions() >= limit as usize {
        return Err(RefusalReason::TooManySubscriptions { limit });
    }
    Ok(None)
}

/// The first thing in which members of one set ask for something else than one another.
fn difference(one: &SubscriptionSpec, other: &SubscriptionSpec) -> Option<SharePart> {
    let mode = |spec: &SubscriptionSpec| spec.share.as_ref().map(|share| share.mode);
    let same = [
        (SharePart::Variables, one.variables == other.variables),
        (SharePart::Policy, one.policy == other.policy),
        (SharePart::LimitSteps, one.limit_steps == other.limit_steps),
        (SharePart::StartAt, one.start_at == other.start_at),
        (SharePart::Mode, mode(one) == mode(other)),
        (SharePart::Redeliver, one.redelivers() == other.redelivers()),
        (SharePart::Requests, one.requests == other.requests),
        (SharePart::Condition, one.when == other.when),
    ];
    same.into_iter().find(|(_, same)| !same).map(|(part, _)| part)
}

/// No peer has more members than it may.
fn check_peer(machine: &PublisherMachine, from: PeerId) -> Result<(), RefusalReason> {
    let limit = machine.config.limit_peer_subscriptions;
    let (Some(lead), Some(peer)) = (&machine.lead, machine.wire.origin(from)) else { return Ok(()) };
    let is_of_peer = |member: &&Member| !member.ended && machine.wire.origin(member.peer) == Some(peer);
    if lead.members.values().filter(is_of_peer).count() < limit as usize {
        return Ok(());
    }
    if mutated!(machine.wire, PeersUnbounded) {
        return Ok(());
    }
    Err(RefusalReason::TooManyOfPeer { limit, peer: peer.to_owned() })
}

/// A newcomer holds steps. Memory for them may not be what the next put would have needed.
fn check_memory(machine: &PublisherMachine) -> Result<(), RefusalReason> {
    match machine.shortage {
        Some(shortage) if !mutated!(machine.wire, ShortageIgnored) => {
            Err(RefusalReason::ShortOfMemory(shortage))
        }
        _ => Ok(()),
    }
}

fn add_member(machine: &mut PublisherMachine, from: PeerId, joins: Option<SubscriptionId>, ask: Ask) {
    let Some(lead) = &mut machine.lead else { return };
    let member = MemberId(lead.next_member);
    lead.next_member += 1;
    let subscription = joins.unwrap_or(SubscriptionId(lead.next_subscription));
    let served = served_from((machine.config.epoch, machine.config.cohort.first_step), &ask);
    let Ask { spec, label, cohort_size, credit, .. } = ask;
    lead.members.insert(
        member,
        Member {
            subscription,
            peer: from,
            label: label.clone(),
            cohort_size,
            credit,
            assigned: 0,
            held: StepSet::default(),
            served: 0,
            ended: false,
        },
    );
    machine.wire.set_role(from, Role::Member(member));
    machine.wire.event(Event::MemberJoined { subscription, member, label, cohort_size });
    match joins {
        Some(_) => join_set(machine, subscription, member),
        None => new_subscription(machine, subscription, Served { spec, members: vec![member], ..served }),
    }
}

fn join_set(machine: &mut PublisherMachine, subscription: SubscriptionId, member: MemberId) {
    machine.wire.mark(Transition::ShareJoined);
    let Some(lead) = &mut machine.lead else { return };
    let Some(served) = lead.served.get_mut(&subscription) else { return };
    served.members.push(member);
    let Some(first) = served.first else { return };
    let first = first.max(lead.next_decided);
    tell_subscribed(machine, member, first);
    assignment::assign(machine, subscription);
}

/// From which number on a subscription wants steps. One that was attached to another epoch goes on only where the numbers
/// do. A set goes on with none, as each of its members had other steps.
fn served_from((epoch, first_step): (Epoch, Option<StepId>), ask: &Ask) -> Served {
    let shared = ask.spec.share.is_some();
    let lowest = match ask.resume {
        Some(resume) if !shared => (resume.epoch == epoch || first_step.is_some()).then_some(resume.from),
        Some(_) => None,
        None => ask.spec.start_at.lowest(),
    };
    let continues = ask.resume.is_some() && lowest.is_some();
    Served { lowest, continues, ..Served::default() }
}

fn new_subscription(machine: &mut PublisherMachine, subscription: SubscriptionId, mut served: Served) {
    let condition = served.spec.when.as_deref().map(StandingCondition::decode);
    served.condition = condition.and_then(Result::ok);
    let Some(lead) = &mut machine.lead else { return };
    lead.next_subscription += 1;
    let spec = served.spec.clone();
    lead.judging.add(subscription, &served);
    lead.served.insert(subscription, served);
    change(machine, subscription, ChangeKind::Add(Box::new(spec)));
}

/// Starts the first pass of a change.
fn change(machine: &mut PublisherMachine, subscription: SubscriptionId, kind: ChangeKind) {
    let Some(lead) = &mut machine.lead else { return };
    let change = ChangeId(lead.next_change);
    lead.next_change += 1;
    log::append(machine, Decision::Prepare { change, subscription, kind });
}

/// Both passes are done: members of a new selection are told, queued steps go out.
pub(crate) fn change_started(
    machine: &mut PublisherMachine,
    subscription: SubscriptionId,
    first: StepId,
    kind: &ChangeKind,
) {
    let Some(lead) = &mut machine.lead else { return };
    if *kind == ChangeKind::Remove {
        lead.served.remove(&subscription);
        return;
    }
    if let ChangeKind::Update(spec) = kind {
        // Not before: who joins a set until then asks for what was, and is told with the others.
        if let Some(served) = lead.served.get_mut(&subscription) {
            if served.spec.when != spec.when && !served.removed {
                served.next_conditions.start(first);
                lead.judging.change(subscription);
            }
            served.spec = SubscriptionSpec::clone(spec);
        }
        tell_members(machine, subscription, &Message::Reselected { first, spec: spec.clone() });
    }
    assignment::assign(machine, subscription);
}

fn tell_members(machine: &mut PublisherMachine, subscription: SubscriptionId, message: &Message) {
    let Some(lead) = &machine.lead else { return };
    for (_, member) in lead.members_of(subscription) {
        machine.wire.send(member.peer, message.clone());
    }
}

pub(crate) fn tell_subscribed(machine: &mut PublisherMachine, member: MemberId, first: StepId) {
    let Some(lead) = &machine.lead else { return };
    let Some(known) = lead.members.get(&member) else { return };
    let publisher_size = machine.config.cohort.size;
    let subscription = known.subscription;
    let continues = lead.served.get(&subscription).is_some_and(|served| served.continues);
    let message = Message::Subscribed { subscription, member, first, publisher_size, continues };
    machine.wire.send(known.peer, message);
}

/// A member asks for another selection.
pub(crate) fn reselect(
    machine: &mut PublisherMachine,
    from: PeerId,
    member: MemberId,
    mut spec: SubscriptionSpec,
) {
    allow(machine, &mut spec);
    let Some(lead) = &machine.lead else { return };
    let Some(subscription) = lead.members.get(&member).map(|known| known.subscription) else { return };
    let Some(served) = lead.served.get(&subscription) else { return };
    let is_judged_anew = spec.when.as_deref() != served.asked_condition();
    let refusal = check_spec(machine, &spec, 1).err();
    if mutated!(machine.wire, ConditionRefusedAnyway) && is_judged_anew {
        return machine.wire.send(from, Message::Refused { reason: RefusalReason::Closing });
    }
    let is_refused = matches!(refusal, Some(RefusalReason::Condition(_))) && is_judged_anew;
    if !spec.is_reselection_of(&served.spec) || served.first.is_none() || (refusal.is_some() && !is_refused) {
        machine.misbehaved(from, Misbehaviour::Unexpected("Reselect"));
        return;
    }
    if let Some(reason) = refusal {
        machine.wire.mark(Transition::ConditionRefused);
        machine.wire.send(from, Message::Refused { reason });
        return;
    }
    if is_judged_anew {
        ask_condition(machine, subscription, &spec);
    }
    change(machine, subscription, ChangeKind::Update(Box::new(spec)));
}

/// Later steps are judged by another condition.
fn ask_condition(machine: &mut PublisherMachine, subscription: SubscriptionId, spec: &SubscriptionSpec) {
    let Some(served) = machine.served(subscription) else { return };
    spec.when.iter().for_each(|when| served.next_conditions.ask(when));
}

/// A member wants no more.
pub(crate) fn member_left(machine: &mut PublisherMachine, from: PeerId, member: MemberId) {
    machine.wire.mark(Transition::MemberLeft);
    machine.wire.disconnect(from, DisconnectReason::Done);
    end_member(machine, member, MemberEnd::Left);
}

/// A member's link is gone.
pub(crate) fn member_lost(machine: &mut PublisherMachine, member: MemberId, reason: LossReason) {
    machine.wire.mark(Transition::MemberLost);
    end_member(machine, member, MemberEnd::Lost(reason));
}

/// A member is gone: what it held is released, or handed to others of its set.
fn end_member(machine: &mut PublisherMachine, member: MemberId, reason: MemberEnd) {
    let Some(lead) = &mut machine.lead else { return };
    let Some(known) = lead.members.remove(&member) else { return };
    let subscription = known.subscription;
    steering::member_left(machine, member);
    machine.wire.event(Event::MemberLeft { subscription, member, reason });
    drop_from_set(machine, subscription, member);
    let held: Vec<StepId> = known.held.iter().copied().collect();
    assignment::recover(machine, subscription, &held, reason);
    if machine.served(subscription).is_some_and(|served| served.members.is_empty()) {
        remove_subscription(machine, subscription);
    } else {
        assignment::assign(machine, subscription);
    }
    drain::consider_ending(machine);
}

fn drop_from_set(machine: &mut PublisherMachine, subscription: SubscriptionId, member: MemberId) {
    let Some(served) = machine.served(subscription) else { return };
    let Some(at) = served.members.iter().position(|&id| id == member) else { return };
    served.members.remove(at);
    if at < served.turn {
        served.turn -= 1;
    }
}

fn remove_subscription(machine: &mut PublisherMachine, subscription: SubscriptionId) {
    let Some(lead) = &mut machine.lead else { return };
    let Some(served) = lead.served.get_mut(&subscription) else { return };
    if std::mem::replace(&mut served.removed, true) {
        return;
    }
    lead.judging.remove(subscription, served);
    let queued: Few<StepId> = served.queue.drain(..).map(|queued| queued.step).collect();
    assignment::released(machine, subscription, queued, false);
    change(machine, subscription, ChangeKind::Remove);
}

/// The owner of the publisher would not wait any longer.
pub(crate) fn expel(
    machine: &mut PublisherMachine,
    subscription: SubscriptionId,
    rank: Rank,
    waited_ms: u64,
) {
    let Some(lead) = &machine.lead else { return };
    let members: Vec<(MemberId, PeerId)> =
        lead.members_of(subscription).map(|(id, member)| (id, member.peer)).collect();
    for (member, peer) in members {
        machine.wire.mark(Transition::MemberExpelled);
        let reason = EndReason::Expelled {
            rank,
            cause: ExpulsionCause::Unreleased { waited: Duration::from_millis(waited_ms) },
        };
        end_with(machine, peer, member, reason, MemberEnd::Expelled);
    }
}

/// A member is given up, and told why.
pub(crate) fn end_with(
    machine: &mut PublisherMachine,
    peer: PeerId,
    member: MemberId,
    reason: EndReason,
    end: MemberEnd,
) {
    let farewell = farewell(machine, member, reason);
    farewell.into_iter().for_each(|farewell| machine.wire.send(peer, farewell));
    machine.wire.disconnect(peer, DisconnectReason::Ended);
    end_member(machine, member, end);
}

/// What a member is told that is given up. `None` for one that knows already that the stream is over.
pub(crate) fn farewell(machine: &PublisherMachine, member: MemberId, reason: EndReason) -> Option<Message> {
    let known = machine.lead.as_ref()?.members.get(&member).filter(|known| !known.ended)?;
    let skipped = unassigned(machine, known.subscription);
    Some(Message::StreamEnd { reason, skipped })
}

/// Steps that a subscription had coming and does not get.
pub(crate) fn unassigned(machine: &PublisherMachine, subscription: SubscriptionId) -> u64 {
    let served = machine.lead.as_ref().and_then(|lead| lead.served.get(&subscription));
    served.map_or(0, |served| {
        let first = served.first.unwrap_or_default();
        let gone = served.accounted.map_or(0, |next| first.0.saturating_sub(next.0));
        gone + served.skipped + served.queue.iter().map(|queued| queued.skipped + 1).sum::<u64>()
    })
}

/// A publisher whose steps cost it little lets those lag behind who would hold it up. A bound of 0 stays what it is: an
/// error.
fn allow(machine: &PublisherMachine, spec: &mut SubscriptionSpec) {
    if spec.policy.waits() && spec.limit_steps > 0 && !mutated!(machine.wire, LeastLimitIgnored) {
        spec.limit_steps = spec.limit_steps.max(machine.config.least_limit_steps);
    }
}

fn check_spec(machine: &PublisherMachine, spec: &SubscriptionSpec, credit: u64) -> Result<(), RefusalReason> {
    condition::check(machine, spec).map_err(RefusalReason::Condition)?;
    let sorted = match &spec.variables {
        VariableSet::All => true,
        VariableSet::Named(names) => names.windows(2).all(|pair| pair[0] < pair[1]),
    };
    let distinct = spec.requests.windows(2).all(|pair| pair[0] < pair[1]);
    let part = match () {
        () if spec.limit_steps == 0 => SpecPart::LimitSteps,
        () if matches!(spec.policy, QueuePolicy::EveryKth { every: 0, .. }) => SpecPart::EveryKth,
        () if credit == 0 => SpecPart::Credit,
        () if !sorted => SpecPart::Variables,
        () if !distinct => SpecPart::Requests,
        () => return Ok(()),
    };
    Err(RefusalReason::InvalidSpec { part })
}
