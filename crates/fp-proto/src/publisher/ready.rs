//! `Ready` on its way up: the rank's own report, merged with those of its children
//! (`docs/protocol.md`, sections 6 and 7).

use super::PublisherMachine;
use super::ledger::Stage;
use crate::config::CohortConfig;
use crate::effect::{Misbehaviour, PeerId};
use crate::fragment;
use crate::message::{Decision, Message, ReadyReport};
use crate::outcome::LossReason;
use crate::time::Moment;
use crate::transition::Transition;
use crate::tree;
use fp_types::{Rank, RankRange, StepId};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A step whose reports are not all here.
struct Partial {
    report: ReadyReport,
    own: bool,
    children: BTreeSet<Rank>,
    since: Moment,
    named: Option<Rank>,
}

/// Steps that are being merged on this rank.
#[derive(Default)]
pub(crate) struct Merging {
    steps: BTreeMap<StepId, Partial>,
    /// The next step that each child may report.
    expected: BTreeMap<Rank, StepId>,
}

impl Merging {
    fn entry(&mut self, step: StepId, now: Moment) -> &mut Partial {
        self.steps.entry(step).or_insert_with(|| Partial {
            report: ReadyReport::default(),
            own: false,
            children: BTreeSet::new(),
            since: now,
            named: None,
        })
    }

    pub(crate) fn clear(&mut self) {
        self.steps.clear();
    }
}

/// Merges the report of a subtree into another; the order of arrival does not matter.
pub(crate) fn merge(into: &mut ReadyReport, from: ReadyReport) {
    into.abandoned = match (into.abandoned, from.abandoned) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    into.not_kept.extend(from.not_kept);
    into.not_kept.sort();
    into.not_kept.dedup();
    into.changed.append(from.changed);
    for value in from.values {
        match into.values.iter_mut().find(|known| known.name == value.name) {
            Some(known) if known.rank < value.rank => *known = value,
            Some(_) => {}
            None => into.values.push(value),
        }
    }
    into.len_bytes = into.len_bytes.saturating_add(from.len_bytes);
}

impl PublisherMachine {
    /// Reports the ended steps of this rank that may be reported now, in order.
    pub(crate) fn send_ready(&mut self) {
        while let Some((step, report)) = self.next_report() {
            let Some(report) = report else { continue };
            if self.cohort.children().next().is_none() && !self.is_lost() {
                self.pass_on(step, report);
            } else {
                let now = self.now;
                let partial = self.merging.entry(step, now);
                partial.own = true;
                let others = std::mem::replace(&mut partial.report, report);
                merge(&mut partial.report, others);
                self.merged(step);
            }
        }
        self.ledger.forget_ended();
        self.consider_closing();
    }

    /// The oldest ended step that is not held back; without a report if it does not flow.
    fn next_report(&mut self) -> Option<(StepId, Option<ReadyReport>)> {
        let waiting = |stage| matches!(stage, Stage::Begun | Stage::Ended);
        let (&step, local) = self.ledger.steps.iter().find(|(_, local)| waiting(local.stage))?;
        if local.stage == Stage::Begun {
            return None;
        }
        if self.held_back(&local.pending) {
            self.wire.mark(Transition::ReadyHeldBack);
            return None;
        }
        if !self.ledger.flows(step) {
            self.dismiss(step);
            return Some((step, None));
        }
        let report = self.take_report(step)?;
        Some((step, Some(report)))
    }

    fn held_back(&self, pending: &[crate::message::ChangeId]) -> bool {
        #[cfg(feature = "mutations")]
        if self.mutated(crate::mutation::Mutation::ReadyBeforeStart) {
            return false;
        }
        pending.iter().any(|&change| self.changes.is_pending(change))
    }

    /// A step that flows for nobody is settled at once.
    fn dismiss(&mut self, step: StepId) {
        if let Some(local) = self.ledger.steps.get_mut(&step) {
            local.pending.clear();
            local.stage = Stage::Decided;
            let left: Vec<_> = local.kept.iter().copied().collect();
            for subscription in left {
                if let Some(freed) = self.ledger.let_go(subscription, step, false) {
                    self.freed(freed);
                }
            }
        }
        self.free_if_unneeded(step);
    }

    fn take_report(&mut self, step: StepId) -> Option<ReadyReport> {
        let local = self.ledger.steps.get_mut(&step)?;
        local.stage = Stage::Reported;
        local.pending.clear();
        let mut report = std::mem::take(&mut local.report);
        let put = local.put.take().filter(|put| !put.is_empty());
        #[cfg(feature = "mutations")]
        if self.last_reported.is_some()
            && self.config.mutation == Some(crate::mutation::Mutation::StaleContribution)
        {
            return Some(report);
        }
        let Some(put) = put else { return Some(report) };
        if self.last_reported.as_ref() == Some(&put) {
            self.wire.mark(Transition::ReadyUnchanged);
        } else {
            report.changed = (*put).clone();
            self.last_reported = Some(put);
            self.wire.mark(Transition::ReadyChanged);
        }
        Some(report)
    }

