//! The books that the oracles keep: what applications put, took and released, and when.

use crate::simulator::content::{Content, Demand};
use crate::simulator::names::CohortId;
use crate::simulator::scenario::{PublisherPlan, SubscriberPlan};
use crate::simulator::steering::Asked;
use fp_proto::config::{QueuePolicy, StartAt, SubscriptionSpec, VariableSet};
use fp_proto::event::MemberEnd;
use fp_proto::message::{Assignment, ChangeId, MemberId, Resumption};
use fp_proto::publisher::RESERVE;
use fp_proto::steering::SteeringRequest;
use fp_proto::time::Moment;
use fp_types::{PutChanges, Rank, StepId, SubscriptionId, TableId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A step on one publisher rank.
#[derive(Clone, Debug)]
pub(crate) struct RankStep {
    /// For whom it is kept, frozen when it began.
    pub(crate) kept: Vec<SubscriptionId>,
    pub(crate) begun: Moment,
    /// When it was ended, or given up.
    pub(crate) said: Option<Moment>,
    pub(crate) abandoned: bool,
    /// Variables that were stored.
    pub(crate) stored: BTreeSet<&'static str>,
    pub(crate) len_bytes: u64,
    pub(crate) freed: Option<Moment>,
}

impl RankStep {
    /// A step that lies before the first of its epoch: nobody ever had it.
    fn of_no_epoch() -> Self {
        let long_ago = Some(Moment::ZERO);
        let (kept, stored) = (Vec::new(), BTreeSet::new());
        Self {
            kept,
            begun: Moment::ZERO,
            said: long_ago,
            abandoned: true,
            stored,
            len_bytes: 0,
            freed: long_ago,
        }
    }
}

/// One rank of a publisher cohort.
#[derive(Clone, Debug, Default)]
pub(crate) struct PublisherRank {
    pub(crate) steps: Vec<RankStep>,
    /// Assignments that this rank heard of, in order.
    pub(crate) assigned: Vec<(SubscriptionId, MemberId, StepId)>,
    /// Subscriptions that this rank was told of, with their first steps.
    pub(crate) started: BTreeMap<SubscriptionId, StepId>,
    pub(crate) ended_subscriptions: BTreeSet<SubscriptionId>,
    pub(crate) close_called: Option<Moment>,
    /// Closed, failed, or its process died.
    pub(crate) gone: Option<Moment>,
    pub(crate) died: bool,
    pub(crate) told_lost: bool,
    pub(crate) opened: bool,
    /// The tables that it was told of last, each once, the latest first, and those of them that it was sent.
    pub(crate) recent_tables: Vec<TableId>,
    pub(crate) sent_tables: BTreeSet<TableId>,
    /// What it told its parent that its subtree put: how often, and the last of it with its numbers, the latest first.
    pub(crate) told: u64,
    pub(crate) recent_told: Vec<(u64, PutChanges)>,
    /// For whom `begin_step` waits, how many steps that one has, and since when it has released none.
    pub(crate) waits: Option<(SubscriptionId, u32, Moment)>,
    /// Since when `begin_step` waits, for whomever, and its waits of before, with their ends.
    pub(crate) begin_waits: Option<Moment>,
    pub(crate) begin_waited: Vec<(Moment, Moment)>,
}

impl PublisherRank {
    /// The wait of `begin_step` is over.
    pub(crate) fn wait_ends(&mut self, now: Moment) {
        let over = self.begin_waits.take().map(|since| (since, now));
        self.begin_waited.extend(over);
    }

    /// How long `begin_step` waits, or waited if that ended after `recently`, and how long it waited in all after `from`.
    pub(crate) fn waited(&self, from: Moment, recently: Moment, now: Moment) -> (Duration, Duration) {
        let all = self.begin_waited.iter().copied().chain(self.begin_waits.map(|since| (since, now)));
        let last =
            all.clone().filter(|(_, over)| *over >= recently).map(|(since, over)| over.since(since)).max();
        let sum = all.map(|(since, over)| over.since(since.max(from))).sum();
        (last.unwrap_or_default(), sum)
    }
}

/// A subscription, as the members' requests made it.
#[derive(Clone, Debug)]
pub(crate) struct SubscriptionTruth {
    pub(crate) spec: SubscriptionSpec,
    /// What a step must be like.
    pub(crate) demand: Option<Demand>,
    /// The same of later ones, each with the first step that must be so, once that was said.
    pub(crate) next_demands: Vec<(Option<StepId>, Demand)>,
    /// Selections in the order in which they were asked for, each with its first step once that was said.
    pub(crate) selections: Vec<(Option<StepId>, VariableSet)>,
    /// The lowest number that it wants, where it starts at a number.
    pub(crate) lowest: Option<StepId>,
    /// The step that the first member was told would come first, once it was.
    pub(crate) begin: Option<StepId>,
    /// Assignments in the lead's order.
    pub(crate) assignments: Vec<(StepId, MemberId)>,
    /// Steps that the lead said it does not get, and when.
    pub(crate) dropped: BTreeMap<StepId, Moment>,
    /// What the subscription's members were told that was skipped.
    pub(crate) skipped: u64,
    /// Steps of members that are gone and were not handed to others.
    pub(crate) lost: u64,
    pub(crate) ended: bool,
}

impl SubscriptionTruth {
    /// Whether this step was meant for it, were it kept.
    pub(crate) fn takes(&self, step: StepId, first: StepId) -> bool {
        match self.spec.policy {
            QueuePolicy::EveryKth { every, .. } if step >= first => {
                (step.0 - first.0).is_multiple_of(every.max(1))
            }
            QueuePolicy::EveryStep { .. }
            | QueuePolicy::DropOldest
            | QueuePolicy::DropNewest
            | QueuePolicy::LatestOnly
            | QueuePolicy::EveryKth { .. }
            | QueuePolicy::WaitAtMost { .. } => true,
        }
    }

    pub(crate) fn is_lossless(&self) -> bool {
        matches!(self.spec.policy, QueuePolicy::EveryStep { .. } | QueuePolicy::EveryKth { .. })
    }

    pub(crate) fn takes_reserve(&self) -> bool {
        self.spec.start_at == StartAt::OldestReserved || self.lowest.is_some()
    }

    /// Variables that must be readable in this step.
    pub(crate) fn variables(&self, step: StepId) -> &VariableSet {
        let holds = |(first, _): &&(Option<StepId>, VariableSet)| first.is_some_and(|first| first <= step);
        let agreed = self.selections.iter().rev().find(holds);
        agreed.map_or(&self.spec.variables, |(_, variables)| variables)
    }

    /// What this step must be like.
    pub(crate) fn demand(&self, step: StepId) -> Option<Demand> {
        let holds = |(first, _): &&(Option<StepId>, Demand)| first.is_some_and(|first| first <= step);
        self.next_demands.iter().rev().find(holds).map(|(_, demand)| *demand).or(self.demand)
    }

    /// Whether it ever asked for this variable.
    pub(crate) fn ever_wanted(&self, variable: &str) -> bool {
        self.spec.variables.contains(variable)
            || self.selections.iter().any(|(_, set)| set.contains(variable))
    }
}

/// A subscriber cohort as a member of a subscription.
#[derive(Clone, Debug)]
pub(crate) struct MemberTruth {
    pub(crate) subscription: SubscriptionId,
    pub(crate) cohort: CohortId,
    /// Which of the cohort's attachments this is.
    pub(crate) attachment: usize,
    pub(crate) credit_steps: u64,
    /// What it was given, a step that it gave back as often as it was given.
    pub(crate) assigned: Vec<StepId>,
    /// Releases that have reached the publisher's lead, and when.
    pub(crate) release_heard: BTreeMap<StepId, Moment>,
    /// Steps of them that it gave back, and was not given again since.
    pub(crate) given_back: BTreeSet<StepId>,
    pub(crate) gone: Option<(Moment, MemberEnd)>,
    /// It was told that the stream is over.
    pub(crate) end_told: bool,
}

/// A pause before a step, asked for at that time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PauseTruth {
    pub(crate) step: StepId,
    pub(crate) asked: Moment,
    pub(crate) at_most: Duration,
}

