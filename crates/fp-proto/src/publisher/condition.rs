//! Which steps a subscription is about, where it says a condition (`docs/protocol.md`, section 7).

use crate::config::SubscriptionSpec;
use crate::publisher::PublisherMachine;
use crate::transition::Transition;
use crate::wire::mutated;
use fp_types::{StepId, StepTable, SubscriptionId};

/// Whether a step of that table satisfies what the subscription says, if it says anything.
pub(crate) fn is_met(machine: &PublisherMachine, spec: &SubscriptionSpec, table: &StepTable) -> bool {
    let Some(condition) = &spec.when else { return true };
    mutated!(machine.wire, ConditionIgnored) || machine.config.conditions.holds(condition, table)
}

/// A step is none that the subscription is about: nothing of it is said, and it counts as none that was missed.
pub(crate) fn unmet(machine: &mut PublisherMachine, subscription: SubscriptionId, step: StepId) {
    machine.wire.mark(Transition::ConditionUnmet);
    let skipped = u64::from(mutated!(machine.wire, IndifferentIsSkipped));
    if let Some(served) = machine.served(subscription) {
        served.skipped += served.gap_before(step) + skipped;
    }
}
