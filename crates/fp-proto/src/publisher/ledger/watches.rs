//! Watches: lossless subscriptions with a condition, of which most steps are none.
//!
//! A step is kept for all of them together until it is decided. So one that does not fire costs a step nothing, and only
//! those that have something are looked at one by one.

use super::{Freed, Ledger, Subscription};
use crate::config::VariableSet;
use crate::request::Request;
use fp_types::{StepId, SubscriptionId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

/// What a step is kept for until it is decided: the same value for all steps between two changes of watches.
pub(crate) struct Watched {
    /// In order.
    pub(crate) ids: Arc<[SubscriptionId]>,
    /// What they want together.
    pub(super) variables: VariableSet,
    pub(super) requests: BTreeMap<Arc<Request>, u32>,
    pub(super) measures: BTreeSet<Arc<str>>,
}

/// The watches of one rank.
#[derive(Default)]
pub(crate) struct Watches {
    /// Each with the first step that is kept for it as for all.
    joined: BTreeSet<(StepId, SubscriptionId)>,
    /// Each with its bound.
    limits: BTreeSet<(u32, SubscriptionId)>,
    /// What the next step is kept for; `None` where that is to be found out.
    watched: Option<Arc<Watched>>,
    /// Steps of this rank that are kept for them and not decided, in order: at most as many as ranks may be apart.
    steps: Vec<StepId>,
}

impl Watches {
    /// Undecided steps that are kept for one that joined then.
    fn since(&self, joined: Option<StepId>) -> &[StepId] {
        let Some(joined) = joined else { return &[] };
        &self.steps[self.steps.partition_point(|step| *step < joined)..]
    }

    /// A step is kept for this one alone. If it is a watch that has begun, the next step is kept for it as for all.
    pub(super) fn consider(&mut self, id: SubscriptionId, known: &mut Subscription, step: StepId) {
        if !known.spec.is_watch() || known.joined.is_some() || known.first.is_none_or(|first| first > step) {
            return;
        }
        let joined = StepId(step.0 + 1);
        known.joined = Some(joined);
        self.joined.insert((joined, id));
        self.limits.insert((known.spec.limit_steps, id));
        self.watched = None;
    }

    fn leave(&mut self, id: SubscriptionId, known: &mut Subscription) {
        let Some(joined) = known.joined.take() else { return };
        self.joined.remove(&(joined, id));
        self.limits.remove(&(known.spec.limit_steps, id));
        self.watched = None;
    }

    /// Steps that are kept for nobody any more.
    fn unwatched(&self) -> Vec<StepId> {
        let oldest = self.joined.first().map(|(joined, _)| *joined);
        self.steps.iter().copied().filter(|step| oldest.is_none_or(|oldest| *step < oldest)).collect()
    }
}

impl Ledger {
    /// A subscription changed: whether the next step has to look at it.
    pub(super) fn note(&mut self, id: SubscriptionId) {
        let is_looked_at = self.subscriptions.get(&id).is_some_and(Subscription::is_looked_at);
        match self.looked_at.binary_search(&id) {
            Ok(at) if !is_looked_at => drop(self.looked_at.remove(at)),
            Err(at) if is_looked_at => self.looked_at.insert(at, id),
            Ok(_) | Err(_) => {}
        }
    }

    /// A subscription is a watch no more. Steps are left that are kept for nobody.
    pub(super) fn leave(&mut self, id: SubscriptionId) -> Vec<StepId> {
        let Some(known) = self.subscriptions.get_mut(&id) else { return Vec::new() };
        self.watches.leave(id, known);
        self.watches.unwatched()
    }

    /// What watches ask for is to be found out anew.
    pub(super) fn watch_changed(&mut self) {
        self.watches.watched = None;
    }

    /// The watches that the next step is kept for.
    pub(crate) fn watched(&mut self) -> Option<Arc<Watched>> {
        if self.watches.joined.is_empty() {
            return None;
        }
        if let Some(known) = &self.watches.watched {
            return Some(known.clone());
        }
        let (watched, lasts) = self.find_watched();
        let watched = Arc::new(watched);
        self.watches.watched = lasts.then(|| watched.clone());
        Some(watched)
    }

    /// The same, and whether it holds for the steps after it too.
    fn find_watched(&self) -> (Watched, bool) {
        let mut ids: Vec<SubscriptionId> = self.watches.joined.iter().map(|(_, id)| *id).collect();
        ids.sort_unstable();
        let all = || ids.iter().filter_map(|id| self.subscriptions.get(id));
        let (mut requests, mut measures) = (BTreeMap::new(), BTreeSet::new());
        for known in all() {
            measures.extend(known.measures(self.next).cloned());
            for request in known.requests(self.next) {
                *requests.entry(request.clone()).or_default() += 1;
            }
        }
        let variables = VariableSet::of_all(all().flat_map(|known| known.variable_sets(self.next)));
        let lasts = all().all(|known| known.earlier.is_empty());
        (Watched { ids: ids.into(), variables, requests, measures }, lasts)
    }

    /// A step begins that is kept for the watches.
    pub(super) fn watch(&mut self, step: StepId) {
        self.watches.steps.push(step);
    }

    /// The undecided step that a watch awaits before the next one begins, if one does: as it has as many as it may, or as
    /// the rank has no room in bytes.
    pub(crate) fn awaited_by_watches(&self, full: bool) -> Option<StepId> {
        let count = self.watches.steps.len();
        if full {
            return self.watches.steps.first().copied();
        }
        let most = (u32::try_from(count).unwrap_or(u32::MAX), SubscriptionId(u64::MAX));
        let few = self.watches.limits.range(..=most);
        few.filter_map(|(limit, id)| {
            let steps = self.watches.since(self.subscriptions.get(id)?.joined);
            steps.first().filter(|_| steps.len() >= *limit as usize).copied()
        })
        .next()
    }

    /// Whether there is one.
    pub(crate) fn has_watches(&self) -> bool {
        !self.watches.joined.is_empty()
    }

    /// One of the watches that a step is kept for.
    pub(crate) fn watch_of(&self, step: StepId) -> Option<SubscriptionId> {
        self.steps.get(&step)?.watched.as_ref()?.ids.first().copied()
    }

    /// A step is kept for the watches no more. Of those that do not have it, it counts as one that they let go of, if it is
    /// `renewed` how long may be waited for them.
    pub(crate) fn let_go_watched(&mut self, step: StepId, retire: bool, renewed: bool) -> Option<Freed> {
        self.watches.steps.retain(|known| *known != step);
        let local = self.steps.get_mut(&step)?;
        local.watched.take()?;
        local.retire |= retire;
        let Self { subscriptions, looked_at, .. } = self;
        for id in looked_at.iter().filter(|_| renewed) {
            let Some(known) = subscriptions.get_mut(id) else { continue };
            if known.joined.is_some_and(|joined| joined <= step) && !known.live.contains(&step) {
                (known.waiting_since, known.waited) = (None, Duration::ZERO);
            }
        }
        self.review(step)
    }

    /// How many steps of this rank are live for a subscription.
    pub(crate) fn live_len(&self, known: &Subscription) -> usize {
        known.live.len() + self.watches.since(known.joined).len()
    }

    /// Those steps, in order.
    pub(crate) fn live(&self, known: &Subscription) -> Vec<StepId> {
        let mut steps: Vec<StepId> =
            known.live.iter().chain(self.watches.since(known.joined)).copied().collect();
        steps.sort_unstable();
        steps
    }

    /// The oldest of them that is not decided.
    pub(crate) fn oldest_unjudged(&self, known: &Subscription) -> Option<StepId> {
        let is_open = |step: &&StepId| self.steps.get(step).is_some_and(super::LocalStep::is_open);
        let own = known.live.iter().find(is_open);
        own.into_iter().chain(self.watches.since(known.joined).first()).min().copied()
    }
}
