//! Queues, assignment by credit, and what happens to a step afterwards (`docs/protocol.md`, section 8).

use super::lead::{Queued, Served};
use crate::config::{QueuePolicy, ShareMode};
use crate::effect::{Misbehaviour, PeerId};
use crate::event::{Event, MemberEnd};
use crate::few::Few;
use crate::let_go::LetGo;
use crate::message::{Assignment, Decision, MemberId};
use crate::publisher::PublisherMachine;
use crate::publisher::ledger::RESERVE;
use crate::publisher::{drain, log};
use crate::transition::Transition;
use crate::wire::mutated;
use fp_types::{Judgement, StepId, SubscriptionId};
use smallvec::smallvec;

impl Served {
    /// Counts steps that lie before the queue's front as not delivered.
    fn skip_before_front(&mut self, steps: u64) {
        match self.queue.front_mut() {
            Some(front) => front.skipped += steps,
            None => self.skipped += steps,
        }
    }

    /// Takes the queued step at `at` out; what it carried goes to the next.
    fn drop_queued(&mut self, at: usize, counted: bool) -> Option<StepId> {
        let dropped = self.queue.remove(at)?;
        let missed = if counted { dropped.skipped + 1 } else { 0 };
        match self.queue.get_mut(at) {
            Some(next) => next.skipped += missed,
            None => self.skipped += missed,
        }
        Some(dropped.step)
    }
}

/// A decided step joins the queue of a subscription that has it.
pub(crate) fn enqueue(machine: &mut PublisherMachine, subscription: SubscriptionId, step: StepId) {
    let Some(served) = machine.served(subscription) else { return };
    let skipped = std::mem::take(&mut served.skipped) + served.gap_before(step);
    served.queue.push_back(Queued { step, skipped, redelivered: false });
    let is_limited = served.spec.policy.keeps_newest();
    machine.wire.mark(Transition::StepQueued);
    assign(machine, subscription);
    if is_limited {
        enforce_limit(machine, subscription);
    }
}

/// A step that the subscription does not get.
pub(crate) fn missed(machine: &mut PublisherMachine, subscription: SubscriptionId, step: StepId) {
    let counted = !mutated!(machine.wire, SkippedNotCounted);
    if let Some(served) = machine.served(subscription).filter(|served| !served.is_counted_later(step)) {
        served.skipped += served.gap_before(step) + u64::from(counted);
    }
    machine.wire.event(Event::StepDropped { subscription, step });
}

/// Assigns queued steps as long as members have credit.
pub(crate) fn assign(machine: &mut PublisherMachine, subscription: SubscriptionId) {
    while let Some(member) = next_member(machine, subscription) {
        let Some(lead) = &mut machine.lead else { return };
        let Some(served) = lead.served.get_mut(&subscription) else { return };
        let Some(queued) = served.queue.pop_front() else { return };
        served.served += 1;
        served.turn = (served.turn + 1) % served.members.len().max(1);
        let (now_served, waiting) = (served.served, served.queue.len());
        if let Some(known) = lead.members.get_mut(&member) {
            known.served = now_served;
            known.assigned += 1;
            known.held.insert(queued.step);
            let peer = known.peer;
            hand_over(machine, (subscription, member, peer), &queued, waiting);
        }
        if waiting == 0 {
            return;
        }
    }
}

fn hand_over(
    machine: &mut PublisherMachine,
    (subscription, member, peer): (SubscriptionId, MemberId, PeerId),
    queued: &Queued,
    waiting: usize,
) {
    machine.wire.mark(Transition::StepAssigned);
    let step = queued.step;
    log::append(machine, Decision::Assigned { subscription, member, step });
    let Some(lead) = &machine.lead else { return };
    let Some(decided) = lead.steps.get(&step) else { return };
    let at = if mutated!(machine.wire, TimeOfAssignment) { machine.wire.now } else { decided.at };
    let decided_at_micros = machine.config.clock_origin_micros.saturating_add(at.as_micros());
    let told = |found: &Judgement| Box::new(Judgement { decided_at_micros, ..found.clone() });
    let assignment = Assignment {
        step,
        table: decided.table,
        skipped: queued.skipped,
        redelivered: queued.redelivered,
        values: decided.values.clone(),
        len_bytes: decided.len_bytes,
        queued_steps: u32::try_from(waiting).unwrap_or(u32::MAX),
        judgement: decided.judgement_of(subscription).map(told),
    };
    machine.wire.send(peer, assignment.into_message());
}

