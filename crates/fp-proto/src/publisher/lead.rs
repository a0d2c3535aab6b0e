//! What only the publisher's lead has: members, queues, decided steps. It alone assigns steps.

use crate::config::SubscriptionSpec;
use crate::effect::PeerId;
use crate::few;
use crate::few::Few;
use crate::message::{MemberId, Resumption, ScalarValue};
use crate::time::Moment;
use fp_types::{
    Judgement, NumberMap, Rank, StandingCondition, StepId, StepMap, StepSet, StepTable, SubscriptionId,
    TableBuilder, TableId,
};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

mod judging;
mod next_conditions;

pub(crate) use judging::Judging;
use next_conditions::NextConditions;

/// What a subscriber cohort asked for.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) spec: SubscriptionSpec,
    pub(crate) label: String,
    pub(crate) cohort_size: u32,
    pub(crate) credit: u64,
    /// With what it goes on, if it was attached before.
    pub(crate) resume: Option<Resumption>,
}

/// One subscriber cohort.
pub(crate) struct Member {
    pub(crate) subscription: SubscriptionId,
    pub(crate) peer: PeerId,
    /// Who it says it is, and its ranks.
    pub(crate) label: String,
    pub(crate) cohort_size: u32,
    /// Steps that it will take in all.
    pub(crate) credit: u64,
    /// Steps that it was assigned in all.
    pub(crate) assigned: u64,
    /// Assigned and not released.
    pub(crate) held: StepSet,
    /// When it was served last, as a count of assignments of its set.
    pub(crate) served: u64,
    /// Whether it was told that the stream is over.
    pub(crate) ended: bool,
}

/// A step that waits for a member.
pub(crate) struct Queued {
    pub(crate) step: StepId,
    /// Steps that the subscription did not get between the one before and this.
    pub(crate) skipped: u64,
    pub(crate) redelivered: bool,
}

/// A subscription as the lead serves it.
#[derive(Default)]
pub(crate) struct Served {
    pub(crate) spec: SubscriptionSpec,
    pub(crate) first: Option<StepId>,
    pub(crate) reserve_from: StepId,
    /// The lowest number that it wants, where it started at a number.
    pub(crate) lowest: Option<StepId>,
    /// Then, until its first step comes: all below this number was given or counted.
    pub(crate) accounted: Option<StepId>,
    /// Whether it goes on after another epoch.
    pub(crate) continues: bool,
    /// In the order in which they joined.
    pub(crate) members: Vec<MemberId>,
    pub(crate) queue: VecDeque<Queued>,
    /// Steps that it did not get since the newest in the queue.
    pub(crate) skipped: u64,
    /// Whose turn it is (round robin): an index into `members`.
    pub(crate) turn: usize,
    /// Assignments so far.
    pub(crate) served: u64,
    pub(crate) removed: bool,
    /// What it demands of steps, and what that remembers.
    pub(crate) condition: Option<StandingCondition>,
    /// What it demands of later steps.
    pub(crate) next_conditions: NextConditions,
    /// Whether its members were told that the stream is over. Nobody joins any more.
    pub(crate) ended: bool,
}

impl Served {
    /// Whether a step that lies before its first one may be given to it.
    pub(crate) fn wants_past(&self, step: StepId) -> bool {
        self.lowest.is_none_or(|lowest| step >= lowest)
    }

    /// Steps before this one, and before the first that is kept for it, that are gone and were not counted yet.
    pub(crate) fn gap_before(&mut self, step: StepId) -> u64 {
        let Some(next) = self.accounted else { return 0 };
        let first = self.first.unwrap_or(step);
        self.accounted = (step < first).then_some(StepId(step.0.saturating_add(1)));
        step.min(first).0.saturating_sub(next.0)
    }

    /// The canonical bytes of the condition that was asked for last.
    pub(crate) fn asked_condition(&self) -> Option<&[u8]> {
        self.next_conditions.last().or(self.spec.when.as_deref())
    }

    /// Whether the step is one of those that are counted together, once it is known how many there are.
    pub(crate) fn is_counted_later(&self, step: StepId) -> bool {
        self.accounted.is_some() && self.first.is_some_and(|first| step < first)
    }

    /// Most of its steps that may be queued and assigned together. A queue that keeps the newest has a place for it
    /// beside what is assigned, however small it is.
    pub(crate) fn limit(&self) -> usize {
        let limit = self.spec.limit_steps as usize;
        if self.spec.policy.keeps_newest() { limit.max(2) } else { limit }
    }
}

