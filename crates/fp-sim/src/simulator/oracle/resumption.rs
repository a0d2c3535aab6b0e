//! Numbers that outlive an epoch: whoever goes on after a restart takes no step twice, and misses none that it is not
//! told of.

use super::Rule;
use super::truth::{SubscriberRank, SubscriberTruth};
use super::{Attachment, Oracle};
use crate::simulator::names::CohortId;
use fp_proto::config::QueuePolicy;
use fp_proto::message::{Assignment, Resumption};
use fp_types::{Rank, StepId};

impl SubscriberRank {
    /// Whether it took this step before it entered its attachment.
    pub(super) fn has_had(&self, assignment: &Assignment) -> bool {
        self.had.is_some_and(|had| assignment.step <= had)
    }

    /// An assignment as it is given to this rank: steps that it had are none that it missed.
    pub(super) fn as_given(&self, assignment: &Assignment) -> Assignment {
        let mut given = assignment.clone();
        if let Some(had) = self.had.filter(|had| *had < assignment.step) {
            given.skipped = given.skipped.min(assignment.step.0 - had.0 - 1);
        }
        given
    }
}

impl SubscriberTruth {
    /// A rank's attachment is over: what it holds counts as not taken, if it wants that.
    pub(super) fn take_held_again(&mut self, rank: Rank) {
        let Some(current) = self.current(rank.0 as usize).filter(|_| self.plan.takes_held_again) else {
            return;
        };
        let Some(attachment) = self.attachments.get(current) else { return };
        let own = &mut self.ranks[rank.0 as usize];
        let given = attachment.sent.iter().take(own.delivered).filter(|sent| !own.has_had(sent));
        let held = given.map(|sent| sent.step).find(|step| !own.released.contains_key(&(current, *step)));
        if let Some(oldest) = held {
            own.taken = oldest.0.checked_sub(1).map(StepId);
        }
    }
}

impl Oracle {
    /// A subscriber's lead asked a publisher's for a subscription: to go on with this number, if it says one.
    pub(crate) fn asked(&mut self, reader: CohortId, resume: Option<Resumption>) {
        if let Some(truth) = self.subscribers.get_mut(&reader) {
            truth.resume = resume;
        }
    }

    /// The publisher's lead said whether a new member goes on as it asked.
    pub(crate) fn check_continues(&mut self, reader: CohortId, told: bool) {
        let attachment = self.subscribers.get(&reader).and_then(|truth| truth.attachments.last());
        let right = attachment.is_none_or(|attachment| attachment.continues == told);
        self.demand(right, Rule::RestartSaysWhetherItsNumbersGoOn, || format!("{reader} was told {told}"));
    }

    /// A rank has entered an attachment: what it took counts on, or not.
    pub(super) fn resumed(&mut self, reader: CohortId, rank: Rank) {
        let Some(truth) = self.subscribers.get_mut(&reader) else { return };
        let current = truth.current(rank.0 as usize).and_then(|index| truth.attachments.get(index));
        let continues = current.is_some_and(|attachment| attachment.continues);
        let own = &mut truth.ranks[rank.0 as usize];
        own.taken = own.taken.filter(|_| continues);
        own.had = own.taken;
    }

    /// An assignment has reached a rank. What it has had it lets go of at once.
    pub(crate) fn assignment_heard(&mut self, reader: CohortId, rank: Rank, step: StepId) {
        let now = self.now;
        let Some(truth) = self.subscribers.get_mut(&reader) else { return };
        let Some(current) = truth.current(rank.0 as usize) else { return };
        let own = &mut truth.ranks[rank.0 as usize];
        if own.had.is_some_and(|had| step <= had) {
            own.released.entry((current, step)).or_insert(now);
        }
    }

    /// A rank took a step: it is the next one that it has not had, but for those that it is told were skipped.
    pub(super) fn check_resumption(
        &mut self,
        reader: CohortId,
        rank: Rank,
        current: usize,
        assignment: &Assignment,
    ) {
        let Some(truth) = self.subscribers.get_mut(&reader) else { return };
        let attachment = &truth.attachments[current];
        let lowest = attachment.lowest;
        let every_kth = matches!(attachment.spec.policy, QueuePolicy::EveryKth { .. });
        let is_alone = attachment.spec.share.is_none();
        let own = &mut truth.ranks[rank.0 as usize];
        let (last, step) = (own.taken, assignment.step);
        own.taken = own.taken.max(Some(step));
        self.demand(!is_alone || last.is_none_or(|last| last < step), Rule::NoStepTwiceAcrossRestart, || {
            format!("{reader} rank {rank} got step {step} after step {last:?}")
        });
        let next = last.map(|last| StepId(last.0 + 1)).or(lowest);
        let Some(next) = next.filter(|_| lowest.is_some() && is_alone && !every_kth) else { return };
        let (gap, told) = (step.0.saturating_sub(next.0), assignment.skipped);
        let epochs = &self.subscribers[&reader].attachments[..=current];
        let is_unmet = |step: &u64| epochs.iter().any(|epoch| self.is_unmet(epoch, StepId(*step)));
        let unmet = (next.0..step.0).filter(is_unmet).count() as u64;
        self.demand(told <= gap && told + unmet >= gap, Rule::NoneMissingAcrossRestart, || {
            format!("{reader} rank {rank} wanted step {next}, got step {step}, and was told of {told} skipped ones")
        });
    }
    /// Whether a subscriber was attached to an epoch in which this step was whole, and none that it is about.
    fn is_unmet(&self, attachment: &Attachment, step: StepId) -> bool {
        let truth = &self.publishers[&attachment.publisher];
        let has_it = step >= truth.plan.first() && !truth.is_met(step, attachment.subscription);
        has_it && truth.is_whole(step)
    }
}
