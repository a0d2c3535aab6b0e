//! Every wait ends by its deadline, and losses are noticed, told, and nobody's imagination.

use super::Rule;
use super::{Oracle, PublisherTruth};
use crate::simulator::machine::host_name;
use crate::simulator::names::CohortId;
use crate::simulator::scenario::PublisherPlan;
use fp_proto::config::{OnLoss, QueuePolicy};
use fp_proto::event::{Event, MemberEnd, OpenFailure, OpenWait, StepRejection};
use fp_proto::message::MemberId;
use fp_proto::outcome::{EndReason, ExpulsionCause, LossReason, RefusalReason, StreamEnding};
use fp_proto::time::Moment;
use fp_types::{Rank, StepId, SubscriptionId};
use std::time::Duration;

impl Oracle {
    /// A publisher rank's event.
    pub(crate) fn publisher_event(&mut self, cohort: CohortId, rank: Rank, event: &Event) {
        match event {
            Event::Opened { epoch } => {
                let right = self.publishers[&cohort].plan.epoch;
                self.demand(*epoch == right, Rule::OpeningNamesItsEpoch, || {
                    format!("{cohort} rank {rank} was told {epoch} instead of {right}")
                });
                self.publisher_opened(cohort, rank);
            }
            Event::SubscriptionStarted { subscription, first } => {
                self.subscription_started(cohort, rank, *subscription, *first);
            }
            Event::SubscriptionEnded { subscription } => {
                let ranks = self.publishers.get_mut(&cohort).map(|truth| &mut truth.ranks[rank.0 as usize]);
                if let Some(own) = ranks {
                    own.started.remove(subscription);
                    own.ended_subscriptions.insert(*subscription);
                }
            }
            Event::MemberLeft { member, reason, .. } => {
                self.publishers.get_mut(&cohort).map(|truth| truth.hosts.remove(member));
                self.check_member_end(cohort, *member, *reason);
            }
            Event::StepDropped { subscription, step } => {
                self.check_displaced(cohort, *subscription, *step);
                self.step_dropped(cohort, *subscription, *step);
            }
            Event::StepRejected { step, reason } => self.check_rejection(cohort, *step, reason),
            Event::RankLagging { step, rank: late } => {
                if let Some(truth) = self.publishers.get_mut(&cohort).filter(|_| rank.is_lead()) {
                    truth.laggings += 1;
                }
                self.check_lagging(cohort, *step, *late);
            }
            Event::RankLost { .. } => self.publisher_lost(cohort, rank),
            Event::OpenFailed(failure) => self.publisher_failed(cohort, rank, failure),
            Event::Closed(outcome) => self.publisher_closed(cohort, rank, outcome),
            Event::MemberJoined { subscription, member, label, cohort_size } => {
                self.peer_joined(cohort, *member, label);
                self.newcomer_joined(cohort, label);
                self.member_joined(cohort, *subscription, label, *cohort_size);
            }
            Event::Denied(_) => self.denied_without_list(cohort),
            Event::Resolved { .. }
            | Event::Contacts { .. }
            | Event::Specified { .. }
            | Event::Steered { .. }
            | Event::Reselected { .. }
            | Event::ConditionRefused { .. }
            | Event::AwaitingRestart { .. }
            | Event::Restarted { .. }
            | Event::Ended(_) => {}
        }
    }

    fn subscription_started(
        &mut self,
        cohort: CohortId,
        rank: Rank,
        subscription: SubscriptionId,
        first: StepId,
    ) {
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        let known = truth.first_of(subscription);
        truth.ranks[rank.0 as usize].started.insert(subscription, first);
        truth.measured_from.insert(subscription, first);
        self.demand(known.is_none_or(|known| known == first), Rule::OneFirstStepForAllRanks, || {
            format!("{cohort} rank {rank}: {subscription} starts at {first}, elsewhere at {known:?}")
        });
    }