/// What a step of the reserve counts at least: a small one takes memory for its books, or a block of a disk.
const LEAST_RESERVE_BYTES: u64 = 4096;

/// A decided step that somebody has.
pub(crate) struct Decided {
    /// When it was decided.
    pub(crate) at: Moment,
    pub(crate) table: TableId,
    pub(crate) values: Vec<ScalarValue>,
    pub(crate) len_bytes: u64,
    /// Subscriptions that have it, standing ones included, in order.
    pub(crate) holders: Few<SubscriptionId>,
    /// A member that is lost may still look at it, though another has it now.
    pub(crate) retire: bool,
    /// What was found for whom has a condition.
    pub(crate) judgements: Vec<(SubscriptionId, Judgement)>,
}

impl Decided {
    /// This subscription has it too.
    pub(crate) fn hold(&mut self, subscription: SubscriptionId) {
        few::add(&mut self.holders, subscription);
    }

    /// What was found for this subscription, if it has a condition.
    pub(crate) fn judgement_of(&self, subscription: SubscriptionId) -> Option<&Judgement> {
        self.judgements.iter().find(|(id, _)| *id == subscription).map(|(_, judgement)| judgement)
    }

    /// This subscription has it no more.
    pub(crate) fn unhold(&mut self, subscription: SubscriptionId) {
        few::take_out(&mut self.holders, &subscription);
        self.judgements.retain(|(id, _)| *id != subscription);
    }
}

/// The lead's state.
pub(crate) struct Lead {
    /// Subscriptions that came before the cohort was complete.
    pub(crate) early: Vec<(PeerId, Ask)>,
    pub(crate) members: NumberMap<MemberId, Member>,
    pub(crate) served: NumberMap<SubscriptionId, Served>,
    pub(crate) judging: Judging,
    pub(crate) steps: StepMap<Decided>,
    pub(crate) builder: TableBuilder,
    /// The table of the last decided step, the same for the next one if no rank reports a change.
    pub(crate) last_table: Option<Arc<StepTable>>,
    /// Ranks whose last contribution made no sense, and why: no step is whole until they report a better one.
    pub(crate) refused: BTreeMap<Rank, String>,
    pub(crate) reserve: VecDeque<StepId>,
    pub(crate) reserve_steps: u32,
    /// What steps of the reserve are like, and what that remembers.
    pub(crate) reserve_condition: Option<StandingCondition>,
    /// Newcomers with that condition whose first step is not decided yet: they go on with what it remembers then.
    pub(crate) inheriting: Vec<SubscriptionId>,
    /// What its steps take over all ranks.
    pub(crate) reserved_bytes: u128,
    /// The next step to decide, unless steps in between do not flow.
    pub(crate) next_decided: StepId,
    pub(crate) next_subscription: u64,
    pub(crate) next_member: u64,
    pub(crate) next_change: u64,
}

impl Lead {
    pub(crate) fn new(reserve_steps: u32, cohort_size: u32, first_step: StepId) -> Self {
        Self {
            early: Vec::new(),
            members: NumberMap::default(),
            served: NumberMap::default(),
            judging: Judging::default(),
            steps: StepMap::new(),
            builder: TableBuilder::new(cohort_size),
            last_table: None,
            refused: BTreeMap::new(),
            reserve: VecDeque::new(),
            reserve_steps,
            reserve_condition: None,
            inheriting: Vec::new(),
            reserved_bytes: 0,
            next_decided: first_step,
            next_subscription: super::ledger::FIRST_SUBSCRIPTION,
            next_member: 0,
            next_change: 0,
        }
    }

    /// What a decided step counts to the bound of the reserve.
    pub(crate) fn reserve_bytes(&self, step: StepId) -> u128 {
        self.steps.get(&step).map_or(0, |decided| decided.len_bytes.max(LEAST_RESERVE_BYTES).into())
    }

    /// The members of a subscription.
    pub(crate) fn members_of(
        &self,
        subscription: SubscriptionId,
    ) -> impl Iterator<Item = (MemberId, &Member)> {
        let ids = self.served.get(&subscription).into_iter().flat_map(|served| &served.members);
        ids.filter_map(|id| Some((*id, self.members.get(id)?)))
    }

