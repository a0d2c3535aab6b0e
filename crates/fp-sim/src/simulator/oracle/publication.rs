//! What a publisher rank may begin, keep and wait for.

use super::Rule;
use super::{Oracle, PublisherTruth, RankStep, SubscriptionTruth};
use crate::simulator::names::CohortId;
use fp_proto::commands::{BeginWait, BegunStep};
use fp_proto::config::QueuePolicy;
use fp_proto::publisher::{PRECIOUS, RESERVE};
use fp_proto::time::Moment;
use fp_types::{Rank, StepId, SubscriptionId};
use std::collections::BTreeSet;
use std::time::Duration;

fn is_standing(subscription: SubscriptionId) -> bool {
    subscription == RESERVE || subscription == PRECIOUS
}

impl Oracle {
    /// A rank began a step.
    pub(crate) fn begun(&mut self, cohort: CohortId, rank: Rank, begun: &BegunStep) {
        let now = self.now;
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        let own = &mut truth.ranks[rank.0 as usize];
        let expected = own.steps.len() as u64;
        own.waits = None;
        own.wait_ends(now);
        own.steps.push(RankStep {
            kept: begun.kept.iter().chain(&*begun.watches).copied().collect(),
            begun: now,
            said: None,
            abandoned: false,
            stored: BTreeSet::new(),
            len_bytes: 0,
            freed: None,
        });
        self.demand(begun.step.0 == expected, Rule::StepsAreCountedFromFirst, || {
            format!("{cohort} rank {rank} began {} as its step number {expected}", begun.step)
        });
        self.check_skew(cohort, rank, begun.step);
        self.check_kept(cohort, rank, begun);
        self.check_live(cohort, rank);
    }

    /// At most `skew_steps` steps of a rank are begun and not decided.
    fn check_skew(&mut self, cohort: CohortId, rank: Rank, step: StepId) {
        let truth = &self.publishers[&cohort];
        let flows = |step: u64| {
            truth.ranks[rank.0 as usize].started.values().any(|&first| first.0 <= step)
                && truth.subscriptions.values().any(|subscription| !subscription.ended)
        };
        let undecided = |step: &u64| truth.ended_by_all(StepId(*step)).is_none() && flows(*step);
        // An abandoned step is decided, too, when all have said so.
        let given_up =
            |step: &u64| truth.ranks.iter().all(|rank| rank.steps.get(*step as usize).is_some_and(has_said));
        let count = (0..=step.0).filter(|step| undecided(step) && !given_up(step)).count();
        let limit = truth.plan.skew_of(rank) as usize;
        self.demand(count <= limit, Rule::SkewIsBounded, || {
            format!(
                "{cohort} rank {rank} began step {step} with {count} undecided ones, at most {limit} allowed"
            )
        });
    }

    fn check_kept(&mut self, cohort: CohortId, rank: Rank, begun: &BegunStep) {
        let truth = &self.publishers[&cohort];
        let started = truth.ranks[rank.0 as usize].started.clone();
        for (subscription, first) in started {
            let truth = &self.publishers[&cohort];
            let Some(wanted) = truth.subscriptions.get(&subscription) else { continue };
            let meant = first <= begun.step && wanted.takes(begun.step, first);
            let over = wanted.ended || truth.is_deserted(subscription);
            let keeps = begun.kept.contains(&subscription) || begun.watches.contains(&subscription);
            if meant && !over && !keeps {
                self.check_refusal(cohort, rank, begun.step, subscription);
            }
        }
        self.check_standing(cohort, rank, begun);
    }

    /// A step that is not kept for a subscription that wants it.
    fn check_refusal(&mut self, cohort: CohortId, rank: Rank, step: StepId, subscription: SubscriptionId) {
        let truth = &self.publishers[&cohort];
        let wanted = &truth.subscriptions[&subscription];
        let limit_bytes = rank_limit_bytes(truth, rank);
        let live = self.maybe_live(truth, rank, subscription);
        let at_steps = live.len() >= wanted.spec.limit_steps as usize;
        let at_bytes = self.maybe_live_bytes(truth, rank) >= limit_bytes;
        let allowed = match wanted.spec.policy {
            QueuePolicy::EveryStep { .. } | QueuePolicy::EveryKth { .. } => false,
            QueuePolicy::DropNewest | QueuePolicy::WaitAtMost { .. } => at_steps || at_bytes,
            QueuePolicy::DropOldest | QueuePolicy::LatestOnly => at_bytes,
        };
        let policy = wanted.spec.policy;
        let count = live.len();
        self.demand(allowed || self.is_disturbed(cohort, subscription), Rule::PolicyDropsOnlyWhatItMay, || {
            format!(
                "{cohort} rank {rank} did not keep step {step} for {subscription} ({policy:?}) with {count} live steps"
            )
        });
    }