    fn step_dropped(&mut self, cohort: CohortId, subscription: SubscriptionId, step: StepId) {
        let now = self.now;
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        let rejected = truth.is_abandoned(step) || truth.content.is_disputed(step.0);
        let kept = truth.kept_by_all(step, subscription);
        let is_met = truth.is_met(step, subscription);
        let Some(wanted) = truth.subscriptions.get_mut(&subscription) else { return };
        wanted.dropped.insert(step, now);
        // Given to a member that is gone, back in the queue, and given up there.
        wanted.lost += u64::from(wanted.assignments.iter().any(|(given, _)| *given == step));
        let over = wanted.ended;
        let lossless = wanted.is_lossless();
        self.demand(!lossless || rejected || over || !kept, Rule::LosslessSubscriptionDropsNothing, || {
            format!("{cohort} drops step {step} of {subscription}")
        });
        self.demand(is_met || rejected, Rule::NobodyMissesOthersSteps, || {
            format!("{cohort} drops step {step} of {subscription}, which is about others")
        });
    }

    fn check_rejection(&mut self, cohort: CohortId, step: StepId, reason: &StepRejection) {
        let Some(truth) = self.publishers.get(&cohort) else { return };
        let own =
            |rank: &Rank| truth.ranks.get(rank.0 as usize).and_then(|rank| rank.steps.get(step.0 as usize));
        let true_reason = match reason {
            StepRejection::Abandoned { rank } => own(rank).is_some_and(|own| own.abandoned),
            StepRejection::Disagreement { .. } => truth.content.is_disputed(step.0),
        };
        self.demand(true_reason, Rule::StepIsRejectedForReason, || {
            format!("{cohort} step {step}: {reason:?}")
        });
    }

    /// Whoever is named as late, or a rank below it, has not ended the step.
    fn check_lagging(&mut self, cohort: CohortId, step: StepId, late: Rank) {
        let Some(truth) = self.publishers.get(&cohort) else { return };
        let known = self.long_ago();
        let said = |own: &super::RankStep| own.said.is_some_and(|said| said < known);
        let below = |rank: &Rank| is_below(*rank, late, truth.fan_out);
        let ranks = (0..truth.plan.size).map(Rank).filter(below);
        let all = ranks
            .into_iter()
            .all(|rank| truth.ranks[rank.0 as usize].steps.get(step.0 as usize).is_some_and(said));
        let touched = self.is_touched(cohort);
        self.demand(!all || touched, Rule::WhoIsNamedAsLateIsLate, || {
            format!("{cohort}: rank {late} ended step {step} long ago")
        });
    }

    /// A member is gone for the reason that is given.
    fn check_member_end(&mut self, cohort: CohortId, member: MemberId, reason: MemberEnd) {
        let Some(known) = self.publishers[&cohort].members.get(&member).cloned() else { return };
        let reader = known.cohort;
        match reason {
            MemberEnd::Lost(how) => {
                let over = self.publishers[&cohort].over_at.is_some();
                let excused = over || self.is_pair_tainted(cohort, reader) || self.has_failed_rank(reader);
                self.demand(excused, Rule::NobodyIsLostWithoutFault, || {
                    format!("{cohort} lost {reader} ({how}) though nothing hit them")
                });
                let untold = matches!(how, LossReason::Silent { .. }) && !known.end_told;
                self.demand(!untold, Rule::WhoIsGivenUpAsSilentIsToldSo, || {
                    format!("{cohort} closed the link of {reader} without a word ({how})")
                });
            }
            MemberEnd::Left => {
                let left = self.subscribers[&reader].ranks.iter().any(|rank| rank.close_called.is_some());
                self.demand(left, Rule::WhoLeftHasClosed, || {
                    format!("{cohort}: {reader} is said to have left")
                });
            }
            // Checked when the word is sent, which names the rank that waited.
            MemberEnd::Expelled | MemberEnd::Denied => {}
        }
        self.member_gone(cohort, member, reason);
    }

