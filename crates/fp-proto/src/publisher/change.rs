//! The two passes by which a change of subscriptions gets its first step (`docs/protocol.md`, section 6).

use super::PublisherMachine;
use super::ledger::{Subscription, takes};
use crate::effect::{Misbehaviour, PeerId};
use crate::event::Event;
use crate::message::{ChangeId, ChangeKind, Decision, Message};
use crate::transition::Transition;
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
    /// Those whose outcome is not known yet.
    pub(crate) fn pending(&self) -> Vec<ChangeId> {
        self.pending.keys().copied().collect()
    }

    pub(crate) fn is_pending(&self, change: ChangeId) -> bool {
        self.pending.contains_key(&change)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

impl PublisherMachine {
    /// First pass: keep from now on, and answer with the next step to begin.
    pub(crate) fn apply_prepare(&mut self, change: ChangeId, subscription: SubscriptionId, kind: ChangeKind) {
        match &kind {
            ChangeKind::Add(spec) => {
                self.wire.mark(Transition::AddPrepared);
                self.ledger.subscriptions.insert(subscription, Subscription::new(spec.clone(), None));
            }
            ChangeKind::Remove => self.prepare_remove(subscription),
            ChangeKind::Update(spec) => {
                self.wire.mark(Transition::UpdatePrepared);
                if let Some(known) = self.ledger.subscriptions.get_mut(&subscription) {
                    known.reselect(spec.clone());
                }
            }
        }
        let missing = self.cohort.children().map(|(rank, _)| rank).collect();
        let next = self.ledger.next;
        self.changes.pending.insert(change, Pending { subscription, kind, missing, next, answered: false });
        self.finish();
        self.answer_if_complete(change);
    }

    fn prepare_remove(&mut self, subscription: SubscriptionId) {
        self.wire.mark(Transition::RemovePrepared);
        let Some(known) = self.ledger.subscriptions.get_mut(&subscription) else { return };
        known.removed = true;
        let live: Vec<StepId> = known.live.iter().copied().collect();
        self.let_go_all(subscription, &live, false);
    }

    pub(crate) fn let_go_all(&mut self, subscription: SubscriptionId, steps: &[StepId], retire: bool) {
        for &step in steps {
            if let Some(freed) = self.ledger.let_go(subscription, step, retire) {
                self.freed(freed);
            }
        }
    }

    /// A child's subtree has answered the first pass.
    pub(crate) fn child_prepared(&mut self, from: PeerId, child: Rank, change: ChangeId, next: StepId) {
        #[cfg(feature = "mutations")]
        let minimum = self.mutated(crate::mutation::Mutation::PreparedMinimum);
        #[cfg(not(feature = "mutations"))]
        let minimum = false;
        let Some(pending) = self.changes.pending.get_mut(&change).filter(|pending| !pending.answered) else {
            self.misbehaved(from, Misbehaviour::OutOfOrder("Prepared"));
            return;
        };
        pending.next = if minimum { pending.next.min(next) } else { pending.next.max(next) };
        pending.missing.remove(&child);
        self.answer_if_complete(change);
    }

    fn answer_if_complete(&mut self, change: ChangeId) {
        let Some(pending) = self.changes.pending.get_mut(&change) else { return };
        if !pending.missing.is_empty() || pending.answered {
            return;
        }
        pending.answered = true;
        let (next, subscription) = (pending.next, pending.subscription);
        if self.lead.is_some() {
            self.start_change(change, subscription, next);
        } else if let Some(parent) = self.cohort.parent() {
            self.wire.send(self.now, parent, Message::Prepared { change, next });
        }
    }

    /// At the lead: every rank has answered.
    fn start_change(&mut self, change: ChangeId, subscription: SubscriptionId, first: StepId) {
        #[cfg(feature = "mutations")]
        let first = match self.mutated(crate::mutation::Mutation::FirstStepTooLow) {
            true => StepId(first.0.saturating_sub(1)),
            false => first,
        };
        let Some(kind) = self.changes.pending.get(&change).map(|known| known.kind.clone()) else { return };
        let (mut reserved, mut reserve_from) = (Vec::new(), first);
        if matches!(kind, ChangeKind::Add(_)) {
            (reserved, reserve_from) = self.reserve_for(subscription, first);
            self.admit(subscription, first, reserve_from, &reserved);
        }
        self.append(Decision::Start { change, first, reserved, reserve_from });
        self.change_started(subscription, first, &kind);
        // Closing may have waited for nothing but this change.
        self.consider_ending();
    }

    /// Second pass: the change holds from `first` on.
    pub(crate) fn apply_start(&mut self, change: ChangeId, first: StepId, reserved: &[StepId]) {
        let Some(pending) = self.changes.pending.remove(&change) else { return };
        let subscription = pending.subscription;
        match pending.kind {
            ChangeKind::Add(_) => self.start_subscription(subscription, first, reserved),
            ChangeKind::Remove => self.end_subscription(subscription, first),
            ChangeKind::Update(_) => {
                self.wire.mark(Transition::UpdateDone);
                if let Some(known) = self.ledger.subscriptions.get_mut(&subscription) {
                    known.selection_agreed(first);
                }
            }
        }
        self.send_ready();
    }

    fn start_subscription(&mut self, subscription: SubscriptionId, first: StepId, reserved: &[StepId]) {
        self.wire.mark(Transition::AddStarted);
        let Some(known) = self.ledger.subscriptions.get_mut(&subscription) else { return };
        known.first = Some(first);
        let policy = known.spec.policy;
        let surplus = |step: &StepId| *step < first || !takes(policy, first, *step);
        let dropped: Vec<StepId> = known.live.iter().copied().filter(surplus).collect();
        self.let_go_all(subscription, &dropped, false);
        for &step in reserved {
            self.ledger.hold(subscription, step);
        }
        self.wire.event(Event::SubscriptionStarted { subscription, first });
    }

    fn end_subscription(&mut self, subscription: SubscriptionId, first: StepId) {
        self.wire.mark(Transition::RemoveDone);
        if let Some(known) = self.ledger.subscriptions.get_mut(&subscription) {
            known.ended = Some(first);
        }
        self.wire.event(Event::SubscriptionEnded { subscription });
    }
}
