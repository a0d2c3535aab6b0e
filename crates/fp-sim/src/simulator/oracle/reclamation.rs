//! When memory may be used again: not before everybody who may look has let go.

use super::Rule;
use super::{MemberTruth, Oracle, PublisherTruth};
use crate::simulator::names::CohortId;
use fp_proto::message::MemberId;
use fp_proto::time::Moment;
use fp_types::{Rank, StepId};

impl Oracle {
    /// When a member's cohort had released a step on every rank; `None` if it has not.
    pub(crate) fn is_released(
        &self,
        truth: &PublisherTruth,
        member: MemberId,
        step: StepId,
    ) -> Option<Moment> {
        let member = truth.members.get(&member)?;
        self.subscribers.get(&member.cohort)?.released_by_all(member.attachment, step)
    }

    /// Whether a member's cohort, or a rank of it so far, gave back a step.
    pub(crate) fn is_given_back(&self, member: &MemberTruth, step: StepId) -> bool {
        let reader = self.subscribers.get(&member.cohort);
        reader.is_some_and(|reader| reader.is_given_back(member.attachment, step))
    }

    /// Whether a rank of a member closed while it held a step.
    fn is_viewed(&self, truth: &PublisherTruth, member: MemberId, step: StepId) -> bool {
        let Some(member) = truth.members.get(&member) else { return false };
        let Some(reader) = self.subscribers.get(&member.cohort) else { return false };
        reader.ranks.iter().any(|rank| rank.viewed.contains(&(member.attachment, step)))
    }

    /// A publisher rank was told to free a step.
    pub(crate) fn freed(&mut self, cohort: CohortId, rank: Rank, step: StepId, retire: bool) {
        let now = self.now;
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        let Some(own) = truth.ranks[rank.0 as usize].steps.get_mut(step.0 as usize) else {
            self.violated(Rule::OnlyBegunStepsAreFreed, format!("{cohort} rank {rank} frees step {step}"));
            return;
        };
        let twice = own.freed.replace(now);
        self.demand(twice.is_none(), Rule::StepIsFreedOnce, || {
            format!("{cohort} rank {rank} frees step {step} again, after {twice:?}")
        });
        let mut somebody_may_look = false;
        for (_, member) in self.publishers[&cohort].holders(step) {
            somebody_may_look |= self.check_holder(cohort, rank, step, member, retire);
        }
        let touched = self.publishers[&cohort].members.values().any(|member| !is_quiet(member));
        let closed = self.publishers[&cohort].ranks[rank.0 as usize].close_called.is_some();
        self.demand(
            !retire || somebody_may_look || touched || closed,
            Rule::MemoryIsNotRetiredWithoutNeed,
            || format!("{cohort} rank {rank} retires step {step}, which nobody may look at"),
        );
    }

    /// What one holder means for the reclaim of a step. Says whether its ranks may still look.
    fn check_holder(
        &mut self,
        cohort: CohortId,
        rank: Rank,
        step: StepId,
        member: MemberId,
        retire: bool,
    ) -> bool {
        let truth = &self.publishers[&cohort];
        if self.is_released(truth, member, step).is_some() {
            let viewed = self.is_viewed(truth, member, step);
            self.demand(retire || !viewed, Rule::MemoryThatSomebodyMaySeeIsRetired, || {
                format!(
                    "{cohort} rank {rank} reuses step {step}, which a closed rank of {member:?} may look at"
                )
            });
            return viewed;
        }
        let own = &truth.ranks[rank.0 as usize];
        let closing = own.close_called.is_some() || self.close_is_overdue(cohort);
        let over = own.told_lost || own.gone.is_some() || closing;
        let Some(known) = truth.members.get(&member).cloned() else { return false };
        self.demand(known.gone.is_some() || over, Rule::StepIsFreedWhenItIsReleased, || {
            format!("{cohort} rank {rank} frees step {step} while {} still has it", known.cohort)
        });
        self.demand(retire, Rule::MemoryThatSomebodyMaySeeIsRetired, || {
            format!("{cohort} rank {rank} reuses step {step}, which {} may still look at", known.cohort)
        });
        true
    }

    /// Whether a subscriber rank may count on the blocks of a step that it holds.
    pub(crate) fn may_read(&self, reader: CohortId, attachment: usize) -> bool {
        let Some(truth) = self.subscribers.get(&reader) else { return false };
        let Some(attached) = truth.attachments.get(attachment) else { return false };
        let Some(publisher) = self.publishers.get(&attached.publisher) else { return false };
        publisher.members.get(&attached.member).is_some_and(|member| member.gone.is_none())
    }
}

/// Whether a member has not been lost or expelled.
fn is_quiet(member: &MemberTruth) -> bool {
    member.gone.is_none_or(|(_, reason)| reason == fp_proto::event::MemberEnd::Left)
}
