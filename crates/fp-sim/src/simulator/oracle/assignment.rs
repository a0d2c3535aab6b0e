//! Who may be given which step, and what a member is told with it.

use super::Rule;
use super::{MemberTruth, Oracle, PublisherTruth, SubscriptionTruth};
use crate::simulator::content::{CLOCK, Demand, MEASURE};
use crate::simulator::names::CohortId;
use crate::simulator::world::CLOCK_ORIGIN_MICROS;
use fp_proto::event::MemberEnd;
use fp_proto::message::{Assignment, MemberId};
use fp_proto::outcome::EndReason;
use fp_proto::publisher::{PRECIOUS, RESERVE};
use fp_proto::time::Moment;
use fp_types::{Rank, StepId, SubscriptionId};
use std::collections::BTreeSet;

impl Oracle {
    /// A publisher rank was told that a member was given a step.
    pub(crate) fn assigned(
        &mut self,
        cohort: CohortId,
        rank: Rank,
        subscription: SubscriptionId,
        member: MemberId,
        step: StepId,
    ) {
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        let position = truth.ranks[rank.0 as usize].assigned.len();
        truth.ranks[rank.0 as usize].assigned.push((subscription, member, step));
        if rank == Rank::LEAD {
            self.check_assignment(cohort, subscription, member, step);
        } else {
            let told = self.publishers[&cohort].ranks[0].assigned.get(position).copied();
            self.demand(
                told == Some((subscription, member, step)),
                Rule::AllRanksHearSameAssignments,
                || format!("{cohort} rank {rank}: step {step} of {subscription} where the lead has {told:?}"),
            );
        }
        let freed =
            self.publishers[&cohort].ranks[rank.0 as usize].steps.get(step.0 as usize).map(|own| own.freed);
        self.demand(freed == Some(None), Rule::AssignedStepIsInMemoryOnEveryRank, || {
            format!("{cohort} rank {rank}: step {step}, assigned to {subscription}, was freed ({freed:?})")
        });
    }

    fn check_assignment(
        &mut self,
        cohort: CohortId,
        subscription: SubscriptionId,
        member: MemberId,
        step: StepId,
    ) {
        let truth = &self.publishers[&cohort];
        let (Some(wanted), Some(known)) =
            (truth.subscriptions.get(&subscription), truth.members.get(&member))
        else {
            self.violated(
                Rule::OnlyMembersAreGivenSteps,
                format!("{cohort}: {subscription} {member:?} step {step}"),
            );
            return;
        };
        let (wanted, known) = (wanted.clone(), known.clone());
        self.demand(known.gone.is_none() && !known.end_told, Rule::OnlyMembersAreGivenSteps, || {
            format!("{cohort} gives step {step} to {}, which is gone", known.cohort)
        });
        self.check_met(cohort, subscription, step);
        self.check_whole(cohort, subscription, step);
        self.check_range(cohort, subscription, &wanted, step);
        self.check_credit(cohort, member, step);
        self.check_sharing(cohort, &wanted, member, step);
        self.note_given(cohort, subscription, member, step);
    }

    fn note_given(&mut self, cohort: CohortId, subscription: SubscriptionId, member: MemberId, step: StepId) {
        let truth = self.publishers.get_mut(&cohort).expect("the caller found it");
        truth.subscriptions.get_mut(&subscription).expect("as above").assignments.push((step, member));
        let known = truth.members.get_mut(&member).expect("as above");
        known.assigned.push(step);
        if !known.given_back.remove(&step) {
            return;
        }
        known.release_heard.remove(&step);
        let (reader, attachment) = (known.cohort, known.attachment);
        self.subscribers.get_mut(&reader).expect("a member is known").given_again(attachment, step);
    }

    /// A step is given only to whom it is about, and as nothing else is said of a step, nobody hears of another.
    fn check_met(&mut self, cohort: CohortId, subscription: SubscriptionId, step: StepId) {
        let truth = &self.publishers[&cohort];
        let demand = truth.subscriptions.get(&subscription).and_then(|wanted| wanted.demand(step));
        self.demand(truth.is_met(step, subscription), Rule::StepSatisfiesCondition, || {
            format!("{cohort} gives step {step} to {subscription}, which wants steps with {demand:?}")
        });
    }