/// A publisher cohort.
#[derive(Clone, Debug)]
pub(crate) struct PublisherTruth {
    pub(crate) plan: PublisherPlan,
    pub(crate) content: Content,
    pub(crate) ranks: Vec<PublisherRank>,
    pub(crate) subscriptions: BTreeMap<SubscriptionId, SubscriptionTruth>,
    pub(crate) members: BTreeMap<MemberId, MemberTruth>,
    /// What the first rank that began a step saw of requests.
    pub(crate) steering: BTreeMap<StepId, Vec<(ChangeId, u64)>>,
    /// What was handed on, for somebody else to answer.
    pub(crate) handed_on: BTreeMap<ChangeId, SteeringRequest>,
    /// The pauses of which somebody was told that all ranks make them.
    pub(crate) pauses: Vec<PauseTruth>,
    /// When somebody asked for a pause.
    pub(crate) pauses_asked: Vec<Moment>,
    /// When somebody asked that it goes on, and when that was answered.
    pub(crate) resumes: Vec<(Moment, Option<Moment>)>,
    /// From which step on every rank measures for a subscription, also when that is over.
    pub(crate) measured_from: BTreeMap<SubscriptionId, StepId>,
    /// The hosts of those that are members now, by what the lead says.
    pub(crate) hosts: BTreeMap<MemberId, u32>,
    /// What tables stand for: the layouts of the step in which each was seen.
    pub(crate) tables: BTreeMap<TableId, Vec<(u32, Vec<u64>)>>,
    pub(crate) started_at: Moment,
    pub(crate) opened_at: Option<Moment>,
    /// When steps were decided, by what was told of them first.
    pub(crate) decided_at: BTreeMap<StepId, u64>,
    /// When the lead's handle was gone, or the cohort lost.
    pub(crate) over_at: Option<Moment>,
    /// A rank's close came to its deadline.
    pub(crate) close_expired: bool,
    pub(crate) fan_out: u32,
    /// How often a rank was said to be late.
    pub(crate) laggings: u64,
}

