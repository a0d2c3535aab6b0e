//! Closing drains, in time; what remains is named; nothing leaks.

use super::Rule;
use super::truth::{PublisherTruth, SubscriberRank, SubscriptionTruth};
use super::{Attachment, Oracle};
use crate::simulator::application::held_step::StepKey;
use crate::simulator::names::CohortId;
use fp_proto::event::{CloseOutcome, MemberEnd};
use fp_proto::message::MemberId;
use fp_types::{Rank, StepId};

impl Oracle {
    /// The application of a publisher rank closed.
    pub(crate) fn publisher_closing(&mut self, cohort: CohortId, rank: Rank) {
        let now = self.now;
        if let Some(truth) = self.publishers.get_mut(&cohort) {
            truth.ranks[rank.0 as usize].close_called.get_or_insert(now);
        }
    }

    /// A process died.
    pub(crate) fn died(&mut self, cohort: CohortId, rank: Rank) {
        let now = self.now;
        if let Some(truth) = self.publishers.get_mut(&cohort) {
            truth.ranks[rank.0 as usize].gone.get_or_insert(now);
            truth.ranks[rank.0 as usize].died = true;
        }
        if let Some(truth) = self.subscribers.get_mut(&cohort) {
            truth.ranks[rank.0 as usize].gone.get_or_insert(now);
        }
    }

    /// The application of a subscriber rank closed: it has let go of everything, and goes on looking at these steps. With
    /// each stands whether it goes back.
    pub(crate) fn reader_closing(&mut self, cohort: CohortId, rank: Rank, viewed: &[(StepKey, bool)]) {
        let now = self.now;
        if let Some(truth) = self.subscribers.get_mut(&cohort) {
            let own = &mut truth.ranks[rank.0 as usize];
            own.close_called.get_or_insert(now);
            own.given_back.extend(viewed.iter().filter(|(_, goes_back)| *goes_back).map(|(key, _)| *key));
            own.viewed.extend(viewed.iter().map(|(key, _)| *key));
        }
    }

    /// A publisher rank is closed.
    pub(crate) fn publisher_closed(&mut self, cohort: CohortId, rank: Rank, outcome: &CloseOutcome) {
        let now = self.now;
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        let own = &mut truth.ranks[rank.0 as usize];
        own.gone = Some(now);
        let called = own.close_called;
        let patience = self.close_timeout + self.slack;
        let in_time = called.is_some_and(|called| now.since(called) <= patience);
        // A rank that has not closed by then is closed by its lead.
        let excused = self.is_touched(cohort) || (called.is_none() && self.close_is_overdue(cohort));
        self.demand(in_time || excused, Rule::ClosingEndsByItsDeadline, || {
            format!("{cohort} rank {rank} closed at last, close was called at {called:?}")
        });
        match outcome {
            CloseOutcome::Clean => self.check_clean(cohort, rank),
            CloseOutcome::Held(held) => {
                let none = held.is_empty();
                self.demand(!none, Rule::WhoHeldWhatIsNamed, || format!("{cohort} rank {rank} names nobody"));
                self.note_expired_close(cohort);
            }
            CloseOutcome::Lost { .. } => {}
        }
    }

    fn note_expired_close(&mut self, cohort: CohortId) {
        if let Some(truth) = self.publishers.get_mut(&cohort) {
            truth.close_expired = true;
        }
    }

    /// A clean close means that nobody holds anything, and that all was published.
    fn check_clean(&mut self, cohort: CohortId, rank: Rank) {
        let truth = &self.publishers[&cohort];
        let mut held = None;
        for (&id, member) in truth.members.iter().filter(|(_, member)| member.gone.is_none()) {
            let open = member.assigned.iter().find(|&&step| self.is_released(truth, id, step).is_none());
            held = held.or(open.map(|&step| (member.cohort, step)));
        }
        let expired = truth.close_expired;
        self.demand(held.is_none() || expired, Rule::CleanCloseMeansThatAllIsReleased, || {
            format!("{cohort} rank {rank} closed clean while cohort and step are held: {held:?}")
        });
    }

