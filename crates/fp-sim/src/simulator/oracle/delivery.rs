//! What subscriber ranks are given: the same steps, in the same order, each what was put.

use super::Rule;
use super::{Attachment, MemberTruth, Oracle, SubscriptionTruth};
use crate::simulator::application::held_step::StepKey;
use crate::simulator::content::Demand;
use crate::simulator::names::CohortId;
use fp_proto::config::SubscriptionSpec;
use fp_proto::message::{Assignment, MemberId};
use fp_types::{Epoch, Rank, StepId, SubscriptionId};
use std::collections::{BTreeMap, BTreeSet};

impl Oracle {
    /// A subscriber cohort joins a subscription, known or new.
    pub(crate) fn member_joined(
        &mut self,
        publisher: CohortId,
        subscription: SubscriptionId,
        label: &str,
        size: u32,
    ) {
        let named = self.subscribers.values().find(|truth| truth.plan.name == label);
        let plan = self.publishers.get(&publisher).map(|truth| &truth.plan);
        let lowest = named.zip(plan).and_then(|(truth, plan)| truth.lowest_of(plan));
        let spec = named.zip(plan).map(|(truth, plan)| (plan.allowed(&truth.spec), truth.demand));
        let right = named.is_some_and(|truth| truth.plan.size == size);
        self.demand(right, Rule::WhoIsAttachedIsKnown, || {
            format!("{publisher}: {label} of {size} ranks joined")
        });
        let (Some((spec, demand)), Some(truth)) = (spec, self.publishers.get_mut(&publisher)) else { return };
        truth.subscriptions.entry(subscription).or_insert_with(|| new_subscription(spec, demand, lowest));
    }

    /// Whether a publisher is short of memory now.
    pub(crate) fn is_short(&self, publisher: CohortId) -> bool {
        let short = self.publishers.get(&publisher).and_then(|truth| truth.plan.short.as_ref());
        short.is_some_and(|span| span.contains(&self.now))
    }

    /// A member more: nobody joins who could take the memory of the next put.
    pub(crate) fn newcomer_joined(&mut self, publisher: CohortId, label: &str) {
        self.demand(!self.is_short(publisher), Rule::WhoIsShortOfMemoryTakesNoNewcomer, || {
            format!("{publisher}: {label} joined")
        });
    }

    /// A member more of a host: no host has more than it may.
    pub(crate) fn peer_joined(&mut self, publisher: CohortId, member: MemberId, label: &str) {
        let named = self.subscribers.iter().find(|(_, truth)| truth.plan.name == label);
        let (Some((&reader, _)), Some(truth)) = (named, self.publishers.get_mut(&publisher)) else { return };
        truth.hosts.insert(member, reader.host());
        let count = truth.hosts.values().filter(|&&host| host == reader.host()).count();
        let limit = truth.plan.limit_peer_subscriptions;
        self.demand(count <= limit as usize, Rule::NoPeerHasMoreSubscriptionsThanItMay, || {
            format!("{publisher}: {label} is number {count} of its host, {limit} may be")
        });
    }

    /// The publisher's lead told a subscriber's lead that it is a member.
    pub(crate) fn subscribed(
        &mut self,
        publisher: CohortId,
        reader: CohortId,
        subscription: SubscriptionId,
        member: MemberId,
        first: StepId,
    ) {
        let plan = self.publishers.get(&publisher).map(|truth| truth.plan.clone());
        let (Some(truth), Some(plan)) = (self.subscribers.get_mut(&reader), plan) else { return };
        let attachment = truth.attachments.len();
        let (spec, lowest) = (truth.spec.clone(), truth.lowest_of(&plan));
        let continues = truth.resume.is_some() && lowest.is_some();
        #[rustfmt::skip]
        truth.attachments.push(Attachment {
            publisher, subscription, member, first, spec, continues, lowest, sent: Vec::new(), end_skipped: None,
        });
        let credit_steps = u64::from(truth.plan.credit_steps);
        let Some(truth) = self.publishers.get_mut(&publisher) else { return };
        if let Some(wanted) = truth.subscriptions.get_mut(&subscription) {
            wanted.begin.get_or_insert(first);
        }
        let member_truth = MemberTruth {
            subscription,
            cohort: reader,
            attachment,
            credit_steps,
            assigned: Vec::new(),
            release_heard: BTreeMap::new(),
            given_back: BTreeSet::new(),
            gone: None,
            end_told: false,
        };
        truth.members.insert(member, member_truth);
        self.check_first(publisher, subscription, first);
    }