impl PublisherTruth {
    pub(crate) fn new(plan: PublisherPlan, content: Content, fan_out: u32, now: Moment) -> Self {
        let steps = vec![RankStep::of_no_epoch(); plan.first().0 as usize];
        let ranks = vec![PublisherRank { steps, ..PublisherRank::default() }; plan.size as usize];
        Self {
            plan,
            content,
            ranks,
            subscriptions: BTreeMap::new(),
            members: BTreeMap::new(),
            steering: BTreeMap::new(),
            handed_on: BTreeMap::new(),
            pauses: Vec::new(),
            pauses_asked: Vec::new(),
            resumes: Vec::new(),
            measured_from: BTreeMap::new(),
            decided_at: BTreeMap::new(),
            hosts: BTreeMap::new(),
            tables: BTreeMap::new(),
            started_at: now,
            opened_at: None,
            over_at: None,
            close_expired: false,
            fan_out,
            laggings: 0,
        }
    }

    /// When the last rank ended a step whole; `None` if one has not.
    pub(crate) fn ended_by_all(&self, step: StepId) -> Option<Moment> {
        let ended = |step: &RankStep| step.said.filter(|_| !step.abandoned);
        let ends = self.ranks.iter().map(|rank| rank.steps.get(step.0 as usize).and_then(ended));
        ends.collect::<Option<Vec<Moment>>>()?.into_iter().max()
    }

    /// Whether a rank gave the step up.
    pub(crate) fn is_abandoned(&self, step: StepId) -> bool {
        self.ranks.iter().any(|rank| rank.steps.get(step.0 as usize).is_some_and(|step| step.abandoned))
    }

    /// Whether every rank ended the step, and they agree on it.
    pub(crate) fn is_whole(&self, step: StepId) -> bool {
        self.ended_by_all(step).is_some() && !self.is_abandoned(step) && !self.content.is_disputed(step.0)
    }

    /// Whether every rank kept the step for this subscription when it began.
    pub(crate) fn kept_by_all(&self, step: StepId, subscription: SubscriptionId) -> bool {
        let keeps = |step: &RankStep| step.kept.contains(&subscription);
        self.ranks.iter().all(|rank| rank.steps.get(step.0 as usize).is_some_and(keeps))
    }

    /// Whether the subscription is about this step, were it whole. Of a step for which
    /// not every rank measured nobody knows.
    pub(crate) fn is_met(&self, step: StepId, subscription: SubscriptionId) -> bool {
        let demand = self.subscriptions.get(&subscription).and_then(|wanted| wanted.demand(step));
        demand.is_none_or(|demand| {
            let is_past = || self.measured_from.get(&subscription).is_none_or(|first| step < *first);
            let is_measured = || match is_past() {
                true => self.is_judged_for_reserve(step, subscription),
                false => self.kept_by_all(step, subscription),
            };
            matches!(demand, Demand::Sum(..)) && !is_measured() || self.content.is_as(step.0, demand)
        })
    }

    /// Whether a subscription wants those steps that the reserve has.
    pub(crate) fn wants_as_reserve(&self, subscription: SubscriptionId) -> bool {
        let demand = self.subscriptions.get(&subscription).and_then(|wanted| wanted.demand);
        demand.is_some() && demand == self.plan.reserve_demand && self.plan.reserve_steps > 0
    }