    /// What a subscriber was given by the time it hears that the stream was closed: a lossless one all of it.
    pub(crate) fn check_tail(&mut self, reader: CohortId, rank: Rank, attachment: &Attachment) {
        let truth = &self.publishers[&attachment.publisher];
        let Some(wanted) = truth.subscriptions.get(&attachment.subscription) else { return };
        let Some(first) = truth.first_of(attachment.subscription).filter(|_| wanted.is_lossless()) else {
            return;
        };
        let common = truth.lowest_begun();
        let given = |step: u64| {
            let last = wanted.assignments.iter().rev().find(|(given, _)| given.0 == step);
            last.is_some_and(|&(step, member)| {
                let is_again_due = truth.members[&member].given_back.contains(&step);
                !is_again_due && !self.went_untaken(truth, wanted, member, step)
            })
        };
        let due = |step: &u64| {
            let step = StepId(*step);
            wanted.takes(step, first)
                && truth.is_whole(step)
                && truth.is_met(step, attachment.subscription)
                && truth.kept_by_all(step, attachment.subscription)
        };
        let missing = (first.0..common).find(|step| due(step) && !given(*step));
        let excused = truth.close_expired
            || self.close_is_overdue(attachment.publisher)
            || self.is_touched(attachment.publisher);
        self.demand(missing.is_none() || excused, Rule::LosslessSubscriptionGetsEveryStep, || {
            format!("{reader} rank {rank}: the stream was closed, and step {missing:?} was never given")
        });
    }

    /// Whether a member of a redelivering set left with a step that none of its ranks took.
    fn went_untaken(
        &self,
        truth: &PublisherTruth,
        wanted: &SubscriptionTruth,
        member: MemberId,
        step: StepId,
    ) -> bool {
        let redelivers = wanted.spec.redelivers();
        let known = &truth.members[&member];
        let left = matches!(known.gone, Some((_, MemberEnd::Left)));
        let reader = &self.subscribers[&known.cohort];
        let Some(attachment) = reader.attachments.get(known.attachment).filter(|_| redelivers && left) else {
            return false;
        };
        let at = attachment.sent.iter().rposition(|sent| sent.step == step);
        let taken = |rank: &SubscriberRank| at.is_some_and(|at| at < rank.delivered);
        !reader.ranks.iter().any(taken)
    }

    /// Whether a publisher rank's patience with closing is at its end.
    pub(crate) fn close_is_overdue(&self, cohort: CohortId) -> bool {
        let patience = self.close_timeout;
        let called = self.publishers[&cohort].ranks.iter().filter_map(|rank| rank.close_called);
        called.into_iter().any(|called| self.now.since(called) >= patience)
    }

    /// A subscriber rank is closed.
    pub(crate) fn reader_closed(&mut self, cohort: CohortId, rank: Rank) {
        let now = self.now;
        let touched = self.is_touched(cohort);
        let Some(truth) = self.subscribers.get_mut(&cohort) else { return };
        let own = &mut truth.ranks[rank.0 as usize];
        own.gone = Some(now);
        let called = own.close_called;
        let in_time = called.is_some_and(|called| now.since(called) <= self.close_timeout + self.slack);
        let waited_in_vain = called.is_some_and(|called| now.since(called) >= self.close_timeout);
        self.demand(in_time || touched, Rule::ClosingEndsByItsDeadline, || {
            format!("{cohort} rank {rank} closed at last, close was called at {called:?}")
        });
        // It leaves by itself then: to those of its cohort that go on it is lost.
        if waited_in_vain {
            self.taint(cohort);
        }
    }

    /// At the end of a run: every step of every rank that is closed was freed.
    pub(crate) fn check_leaks(&mut self) {
        let mut leak = None;
        for (&cohort, truth) in &self.publishers {
            for (rank, own) in truth
                .ranks
                .iter()
                .enumerate()
                .filter(|(_, own)| own.opened && own.close_called.is_some() && !own.died)
            {
                let kept = |step: &super::RankStep| !step.kept.is_empty() && step.freed.is_none();
                let step = own.steps.iter().position(kept);
                leak = leak.or(step.map(|step| (cohort, rank, step)));
            }
        }
        self.demand(leak.is_none(), Rule::NothingLeaks, || {
            format!("cohort, rank, step never freed: {leak:?}")
        });
    }
}