    /// No subscription starts later than the ranks are.
    fn check_first(&mut self, publisher: CohortId, subscription: SubscriptionId, first: StepId) {
        let truth = &self.publishers[&publisher];
        let highest = truth.highest_begun();
        let lowest = truth.subscriptions.get(&subscription).and_then(|wanted| wanted.lowest);
        let awaited = lowest.is_some_and(|lowest| first <= lowest);
        self.demand(first.0 <= highest || awaited, Rule::SubscriptionStartsAsSoonAsItCan, || {
            format!("{publisher}: {subscription} starts at step {first}, next to begin is {highest}")
        });
    }

    /// A subscriber rank was told that it is attached (again).
    pub(crate) fn attached(&mut self, reader: CohortId, rank: Rank, epoch: Epoch, restarted: Option<StepId>) {
        let Some(truth) = self.subscribers.get_mut(&reader) else { return };
        truth.note_entry(rank);
        let own = &mut truth.ranks[rank.0 as usize];
        let again = own.entered > 0;
        let awaited = own.awaiting.take().is_some();
        own.entered += 1;
        own.delivered = 0;
        let current = truth.current(rank.0 as usize).and_then(|index| truth.attachments.get(index));
        let facts = current.map(|attachment| (attachment.publisher, attachment.first));
        self.resumed(reader, rank);
        let Some((publisher, first)) = facts else {
            self.violated(
                Rule::RanksAttachAsTheirLeadDoes,
                format!("{reader} rank {rank} attached before its lead"),
            );
            return;
        };
        let right = self.publishers[&publisher].plan.epoch;
        self.demand(epoch == right, Rule::AttachmentNamesItsEpoch, || {
            format!("{reader} rank {rank} was told {epoch}, it is attached to {right}")
        });
        self.demand(again == restarted.is_some() && again == awaited, Rule::RestartIsAnnounced, || {
            format!(
                "{reader} rank {rank}: attached again {again}, restarted {restarted:?}, awaiting {awaited}"
            )
        });
        self.demand(restarted.is_none_or(|said| said == first), Rule::RestartIsAnnounced, || {
            format!("{reader} rank {rank}: first step {first} but told {restarted:?}")
        });
    }

    /// A publisher's lead refused a subscriber cohort.
    pub(crate) fn refused(&mut self, reader: CohortId) {
        if let Some(truth) = self.subscribers.get_mut(&reader) {
            truth.refused = true;
        }
    }

    /// A subscriber rank was told that its epoch is over and another awaited.
    pub(crate) fn awaiting(&mut self, reader: CohortId, rank: Rank) {
        if let Some(truth) = self.subscribers.get_mut(&reader) {
            truth.take_held_again(rank);
            truth.ranks[rank.0 as usize].awaiting = Some(self.now);
            if rank == Rank::LEAD {
                truth.keep_demand();
            }
        }
    }

    /// The membership by which a subscriber cohort is attached to a publisher, if it is.
    pub(crate) fn member_of(&self, publisher: CohortId, reader: CohortId) -> Option<MemberId> {
        let members = &self.publishers.get(&publisher)?.members;
        members.iter().find(|(_, member)| member.cohort == reader && member.gone.is_none()).map(|(&id, _)| id)
    }