    /// Whether a rank of a subscriber cohort gave up opening, or came to the end of its patience with closing.
    fn has_failed_rank(&self, reader: CohortId) -> bool {
        self.subscribers[&reader].ranks.iter().any(|rank| rank.gone.is_some() || rank.told_lost || rank.ended)
    }

    /// The publisher's lead expels a member: some rank must really have waited for it, with cause.
    pub(crate) fn check_expulsion(
        &mut self,
        cohort: CohortId,
        member: MemberId,
        rank: Rank,
        waited: Duration,
    ) {
        let truth = &self.publishers[&cohort];
        let Some(known) = truth.members.get(&member) else { return };
        let subscription = known.subscription;
        let Some(wanted) = truth.subscriptions.get(&subscription) else { return };
        let patience = match wanted.spec.policy {
            QueuePolicy::EveryStep { max_wait } | QueuePolicy::EveryKth { max_wait, .. } => {
                Some(max_wait.min(truth.plan.limit_wait))
            }
            QueuePolicy::DropOldest
            | QueuePolicy::DropNewest
            | QueuePolicy::LatestOnly
            | QueuePolicy::WaitAtMost { .. } => None,
        };
        let known = self.maybe_live(truth, rank, subscription).into_iter();
        let live = known.filter(|step| truth.is_met(*step, subscription)).count();
        let limit = wanted.spec.limit_steps as usize;
        let tight = super::publication::rank_limit_bytes(truth, rank) < 1 << 30;
        let really = self.has_waited(cohort, rank, subscription) || self.is_disturbed(cohort, subscription);
        self.demand(patience.is_some_and(|patience| waited >= patience), Rule::PatienceIsKept, || {
            format!("{cohort} expels {member:?} after {waited:?}, {patience:?} were promised")
        });
        self.demand(really, Rule::PatienceIsKept, || {
            format!("{cohort} expels {member:?}, and rank {rank} has not waited {patience:?} for it")
        });
        let caused = live >= limit || (tight && live > 0) || self.is_disturbed(cohort, subscription);
        self.demand(caused, Rule::NobodyIsExpelledWithoutCause, || {
            format!(
                "{cohort} rank {rank} waited for {subscription} with {live} live steps of at most {limit}"
            )
        });
    }

    /// Whether a rank waited for a subscription in one step as long as its policy lets it, or since its last release as
    /// long as the owner lets it. By these books, whatever the machine says. News of the last release may be on its way.
    fn has_waited(&self, cohort: CohortId, rank: Rank, subscription: SubscriptionId) -> bool {
        let truth = &self.publishers[&cohort];
        let wanted = &truth.subscriptions[&subscription];
        let (QueuePolicy::EveryStep { max_wait } | QueuePolicy::EveryKth { max_wait, .. }) =
            wanted.spec.policy
        else {
            return false;
        };
        // What a member gave back, and another one got, was not released.
        let is_last =
            |at: usize, step: StepId| wanted.assignments[at + 1..].iter().all(|(other, _)| *other != step);
        let given = wanted.assignments.iter().enumerate();
        let given = given.filter(|(at, (step, member))| {
            is_last(*at, *step) && !truth.members[member].given_back.contains(step)
        });
        let releases = given.filter_map(|(_, &(step, member))| self.is_released(truth, member, step));
        let known = releases.filter(|released| *released < self.long_ago());
        let released = known.max().unwrap_or(Moment::ZERO);
        let (last, sum) = truth.ranks[rank.0 as usize].waited(released, self.long_ago(), self.now);
        last >= max_wait || sum >= truth.plan.limit_wait
    }