    /// A step is given only whole: every rank ended it, kept it, and stored what was asked for.
    fn check_whole(&mut self, cohort: CohortId, subscription: SubscriptionId, step: StepId) {
        let truth = &self.publishers[&cohort];
        let (whole, abandoned) = (truth.is_whole(step), truth.is_abandoned(step));
        let standing = truth.kept_by_all(step, RESERVE) || truth.kept_by_all(step, PRECIOUS);
        let kept = truth.kept_by_all(step, subscription) || standing;
        let missing = missing_variable(truth, subscription, step);
        self.demand(whole, Rule::OnlyWholeStepsAreGiven, || {
            format!("{cohort} gives step {step} to {subscription}, not whole (abandoned: {abandoned})")
        });
        self.demand(kept, Rule::OnlyKeptStepsAreGiven, || {
            format!("{cohort} gives step {step} to {subscription}, which not every rank kept")
        });
        self.demand(missing.is_none(), Rule::WhatWasAskedForIsStored, || {
            format!("{cohort} gives step {step} to {subscription}: rank and variable not stored: {missing:?}")
        });
    }

    /// A step lies where the subscription may have it: from its first on, or in the reserve, or the precious one.
    fn check_range(
        &mut self,
        cohort: CohortId,
        subscription: SubscriptionId,
        wanted: &SubscriptionTruth,
        step: StepId,
    ) {
        let truth = &self.publishers[&cohort];
        let first = truth.first_of(subscription);
        let reserved = wanted.takes_reserve()
            && truth.is_reserved(step)
            && wanted.begin.is_some_and(|begin| step >= begin);
        let precious = step == truth.plan.first() && truth.plan.precious_first;
        let had = wanted.lowest.is_some_and(|lowest| step < lowest);
        let regular = first.is_some_and(|first| step >= first);
        self.demand(!had, Rule::NothingComesThatWasHad, || {
            format!("{cohort} gives step {step} to {subscription}, which wants {:?} and later", wanted.lowest)
        });
        self.demand(regular || reserved || precious, Rule::NothingComesBeforeFirstStep, || {
            format!("{cohort} gives step {step} to {subscription}, whose first is {first:?}")
        });
        let meant = first.is_none_or(|first| wanted.takes(step, first));
        self.demand(meant || reserved || precious, Rule::EveryKthMeansThat, || {
            format!("{cohort} gives step {step} to {subscription}, first {first:?}, {:?}", wanted.spec.policy)
        });
    }

    /// No more steps are out than the member's cohort wanted to take.
    fn check_credit(&mut self, cohort: CohortId, member: MemberId, step: StepId) {
        let truth = &self.publishers[&cohort];
        let known = &truth.members[&member];
        let is_out = |given: &&StepId| self.is_released(truth, member, **given).is_none();
        let out = known.assigned.iter().filter(is_out).collect::<BTreeSet<_>>().len() as u64;
        let (credit, reader) = (known.credit_steps, known.cohort);
        self.demand(out < credit, Rule::NoStepsBeyondCredit, || {
            format!("{cohort} gives step {step} to {reader}, which has {out} of at most {credit}")
        });
    }

    /// Each step goes to exactly one member, or again when that one gave it back or is gone, and the set asked for it.
    fn check_sharing(
        &mut self,
        cohort: CohortId,
        wanted: &SubscriptionTruth,
        member: MemberId,
        step: StepId,
    ) {
        let truth = &self.publishers[&cohort];
        let before =
            wanted.assignments.iter().rev().find(|(given, _)| *given == step).map(|&(_, member)| member);
        let again = before.is_some();
        let is_over = |known: &MemberTruth| known.gone.is_some() || known.given_back.contains(&step);
        let gone = before.is_none_or(|before| is_over(&truth.members[&before]));
        let last = truth.members[&member].assigned.iter().max().copied();
        let allowed = !again || wanted.spec.redelivers();
        self.demand(gone && allowed, Rule::StepIsGivenToOneMember, || {
            format!("{cohort} gives step {step} to {member:?} after {before:?}")
        });
        self.demand(again || last.is_none_or(|last| last < step), Rule::StepsRise, || {
            format!("{cohort} gives step {step} to {member:?} after step {last:?}")
        });
    }