    /// A child's subtree is ready with a step.
    pub(crate) fn child_ready(&mut self, from: PeerId, child: Rank, step: StepId, report: ReadyReport) {
        let expected = self.merging.expected.entry(child).or_insert(StepId(0));
        if step < *expected {
            self.misbehaved(from, Misbehaviour::OutOfOrder("Ready"));
            return;
        }
        *expected = StepId(step.0 + 1);
        let CohortConfig { size, fan_out, .. } = self.config.cohort;
        let below = |ranks: &RankRange| {
            ranks.last().0 < size && tree::are_below(child, (ranks.first, ranks.last()), fan_out)
        };
        if !report.changed.ranks.iter().all(below) {
            self.misbehaved(from, Misbehaviour::OutOfBounds("Ready.changed"));
            return;
        }
        if self.merging.steps.len() > 2 * self.config.skew_steps as usize + 1 {
            self.misbehaved(from, Misbehaviour::OutOfBounds("Ready.step"));
            return;
        }
        let now = self.now;
        let partial = self.merging.entry(step, now);
        partial.children.insert(child);
        merge(&mut partial.report, report);
        self.merged(step);
    }

    /// Passes a step on if every report of this subtree is here.
    fn merged(&mut self, step: StepId) {
        let Some(partial) = self.merging.steps.get(&step) else { return };
        let all_children = self.cohort.children().all(|(rank, _)| partial.children.contains(&rank));
        if !partial.own || !all_children || self.is_lost() {
            return;
        }
        if let Some(partial) = self.merging.steps.remove(&step) {
            self.pass_on(step, partial.report);
        }
    }

    fn pass_on(&mut self, step: StepId, report: ReadyReport) {
        if self.lead.is_some() {
            self.decide(step, report);
        } else {
            self.report_above(step, report);
        }
    }

    /// A report that is too long to be sent ends the stream with that reason: without it no step would be whole.
    fn report_above(&mut self, step: StepId, mut report: ReadyReport) {
        report.changed.sort();
        let CohortConfig { rank, long_bytes, .. } = self.config.cohort;
        if let Some(len_bytes) = fragment::too_long(&report, long_bytes) {
            let (blocks, limit_bytes) = (report.changed.block_count(), long_bytes as u64);
            self.lost_from_below(rank, LossReason::TooManyBlocks { blocks, len_bytes, limit_bytes });
        } else if let Some(parent) = self.cohort.parent() {
            self.wire.send(self.now, parent, Message::Ready { step, report });
        }
    }

    /// When a late rank is to be named.
    pub(crate) fn lag_deadline(&self) -> Option<Moment> {
        // A step that waits for nobody any more, as the child that it waited for is lost, is late on no account.
        let waits =
            |(step, partial): &(&StepId, &Partial)| partial.named.is_none() && self.missing(**step).is_some();
        let (_, unnamed) = self.merging.steps.iter().find(waits)?;
        Some(unnamed.since.after(self.lag_patience()))
    }

    /// How long a step may be incomplete here. The higher a rank stands in the tree, the longer: whoever is nearest
    /// to the late one names it, and those above, who see only a late subtree, hear of that in time.
    fn lag_patience(&self) -> Duration {
        let CohortConfig { rank, size, fan_out, .. } = self.config.cohort;
        self.config.lag_report * (tree::height(rank, size, fan_out) + 1)
    }

    /// Names the rank that the oldest incomplete step waits for.
    pub(crate) fn tick_lag(&mut self) {
        let (now, patience) = (self.now, self.lag_patience());
        let due = |partial: &Partial| partial.named.is_none() && now >= partial.since.after(patience);
        let late: Vec<StepId> =
            self.merging.steps.iter().filter(|(_, partial)| due(partial)).map(|(&step, _)| step).collect();
        for step in late {
            let missing = self.missing(step);
            if let Some(rank) = missing {
                self.late(step, rank);
            }
        }
    }

    fn missing(&self, step: StepId) -> Option<Rank> {
        let partial = self.merging.steps.get(&step)?;
        if !partial.own {
            return Some(self.config.cohort.rank);
        }
        self.cohort.children().map(|(rank, _)| rank).find(|rank| !partial.children.contains(rank))
    }

    /// A rank of this subtree is late: the lead tells everybody.
    pub(crate) fn late(&mut self, step: StepId, rank: Rank) {
        if let Some(partial) = self.merging.steps.get_mut(&step) {
            partial.named = Some(rank);
        }
        if self.lead.is_some() {
            self.append(Decision::Lagging { step, rank });
        } else if let Some(parent) = self.cohort.parent() {
            self.wire.send(self.now, parent, Message::Late { step, rank });
        }
    }
}