    /// A publisher rank was told that a rank of its cohort is lost.
    fn publisher_lost(&mut self, cohort: CohortId, rank: Rank) {
        let now = self.now;
        let tainted = self.is_tainted(cohort);
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        truth.ranks[rank.0 as usize].told_lost = true;
        truth.over_at.get_or_insert(now);
        let excused = tainted || truth.close_expired || truth.ranks.iter().any(|rank| rank.gone.is_some());
        self.demand(excused, Rule::NobodyIsLostWithoutFault, || {
            format!("{cohort} rank {rank} says a rank is lost, and nothing hit it")
        });
    }

    /// The stream is over for a subscriber rank.
    pub(crate) fn stream_ended(&mut self, reader: CohortId, rank: Rank, ending: &StreamEnding) {
        let Some(truth) = self.subscribers.get_mut(&reader) else { return };
        let own = &mut truth.ranks[rank.0 as usize];
        own.ended = true;
        // A rank that has closed passes on what the others hear, and follows the stream no more.
        if own.close_called.is_some() {
            return;
        }
        self.check_awaited(reader, rank, &ending.reason);
        let Some(truth) = self.subscribers.get(&reader) else { return };
        let latest = truth.current(rank.0 as usize).and_then(|index| truth.attachments.get(index).cloned());
        let Some(attachment) = latest else { return };
        let publisher = attachment.publisher;
        match &ending.reason {
            EndReason::Lost { .. } => self.check_publisher_loss(publisher, reader, rank),
            EndReason::Closed => {
                let closed = self.publishers[&publisher].ranks.iter().any(|rank| rank.close_called.is_some());
                self.demand(closed, Rule::StreamEndsWhenItsPublisherCloses, || {
                    format!("{reader} rank {rank} was told that {publisher} closed")
                });
                self.check_tail(reader, rank, &attachment);
                let told = attachment.continues || Some(ending.skipped) == attachment.end_skipped;
                self.demand(told, Rule::SkippedStepsAreCounted, || {
                    format!("{reader} rank {rank}: {ending}, its lead was told {:?}", attachment.end_skipped)
                });
            }
            EndReason::Denied(_) => self.denied_without_list(reader),
            EndReason::Expelled { .. } | EndReason::Left | EndReason::CohortLost { .. } => {}
        }
    }

    /// Who awaits a restart does so for as long as it said, before a loss is the end. A lead that is closing awaits none, and nor does one
    /// that the next publisher refused.
    fn check_awaited(&mut self, reader: CohortId, rank: Rank, reason: &EndReason) {
        let silent = matches!(reason, EndReason::Expelled { cause: ExpulsionCause::Silent { .. }, .. });
        let Some(truth) = self.subscribers.get(&reader) else { return };
        let OnLoss::AwaitRestart(patience) = truth.plan.on_loss else { return };
        let lets = silent || matches!(reason, EndReason::Lost { .. });
        if !lets || truth.refused || truth.ranks[0].close_called.is_some() {
            return;
        }
        let since = truth.ranks[rank.0 as usize].awaiting;
        let waited = since.map(|since| self.now.since(since) + self.slack * 2);
        let right = waited.is_some_and(|waited| waited >= patience) || self.is_touched(reader);
        self.demand(right, Rule::WhoAwaitsRestartDoesSo, || {
            format!("{reader} rank {rank} ended after {waited:?} of {patience:?}: {reason}")
        });
    }

    /// The publisher is lost to a subscriber rank.
    pub(crate) fn check_publisher_loss(&mut self, publisher: CohortId, reader: CohortId, rank: Rank) {
        let truth = &self.publishers[&publisher];
        let gone = truth.over_at.is_some() || truth.ranks.iter().any(|rank| rank.gone.is_some());
        let excused = gone || self.is_pair_tainted(publisher, reader);
        self.demand(excused, Rule::NobodyIsLostWithoutFault, || {
            format!("{reader} rank {rank} lost {publisher}, and nothing hit them")
        });
    }