    /// The lead sent an assignment to a member's lead.
    pub(crate) fn assignment_sent(&mut self, cohort: CohortId, member: MemberId, assignment: &Assignment) {
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        let Some(known) = truth.members.get(&member).cloned() else { return };
        self.check_assignment_facts(cohort, known.subscription, assignment);
        self.check_decided_at(cohort, assignment);
        self.check_skipped(cohort, known.subscription, assignment);
        if let Some(reader) = self.subscribers.get_mut(&known.cohort)
            && let Some(attachment) = reader.attachments.get_mut(known.attachment)
        {
            attachment.sent.push(assignment.clone());
        }
    }

    /// The time of a judgement is not before the last rank ended the step, and the same for everybody who is told.
    fn check_decided_at(&mut self, cohort: CohortId, assignment: &Assignment) {
        let (Some(judgement), now) = (&assignment.judgement, self.now) else { return };
        let (step, told) = (assignment.step, judgement.decided_at_micros);
        let truth = self.publishers.get_mut(&cohort).expect("checked by the caller");
        let first = *truth.decided_at.entry(step).or_insert(told);
        let moment = told.checked_sub(CLOCK_ORIGIN_MICROS).map(Moment::from_micros);
        let ended = truth.ended_by_all(step);
        let in_time =
            moment.is_some_and(|moment| ended.is_some_and(|ended| ended <= moment) && moment <= now);
        self.demand(in_time && told == first, Rule::JudgementSaysWhenStepWasDecided, || {
            format!("{cohort}: step {step}, ended at {ended:?}, was decided at {moment:?}, and {first} us was told")
        });
    }

    /// What an assignment says of its step is true.
    fn check_assignment_facts(
        &mut self,
        cohort: CohortId,
        subscription: SubscriptionId,
        assignment: &Assignment,
    ) {
        let truth = &self.publishers[&cohort];
        let step = assignment.step;
        let of_step = |rank: &super::truth::PublisherRank| {
            rank.steps.get(step.0 as usize).map_or(0, |own| own.len_bytes)
        };
        let len_bytes: u64 = truth.ranks.iter().map(of_step).sum();
        let clock = truth.content.agreed_clock(step.0);
        let wants_clock = truth
            .subscriptions
            .get(&subscription)
            .is_some_and(|wanted| wanted.variables(step).contains(CLOCK));
        let told =
            assignment.values.iter().find(|value| value.name == CLOCK).map(|value| value.bytes.clone());
        let right =
            told == clock.map(|clock| clock.to_le_bytes().to_vec()) || (told.is_none() && !wants_clock);
        let times =
            truth.subscriptions[&subscription].assignments.iter().filter(|(given, _)| *given == step).count();
        let again = times > 1;
        let (measured, judged) = (measured_of(truth, subscription, step), told_of(assignment));
        // A precious step may still be in the reserve.
        let may_be_known = truth.is_precious(step) && truth.wants_as_reserve(subscription);
        let is_true = judged == measured || (may_be_known && judged == Some(truth.content.sum(step.0)));
        self.demand(assignment.len_bytes == len_bytes, Rule::BytesAddUp, || {
            format!("{cohort}: step {step} has {len_bytes} bytes, {} said", assignment.len_bytes)
        });
        self.demand(right, Rule::ScalarsRideInDecision, || {
            format!("{cohort}: step {step} came with {told:?} for {CLOCK}, agreed was {clock:?}")
        });
        self.demand(is_true, Rule::JudgementIsTrue, || {
            format!(
                "{cohort}: step {step} to {subscription}: {:?}, and {measured:?} was measured",
                assignment.judgement
            )
        });
        self.demand(assignment.redelivered == again, Rule::RedeliveredStepSaysSo, || {
            format!("{cohort}: step {step} to {subscription}: {assignment:?}, given {times} times")
        });
    }