    /// Whether what the reserve's condition says of a step is what that of a subscription says. Of a precious step that has
    /// left the reserve nobody knows any more.
    pub(crate) fn is_judged_for_reserve(&self, step: StepId, subscription: SubscriptionId) -> bool {
        self.wants_as_reserve(subscription) && self.kept_by_all(step, RESERVE) && !self.is_precious(step)
    }

    pub(crate) fn is_precious(&self, step: StepId) -> bool {
        self.plan.precious_first && step == self.plan.first()
    }

    /// Whether the reserve may have this step.
    pub(crate) fn is_reserved(&self, step: StepId) -> bool {
        let is_met = self.plan.reserve_demand.is_none_or(|demand| self.content.is_as(step.0, demand));
        self.kept_by_all(step, RESERVE) && is_met
    }

    /// The lowest number of steps that a rank has begun.
    pub(crate) fn lowest_begun(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.steps.len() as u64).min().unwrap_or(0)
    }

    pub(crate) fn highest_begun(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.steps.len() as u64).max().unwrap_or(0)
    }

    /// Whether a newcomer may be given this step because a standing subscription kept it.
    pub(crate) fn may_be_given_of_the_past(&self, step: StepId, subscription: SubscriptionId) -> bool {
        let Some(wanted) = self.subscriptions.get(&subscription) else { return false };
        let before = self.first_of(subscription).is_none_or(|first| step < first);
        let precious = step == self.plan.first() && self.plan.precious_first;
        before && (precious || (wanted.takes_reserve() && self.plan.reserve_steps > 0))
    }

    /// The first step of a subscription, once a rank was told.
    pub(crate) fn first_of(&self, subscription: SubscriptionId) -> Option<StepId> {
        self.ranks.iter().find_map(|rank| rank.started.get(&subscription).copied())
    }

    /// Who held or holds this step for a subscription, the latest holder last.
    pub(crate) fn holders(&self, step: StepId) -> Vec<(SubscriptionId, MemberId)> {
        let all = self.subscriptions.iter();
        let of_step = all.flat_map(|(&id, truth)| {
            truth
                .assignments
                .iter()
                .filter(move |(assigned, _)| *assigned == step)
                .map(move |&(_, member)| (id, member))
        });
        of_step.collect()
    }

    /// Whether every member of a subscription is gone.
    pub(crate) fn is_deserted(&self, subscription: SubscriptionId) -> bool {
        let mut members = self.members.values().filter(|member| member.subscription == subscription);
        members.all(|member| member.gone.is_some())
    }
}

/// One attachment of a subscriber cohort to an epoch.
#[derive(Clone, Debug)]
pub(crate) struct Attachment {
    pub(crate) publisher: CohortId,
    pub(crate) subscription: SubscriptionId,
    pub(crate) member: MemberId,
    pub(crate) first: StepId,
    /// What was asked for at first.
    pub(crate) spec: SubscriptionSpec,
    /// Whether its numbers are those of the attachment before.
    pub(crate) continues: bool,
    /// The number with which it begins, where it begins at one.
    pub(crate) lowest: Option<StepId>,
    /// What the publisher's lead sent, in order.
    pub(crate) sent: Vec<Assignment>,
    /// What it said was skipped, as it said that the stream is over.
    pub(crate) end_skipped: Option<u64>,
}

/// One rank of a subscriber cohort.
#[derive(Clone, Debug, Default)]
pub(crate) struct SubscriberRank {
    /// Attachments that this rank has entered, in order.
    pub(crate) entered: usize,
    /// Steps that it was given in the current attachment.
    pub(crate) delivered: usize,
    /// The highest step that it took, in attachments whose numbers go on.
    pub(crate) taken: Option<StepId>,
    /// The same as it entered the current attachment.
    pub(crate) had: Option<StepId>,
    /// Released, with the attachment.
    pub(crate) released: BTreeMap<(usize, StepId), Moment>,
    /// Given back, with the attachment.
    pub(crate) given_back: BTreeSet<(usize, StepId)>,
    pub(crate) close_called: Option<Moment>,
    /// Steps that it held as it closed, with the attachment: it goes on looking at them.
    pub(crate) viewed: BTreeSet<(usize, StepId)>,
    pub(crate) gone: Option<Moment>,
    /// Since when it awaits a restart.
    pub(crate) awaiting: Option<Moment>,
    pub(crate) ended: bool,
    pub(crate) told_lost: bool,
}

