//! What one publisher rank knows: subscriptions, and its own live steps with those who still need them.

use crate::config::{QueuePolicy, SubscriptionSpec, VariableSet};
use crate::few;
use crate::few::Few;
use crate::message::{ChangeId, ReadyReport};
use crate::request::Request;
use crate::time::Moment;
use fp_types::{PutChanges, StandingCondition, StepId, StepMap, SubscriptionId, TableId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

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

/// A selection that another one follows.
struct Earlier {
    variables: VariableSet,
    requests: Vec<Arc<Request>>,
    /// It holds for steps before this one, once that is agreed; until then for every step.
    before: Option<StepId>,
}

impl Earlier {
    fn holds(&self, step: StepId) -> bool {
        self.before.is_none_or(|before| step < before)
    }
}

/// A subscription as this rank knows it.
#[derive(Default)]
pub(crate) struct Subscription {
    /// Without requests: those are the next.
    pub(crate) spec: SubscriptionSpec,
    /// What else it asks for: handed out in every step, and long where modules are among it.
    requests: Vec<Arc<Request>>,
    /// What its condition has measured.
    measures: Vec<Arc<str>>,
    /// Changes of selection under way: what was wanted before, oldest first.
    earlier: Vec<Earlier>,
    /// Its first step, once agreed.
    pub(crate) first: Option<StepId>,
    /// Its end was prepared: nothing is kept for it any more.
    pub(crate) removed: bool,
    /// From here on steps flow no more because of it.
    pub(crate) ended: Option<StepId>,
    /// Steps of this rank that are live for it.
    pub(crate) live: BTreeSet<StepId>,
    /// Since when `begin_step` waits for it.
    pub(crate) waiting_since: Option<Moment>,
    /// How long `begin_step` waited for it in earlier steps, since it last released one.
    pub(crate) waited: Duration,
    /// Whether the lead was asked to expel it.
    pub(crate) expire_sent: bool,
}

impl Subscription {
    pub(crate) fn new(mut spec: SubscriptionSpec, first: Option<StepId>) -> Self {
        let requests = std::mem::take(&mut spec.requests).into_iter().map(Arc::new).collect();
        let condition = spec.when.as_deref().map(StandingCondition::decode);
        let names = condition.iter().flatten().flat_map(StandingCondition::measures);
        let measures = names.map(|name| Arc::from(name.as_str())).collect();
        Self { spec, requests, measures, first, ..Self::default() }
    }

    fn flows(&self, step: StepId) -> bool {
        self.first.is_some_and(|first| first <= step) && self.ended.is_none_or(|ended| step < ended)
    }

    /// Whether it wants this step at all; before its first step is agreed it wants every one.
    pub(crate) fn wants(&self, step: StepId) -> bool {
        let Some(first) = self.first else { return !self.removed };
        !self.removed && first <= step && takes(self.spec.policy, first, step)
    }

    /// Another selection is prepared: until it is agreed from which step on it holds, what was wanted before is wanted
    /// as well.
    pub(crate) fn reselect(&mut self, spec: SubscriptionSpec) {
        let new = spec.requests.into_iter().map(Arc::new).collect();
        let variables = std::mem::replace(&mut self.spec.variables, spec.variables);
        let requests = std::mem::replace(&mut self.requests, new);
        self.earlier.push(Earlier { variables, requests, before: None });
    }

    /// The oldest change of selection is agreed: it holds from `first` on.
    pub(crate) fn selection_agreed(&mut self, first: StepId) {
        if let Some(earlier) = self.earlier.iter_mut().find(|earlier| earlier.before.is_none()) {
            earlier.before = Some(first);
        }
    }

    fn wants_variable(&self, step: StepId, variable: &str) -> bool {
        let mut earlier = self.earlier.iter().filter(|earlier| earlier.holds(step));
        self.spec.variables.contains(variable) || earlier.any(|earlier| earlier.variables.contains(variable))
    }

    /// What it asks for of a step, but for modules: what was asked for before is in it until the change is agreed.
    fn asked(&self, step: StepId) -> SubscriptionSpec {
        let earlier = self.earlier.iter().filter(|earlier| earlier.holds(step));
        let variables =
            earlier.fold(self.spec.variables.clone(), |all, earlier| all.union(earlier.variables.clone()));
        let requests = self.requests(step).into_iter().filter(|request| !request.is_module());
        let requests = requests.map(|request| Request::clone(request)).collect();
        SubscriptionSpec { variables, requests, ..self.spec.clone() }
    }

    /// Whether it asks for anything, or did.
    fn asks(&self) -> bool {
        !self.requests.is_empty() || !self.earlier.is_empty()
    }

    /// What it asks for of a step, each once.
    fn requests(&self, step: StepId) -> BTreeSet<&Arc<Request>> {
        let earlier = self.earlier.iter().filter(|earlier| earlier.holds(step));
        earlier.flat_map(|earlier| &earlier.requests).chain(&self.requests).collect()
    }
}

/// Whether a policy takes this step of those since `first`.
pub(crate) fn takes(policy: QueuePolicy, first: StepId, step: StepId) -> bool {
    match policy {
        QueuePolicy::EveryKth { every, .. } => (step.0 - first.0).is_multiple_of(every.max(1)),
        QueuePolicy::EveryStep { .. }
        | QueuePolicy::DropOldest
        | QueuePolicy::DropNewest
        | QueuePolicy::LatestOnly
        | QueuePolicy::WaitAtMost { .. } => true,
    }
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
}

/// Subscriptions and live steps of one rank.
#[derive(Default)]
pub(crate) struct Ledger {
    pub(crate) subscriptions: BTreeMap<SubscriptionId, Subscription>,
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
        let read = |step: &LocalStep| step.kept.iter().any(|&subscription| !is_standing(subscription));
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
            self.subscriptions.get(subscription).is_some_and(|known| known.wants_variable(step, variable))
        };
        self.steps.get(&step).is_some_and(|local| local.kept.iter().any(wanted))
    }

    /// What these subscriptions ask for of the next step, each once and with how many of them asked for it.
    pub(crate) fn requests(&self, kept: &[SubscriptionId]) -> Vec<(Arc<Request>, u32)> {
        let mut asked: BTreeMap<&Arc<Request>, u32> = BTreeMap::new();
        let all =
            self.subscriptions.iter().filter(|(id, known)| known.asks() && kept.binary_search(id).is_ok());
        for (_, known) in all {
            known.requests(self.next).into_iter().for_each(|request| *asked.entry(request).or_default() += 1);
        }
        asked.into_iter().map(|(request, count)| (request.clone(), count)).collect()
    }

    /// What each subscription with a reader asks for of the next step, but for modules.
    pub(crate) fn asked(&self) -> Vec<SubscriptionSpec> {
        let read = self.subscriptions.iter().filter(|(id, known)| !is_standing(**id) && !known.removed);
        read.map(|(_, known)| known.asked(self.next)).collect()
    }

    /// Those of these subscriptions that are about some steps only.
    pub(crate) fn unjudged(&self, kept: &[SubscriptionId]) -> Few<SubscriptionId> {
        let conditional = self.subscriptions.iter().filter(|(_, known)| known.spec.when.is_some());
        conditional.map(|(&id, _)| id).filter(|id| kept.binary_search(id).is_ok()).collect()
    }

    /// What is measured for the conditions of these subscriptions, each once.
    pub(crate) fn measures(&self, unjudged: &[SubscriptionId]) -> Vec<Arc<str>> {
        let known = unjudged.iter().filter_map(|id| self.subscriptions.get(id));
        let measures: BTreeSet<&Arc<str>> = known.flat_map(|known| &known.measures).collect();
        measures.into_iter().cloned().collect()
    }

    /// Begins the next step for these subscriptions.
    pub(crate) fn begin(
        &mut self,
        now: Moment,
        kept: Few<SubscriptionId>,
        not_kept: Vec<SubscriptionId>,
        pending: Vec<ChangeId>,
    ) -> StepId {
        let step = self.next;
        self.next = StepId(step.0 + 1);
        self.open = Some(step);
        for (id, known) in &mut self.subscriptions {
            known.earlier.retain(|earlier| earlier.holds(step));
            let since = known.waiting_since.take();
            known.waited += since.map_or(Duration::ZERO, |since| now.since(since));
            if kept.binary_search(id).is_ok() {
                known.live.insert(step);
            }
        }
        let report = ReadyReport { not_kept, ..ReadyReport::default() };
        let stored = !kept.is_empty();
        let local = LocalStep { kept, stored, pending, report, ..LocalStep::default() };
        self.steps.insert(step, local);
        step
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
        }
    }

    /// Frees the blocks of a step that nobody needs, and forgets the step when nothing is left to say of it.
    pub(crate) fn review(&mut self, step: StepId) -> Option<Freed> {
        let flows = self.flows(step);
        let local = self.steps.get_mut(&step)?;
        if local.stage == Stage::Begun || !local.kept.is_empty() {
            return None;
        }
        let freed = (!local.freed).then_some(Freed { step, retire: local.retire });
        let stored = local.stored;
        local.freed = true;
        let settled = local.stage == Stage::Decided || (local.pending.is_empty() && !flows);
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

    /// Who needs a step here.
    pub(crate) fn keepers(&self, step: StepId) -> Vec<SubscriptionId> {
        self.steps.get(&step).map(|local| local.kept.iter().copied().collect()).unwrap_or_default()
    }

    /// Subscriptions with a reader and the steps of this rank that they need.
    pub(crate) fn holders(&self) -> Vec<(SubscriptionId, Vec<StepId>)> {
        let read =
            self.subscriptions.iter().filter(|(id, known)| !is_standing(**id) && !known.live.is_empty());
        read.map(|(&id, known)| (id, known.live.iter().copied().collect())).collect()
    }

    /// Of those, the lossless ones, and the steps that have ended.
    pub(crate) fn unreleased(&self) -> Vec<(SubscriptionId, Vec<StepId>)> {
        let mut holders = self.holders();
        holders.retain(|(id, _)| !self.subscriptions[id].spec.policy.may_drop());
        holders.iter_mut().for_each(|(_, steps)| steps.retain(|step| self.open != Some(*step)));
        holders.retain(|(_, steps)| !steps.is_empty());
        holders
    }

    /// Forgets subscriptions whose end lies behind everything that this rank may still report.
    pub(crate) fn forget_ended(&mut self) {
        let oldest = self.oldest_unreported();
        self.subscriptions.retain(|_, known| known.ended.is_none_or(|ended| ended > oldest));
    }

    fn oldest_unreported(&self) -> StepId {
        let unreported = |step: &LocalStep| matches!(step.stage, Stage::Begun | Stage::Ended);
        self.steps.iter().find(|(_, step)| unreported(step)).map_or(self.next, |(&id, _)| id)
    }
}

#[cfg(test)]
mod tests;