    fn check_standing(&mut self, cohort: CohortId, rank: Rank, begun: &BegunStep) {
        let truth = &self.publishers[&cohort];
        let bounded = truth.plan.limit_bytes < 1 << 30 || truth.plan.tight_rank.is_some();
        let reserve = truth.plan.reserve_steps == 0 || begun.kept.contains(&RESERVE);
        let later = begun.step > truth.plan.first();
        let precious = !truth.plan.precious_first || later || begun.kept.contains(&PRECIOUS);
        self.demand(bounded || (reserve && precious), Rule::StandingSubscriptionsAreKept, || {
            format!("{cohort} rank {rank} keeps step {} for {:?} only", begun.step, begun.kept)
        });
    }

    /// Steps that are live for a subscription on a rank by every reading of the news on their way.
    pub(crate) fn surely_live(
        &self,
        truth: &PublisherTruth,
        rank: Rank,
        subscription: SubscriptionId,
    ) -> Vec<StepId> {
        self.live(truth, rank, subscription, self.now, false)
    }

    /// Steps that may still count as live on a rank, as not all news has come.
    pub(crate) fn maybe_live(
        &self,
        truth: &PublisherTruth,
        rank: Rank,
        subscription: SubscriptionId,
    ) -> Vec<StepId> {
        self.live(truth, rank, subscription, self.long_ago(), true)
    }

    fn live(
        &self,
        truth: &PublisherTruth,
        rank: Rank,
        subscription: SubscriptionId,
        known: Moment,
        in_doubt: bool,
    ) -> Vec<StepId> {
        let steps = &truth.ranks[rank.0 as usize].steps;
        let all = steps.iter().enumerate().map(|(step, own)| (StepId(step as u64), own));
        let live = all.filter(|(step, own)| {
            let past = in_doubt && truth.may_be_given_of_the_past(*step, subscription);
            (own.kept.contains(&subscription) || past)
                && own.freed.is_none_or(|freed| freed > known)
                && !self.needed_no_more(truth, *step, subscription, known, in_doubt)
        });
        live.map(|(step, _)| step).collect()
    }

    /// Whether a subscription needed this step no more at that moment.
    fn needed_no_more(
        &self,
        truth: &PublisherTruth,
        step: StepId,
        subscription: SubscriptionId,
        at: Moment,
        in_doubt: bool,
    ) -> bool {
        let Some(wanted) = truth.subscriptions.get(&subscription) else { return false };
        let judged = || truth.ended_by_all(step).is_some_and(|ended| ended <= at) && truth.is_whole(step);
        if !truth.is_met(step, subscription) && judged() {
            return true;
        }
        let dropped = wanted.dropped.get(&step).is_some_and(|&dropped| dropped <= at);
        let holders: Vec<_> = wanted.assignments.iter().filter(|(assigned, _)| *assigned == step).collect();
        if let Some((_, member)) = holders.last() {
            let released = self.is_released(truth, *member, step);
            let known = truth.members.get(member);
            let gone = known.and_then(|known| known.gone).map(|(gone, _)| gone);
            // Of a redelivering set it may be waiting for a member again. What the member released before it went is
            // over at its lead from then on, and everywhere else once that news has come.
            let given_back = known.is_some_and(|known| self.is_given_back(known, step));
            if in_doubt && wanted.spec.redelivers() && (gone.is_some() || given_back) {
                let heard = known.and_then(|known| known.release_heard.get(&step).copied());
                let heard = heard.filter(|_| !given_back);
                return dropped || heard.is_some_and(|heard| heard <= at);
            }
            return dropped || released.into_iter().chain(gone).any(|over| over <= at);
        }
        let first = truth.first_of(subscription);
        let past = truth.may_be_given_of_the_past(step, subscription);
        dropped || (!past && first.is_some_and(|first| step < first || !wanted.takes(step, first)))
    }

