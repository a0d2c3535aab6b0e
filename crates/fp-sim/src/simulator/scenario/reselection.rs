//! What a subscriber asks for while it is attached, in place of what it asked for at first.

use crate::simulator::content::{Demand, MEASURED_BELOW, PARTICLES};
use crate::simulator::prng::Prng;
use crate::simulator::scenario::{Scenario, SubscriberPlan};
use fp_proto::config::{SubscriptionSpec, VariableSet};
use fp_types::Comparison;

/// A condition that no publisher knows.
const UNKNOWN: &[u8] = b"\x01\x05above\x01\x00T";

/// Another selection, and for whom has a condition perhaps another one.
#[derive(Clone, Debug)]
pub(crate) struct Reselection {
    /// It is asked for after so many steps.
    pub(crate) after: u64,
    pub(crate) variables: VariableSet,
    pub(crate) demand: Option<Demand>,
    /// Whether a condition is asked for before, that no publisher knows.
    pub(crate) errs: bool,
}

impl Reselection {
    /// What is asked for in place of this.
    pub(crate) fn of(&self, spec: &SubscriptionSpec) -> SubscriptionSpec {
        let when = self.demand.and_then(Demand::condition).map(|condition| condition.encode());
        let (variables, when) = (self.variables.clone(), when.or_else(|| spec.when.clone()));
        SubscriptionSpec { variables, when, ..spec.clone() }
    }
}

/// The same with a condition that no publisher knows.
pub(crate) fn mistaken(spec: &SubscriptionSpec) -> SubscriptionSpec {
    SubscriptionSpec { when: Some(UNKNOWN.to_vec()), ..spec.clone() }
}

/// Some of those with a condition ask for another one.
pub(crate) fn draw_conditions(scenario: &mut Scenario, prng: &mut Prng) {
    let half = u64::from(scenario.publishers[0].size) * MEASURED_BELOW / 2;
    let is_free = |plan: &&mut SubscriberPlan| plan.demand.is_some() && plan.spec.share.is_none();
    for plan in scenario.subscribers.iter_mut().filter(is_free) {
        if !prng.chance(40) {
            continue;
        }
        let threshold = prng.pick(&[0, half / 2, half, half, 2 * half]);
        let sum = Demand::Sum(prng.pick(&Comparison::ALL), threshold);
        plan.reselects = Some(Reselection {
            after: prng.between(1, 4),
            variables: plan.spec.variables.clone(),
            demand: Some(if prng.chance(80) { sum } else { Demand::Has(PARTICLES) }),
            errs: prng.chance(30),
        });
    }
}