    /// A subscriber rank took a step. Gives the attachment that it belongs to.
    pub(crate) fn delivered(
        &mut self,
        reader: CohortId,
        rank: Rank,
        assignment: &Assignment,
    ) -> Option<usize> {
        let truth = self.subscribers.get_mut(&reader)?;
        let Some(current) = truth.current(rank.0 as usize) else {
            self.violated(Rule::NoStepsBeforeAttachment, format!("{reader} rank {rank}: {assignment:?}"));
            return None;
        };
        let own = &mut truth.ranks[rank.0 as usize];
        let all = &truth.attachments[current].sent;
        let continues = truth.attachments[current].continues && own.delivered == 0;
        let position =
            own.delivered + all[own.delivered..].iter().take_while(|sent| own.has_had(sent)).count();
        own.delivered = position + 1;
        let (awaiting, closed) = (own.awaiting.is_some(), own.close_called.is_some());
        let mut sent = all.get(position).map(|sent| own.as_given(sent));
        // What was lost with the epoch before is told here too: "none missing across a restart" judges that.
        sent.iter_mut().filter(|_| continues).for_each(|sent| sent.skipped = assignment.skipped);
        self.check_resumption(reader, rank, current, assignment);
        self.demand(sent.as_ref() == Some(assignment), Rule::AllRanksSeeSameStepsInSameOrder, || {
            format!(
                "{reader} rank {rank} got as number {position} {assignment:?}, its lead was sent {sent:?}"
            )
        });
        self.demand(!awaiting, Rule::NoStepsOfEpochThatIsOver, || {
            format!("{reader} rank {rank} got step {} while it awaits a restart", assignment.step)
        });
        self.demand(!closed, Rule::NoStepsAfterClose, || {
            format!("{reader} rank {rank} got step {}", assignment.step)
        });
        Some(current)
    }

    /// A subscriber rank let go of a step.
    pub(crate) fn released(&mut self, reader: CohortId, rank: Rank, key: StepKey, given_back: bool) {
        let now = self.now;
        let Some(truth) = self.subscribers.get_mut(&reader) else { return };
        let own = &mut truth.ranks[rank.0 as usize];
        own.released.insert(key, now);
        own.given_back.extend(Some(key).filter(|_| given_back));
    }

    /// A release of a cohort reached its publisher's lead: every rank must have let go.
    pub(crate) fn release_heard(&mut self, publisher: CohortId, reader: CohortId, step: StepId, back: bool) {
        let now = self.now;
        let Some(truth) = self.publishers.get_mut(&publisher) else { return };
        let mine =
            truth.members.iter_mut().find(|(_, member)| member.cohort == reader && member.gone.is_none());
        let Some((&id, member)) = mine else { return };
        member.release_heard.entry(step).or_insert(now);
        member.given_back.extend(Some(step).filter(|_| back));
        let attachment = member.attachment;
        let reading = self.subscribers.get(&reader);
        let released = reading.and_then(|truth| truth.released_by_all(attachment, step));
        let by_any = reading.is_some_and(|truth| truth.is_given_back(attachment, step));
        self.demand(back == by_any, Rule::GivenBackByAnyIsByAll, || {
            format!("{reader} ({id:?}) gave step {step} back: {back}, any of its ranks did: {by_any}")
        });
        self.demand(released.is_some(), Rule::ReleaseMeansAllRanks, || {
            format!("{reader} ({id:?}) released step {step} to its publisher before all its ranks did")
        });
    }

    /// A table id stands for one layout, and a layout has one id, within an epoch.
    pub(crate) fn table_seen(&mut self, publisher: CohortId, assignment: &Assignment) {
        let Some(truth) = self.publishers.get_mut(&publisher) else { return };
        let layout = truth.content.layout(assignment.step.0);
        let known = truth.tables.entry(assignment.table).or_insert_with(|| layout.clone());
        let same = *known == layout;
        let other = truth.tables.iter().find(|(id, known)| **id != assignment.table && **known == layout);
        let other = other.map(|(id, _)| *id);
        self.demand(same, Rule::TableIdStandsForOneLayout, || {
            format!(
                "{publisher}: table {} of step {} was seen with another layout",
                assignment.table, assignment.step
            )
        });
        self.demand(other.is_none(), Rule::LayoutHasOneTableId, || {
            format!(
                "{publisher}: step {} has table {}, known as {other:?}",
                assignment.step, assignment.table
            )
        });
    }
}

fn new_subscription(
    spec: SubscriptionSpec,
    demand: Option<Demand>,
    lowest: Option<StepId>,
) -> SubscriptionTruth {
    SubscriptionTruth {
        spec,
        demand,
        next_demands: Vec::new(),
        lowest,
        selections: Vec::new(),
        begin: None,
        assignments: Vec::new(),
        dropped: BTreeMap::new(),
        skipped: 0,
        lost: 0,
        ended: false,
    }
}
