//! The two passes by which a change of subscriptions gets its first step (`docs/protocol.md`, section 6).

use super::PublisherMachine;
use super::ledger::{Subscription, takes};
use crate::config::SubscriptionSpec;
use crate::effect::{Misbehaviour, PeerId};
use crate::event::Event;
use crate::message::{ChangeId, ChangeKind, Decision, Message};
use crate::publisher::{drain, log, membership, ready, reserve, steering, steps};
use crate::transition::Transition;
use crate::wire::mutated;
use fp_types::{Rank, StepId, SubscriptionId};
use std::collections::{BTreeMap, BTreeSet};

/// A change between its two passes.
struct Pending {
    subscription: SubscriptionId,
    kind: ChangeKind,
    /// Children that have not answered.
    missing: BTreeSet<Rank>,
    next: StepId,
    answered: bool,
}

/// The changes under way on one rank.
#[derive(Default)]
pub(crate) struct Changes {
    pending: BTreeMap<ChangeId, Pending>,
}

impl Changes {
    /// Those whose outcome is not known yet. No step that begins now is reported before.
    pub(crate) fn pending(&self) -> Vec<ChangeId> {
        match self.pending.is_empty() {
            true => Vec::new(),
            false => self.pending.keys().copied().collect(),
        }
    }

    pub(crate) fn is_pending(&self, change: ChangeId) -> bool {
        self.pending.contains_key(&change)
    }

    /// Whether it is a request that is under way.
    pub(crate) fn is_request(&self, change: ChangeId) -> bool {
        let kind = self.pending.get(&change).map(|pending| &pending.kind);
        matches!(kind, Some(ChangeKind::Steer(_)))
    }

