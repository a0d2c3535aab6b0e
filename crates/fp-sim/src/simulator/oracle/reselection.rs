//! Other selections and conditions: what holds from which step on.

use super::Oracle;
use super::truth::SubscriptionTruth;
use crate::simulator::content::Demand;
use crate::simulator::names::CohortId;
use fp_proto::config::SubscriptionSpec;
use fp_types::StepId;

impl Oracle {
    /// A subscriber cohort asked for another selection, and perhaps for another condition.
    pub(crate) fn reselecting(&mut self, reader: CohortId, spec: &SubscriptionSpec, demand: Option<Demand>) {
        let Some(truth) = self.subscribers.get_mut(&reader) else { return };
        let is_new = spec.when != truth.spec.when;
        truth.spec = spec.clone();
        truth.asked_demand = demand.filter(|_| is_new);
        let Some(subscription) = self.subscription_of(reader) else { return };
        subscription.selections.push((None, spec.variables.clone()));
        subscription.next_demands.extend(demand.filter(|_| is_new).map(|demand| (None, demand)));
    }

    /// The publisher's lead said from which step on holds what was asked for first.
    pub(crate) fn reselected(&mut self, reader: CohortId, first: StepId, spec: &SubscriptionSpec) {
        let Some(subscription) = self.subscription_of(reader) else { return };
        if let Some(open) = subscription.selections.iter_mut().find(|(known, _)| known.is_none()) {
            open.0 = Some(first);
        }
        let is_of = |demand: Demand| demand.condition().map(|condition| condition.encode()) == spec.when;
        let mut next = subscription.next_demands.iter_mut();
        if let Some(open) = next.find(|(known, demand)| known.is_none() && is_of(*demand)) {
            open.0 = Some(first);
        }
    }

    /// The cohort's lead heard which condition its subscription has by now.
    pub(crate) fn condition_told(&mut self, reader: CohortId, spec: &SubscriptionSpec) {
        let Some(truth) = self.subscribers.get_mut(&reader) else { return };
        if spec.when == truth.spec.when {
            truth.demand = truth.asked_demand.take().or(truth.demand);
        }
    }

    fn subscription_of(&mut self, reader: CohortId) -> Option<&mut SubscriptionTruth> {
        let attachment = self.subscribers.get(&reader)?.attachments.last()?;
        let (publisher, subscription) = (attachment.publisher, attachment.subscription);
        self.publishers.get_mut(&publisher)?.subscriptions.get_mut(&subscription)
    }
}