    /// The numbers of skipped steps and the steps given add up to all that were meant for the subscription.
    fn check_skipped(&mut self, cohort: CohortId, subscription: SubscriptionId, assignment: &Assignment) {
        let truth = self.publishers.get_mut(&cohort).expect("checked by the caller");
        let Some(wanted) = truth.subscriptions.get_mut(&subscription) else { return };
        wanted.skipped += assignment.skipped;
        if assignment.redelivered {
            return;
        }
        let (told, step) = (wanted.skipped, assignment.step);
        let truth = &self.publishers[&cohort];
        let (least, most) = skipped_before(truth, subscription, step);
        self.demand(told >= least && told <= most, Rule::SkippedStepsAreCounted, || {
            format!(
                "{cohort}: with step {step} {subscription} was told of {told} skipped steps, {least} to {most} were"
            )
        });
    }

    /// A member was told that the stream is over, and what was skipped after its last step.
    pub(crate) fn end_sent(&mut self, cohort: CohortId, member: MemberId, reason: &EndReason, skipped: u64) {
        let Some(truth) = self.publishers.get_mut(&cohort) else { return };
        let Some(known) = truth.members.get_mut(&member) else { return };
        known.end_told = true;
        let (reader, attachment, subscription) = (known.cohort, known.attachment, known.subscription);
        if let Some(reader) = self.subscribers.get_mut(&reader)
            && let Some(attachment) = reader.attachments.get_mut(attachment)
        {
            attachment.end_skipped = Some(skipped);
        }
        let whole = !self.is_touched(cohort) && !self.close_is_overdue(cohort);
        if *reason == EndReason::Closed && whole {
            self.check_skipped_at_end(cohort, subscription, skipped);
        }
    }

    /// With what is told at the end, all steps that were meant for a subscription were given or counted.
    fn check_skipped_at_end(&mut self, cohort: CohortId, subscription: SubscriptionId, skipped: u64) {
        let truth = &self.publishers[&cohort];
        let Some(wanted) = truth.subscriptions.get(&subscription) else { return };
        let told = wanted.skipped + skipped;
        // Steps that only some ranks began were never published; what lies before its first one may be counted.
        let (lowest, highest) = (StepId(truth.lowest_begun()), StepId(truth.highest_begun()));
        let (least, _) = skipped_before(truth, subscription, lowest);
        let (_, most) = skipped_before(truth, subscription, highest);
        self.demand(told >= least && told <= most, Rule::SkippedStepsAreCounted, || {
            format!(
                "{cohort}: at the end {subscription} was told of {told} skipped steps, {least} to {most} were"
            )
        });
    }

    /// A member is gone: what it held is lost to its set, unless it is to be redelivered.
    pub(crate) fn member_gone(&mut self, cohort: CohortId, member: MemberId, reason: MemberEnd) {
        let now = self.now;
        let Some(truth) = self.publishers.get(&cohort) else { return };
        let Some(known) = truth.members.get(&member).cloned() else { return };
        let held =
            known.assigned.iter().filter(|&&step| self.held_at_lead(truth, member, step)).count() as u64;
        let others = truth.members.iter().any(|(&id, other)| {
            id != member && other.subscription == known.subscription && other.gone.is_none()
        });
        let truth = self.publishers.get_mut(&cohort).expect("it was there above");
        truth.members.get_mut(&member).expect("as above").gone = Some((now, reason));
        let Some(wanted) = truth.subscriptions.get_mut(&known.subscription) else { return };
        let redelivers = wanted.spec.redelivers();
        if others && !redelivers && reason != MemberEnd::Left {
            wanted.lost += held;
        }
        wanted.ended |= !others;
    }

    fn held_at_lead(&self, truth: &PublisherTruth, member: MemberId, step: StepId) -> bool {
        !truth.members[&member].release_heard.contains_key(&step)
    }
}

/// What a subscription may have been told before `step` of skipped steps: at least and at most.
fn skipped_before(truth: &PublisherTruth, subscription: SubscriptionId, step: StepId) -> (u64, u64) {
    let precious = Some(truth.plan.first()).filter(|_| truth.plan.precious_first);
    let (least, most) = missed_before(truth, subscription, precious, step);
    // With a precious first step and a reserve, gaps may count from the one or from the other.
    let (_, from_start) = missed_before(truth, subscription, None, step);
    (least, if precious.is_some() { from_start } else { most })
}