    /// What holds up the next step until it is known when it is seen: its parameter, and who asks.
    pub(crate) fn held_by(&self) -> Option<(String, String)> {
        self.pending.values().find_map(|pending| match &pending.kind {
            ChangeKind::Steer(request) if request.is_awaited() => {
                Some((request.name.clone(), request.by.clone()))
            }
            ChangeKind::Steer(_) | ChangeKind::Add(_) | ChangeKind::Remove | ChangeKind::Update(_) => None,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

/// First pass: keep from now on, and answer with the next step to begin.
pub(crate) fn apply_prepare(
    machine: &mut PublisherMachine,
    change: ChangeId,
    subscription: SubscriptionId,
    kind: ChangeKind,
) {
    match &kind {
        ChangeKind::Add(spec) => {
            machine.wire.mark(Transition::AddPrepared);
            let known = Subscription::new(SubscriptionSpec::clone(spec), None);
            machine.ledger.add(subscription, known);
        }
        ChangeKind::Remove => prepare_remove(machine, subscription),
        ChangeKind::Update(spec) => {
            machine.wire.mark(Transition::UpdatePrepared);
            machine.ledger.reselect(subscription, SubscriptionSpec::clone(spec));
            if mutated!(machine.wire, EarlierSelectionForgotten) {
                machine.ledger.selection_agreed(subscription, StepId(0));
            }
        }
        ChangeKind::Steer(_) => machine.wire.mark(Transition::SteeringPrepared),
    }
    let missing = machine.cohort.children().map(|(rank, _)| rank).collect();
    let next = StepId(machine.ledger.next.0 + steering::margin(machine, &kind));
    machine.changes.pending.insert(change, Pending { subscription, kind, missing, next, answered: false });
    machine.finish();
    answer_if_complete(machine, change);
}

fn prepare_remove(machine: &mut PublisherMachine, subscription: SubscriptionId) {
    machine.wire.mark(Transition::RemovePrepared);
    let (live, unwatched) = machine.ledger.remove(subscription);
    let_go_all(machine, subscription, &live, false);
    unwatched.into_iter().for_each(|step| let_go_watched(machine, step, false));
}

/// A step is kept for the watches no more.
pub(crate) fn let_go_watched(machine: &mut PublisherMachine, step: StepId, retire: bool) {
    let renewed = !mutated!(machine.wire, PatienceUsedUp);
    if let Some(freed) = machine.ledger.let_go_watched(step, retire, renewed) {
        steps::step_freed(machine, freed);
    }
}

pub(crate) fn let_go_all(
    machine: &mut PublisherMachine,
    subscription: SubscriptionId,
    steps: &[StepId],
    retire: bool,
) {
    let ignored = mutated!(machine.wire, PatienceUsedUp);
    let waits = |known: &Subscription| (known.waiting_since, known.waited);
    let before = machine.ledger.get(subscription).filter(|_| ignored).map(waits);
    for &step in steps {
        if let Some(freed) = machine.ledger.let_go(subscription, step, retire) {
            steps::step_freed(machine, freed);
        }
    }
    if ignored && let Some(known) = machine.ledger.waited_for(subscription) {
        (known.waiting_since, known.waited) = before.unwrap_or_default();
    }
}

/// A child's subtree has answered the first pass.
pub(crate) fn child_prepared(
    machine: &mut PublisherMachine,
    from: PeerId,
    child: Rank,
    change: ChangeId,
    next: StepId,
) {
    let minimum = mutated!(machine.wire, PreparedMinimum);
    let Some(pending) = machine.changes.pending.get_mut(&change).filter(|pending| !pending.answered) else {
        machine.misbehaved(from, Misbehaviour::OutOfOrder("Prepared"));
        return;
    };
    pending.next = if minimum { pending.next.min(next) } else { pending.next.max(next) };
    pending.missing.remove(&child);
    answer_if_complete(machine, change);
}

fn answer_if_complete(machine: &mut PublisherMachine, change: ChangeId) {
    let Some(pending) = machine.changes.pending.get_mut(&change) else { return };
    if !pending.missing.is_empty() || pending.answered {
        return;
    }
    pending.answered = true;
    let (next, subscription) = (pending.next, pending.subscription);
    if machine.lead.is_some() {
        start_change(machine, change, subscription, next);
    } else {
        machine.cohort.tell_parent(&mut machine.wire, Message::Prepared { change, next });
    }
}

/// At the lead: every rank has answered.
fn start_change(
    machine: &mut PublisherMachine,
    change: ChangeId,
    subscription: SubscriptionId,
    first: StepId,
) {
    let first = StepId(first.0.saturating_sub(u64::from(mutated!(machine.wire, FirstStepTooLow))));
    let Some(kind) = machine.changes.pending.get(&change).map(|known| known.kind.clone()) else { return };
    let first = match (&kind, machine.served(subscription).and_then(|served| served.lowest)) {
        (ChangeKind::Add(_), Some(lowest)) => first.max(lowest),
        _ => first,
    };
    let (mut reserved, mut reserve_from) = (Vec::new(), first);
    if matches!(kind, ChangeKind::Add(_)) {
        let past = reserve::reserve_for(machine, subscription, first);
        reserve::admit(machine, subscription, first, &past);
        (reserved, reserve_from) = (past.given, past.from);
    }
    log::append(machine, Decision::Start { change, first, reserved, reserve_from });
    membership::change_started(machine, subscription, first, &kind);
    // Closing may have waited for nothing but this change.
    drain::consider_ending(machine);
}

/// Second pass: the change holds from `first` on.
pub(crate) fn apply_start(
    machine: &mut PublisherMachine,
    change: ChangeId,
    first: StepId,
    reserved: &[StepId],
) {
    let Some(pending) = machine.changes.pending.remove(&change) else { return };
    let subscription = pending.subscription;
    match pending.kind {
        ChangeKind::Add(_) => start_subscription(machine, subscription, first, reserved),
        ChangeKind::Remove => end_subscription(machine, subscription, first),
        ChangeKind::Update(_) => {
            machine.wire.mark(Transition::UpdateDone);
            machine.ledger.selection_agreed(subscription, first);
        }
        ChangeKind::Steer(request) => steering::start(machine, change, first, *request),
    }
    ready::send_ready(machine);
}

fn start_subscription(
    machine: &mut PublisherMachine,
    subscription: SubscriptionId,
    first: StepId,
    reserved: &[StepId],
) {
    machine.wire.mark(Transition::AddStarted);
    let Some(known) = machine.ledger.start(subscription, first) else { return };
    let policy = known.spec.policy;
    let surplus = |step: &StepId| *step < first || !takes(policy, first, *step);
    let dropped: Vec<StepId> = known.live.iter().copied().filter(surplus).collect();
    let_go_all(machine, subscription, &dropped, false);
    for &step in reserved {
        machine.ledger.hold(subscription, step);
    }
    machine.wire.event(Event::SubscriptionStarted { subscription, first });
}

fn end_subscription(machine: &mut PublisherMachine, subscription: SubscriptionId, first: StepId) {
    machine.wire.mark(Transition::RemoveDone);
    machine.ledger.end(subscription, first);
    machine.wire.event(Event::SubscriptionEnded { subscription });
}