    /// Steps of a subscription that are assigned and not released.
    pub(crate) fn held(&self, subscription: SubscriptionId) -> usize {
        self.members_of(subscription).map(|(_, member)| member.held.len()).sum()
    }

    /// Whether as many steps of a subscription are out as may be, so that the newest has its place in the queue,
    /// whatever the credit is. (Of the other policies no more are begun.)
    pub(crate) fn is_full(&self, served: &Served, subscription: SubscriptionId) -> bool {
        served.spec.policy.keeps_newest() && self.held(subscription) + 1 >= served.limit()
    }

    /// Whether nothing is left to be given to a subscription. What a member of a redelivering set holds may
    /// still come back.
    pub(crate) fn is_drained(&self, served: &Served, subscription: SubscriptionId) -> bool {
        served.queue.is_empty() && !(served.spec.redelivers() && self.held(subscription) > 0)
    }

    /// The conditions of those, and of the reserve.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &StandingCondition> {
        let served = self.served.values().filter(|served| !served.removed);
        let all = served.flat_map(|served| served.condition.iter().chain(served.next_conditions.iter()));
        all.chain(&self.reserve_condition)
    }

    /// Conditions that hold from this step on take the place of those that were; whether there are any.
    pub(crate) fn change_conditions(&mut self, step: StepId) -> bool {
        let mut changed = false;
        for id in self.judging.changing() {
            let Some(served) = self.served.get_mut(&id) else { continue };
            if let Some(condition) = served.next_conditions.take(step) {
                self.judging.remove(id, served);
                served.condition = Some(condition);
                self.judging.add(id, served);
                changed = true;
            }
        }
        changed
    }

    /// Whether a subscription wants those steps that the reserve has.
    pub(crate) fn wants_as_reserve(&self, served: &Served) -> bool {
        let reserve = self.reserve_condition.as_ref().map(StandingCondition::condition);
        reserve.is_some() && served.condition.as_ref().map(StandingCondition::condition) == reserve
    }

    /// Newcomers whose first step is decided now go on with what the reserve's condition remembers of the steps before. So
    /// an edge that they were told of as a hit is not told again.
    pub(crate) fn inherit(&mut self, step: StepId) {
        for id in std::mem::take(&mut self.inheriting) {
            // Whoever has another condition by now begins anew with that.
            let Some(served) = self.served.get(&id).filter(|served| self.wants_as_reserve(served)) else {
                continue;
            };
            if served.first.is_none_or(|first| step < first) {
                self.inheriting.push(id);
            } else if let Some(served) = self.served.get_mut(&id) {
                served.condition.clone_from(&self.reserve_condition);
            }
        }
    }

    /// Subscriptions that have not ended.
    pub(crate) fn live_subscriptions(&self) -> usize {
        self.served.values().filter(|served| !served.removed).count()
    }

    /// Whether anybody still has or waits for a step.
    pub(crate) fn is_idle(&self) -> bool {
        self.members.values().all(|member| member.held.is_empty())
            && self.served.values().all(|served| served.queue.is_empty())
    }

    /// Who holds what, for the report of a close that timed out.
    pub(crate) fn holders(&self) -> Vec<(SubscriptionId, Vec<StepId>)> {
        let held = |id: SubscriptionId, served: &Served| {
            let held = self.members_of(id).flat_map(|(_, member)| member.held.iter());
            let mut steps: Vec<StepId> = held.copied().collect();
            steps.extend(served.queue.iter().map(|queued| queued.step));
            steps.sort();
            (id, steps)
        };
        let all = self.served.iter().map(|(&id, served)| held(id, served));
        all.filter(|(_, steps)| !steps.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_are_gone_are_counted_until_the_first_comes_that_is_kept() {
        let served = || Served { first: Some(StepId(5)), accounted: Some(StepId(1)), ..Served::default() };
        let counted = |steps: &[u64]| {
            let mut served = served();
            steps.iter().map(|step| served.gap_before(StepId(*step))).collect::<Vec<_>>()
        };
        assert_eq!(counted(&[2, 3, 7, 9]), [1, 0, 1, 0], "1 and 4 are gone");
        assert_eq!(counted(&[5, 6]), [4, 0]);
        assert_eq!(counted(&[8, 9]), [4, 0], "what it does not get later is counted elsewhere");
        let later = [4, 5].map(|step| served().is_counted_later(StepId(step)));
        assert_eq!(later, [true, false]);
    }
}