    /// A rank of a subscriber cohort heard that one of its own is lost.
    pub(crate) fn reader_lost(&mut self, reader: CohortId, rank: Rank) {
        let tainted = self.is_tainted(reader);
        let Some(truth) = self.subscribers.get_mut(&reader) else { return };
        truth.ranks[rank.0 as usize].told_lost = true;
        let gone = truth.ranks.iter().any(|rank| rank.gone.is_some());
        self.demand(tainted || gone, Rule::NobodyIsLostWithoutFault, || {
            format!("{reader} rank {rank} lost a rank of its own, and nothing hit it")
        });
    }

    /// A subscriber rank gave up opening.
    pub(crate) fn reader_failed(&mut self, reader: CohortId, rank: Rank, failure: &OpenFailure) {
        let now = self.now;
        let truth = self.subscribers.get_mut(&reader).expect("subscribers are entered when they start");
        truth.ranks[rank.0 as usize].gone = Some(now);
        let started = truth.started_at;
        let in_time = now.since(started) <= self.open_timeout * 2 + self.slack * 2;
        let touched = self.is_touched(reader);
        self.demand(in_time || touched, Rule::OpeningEndsByItsDeadline, || {
            format!("{reader} rank {rank} failed after {:?}: {failure:?}", now.since(started))
        });
        let reason = match failure {
            OpenFailure::Refused(reason) => self.check_refused(reader, reason),
            OpenFailure::TimedOut(OpenWait::Name { .. } | OpenWait::Publisher) => {
                let direct = self.subscribers[&reader].plan.direct;
                self.was_nobody_there(now, direct.then_some(CohortId::Publisher(0)))
            }
            OpenFailure::TimedOut(_) | OpenFailure::RankLost { .. } => true,
        };
        let excused = touched
            || self.subscribers[&reader].ranks.iter().any(|rank| rank.gone.is_some_and(|at| at < now));
        self.demand(reason || excused, Rule::WhoCanAttachDoes, || {
            format!("{reader} rank {rank}: {failure:?}")
        });
    }

    /// Whether no publisher could have been found for the length of an open time-out before `now`.
    /// One that knows a contact finds nobody else.
    fn was_nobody_there(&self, now: Moment, only: Option<CohortId>) -> bool {
        let from = Moment::from_micros(now.as_micros().saturating_sub(self.open_timeout.as_micros() as u64));
        let usable = |cohort: &CohortId| {
            let truth = &self.publishers[cohort];
            let opened = truth.opened_at.is_some_and(|opened| opened.after(self.slack * 2) < now);
            let closing = truth.ranks.iter().filter_map(|rank| rank.close_called.or(rank.gone)).min();
            let over = closing.into_iter().chain(truth.over_at).min();
            let long = over.is_none_or(|over| over > from.after(self.slack * 2));
            let since = truth.opened_at.unwrap_or(now).max(from);
            let until = over.unwrap_or(now);
            let enough = until.since(since) > self.lookup_interval + self.slack * 2;
            let short = truth.plan.short.as_ref().is_some_and(|span| span.start < until && since < span.end);
            opened && !short && long && enough && !self.is_touched(*cohort)
        };
        !self.publishers.keys().any(|cohort| only.is_none_or(|only| only == *cohort) && usable(cohort))
    }

    fn denied_without_list(&mut self, cohort: CohortId) {
        self.violated(Rule::NobodyIsRefusedWithoutAccessList, format!("{cohort} was"));
    }