/// A subscriber cohort.
#[derive(Clone, Debug)]
pub(crate) struct SubscriberTruth {
    pub(crate) plan: SubscriberPlan,
    /// Whether a publisher refused it.
    pub(crate) refused: bool,
    pub(crate) ranks: Vec<SubscriberRank>,
    /// Attachments that were offered to the lead.
    pub(crate) attachments: Vec<Attachment>,
    /// Those that it entered, as indices into `attachments`.
    pub(crate) entered: Vec<usize>,
    pub(crate) started_at: Moment,
    /// What it asks a publisher for, by now.
    pub(crate) spec: SubscriptionSpec,
    /// What its steps must be like, and what it asked for in place of that and was not answered.
    pub(crate) demand: Option<Demand>,
    pub(crate) asked_demand: Option<Demand>,
    /// With what it asked to go on.
    pub(crate) resume: Option<Resumption>,
    /// What it asked of simulations and was not answered: in which attachment, when, and what.
    pub(crate) steers: BTreeMap<u64, (usize, Moment, Asked)>,
}

impl SubscriberTruth {
    pub(crate) fn new(plan: SubscriberPlan, now: Moment) -> Self {
        let ranks = vec![SubscriberRank::default(); plan.size as usize];
        Self {
            refused: false,
            spec: plan.spec.clone(),
            demand: plan.demand,
            asked_demand: None,
            plan,
            ranks,
            attachments: Vec::new(),
            entered: Vec::new(),
            started_at: now,
            resume: None,
            steers: BTreeMap::new(),
        }
    }

    /// Its attachment is over: a condition that was not answered is asked for no more.
    pub(crate) fn keep_demand(&mut self) {
        if self.asked_demand.take().is_some() {
            self.spec.when = self.demand.and_then(Demand::condition).map(|condition| condition.encode());
        }
    }

    /// The lowest number that it wants of this publisher, if it is a matter of numbers. It goes on after another epoch
    /// where the numbers do, and where it shares its steps with nobody.
    pub(crate) fn lowest_of(&self, plan: &PublisherPlan) -> Option<StepId> {
        match (self.resume, self.spec.start_at) {
            (Some(resume), _) => {
                let goes_on = plan.first_step.is_some() || resume.epoch == plan.epoch;
                (goes_on && self.spec.share.is_none()).then_some(resume.from)
            }
            (None, StartAt::After(step)) => Some(StepId(step.0 + 1)),
            (None, StartAt::Next | StartAt::OldestReserved) => None,
        }
    }

    /// When the last rank released a step of an attachment; `None` if one has not.
    pub(crate) fn released_by_all(&self, attachment: usize, step: StepId) -> Option<Moment> {
        let release = |rank: &SubscriberRank| {
            let own = rank.released.get(&(attachment, step)).copied();
            own.or(rank.close_called)
        };
        self.ranks.iter().map(release).collect::<Option<Vec<Moment>>>()?.into_iter().max()
    }

    /// Whether a rank gave a step of an attachment back.
    pub(crate) fn is_given_back(&self, attachment: usize, step: StepId) -> bool {
        self.ranks.iter().any(|rank| rank.given_back.contains(&(attachment, step)))
    }

    /// The cohort is given a step again that it gave back.
    pub(crate) fn given_again(&mut self, attachment: usize, step: StepId) {
        for rank in &mut self.ranks {
            rank.released.remove(&(attachment, step));
            rank.given_back.remove(&(attachment, step));
        }
    }

    /// A rank was told that it is attached. A cohort enters an attachment when its lead is told of it. A lead that has
    /// closed is told no more, and still does its part for ranks that have not. They enter what its publisher offered
    /// it last, once.
    pub(crate) fn note_entry(&mut self, rank: Rank) {
        let first_of_all = self.ranks[rank.0 as usize].entered >= self.entered.len();
        let lead_closed = self.ranks[0].close_called.is_some();
        let latest = self.attachments.len().wrapping_sub(1);
        if rank.is_lead() || (first_of_all && lead_closed && self.entered.last() != Some(&latest)) {
            self.entered.push(latest);
        }
    }

    /// The attachment that a rank is in.
    pub(crate) fn current(&self, rank: usize) -> Option<usize> {
        let entered = self.ranks[rank].entered.checked_sub(1)?;
        self.entered.get(entered).copied()
    }
}
