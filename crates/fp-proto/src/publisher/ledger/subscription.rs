//! A subscription as one publisher rank knows it.

use crate::config::{QueuePolicy, SubscriptionSpec, VariableSet};
use crate::request::Request;
use crate::time::Moment;
use fp_types::{StandingCondition, StepId, StepSet};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// A selection that another one follows.
pub(super) struct Earlier {
    variables: VariableSet,
    requests: Vec<Arc<Request>>,
    when: Option<Vec<u8>>,
    measures: Vec<Arc<str>>,
    /// It holds for steps before this one, once that is agreed; until then for every step.
    before: Option<StepId>,
}

impl Earlier {
    pub(super) fn holds(&self, step: StepId) -> bool {
        self.before.is_none_or(|before| step < before)
    }
}

/// A subscription as this rank knows it.
#[derive(Default)]
pub(crate) struct Subscription {
    /// Without requests: those are the next.
    pub(crate) spec: SubscriptionSpec,
    /// What else it asks for: handed out in every step, and long where modules are among it.
    pub(super) requests: Vec<Arc<Request>>,
    /// What its condition has measured.
    measures: Vec<Arc<str>>,
    /// Changes of selection under way: what was wanted before, oldest first.
    pub(super) earlier: Vec<Earlier>,
    /// Its first step, once agreed.
    pub(crate) first: Option<StepId>,
    /// Its end was prepared: nothing is kept for it any more.
    pub(crate) removed: bool,
    /// From here on steps flow no more because of it.
    pub(crate) ended: Option<StepId>,
    /// From this step on steps are kept for it until they are decided as for all watches.
    pub(super) joined: Option<StepId>,
    /// Steps of this rank that are live for it, but for those that are kept for all watches.
    pub(crate) live: StepSet,
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
        let measures = measures_of(&spec);
        Self { spec, requests, measures, first, ..Self::default() }
    }

    pub(super) fn flows(&self, step: StepId) -> bool {
        self.first.is_some_and(|first| first <= step) && self.ended.is_none_or(|ended| step < ended)
    }

    /// Whether it wants this step at all; before its first step is agreed it wants every one.
    pub(crate) fn wants(&self, step: StepId) -> bool {
        let Some(first) = self.first else { return !self.removed };
        !self.removed && first <= step && takes(self.spec.policy, first, step)
    }

    pub(super) fn reselect(&mut self, spec: SubscriptionSpec) {
        let measures = match spec.when == self.spec.when {
            true => self.measures.clone(),
            false => std::mem::replace(&mut self.measures, measures_of(&spec)),
        };
        let new = spec.requests.into_iter().map(Arc::new).collect();
        let when = std::mem::replace(&mut self.spec.when, spec.when);
        let variables = std::mem::replace(&mut self.spec.variables, spec.variables);
        let requests = std::mem::replace(&mut self.requests, new);
        self.earlier.push(Earlier { variables, requests, when, measures, before: None });
    }

    pub(super) fn selection_agreed(&mut self, first: StepId) {
        if let Some(earlier) = self.earlier.iter_mut().find(|earlier| earlier.before.is_none()) {
            earlier.before = Some(first);
        }
    }

    /// Whether steps are kept for it as for all watches.
    pub(crate) fn has_joined(&self) -> bool {
        self.joined.is_some()
    }

    /// Whether the next step has to look at it.
    pub(super) fn is_looked_at(&self) -> bool {
        self.joined.is_none() || !self.live.is_empty() || !self.earlier.is_empty()
    }

    /// Variables that it asks for of a step.
    pub(super) fn variable_sets(&self, step: StepId) -> impl Iterator<Item = &VariableSet> {
        let earlier = self.earlier.iter().filter(move |earlier| earlier.holds(step));
        std::iter::once(&self.spec.variables).chain(earlier.map(|earlier| &earlier.variables))
    }

    /// What is measured for its condition, and for those before that hold for a step.
    pub(super) fn measures(&self, step: StepId) -> impl Iterator<Item = &Arc<str>> {
        let earlier = self.earlier.iter().filter(move |earlier| earlier.holds(step));
        self.measures.iter().chain(earlier.flat_map(|earlier| &earlier.measures))
    }

    /// Other conditions that hold for a step until a change is agreed.
    pub(super) fn earlier_conditions(&self, step: StepId) -> impl Iterator<Item = &Vec<u8>> {
        let earlier = self.earlier.iter().filter(move |earlier| earlier.holds(step));
        earlier
            .filter_map(|earlier| earlier.when.as_ref())
            .filter(|when| self.spec.when.as_ref() != Some(when))
    }

    /// What it asks for of a step, but for modules: what was asked for before is in it until the change is agreed.
    pub(super) fn asked(&self, step: StepId) -> SubscriptionSpec {
        let earlier = self.earlier.iter().filter(|earlier| earlier.holds(step));
        let variables =
            earlier.fold(self.spec.variables.clone(), |all, earlier| all.union(earlier.variables.clone()));
        let requests = self.requests(step).into_iter().filter(|request| !request.is_module());
        let requests = requests.map(|request| Request::clone(request)).collect();
        SubscriptionSpec { variables, requests, ..self.spec.clone() }
    }

    /// Whether it asks for anything, or did.
    pub(super) fn asks(&self) -> bool {
        !self.requests.is_empty() || !self.earlier.is_empty()
    }

    /// What it asks for of a step, each once.
    pub(super) fn requests(&self, step: StepId) -> BTreeSet<&Arc<Request>> {
        let earlier = self.earlier.iter().filter(|earlier| earlier.holds(step));
        earlier.flat_map(|earlier| &earlier.requests).chain(&self.requests).collect()
    }
}

/// What the condition has measured.
fn measures_of(spec: &SubscriptionSpec) -> Vec<Arc<str>> {
    let condition = spec.when.as_deref().map(StandingCondition::decode);
    let names = condition.iter().flatten().flat_map(StandingCondition::measures);
    names.map(|name| Arc::from(name.as_str())).collect()
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