    fn check_refused(&self, reader: CohortId, reason: &RefusalReason) -> bool {
        let spec = &self.subscribers[&reader].plan.spec;
        match reason {
            RefusalReason::InvalidSpec { .. } | RefusalReason::Condition(_) => {
                self.subscribers[&reader].plan.is_wrong()
            }
            RefusalReason::ShareMismatch { .. } => spec.share.is_some(),
            RefusalReason::TooManySubscriptions { limit } => {
                self.publishers.values().any(|truth| truth.plan.limit_subscriptions == *limit)
            }
            RefusalReason::TooManyOfPeer { limit, peer } => {
                let limits = |truth: &PublisherTruth| truth.plan.limit_peer_subscriptions == *limit;
                *peer == host_name(reader.host()) && self.publishers.values().any(limits)
            }
            RefusalReason::ShortOfMemory(_) => {
                let truth = &self.subscribers[&reader];
                let begun =
                    |plan: &PublisherPlan| plan.short.as_ref().is_some_and(|span| span.start <= self.now);
                let has_tried = self.now.since(truth.started_at) >= self.open_timeout;
                has_tried && self.publishers.values().any(|truth| begun(&truth.plan))
            }
            RefusalReason::Closing => true,
            RefusalReason::NameTaken { .. }
            | RefusalReason::CohortMismatch { .. }
            | RefusalReason::FirstStepMismatch { .. }
            | RefusalReason::RankTaken { .. }
            | RefusalReason::Denied(_) => false,
        }
    }

    /// A publisher rank died at `at`: by now everybody must have noticed.
    pub(crate) fn check_loss_noticed(&mut self, cohort: CohortId) {
        let Some(truth) = self.publishers.get(&cohort) else { return };
        let unaware =
            truth.ranks.iter().position(|rank| rank.opened && !rank.told_lost && rank.gone.is_none());
        self.demand(unaware.is_none(), Rule::LostRankIsNoticed, || {
            format!("{cohort}: rank {unaware:?} has not noticed that its cohort is lost")
        });
        let readers: Vec<CohortId> = self.subscribers.keys().copied().collect();
        for reader in readers {
            let truth = &self.subscribers[&reader];
            let hangs = |rank: &usize| {
                let own = &truth.ranks[*rank];
                let here =
                    truth.current(*rank).is_some_and(|index| truth.attachments[index].publisher == cohort);
                here && !own.ended
                    && own.awaiting.is_none()
                    && own.gone.is_none()
                    && own.close_called.is_none()
            };
            let unaware = (0..truth.ranks.len()).find(hangs);
            self.demand(unaware.is_none(), Rule::LostPublisherIsNoticed, || {
                format!("{reader}: rank {unaware:?} has not noticed that {cohort} is lost")
            });
        }
    }

    /// A subscriber rank died: by now the rest of its cohort and its publisher must have noticed.
    pub(crate) fn check_reader_loss_noticed(&mut self, reader: CohortId) {
        let truth = &self.subscribers[&reader];
        // With a rank that had left before nothing is lost.
        if truth.ranks.iter().any(|rank| rank.gone.is_some() && rank.close_called.is_some()) {
            return;
        }
        let attached = |rank: &super::truth::SubscriberRank| rank.entered > 0;
        let unaware = truth.ranks.iter().position(|rank| {
            attached(rank)
                && !rank.told_lost
                && rank.gone.is_none()
                && rank.close_called.is_none()
                && !rank.ended
        });
        self.demand(unaware.is_none(), Rule::LostRankIsNoticed, || {
            format!("{reader}: rank {unaware:?} has not noticed that its cohort is lost")
        });
        let kept = self.publishers.iter().find(|(_, truth)| {
            let member =
                truth.members.values().any(|member| member.cohort == reader && member.gone.is_none());
            member && truth.over_at.is_none() && truth.ranks.iter().all(|rank| rank.gone.is_none())
        });
        let kept = kept.map(|(id, _)| *id);
        self.demand(kept.is_none(), Rule::LostMemberIsNoticed, || {
            format!("{kept:?} still has {reader} as a member")
        });
    }
}

/// Whether `rank` is `top` or hangs below it in the tree.
pub(super) fn is_below(rank: Rank, top: Rank, fan_out: u32) -> bool {
    let mut at = Some(rank);
    while let Some(rank) = at {
        if rank == top {
            return true;
        }
        at = fp_proto::tree::parent(rank, fan_out);
    }
    false
}
