//! What one publisher rank knows: subscriptions, and its own live steps with those who still need them.

use crate::config::{SubscriptionSpec, VariableSet};
use crate::few::{self, Few};
use crate::message::{ChangeId, ReadyReport};
use crate::request::Request;
use crate::time::Moment;
use fp_types::{NumberMap, PutChanges, StepId, StepMap, SubscriptionId, TableId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use watches::{Watched, Watches};

mod subscription;
mod watches;

pub(crate) use subscription::{Subscription, takes};

/// The standing subscription that keeps the last steps for newcomers.
pub const RESERVE: SubscriptionId = SubscriptionId(0);
/// The standing subscription that keeps the first step for newcomers.
pub const PRECIOUS: SubscriptionId = SubscriptionId(1);
/// The first number of a subscription with a reader.
pub(crate) const FIRST_SUBSCRIPTION: u64 = 2;

/// Whether nobody reads it.
pub(crate) fn is_standing(subscription: SubscriptionId) -> bool {
    subscription.0 < FIRST_SUBSCRIPTION
}

/// Where a step of this rank stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    #[default]
    Begun,
    Ended,
    Reported,
    Decided,
}

/// A live step of this rank.
#[derive(Default)]
pub(crate) struct LocalStep {
    pub(crate) stage: Stage,
    /// Who still needs it here.
    pub(crate) kept: Few<SubscriptionId>,
    /// The watches that it is kept for until it is decided.
    watched: Option<Arc<Watched>>,
    /// Whether it was stored at all.
    pub(crate) stored: bool,
    /// Changes whose outcome was not known when it began.
    pub(crate) pending: Vec<ChangeId>,
    /// The rank's own report, until it is sent, but for what it put.
    pub(crate) report: ReadyReport,
    /// What it put, until that is reported.
    pub(crate) put: Option<Arc<PutChanges>>,
    pub(crate) len_bytes: u64,
    /// After it this rank had no room in bytes for another.
    pub(crate) full: bool,
    pub(crate) retire: bool,
    pub(crate) freed: bool,
    /// Its table, once it is decided.
    pub(crate) table: Option<TableId>,
}

impl LocalStep {
    /// Whether it may be decided and is not yet.
    pub(crate) fn is_open(&self) -> bool {
        self.stage != Stage::Decided
    }

    /// Whether somebody needs its blocks.
    fn is_needed(&self) -> bool {
        !self.kept.is_empty() || self.watched.is_some()
    }

    /// Whether exactly these need it.
    pub(crate) fn is_kept_for(&self, kept: &[SubscriptionId]) -> bool {
        self.watched.is_none() && self.kept.iter().eq(kept)
    }
}

/// Subscriptions and live steps of one rank.
#[derive(Default)]
pub(crate) struct Ledger {
    subscriptions: NumberMap<SubscriptionId, Subscription>,
    /// Those that the next step has to look at one by one, in order: all but watches that have no step.
    looked_at: Vec<SubscriptionId>,
    watches: Watches,
    /// Those whose end is agreed.
    ended: Vec<SubscriptionId>,
    pub(crate) steps: StepMap<LocalStep>,
    /// The next step to begin.
    pub(crate) next: StepId,
    /// The open step, if one is.
    pub(crate) open: Option<StepId>,
}

/// The blocks of a step are needed no more.
pub(crate) struct Freed {
    pub(crate) step: StepId,
    pub(crate) retire: bool,
}

impl Ledger {
    /// One whose first step has this number.
    pub(crate) fn starting_at(first: StepId) -> Self {
        Self { next: first, ..Self::default() }
    }

    pub(crate) fn get(&self, id: SubscriptionId) -> Option<&Subscription> {
        self.subscriptions.get(&id)
    }

    /// For what a wait for it changes.
    pub(crate) fn waited_for(&mut self, id: SubscriptionId) -> Option<&mut Subscription> {
        self.subscriptions.get_mut(&id)
    }