/// Who gets the next queued step, if anybody can take it.
fn next_member(machine: &PublisherMachine, subscription: SubscriptionId) -> Option<MemberId> {
    let lead = machine.lead.as_ref()?;
    let served = lead.served.get(&subscription)?;
    if served.queue.is_empty()
        || served.first.is_none()
        || log::is_lost(machine)
        || lead.is_full(served, subscription)
    {
        return None;
    }
    let free = mutated!(machine.wire, AssignBeyondCredit);
    let has_credit = |id: &MemberId| {
        lead.members.get(id).is_some_and(|member| !member.ended && (free || member.assigned < member.credit))
    };
    let mode = served.spec.share.as_ref().map_or(ShareMode::RoundRobin, |share| share.mode);
    match mode {
        ShareMode::RoundRobin => {
            served.members.get(served.turn % served.members.len().max(1)).copied().filter(has_credit)
        }
        ShareMode::OnDemand => {
            let able = served.members.iter().copied().filter(has_credit);
            able.min_by_key(|id| lead.members.get(id).map_or(0, |member| member.served))
        }
    }
}

/// At the bound of steps a queue that keeps the newest gives its oldest up.
fn enforce_limit(machine: &mut PublisherMachine, subscription: SubscriptionId) {
    while surplus(machine, subscription).is_some_and(|surplus| surplus > 0) {
        if mutated!(machine.wire, DropAssigned) {
            drop_assigned(machine, subscription);
        }
        if !give_up_oldest(machine, subscription) {
            return;
        }
    }
}

/// A rank has no room in bytes for another step: each queue that keeps the newest gives up its oldest, but for the
/// newest itself.
pub(crate) fn make_room(machine: &mut PublisherMachine) {
    let Some(lead) = &machine.lead else { return };
    let may = |served: &Served| served.spec.policy.keeps_newest() && served.queue.len() > 1;
    let queues: Vec<SubscriptionId> =
        lead.served.iter().filter(|(_, served)| may(served)).map(|(&id, _)| id).collect();
    for subscription in queues {
        machine.wire.mark(Transition::QueuedDroppedForBytes);
        give_up_oldest(machine, subscription);
    }
}

/// Whether there was one.
fn give_up_oldest(machine: &mut PublisherMachine, subscription: SubscriptionId) -> bool {
    let counted = !mutated!(machine.wire, SkippedNotCounted);
    let newest = mutated!(machine.wire, DropNewestQueued);
    let Some(served) = machine.served(subscription) else { return false };
    let at = if newest { served.queue.len().saturating_sub(1) } else { 0 };
    let Some(step) = served.drop_queued(at, counted) else { return false };
    machine.wire.mark(Transition::QueuedDropped);
    machine.wire.event(Event::StepDropped { subscription, step });
    released(machine, subscription, smallvec![step], false);
    true
}

/// How many queued steps of a subscription are too many.
fn surplus(machine: &PublisherMachine, subscription: SubscriptionId) -> Option<usize> {
    let lead = machine.lead.as_ref()?;
    let served = lead.served.get(&subscription)?;
    let early = served.queue.len() > 1 && mutated!(machine.wire, DropBelowLimit);
    let limit = served.limit() - usize::from(early);
    match served.spec.policy {
        QueuePolicy::DropOldest => Some((served.queue.len() + lead.held(subscription)).saturating_sub(limit)),
        QueuePolicy::LatestOnly => Some(served.queue.len().saturating_sub(1)),
        QueuePolicy::EveryStep { .. }
        | QueuePolicy::DropNewest
        | QueuePolicy::EveryKth { .. }
        | QueuePolicy::WaitAtMost { .. } => None,
    }
}

/// For the mutation of that name.
fn drop_assigned(machine: &mut PublisherMachine, subscription: SubscriptionId) {
    let Some(lead) = &machine.lead else { return };
    let held = lead.members_of(subscription).filter_map(|(_, member)| member.held.first().copied());
    if let Some(step) = held.min() {
        released(machine, subscription, smallvec![step], false);
    }
}