/// Steps before `step` that were meant for a subscription and that it did not get: at least and at most. Of those before
/// its first one that are gone it is not known whether it is about them.
fn missed_before(
    truth: &PublisherTruth,
    subscription: SubscriptionId,
    precious: Option<StepId>,
    step: StepId,
) -> (u64, u64) {
    let wanted = &truth.subscriptions[&subscription];
    let first = truth.first_of(subscription);
    let meant = |candidate: &u64| first.is_none_or(|first| wanted.takes(StepId(*candidate), first));
    let given = |candidate: &u64| wanted.assignments.iter().any(|(given, _)| given.0 == *candidate);
    let missed = (begin_of(wanted, first, precious).0..step.0)
        .filter(|candidate| meant(candidate) && !given(candidate))
        .map(StepId);
    // Who wants what the reserve has is told of nothing else of the past.
    let as_reserve = truth.wants_as_reserve(subscription);
    let is_past = |step: &StepId| as_reserve && first.is_some_and(|first| *step < first);
    let unmet = |step: &StepId| {
        let (is_met, is_whole) = (truth.is_met(*step, subscription), truth.is_whole(*step));
        let is_hit = || is_met && is_whole && truth.kept_by_all(*step, RESERVE);
        if is_past(step) { !is_hit() } else { !is_met && is_whole }
    };
    let (unmet, others): (Vec<StepId>, Vec<StepId>) = missed.partition(unmet);
    let early = unmet.iter().filter(|step| first.is_some_and(|first| **step < first)).count() as u64;
    let least = others.len() as u64 + wanted.lost;
    (least, least + early)
}

/// From where on gaps count. That is the lowest number that it wants, if it said one. Where a precious first step came
/// first, it is the step after it that was given.
fn begin_of(wanted: &SubscriptionTruth, first: Option<StepId>, precious: Option<StepId>) -> StepId {
    let begin = wanted.begin.unwrap_or_default();
    if let Some(lowest) = wanted.lowest {
        return lowest;
    }
    let Some(precious) = precious.filter(|precious| begin <= *precious) else { return begin };
    let later = wanted.assignments.iter().map(|&(step, _)| step).filter(|step| *step > precious).min();
    first.into_iter().chain(later).min().unwrap_or(begin)
}

/// A rank that did not store a variable that the subscription asked for in this step.
fn missing_variable(
    truth: &PublisherTruth,
    subscription: SubscriptionId,
    step: StepId,
) -> Option<(Rank, &'static str)> {
    let wanted = truth.subscriptions.get(&subscription)?.variables(step);
    (0..truth.plan.size).map(Rank).find_map(|rank| {
        let own = truth.ranks[rank.0 as usize].steps.get(step.0 as usize)?;
        let put = truth.content.blocks(step.0, rank.0).into_iter().map(|block| block.variable);
        let missing =
            put.into_iter().find(|variable| wanted.contains(variable) && !own.stored.contains(variable));
        missing.map(|variable| (rank, variable))
    })
}

/// What is to be told of what was measured: the sum, or the rank that did not measure. Of a step that is older than the
/// condition, the lead says that nobody measured.
fn measured_of(
    truth: &PublisherTruth,
    subscription: SubscriptionId,
    step: StepId,
) -> Option<Result<Option<u64>, u32>> {
    let Some(Demand::Sum(..)) = truth.subscriptions.get(&subscription)?.demand(step) else { return None };
    let is_past = truth.measured_from.get(&subscription).is_none_or(|first| step < *first);
    let is_unknown = is_past && !truth.is_judged_for_reserve(step, subscription);
    Some(if is_unknown { Err(0) } else { truth.content.sum(step.0) })
}

/// What is told.
fn told_of(assignment: &Assignment) -> Option<Result<Option<u64>, u32>> {
    let judgement = assignment.judgement.as_ref()?;
    Some(match &judgement.unjudged {
        Some(unmeasured) => Err(unmeasured.rank.0),
        None if judgement.measured.is_empty() => return None,
        None => Ok(judgement.number(MEASURE).map(|number| number.as_f64() as u64)),
    })
}
