//! Which subscriptions the lead has to judge one by one when it decides a step, and which together.

use super::Served;
use fp_types::{NumberMap, StandingCondition, StepId, SubscriptionId, Thresholds};
use std::collections::BTreeSet;

/// Subscriptions that are served, by how they are judged.
#[derive(Default)]
pub(crate) struct Judging {
    /// In order.
    one_by_one: Vec<SubscriptionId>,
    /// Of those: what can be judged together with others once its first step has been decided.
    newcomers: Vec<SubscriptionId>,
    together: Thresholds<SubscriptionId>,
    /// Those that will be judged by other conditions than now.
    changing: BTreeSet<SubscriptionId>,
}

impl Judging {
    /// A subscription is served from now on.
    pub(crate) fn add(&mut self, id: SubscriptionId, served: &Served) {
        if let Err(at) = self.one_by_one.binary_search(&id) {
            self.one_by_one.insert(at, id);
        }
        let condition = served.condition.as_ref().filter(|_| served.spec.is_watch());
        let is_comparison =
            |condition: &StandingCondition| Thresholds::<SubscriptionId>::takes(condition.condition());
        self.newcomers.extend(condition.is_some_and(is_comparison).then_some(id));
        if !served.next_conditions.is_empty() {
            self.changing.insert(id);
        }
    }

    /// A subscription will be judged by another condition.
    pub(crate) fn change(&mut self, id: SubscriptionId) {
        self.changing.insert(id);
    }

    /// Those that will be.
    pub(crate) fn changing(&self) -> Vec<SubscriptionId> {
        match self.changing.is_empty() {
            true => Vec::new(),
            false => self.changing.iter().copied().collect(),
        }
    }

    /// A subscription is served no more.
    pub(crate) fn remove(&mut self, id: SubscriptionId, served: &Served) {
        if !take_out(&mut self.one_by_one, id)
            && let Some(condition) = &served.condition
        {
            self.together.remove(condition.condition(), id);
        }
        self.newcomers.retain(|known| *known != id);
        self.changing.remove(&id);
    }

    /// Those that are judged one by one.
    pub(crate) fn one_by_one(&self) -> &[SubscriptionId] {
        &self.one_by_one
    }

    /// Those that are judged together: each has begun, gets every step that every rank keeps, and has nothing to count.
    pub(crate) fn together(&self) -> &Thresholds<SubscriptionId> {
        &self.together
    }

    /// Whether a subscription that is served is one of those.
    pub(crate) fn is_judged_together(
        &self,
        id: SubscriptionId,
        all: &NumberMap<SubscriptionId, Served>,
    ) -> bool {
        self.one_by_one.binary_search(&id).is_err() && all.get(&id).is_some_and(|served| !served.removed)
    }

    /// A step is decided: for whom it was one of its own is judged together with others from now on.
    pub(crate) fn decided(&mut self, step: StepId, all: &NumberMap<SubscriptionId, Served>) {
        let Self { one_by_one, newcomers, together, .. } = self;
        newcomers.retain(|id| {
            let Some(served) = all.get(id) else { return false };
            let has_begun = served.first.is_some_and(|first| first <= step) && served.accounted.is_none();
            let condition = served.condition.as_ref().filter(|_| has_begun);
            let joins = condition.is_some_and(|condition| together.insert(condition.condition(), *id));
            if joins {
                take_out(one_by_one, *id);
            }
            !joins
        });
    }
}

/// Takes a subscription out of a sorted list; whether it was there.
fn take_out(list: &mut Vec<SubscriptionId>, id: SubscriptionId) -> bool {
    let found = list.binary_search(&id);
    found.map(|at| list.remove(at)).is_ok()
}
