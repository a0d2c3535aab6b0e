//! What a queue that keeps the newest may give up: never the newest, and nothing that there is a place for.

use super::Rule;
use super::{MemberTruth, Oracle, PublisherTruth, SubscriptionTruth};
use crate::simulator::names::CohortId;
use fp_proto::config::QueuePolicy;
use fp_types::{StepId, SubscriptionId};
use std::collections::BTreeSet;

impl Oracle {
    /// The lead gave up a step of a queue.
    pub(crate) fn check_displaced(&mut self, cohort: CohortId, subscription: SubscriptionId, step: StepId) {
        let truth = &self.publishers[&cohort];
        let Some(wanted) = truth.subscriptions.get(&subscription) else { return };
        let policy = wanted.spec.policy;
        if !policy.keeps_newest() || !is_queued(truth, wanted, subscription, step) {
            return;
        }
        let begun = truth.lowest_begun();
        let newer = (step.0 + 1..begun).any(|newer| is_kept(truth, wanted, subscription, StepId(newer)));
        let (queued, held) = occupancy(truth, wanted, subscription);
        let limit = wanted.spec.limit_steps.max(2) as usize;
        let latest_alone = policy == QueuePolicy::LatestOnly;
        let over = if latest_alone { queued > 1 } else { queued + held > limit };
        let of_the_past = wanted.takes_reserve() || truth.plan.precious_first;
        let tight = truth.plan.limit_bytes < 1 << 30 || truth.plan.tight_rank.is_some();
        self.demand(newer, Rule::QueueThatKeepsNewestKeepsIt, || {
            format!("{cohort} drops step {step} of {subscription} ({policy:?}), and has no newer one for it")
        });
        self.demand(over || of_the_past || tight, Rule::NothingIsDroppedThatThereIsPlaceFor, || {
            format!(
                "{cohort} drops step {step} of {subscription} ({policy:?}): {queued} queued, {held} held, limit {limit}"
            )
        });
    }
}

/// Whether the subscription has the step, or will, by what its ranks did.
fn is_kept(
    truth: &PublisherTruth,
    wanted: &SubscriptionTruth,
    subscription: SubscriptionId,
    step: StepId,
) -> bool {
    let whole = truth.is_whole(step) && truth.is_met(step, subscription);
    whole && truth.kept_by_all(step, subscription) && !wanted.dropped.contains_key(&step)
}

/// Whether it waits for a member, again if it is to be redelivered.
fn is_queued(
    truth: &PublisherTruth,
    wanted: &SubscriptionTruth,
    subscription: SubscriptionId,
    step: StepId,
) -> bool {
    let holder = wanted.assignments.iter().rev().find(|(given, _)| *given == step).map(|&(_, member)| member);
    let is_over = |known: &MemberTruth| known.gone.is_some() || known.given_back.contains(&step);
    let is_free = holder.is_none_or(|member| is_over(&truth.members[&member]));
    let begun = truth.first_of(subscription).is_some_and(|first| step >= first);
    begun && is_free && is_kept(truth, wanted, subscription, step)
}

/// How many steps wait, and how many members hold.
fn occupancy(
    truth: &PublisherTruth,
    wanted: &SubscriptionTruth,
    subscription: SubscriptionId,
) -> (usize, usize) {
    let queued =
        (0..truth.lowest_begun()).filter(|&step| is_queued(truth, wanted, subscription, StepId(step)));
    let is_held = |&(step, member): &(StepId, _)| {
        let known = &truth.members[&member];
        known.gone.is_none() && !known.release_heard.contains_key(&step)
    };
    let given: BTreeSet<_> = wanted.assignments.iter().filter(|given| is_held(given)).collect();
    (queued.count(), given.len())
}