    fn maybe_live_bytes(&self, truth: &PublisherTruth, rank: Rank) -> u64 {
        let known = self.long_ago();
        let steps = truth.ranks[rank.0 as usize].steps.iter();
        let live = steps.filter(|step| step.freed.is_none_or(|freed| freed > known));
        live.map(|step| step.len_bytes).sum()
    }

    /// Live steps on a rank are bounded, for each subscription and in all.
    fn check_live(&mut self, cohort: CohortId, rank: Rank) {
        let truth = &self.publishers[&cohort];
        let skew = truth.plan.skew_of(rank) as usize;
        let reserved = truth.plan.reserved_steps();
        let mut total = reserved + 2 * skew + 2;
        let mut excess = None;
        for (&subscription, wanted) in &truth.subscriptions {
            let bound = live_bound(wanted, skew) + usize::from(truth.plan.precious_first);
            total += wanted.spec.limit_steps.max(2) as usize + skew + reserved;
            let started = truth.ranks[rank.0 as usize].started.contains_key(&subscription);
            let live = self.surely_live(truth, rank, subscription).len();
            if started && live > bound && !wanted.takes_reserve() {
                excess = Some((subscription, live, bound));
            }
        }
        let steps = &truth.ranks[rank.0 as usize].steps;
        let stored = steps.iter().filter(|step| !step.kept.is_empty() && step.freed.is_none()).count();
        self.demand(excess.is_none(), Rule::LiveStepsOfSubscriptionAreBounded, || {
            format!("{cohort} rank {rank}: subscription, live steps and bound: {excess:?}")
        });
        self.demand(stored <= total, Rule::MemoryOfRankIsBounded, || {
            format!("{cohort} rank {rank} stores {stored} steps, more than {total}")
        });
    }

    /// What a rank stored, or did not, of a variable that it put.
    pub(crate) fn put(
        &mut self,
        cohort: CohortId,
        rank: Rank,
        step: StepId,
        variable: &'static str,
        stored: bool,
    ) {
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        let Some(own) = truth.ranks[rank.0 as usize].steps.get_mut(step.0 as usize) else { return };
        if stored {
            own.stored.insert(variable);
        }
        let kept = own.kept.clone();
        let asked = |id: &SubscriptionId| {
            is_standing(*id) || truth.subscriptions.get(id).is_some_and(|wanted| wanted.ever_wanted(variable))
        };
        let wanted = kept.iter().any(asked);
        self.demand(!stored || wanted, Rule::WhatNobodyAskedForIsNotStored, || {
            format!("{cohort} rank {rank} stores {variable} of step {step}, kept for {kept:?}")
        });
    }

    /// A rank ended a step, or gave it up.
    pub(crate) fn ended_step(
        &mut self,
        cohort: CohortId,
        rank: Rank,
        step: StepId,
        abandoned: bool,
        len_bytes: u64,
    ) {
        let now = self.now;
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        if let Some(own) = truth.ranks[rank.0 as usize].steps.get_mut(step.0 as usize) {
            own.abandoned = abandoned;
            own.said = Some(now);
            own.len_bytes = len_bytes;
        }
    }

    /// `begin_step` said what it waits for.
    pub(crate) fn begin_waits(
        &mut self,
        cohort: CohortId,
        rank: Rank,
        reason: &BeginWait,
        until: Option<Moment>,
    ) {
        let now = self.now;
        if let Some(own) = self.publishers.get_mut(&cohort).map(|truth| &mut truth.ranks[rank.0 as usize]) {
            let same = match reason {
                BeginWait::Subscription { subscription, live_steps, .. } => {
                    Some((*subscription, *live_steps))
                }
                #[rustfmt::skip]
                BeginWait::Opening | BeginWait::Skew { .. } | BeginWait::Paused { .. }
                | BeginWait::Request { .. } => None,
            };
            let unchanged = |&(waits, had, _): &(SubscriptionId, u32, Moment)| {
                same.is_some_and(|(subscription, has)| subscription == waits && has >= had)
            };
            let since = own.waits.filter(unchanged).map_or(now, |(.., since)| since);
            own.begin_waits.get_or_insert(now);
            own.waits = same.map(|(subscription, live_steps)| (subscription, live_steps, since));
        }
        match reason {
            BeginWait::Opening => self.demand(until.is_some(), Rule::EveryWaitHasDeadline, || {
                format!("{cohort} rank {rank} waits for its cohort without a deadline")
            }),
            BeginWait::Paused { by } => self.demand(until.is_some(), Rule::EveryWaitHasDeadline, || {
                format!("{cohort} rank {rank} is paused by {by} without a deadline")
            }),
            // It ends with the second pass, or the cohort is lost.
            BeginWait::Request { .. } => {}
            BeginWait::Skew { step, lagging } => self.check_skew_wait(cohort, rank, *step, *lagging),
            BeginWait::Subscription { subscription, live_steps, live_bytes } => {
                self.check_room_wait(cohort, rank, *subscription, *live_steps, *live_bytes, until);
            }
        }
    }