    /// All of them, standing ones included.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&SubscriptionId, &Subscription)> {
        self.subscriptions.iter()
    }

    /// Those that the next step has to look at.
    pub(crate) fn looked_at(&self) -> &[SubscriptionId] {
        &self.looked_at
    }

    pub(crate) fn add(&mut self, id: SubscriptionId, known: Subscription) {
        self.ended.extend(known.ended.map(|_| id));
        self.subscriptions.insert(id, known);
        self.note(id);
    }

    /// The end of a subscription is prepared: what it has, and steps that are kept for no watch any more.
    pub(crate) fn remove(&mut self, id: SubscriptionId) -> (Vec<StepId>, Vec<StepId>) {
        let Some(known) = self.subscriptions.get_mut(&id) else { return Default::default() };
        known.removed = true;
        let live = known.live.iter().copied().collect();
        let unwatched = self.leave(id);
        self.note(id);
        (live, unwatched)
    }

    /// The end of a subscription is agreed: from that step on.
    pub(crate) fn end(&mut self, id: SubscriptionId, first: StepId) {
        let Some(known) = self.subscriptions.get_mut(&id) else { return };
        known.ended = Some(first);
        self.ended.push(id);
    }

    /// The first step of a subscription is agreed.
    pub(crate) fn start(&mut self, id: SubscriptionId, first: StepId) -> Option<&Subscription> {
        let known = self.subscriptions.get_mut(&id)?;
        known.first = Some(first);
        Some(known)
    }

    /// Another selection is prepared: until it is agreed from which step on it holds, what was wanted before is wanted
    /// as well.
    pub(crate) fn reselect(&mut self, id: SubscriptionId, spec: SubscriptionSpec) {
        let Some(known) = self.subscriptions.get_mut(&id) else { return };
        known.reselect(spec);
        self.watch_changed();
        self.note(id);
    }

    /// The oldest change of selection is agreed: it holds from `first` on.
    pub(crate) fn selection_agreed(&mut self, id: SubscriptionId, first: StepId) {
        if let Some(known) = self.subscriptions.get_mut(&id) {
            known.selection_agreed(first);
        }
    }

    /// Whether the step travels as `Ready`, by what this rank knows.
    pub(crate) fn flows(&self, step: StepId) -> bool {
        self.subscriptions.values().any(|subscription| subscription.flows(step))
    }

    /// Steps of this rank that may be decided and are not yet.
    pub(crate) fn undecided(&self) -> usize {
        self.steps
            .iter()
            .filter(|(id, step)| step.is_open() && (!step.pending.is_empty() || self.flows(**id)))
            .count()
    }

    pub(crate) fn oldest_undecided(&self) -> Option<StepId> {
        self.steps.iter().find(|(_, step)| step.is_open()).map(|(&id, _)| id)
    }

    /// Bytes of the steps that somebody with a reader needs.
    pub(crate) fn live_bytes(&self) -> u64 {
        let read = |step: &LocalStep| {
            step.watched.is_some() || step.kept.iter().any(|&subscription| !is_standing(subscription))
        };
        self.steps.values().filter(|step| read(step)).map(|step| step.len_bytes).sum()
    }

    /// A step after which there was no room in bytes, and whose decision may make some.
    pub(crate) fn undecided_full(&self) -> Option<StepId> {
        let waits = |(id, step): &(&StepId, &LocalStep)| {
            step.full && step.is_open() && (!step.pending.is_empty() || self.flows(**id))
        };
        self.steps.iter().find(waits).map(|(&id, _)| id)
    }

    /// Whether a variable of this step is stored for somebody.
    pub(crate) fn keeps(&self, step: StepId, variable: &str) -> bool {
        let wanted = |subscription: &SubscriptionId| {
            let known = self.subscriptions.get(subscription);
            known.is_some_and(|known| known.variable_sets(step).any(|set| set.contains(variable)))
        };
        self.steps.get(&step).is_some_and(|local| {
            let watched = local.watched.as_ref();
            watched.is_some_and(|watched| watched.variables.contains(variable))
                || local.kept.iter().any(wanted)
        })
    }

    /// What these subscriptions and watches ask for of the next step, each once and with how many of them asked for it.
    pub(crate) fn requests(
        &self,
        kept: &[SubscriptionId],
        watched: Option<&Watched>,
    ) -> Vec<(Arc<Request>, u32)> {
        let asks = |id: &SubscriptionId| self.subscriptions.get(id).is_some_and(Subscription::asks);
        if watched.is_none_or(|watched| watched.requests.is_empty()) && !kept.iter().any(asks) {
            return Vec::new();
        }
        let mut asked: BTreeMap<&Arc<Request>, u32> = BTreeMap::new();
        let all = kept.iter().filter_map(|id| self.subscriptions.get(id)).filter(|known| known.asks());
        for known in all {
            known.requests(self.next).into_iter().for_each(|request| *asked.entry(request).or_default() += 1);
        }
        for (request, count) in watched.iter().flat_map(|watched| &watched.requests) {
            *asked.entry(request).or_default() += count;
        }
        asked.into_iter().map(|(request, count)| (request.clone(), count)).collect()
    }

    /// What each subscription with a reader asks for of the next step, but for modules.
    pub(crate) fn asked(&self) -> Vec<SubscriptionSpec> {
        let read = self.subscriptions.iter().filter(|(id, known)| !is_standing(**id) && !known.removed);
        read.flat_map(|(_, known)| {
            let nothing =
                SubscriptionSpec { variables: VariableSet::Named(Vec::new()), ..Default::default() };
            let judged = |when: &Vec<u8>| SubscriptionSpec { when: Some(when.clone()), ..nothing.clone() };
            let earlier: Vec<_> = known.earlier_conditions(self.next).map(judged).collect();
            earlier.into_iter().chain([known.asked(self.next)])
        })
        .collect()
    }

    /// Those of these subscriptions that are about some steps only.
    pub(crate) fn unjudged(&self, kept: &[SubscriptionId]) -> Few<SubscriptionId> {
        let is_conditional =
            |id: &&SubscriptionId| self.subscriptions.get(id).is_some_and(|known| known.spec.when.is_some());
        few::gather(kept.iter().filter(is_conditional).copied())
    }

    /// What is measured for the conditions of these subscriptions and of watches, each once.
    pub(crate) fn measures(&self, unjudged: &[SubscriptionId], watched: Option<&Watched>) -> Vec<Arc<str>> {
        if unjudged.is_empty() && watched.is_none() {
            return Vec::new();
        }
        let known = unjudged.iter().filter_map(|id| self.subscriptions.get(id));
        let own = known.flat_map(|known| known.measures(self.next));
        let measures: BTreeSet<&Arc<str>> =
            own.chain(watched.iter().flat_map(|watched| &watched.measures)).collect();
        measures.into_iter().cloned().collect()
    }

    /// Begins the next step for these subscriptions and watches.
    pub(crate) fn begin(
        &mut self,
        now: Moment,
        (kept, watched): (Few<SubscriptionId>, Option<Arc<Watched>>),
        not_kept: Vec<SubscriptionId>,
        pending: Vec<ChangeId>,
    ) -> StepId {
        let step = self.next;
        self.next = StepId(step.0 + 1);
        self.open = Some(step);
        if watched.is_some() {
            self.watch(step);
        }
        self.note_begun(now, step, &kept);
        let stored = !kept.is_empty() || watched.is_some();
        let local = LocalStep {
            stage: Stage::Begun,
            kept,
            watched,
            stored,
            pending,
            report: ReadyReport { not_kept, ..ReadyReport::default() },
            put: None,
            len_bytes: 0,
            full: false,
            retire: false,
            freed: false,
            table: None,
        };
        self.steps.insert(step, local);
        step
    }

    /// What a step that begins means for those that it had to look at.
    fn note_begun(&mut self, now: Moment, step: StepId, kept: &[SubscriptionId]) {
        let Self { subscriptions, looked_at, watches, .. } = self;
        looked_at.retain(|id| {
            let Some(known) = subscriptions.get_mut(id) else { return false };
            known.earlier.retain(|earlier| earlier.holds(step));
            let since = known.waiting_since.take();
            known.waited += since.map_or(Duration::ZERO, |since| now.since(since));
            if kept.binary_search(id).is_ok() {
                known.live.insert(step);
                watches.consider(*id, known, step);
            }
            known.is_looked_at()
        });
    }

    /// A subscription needs a step of this rank no more.
    pub(crate) fn let_go(
        &mut self,
        subscription: SubscriptionId,
        step: StepId,
        retire: bool,
    ) -> Option<Freed> {
        if let Some(known) = self.subscriptions.get_mut(&subscription)
            && known.live.remove(&step)
        {
            (known.waiting_since, known.waited) = (None, Duration::ZERO);
            self.note(subscription);
        }
        let local = self.steps.get_mut(&step)?;
        few::take_out(&mut local.kept, &subscription);
        local.retire |= retire;
        self.review(step)
    }

    /// A subscription has a step of this rank.
    pub(crate) fn hold(&mut self, subscription: SubscriptionId, step: StepId) {
        let Some(local) = self.steps.get_mut(&step).filter(|local| !local.freed) else { return };
        few::add(&mut local.kept, subscription);
        if let Some(known) = self.subscriptions.get_mut(&subscription) {
            known.live.insert(step);
            self.note(subscription);
        }
    }

    /// Frees the blocks of a step that nobody needs, and forgets the step when nothing is left to say of it.
    pub(crate) fn review(&mut self, step: StepId) -> Option<Freed> {
        let local = self.steps.get_mut(&step)?;
        if local.stage == Stage::Begun || local.is_needed() {
            return None;
        }
        let freed = (!local.freed).then_some(Freed { step, retire: local.retire });
        let (stored, stage, may_settle) = (local.stored, local.stage, local.pending.is_empty());
        local.freed = true;
        let settled = stage == Stage::Decided || (may_settle && !self.flows(step));
        if settled {
            self.steps.remove(&step);
        }
        freed.filter(|_| stored)
    }

    /// Steps that will not be decided any more, the open one among them.
    pub(crate) fn undecided_steps(&self, open: Option<StepId>) -> Vec<StepId> {
        let undecided = self.steps.iter().filter(|(_, step)| step.is_open()).map(|(&id, _)| id);
        let mut steps: Vec<StepId> = undecided.collect();
        steps.extend(open);
        steps.sort();
        steps.dedup();
        steps
    }

    /// Whether a live step of this rank has that table.
    pub(crate) fn has_table(&self, table: TableId) -> bool {
        self.steps.values().any(|step| step.table == Some(table))
    }

    /// Whether this rank has said all that it has to say of an undecided step.
    pub(crate) fn is_reported(&self, step: StepId) -> bool {
        self.steps.get(&step).is_some_and(|local| local.stage == Stage::Reported)
    }

    /// Nothing more is to be said of this step.
    pub(crate) fn settle(&mut self, step: StepId) {
        if let Some(local) = self.steps.get_mut(&step) {
            local.stage = Stage::Decided;
            local.pending.clear();
        }
    }

    /// Who needs a step here, but for watches that it is not decided for.
    pub(crate) fn keepers(&self, step: StepId) -> Vec<SubscriptionId> {
        self.steps.get(&step).map(|local| local.kept.iter().copied().collect()).unwrap_or_default()
    }

    /// Subscriptions with a reader and the steps of this rank that they need.
    pub(crate) fn holders(&self) -> Vec<(SubscriptionId, Vec<StepId>)> {
        let read = self.subscriptions.iter().filter(|(id, _)| !is_standing(**id));
        read.map(|(&id, known)| (id, self.live(known))).filter(|(_, steps)| !steps.is_empty()).collect()
    }

    /// Of those, the lossless ones, and the steps that have ended.
    pub(crate) fn unreleased(&self) -> Vec<(SubscriptionId, Vec<StepId>)> {
        let mut holders = self.holders();
        holders.retain(|(id, _)| self.get(*id).is_some_and(|known| !known.spec.policy.may_drop()));
        holders.iter_mut().for_each(|(_, steps)| steps.retain(|step| self.open != Some(*step)));
        holders.retain(|(_, steps)| !steps.is_empty());
        holders
    }

    /// Forgets subscriptions whose end lies behind everything that this rank may still report.
    pub(crate) fn forget_ended(&mut self) {
        if self.ended.is_empty() {
            return;
        }
        let oldest = self.oldest_unreported();
        let Self { subscriptions, ended, looked_at, .. } = self;
        ended.retain(|id| {
            let is_over =
                subscriptions.get(id).is_none_or(|known| known.ended.is_none_or(|end| end <= oldest));
            if is_over {
                subscriptions.remove(id);
                looked_at.retain(|known| known != id);
            }
            !is_over
        });
    }

    fn oldest_unreported(&self) -> StepId {
        let unreported = |step: &LocalStep| matches!(step.stage, Stage::Begun | Stage::Ended);
        self.steps.iter().find(|(_, step)| unreported(step)).map_or(self.next, |(&id, _)| id)
    }
}

#[cfg(test)]
mod tests;