/// A member's cohort has let go of a step: some rank of it may have given it back, or have closed and still look at it.
pub(crate) fn member_released(
    machine: &mut PublisherMachine,
    from: PeerId,
    member: MemberId,
    (step, let_go): (StepId, LetGo),
) {
    let Some(lead) = &mut machine.lead else { return };
    let Some(known) = lead.members.get_mut(&member) else { return };
    let redelivers = lead.served.get(&known.subscription).is_some_and(|served| served.spec.redelivers());
    if (let_go.given_back && !redelivers) || !known.held.remove(&step) {
        machine.misbehaved(from, Misbehaviour::OutOfOrder("Release"));
        return;
    }
    known.credit += 1;
    let subscription = known.subscription;
    machine.wire.mark(Transition::StepReleased);
    let given_back = let_go.given_back && !mutated!(machine.wire, GiveBackForgotten);
    if !given_back || !queue_again(machine, subscription, &[step], let_go.retire) {
        released(machine, subscription, smallvec![step], let_go.retire);
    }
    assign(machine, subscription);
    drain::consider_ending(machine);
}

/// A subscription needs steps no more: every rank is told, and the lead forgets what nobody has.
pub(crate) fn released(
    machine: &mut PublisherMachine,
    subscription: SubscriptionId,
    steps: Few<StepId>,
    retire: bool,
) {
    if steps.is_empty() {
        return;
    }
    let looked_at = |step: &StepId| {
        let decided = machine.lead.as_ref().and_then(|lead| lead.steps.get(step));
        decided.is_some_and(|decided| decided.retire)
    };
    if let [step] = steps[..] {
        let retire = retire || looked_at(&step);
        unhold(machine, subscription, step);
        log::append(machine, Decision::Released { subscription, steps, retire });
        return;
    }
    let (retired, reused): (Few<StepId>, Few<StepId>) =
        steps.into_iter().partition(|step| retire || looked_at(step));
    for (steps, retire) in [(retired, true), (reused, false)] {
        steps.iter().for_each(|&step| unhold(machine, subscription, step));
        if !steps.is_empty() {
            log::append(machine, Decision::Released { subscription, steps, retire });
        }
    }
}

fn unhold(machine: &mut PublisherMachine, subscription: SubscriptionId, step: StepId) {
    let Some(lead) = &mut machine.lead else { return };
    let Some(decided) = lead.steps.get_mut(&step) else { return };
    decided.unhold(subscription);
    if subscription == RESERVE && mutated!(machine.wire, ReservedNotPinned) {
        decided.holders.clear();
    }
    if decided.holders.is_empty() {
        let table = decided.table;
        lead.steps.remove(&step);
        machine.tables.forget(table);
    }
}

/// What a member held when it went: lost to its subscription, or handed to others.
pub(crate) fn recover(
    machine: &mut PublisherMachine,
    subscription: SubscriptionId,
    held: &[StepId],
    reason: MemberEnd,
) {
    let is_lost = reason != MemberEnd::Left;
    let forgets = mutated!(machine.wire, RedeliveryForgotten);
    if !forgets && queue_again(machine, subscription, held, is_lost) {
        return;
    }
    let others = has_able_member(machine, subscription);
    if let Some(served) = machine.served(subscription).filter(|_| others && is_lost) {
        served.skip_before_front(held.len() as u64);
    }
    if !held.is_empty() {
        machine.wire.mark(Transition::StepLost);
    }
    released(machine, subscription, held.into(), is_lost);
}

/// Whether a member of the subscription can be given steps.
fn has_able_member(machine: &PublisherMachine, subscription: SubscriptionId) -> bool {
    let Some(lead) = &machine.lead else { return false };
    lead.members_of(subscription).any(|(_, member)| !member.ended)
}

/// Steps that a member had, in their order, go to the front of the queue, if the set redelivers and anybody is there to take them.
/// `retire`: that member may still look at them.
fn queue_again(
    machine: &mut PublisherMachine,
    subscription: SubscriptionId,
    steps: &[StepId],
    retire: bool,
) -> bool {
    let others = has_able_member(machine, subscription);
    let Some(lead) = &mut machine.lead else { return false };
    let served = lead.served.get_mut(&subscription).filter(|served| others && served.spec.redelivers());
    let Some(served) = served else { return false };
    for &step in steps.iter().rev() {
        if let Some(decided) = lead.steps.get_mut(&step) {
            decided.retire |= retire;
        }
        served.queue.push_front(Queued { step, skipped: 0, redelivered: true });
        machine.wire.mark(Transition::StepRedelivered);
    }
    true
}