    /// A wait for skew names a step that somebody has not ended.
    fn check_skew_wait(&mut self, cohort: CohortId, rank: Rank, step: StepId, lagging: Option<Rank>) {
        let truth = &self.publishers[&cohort];
        let said_at =
            |rank: &super::truth::PublisherRank| rank.steps.get(step.0 as usize).and_then(|own| own.said);
        let all_said = truth.ranks.iter().all(|rank| rank.steps.get(step.0 as usize).is_some_and(has_said));
        let last = truth.ranks.iter().filter_map(said_at).max();
        let stuck = all_said && last.is_some_and(|last| last < self.long_ago()) && !self.is_touched(cohort);
        self.demand(!stuck, Rule::NoWaitWithoutCause, || {
            format!("{cohort} rank {rank} waits for step {step}, which every rank ended long ago (lagging {lagging:?})")
        });
    }

    /// A wait for a subscription is due to its bound, and ends.
    fn check_room_wait(
        &mut self,
        cohort: CohortId,
        rank: Rank,
        subscription: SubscriptionId,
        live_steps: u32,
        live_bytes: u64,
        until: Option<Moment>,
    ) {
        let truth = &self.publishers[&cohort];
        let (limit_bytes, limit_wait) = (rank_limit_bytes(truth, rank), truth.plan.limit_wait);
        let spec = truth.subscriptions.get(&subscription).map(|wanted| wanted.spec.clone());
        let full =
            spec.as_ref().is_some_and(|spec| live_steps >= spec.limit_steps) || live_bytes >= limit_bytes;
        self.demand(full, Rule::NoWaitWithoutCause, || {
            format!("{cohort} rank {rank} waits for {subscription} with {live_steps} steps, {live_bytes} bytes live")
        });
        self.demand(until.is_some(), Rule::EveryWaitHasDeadline, || {
            format!("{cohort} rank {rank} waits for {subscription} without a deadline")
        });
        let patience = match spec.map(|spec| spec.policy) {
            Some(QueuePolicy::EveryStep { max_wait } | QueuePolicy::EveryKth { max_wait, .. }) => max_wait,
            Some(QueuePolicy::WaitAtMost { wait }) => wait,
            _ => Duration::ZERO,
        };
        let patience = patience.min(limit_wait);
        self.check_patience(cohort, rank, subscription, patience);
    }

    fn check_patience(
        &mut self,
        cohort: CohortId,
        rank: Rank,
        subscription: SubscriptionId,
        patience: Duration,
    ) {
        let Some((waits, _, since)) = self.publishers[&cohort].ranks[rank.0 as usize].waits else { return };
        let waited = self.now.since(since);
        let late = waits == subscription
            && waited > patience + self.slack
            && !self.is_disturbed(cohort, subscription);
        self.demand(!late, Rule::WaitForSubscriptionEnds, || {
            format!("{cohort} rank {rank} has waited {waited:?} for {subscription}, allowed are {patience:?}")
        });
    }
}

/// Whether a rank has ended the step or given it up.
fn has_said(step: &RankStep) -> bool {
    step.said.is_some()
}

/// The byte bound of a rank.
pub(super) fn rank_limit_bytes(truth: &PublisherTruth, rank: Rank) -> u64 {
    match truth.plan.tight_rank {
        Some((tight, limit_bytes)) if tight == rank => limit_bytes,
        _ => truth.plan.limit_bytes,
    }
}

/// How many steps may be live for a subscription on one rank.
fn live_bound(wanted: &SubscriptionTruth, skew: usize) -> usize {
    let limit = wanted.spec.limit_steps as usize;
    match wanted.spec.policy {
        QueuePolicy::DropOldest | QueuePolicy::LatestOnly => limit.max(2) + skew + 1,
        QueuePolicy::EveryStep { .. }
        | QueuePolicy::DropNewest
        | QueuePolicy::EveryKth { .. }
        | QueuePolicy::WaitAtMost { .. } => limit,
    }
}
