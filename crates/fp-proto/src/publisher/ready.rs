//! `Ready` on its way up: the rank's own report, merged with those of its children
//! (`docs/protocol.md`, sections 6 and 7).
//!
//! The lead knows tables by the hash of their content. Layout ids that ranks agree on would need an exchange before
//! their first use, in the middle of a step.

use super::PublisherMachine;
use super::ledger::Stage;
use crate::bounds::LIMIT_PARTS_BYTES;
use crate::config::CohortConfig;
use crate::effect::{Misbehaviour, PeerId};
use crate::fragment;
use crate::message::{Decision, MeasurePart, Message, ReadyReport};
use crate::outcome::LossReason;
use crate::publisher::repeats::Repeats;
use crate::publisher::{decision, drain, log, loss, steps};
use crate::time::Moment;
use crate::transition::Transition;
use crate::tree;
use crate::wire::mutated;
use fp_types::{MeasureParts, PutChanges, Rank, RankRange, StepId, Unmeasured};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How many times `skew_steps` are merged at one time, at most. A rank has up to twice as many that are not decided: as a
/// subscription ends, its steps hold up no others. A rank of the cohort may have twice the `skew_steps` of another.
const LIMIT_MERGED_SKEWS: usize = 4;

/// A step whose reports are not all here.
#[derive(Default)]
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
    /// What this rank told its parent lately.
    told: Repeats,
    /// What each child told lately.
    heard: BTreeMap<Rank, Repeats>,
    /// For the mutation `PartOfOlderStep`.
    older: Vec<MeasurePart>,
}

impl Merging {
    fn entry(&mut self, step: StepId, now: Moment) -> &mut Partial {
        self.steps.entry(step).or_insert_with(|| Partial { since: now, ..Partial::default() })
    }

    pub(crate) fn clear(&mut self) {
        self.steps.clear();
    }
}

/// Merges the report of a subtree into another; the order of arrival does not matter.
pub(crate) fn merge(into: &mut ReadyReport, from: ReadyReport, measures: &dyn MeasureParts) {
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
    into.full |= from.full;
    if !from.parts.is_empty() {
        merge_parts(&mut into.parts, from.parts, measures);
    }
}

/// Brings together what two subtrees measured. What one of them did not measure is not measured.
fn merge_parts(into: &mut Vec<MeasurePart>, from: Vec<MeasurePart>, measures: &dyn MeasureParts) {
    for part in from {
        match into.binary_search_by(|known| known.measure.cmp(&part.measure)) {
            Ok(at) => merge_part(&mut into[at], part, measures),
            Err(at) => into.insert(at, part),
        }
    }
}

fn merge_part(known: &mut MeasurePart, other: MeasurePart, measures: &dyn MeasureParts) {
    known.unmeasured = match (known.unmeasured.take(), other.unmeasured) {
        (Some(one), Some(other)) => Some(if other.rank < one.rank { other } else { one }),
        (one, other) => one.or(other),
    };
    if known.unmeasured.is_none() {
        match measures.merge(&known.measure, &known.part, &other.part) {
            Some(part) => known.part = part,
            None => {
                let reason = format!("what ranks measured of {} is not of one array", known.measure);
                known.unmeasured = Some(Unmeasured::new(Rank::LEAD, reason));
            }
        }
    }
    if known.unmeasured.is_some() {
        known.part.clear();
    }
}

/// Reports the ended steps of this rank that may be reported now, in order.
pub(crate) fn send_ready(machine: &mut PublisherMachine) {
    while let Some(step) = next_to_report(machine) {
        if !machine.ledger.flows(step) {
            steps::settle(machine, step, |_| false);
            continue;
        }
        let Some(report) = take_report(machine, step) else { break };
        if machine.cohort.children().next().is_none() && !log::is_lost(machine) {
            pass_on(machine, step, report);
        } else {
            let partial = machine.merging.entry(step, machine.wire.now);
            partial.own = true;
            let others = std::mem::replace(&mut partial.report, report);
            merge(&mut partial.report, others, &*machine.config.measures);
            merged(machine, step);
        }
    }
    if !mutated!(machine.wire, EndedRemembered) {
        machine.ledger.forget_ended();
    }
    drain::consider_closing(machine);
}

/// The oldest step that is not reported, if it is ended and not held back.
fn next_to_report(machine: &mut PublisherMachine) -> Option<StepId> {
    let waiting = |stage| matches!(stage, Stage::Begun | Stage::Ended);
    let (&step, local) = machine.ledger.steps.iter().find(|(_, local)| waiting(local.stage))?;
    if local.stage == Stage::Begun {
        return None;
    }
    if held_back(machine, &local.pending) {
        machine.wire.mark(Transition::ReadyHeldBack);
        return None;
    }
    Some(step)
}

fn held_back(machine: &PublisherMachine, pending: &[crate::message::ChangeId]) -> bool {
    let forgets = mutated!(machine.wire, ReadyBeforeStart);
    let forgets_requests = mutated!(machine.wire, ReadyBeforeRequestStart);
    let is_forgotten = |change| forgets || (forgets_requests && machine.changes.is_request(change));
    pending.iter().any(|&change| machine.changes.is_pending(change) && !is_forgotten(change))
}

fn take_report(machine: &mut PublisherMachine, step: StepId) -> Option<ReadyReport> {
    let local = machine.ledger.steps.get_mut(&step)?;
    local.stage = Stage::Reported;
    local.pending.clear();
    let mut report = std::mem::take(&mut local.report);
    let put = local.put.take().filter(|put| !put.is_empty());
    if mutated!(machine.wire, PartOfOlderStep) {
        std::mem::swap(&mut report.parts, &mut machine.merging.older);
    }
    if machine.last_reported.is_some() && mutated!(machine.wire, StaleContribution) {
        return Some(report);
    }
    let Some(put) = put else { return Some(report) };
    if machine.last_reported.as_ref() == Some(&put) {
        machine.wire.mark(Transition::ReadyUnchanged);
    } else {
        report.changed = (*put).clone();
        machine.last_reported = Some(put);
        machine.wire.mark(Transition::ReadyChanged);
    }
    Some(report)
}

/// A child's subtree is ready with a step.
pub(crate) fn child_ready(
    machine: &mut PublisherMachine,
    from: PeerId,
    child: Rank,
    step: StepId,
    again: Option<u64>,
    mut report: ReadyReport,
) {
    let first_of_all = machine.first_step();
    let expected = machine.merging.expected.entry(child).or_insert(first_of_all);
    if step < *expected {
        machine.misbehaved(from, Misbehaviour::OutOfOrder("Ready"));
        return;
    }
    *expected = StepId(step.0 + 1);
    if let Err(what) = recall(machine, child, again, &mut report) {
        machine.misbehaved(from, what);
        return;
    }
    let CohortConfig { size, fan_out, .. } = machine.config.cohort;
    let below = |ranks: &RankRange| {
        ranks.last().0 < size && tree::are_below(child, (ranks.first, ranks.last()), fan_out)
    };
    if !report.changed.ranks.iter().all(below) {
        machine.misbehaved(from, Misbehaviour::OutOfBounds("Ready.changed"));
        return;
    }
    if machine.merging.steps.len() > LIMIT_MERGED_SKEWS * machine.config.skew_steps as usize + 1 {
        machine.misbehaved(from, Misbehaviour::OutOfBounds("Ready.step"));
        return;
    }
    let partial = machine.merging.entry(step, machine.wire.now);
    partial.children.insert(child);
    let twice = mutated!(machine.wire, PartMergedTwice).then(|| report.parts.clone());
    merge(&mut partial.report, report, &*machine.config.measures);
    twice
        .into_iter()
        .for_each(|parts| merge_parts(&mut partial.report.parts, parts, &*machine.config.measures));
    merged(machine, step);
}

/// What the ranks below put, where the child says it by its number. A child that says one that it cannot have in mind
/// breaks the protocol.
fn recall(
    machine: &mut PublisherMachine,
    child: Rank,
    again: Option<u64>,
    report: &mut ReadyReport,
) -> Result<(), Misbehaviour> {
    let in_order_of_coming = mutated!(machine.wire, RepeatsByAge);
    let heard = machine.merging.heard.entry(child).or_default();
    let Some(number) = again else {
        if !report.changed.is_empty() {
            heard.note(&report.changed);
        }
        return Ok(());
    };
    let known = heard.find(number).filter(|_| report.changed.is_empty());
    let known = known.ok_or(Misbehaviour::OutOfBounds("Ready.again"))?;
    report.changed = PutChanges::clone(&known);
    if !in_order_of_coming {
        heard.renew(number);
    }
    Ok(())
}

/// Passes a step on if every report of this subtree is here.
fn merged(machine: &mut PublisherMachine, step: StepId) {
    let Some(partial) = machine.merging.steps.get(&step) else { return };
    let all_children = machine.cohort.children().all(|(rank, _)| partial.children.contains(&rank));
    if !partial.own || !all_children || log::is_lost(machine) {
        return;
    }
    if let Some(partial) = machine.merging.steps.remove(&step) {
        pass_on(machine, step, partial.report);
    }
}

fn pass_on(machine: &mut PublisherMachine, step: StepId, report: ReadyReport) {
    if machine.lead.is_some() {
        decision::decide(machine, step, report);
    } else {
        report_above(machine, step, report);
    }
}

/// A report that is too long to be sent ends the stream with that reason: without it no step would be whole.
fn report_above(machine: &mut PublisherMachine, step: StepId, mut report: ReadyReport) {
    report.changed.sort();
    let CohortConfig { rank, long_bytes, .. } = machine.config.cohort;
    if let Some(len_bytes) = fragment::too_long(&report, long_bytes) {
        let (blocks, limit_bytes) = (report.changed.block_count(), long_bytes as u64);
        loss::lost_from_below(machine, rank, LossReason::TooManyBlocks { blocks, len_bytes, limit_bytes });
    } else {
        let again = say_again(machine, &mut report);
        let parts = bounded(std::mem::take(&mut report.parts));
        let report = Box::new(report);
        let message = match parts.is_empty() {
            true => Message::Ready { step, again, report },
            false => Message::ReadyMeasured { step, again, report, parts },
        };
        machine.cohort.tell_parent(&mut machine.wire, message);
    }
}

/// Where subscriptions go and others come, ranks may measure for both in one step. What is more than ranks tell one another
/// is told as not measured at all: a part without a name stands for all of them.
fn bounded(parts: Vec<MeasurePart>) -> Vec<MeasurePart> {
    if parts.iter().map(MeasurePart::len_bytes).sum::<usize>() <= LIMIT_PARTS_BYTES {
        return parts;
    }
    let reason =
        "subscriptions that went and that came have more measured than ranks tell one another".to_owned();
    let unmeasured = Some(Unmeasured::new(Rank::LEAD, reason));
    vec![MeasurePart { measure: String::new(), part: Vec::new(), unmeasured }]
}

/// What the parent was told lately is said by its number. What it was not told is remembered.
fn say_again(machine: &mut PublisherMachine, report: &mut ReadyReport) -> Option<u64> {
    if report.changed.is_empty() {
        return None;
    }
    let (whole, misnamed) = (mutated!(machine.wire, RepeatsWhole), mutated!(machine.wire, RepeatMisnamed));
    let told = &mut machine.merging.told;
    let Some(number) = told.number_of(&report.changed).filter(|_| !whole) else {
        told.note(&report.changed);
        return None;
    };
    let number = if misnamed { told.latest().unwrap_or(number) } else { number };
    machine.wire.mark(Transition::ReadyAgain);
    report.changed = PutChanges::default();
    machine.merging.told.renew(number);
    Some(number)
}

/// When a late rank is to be named.
pub(crate) fn lag_deadline(machine: &PublisherMachine) -> Option<Moment> {
    if machine.merging.steps.is_empty() {
        return None;
    }
    // A step whose awaited child is lost waits for nobody any more, and is not late.
    let waits =
        |(step, partial): &(&StepId, &Partial)| partial.named.is_none() && missing(machine, **step).is_some();
    let (_, unnamed) = machine.merging.steps.iter().find(waits)?;
    Some(unnamed.since.after(lag_patience(machine)))
}

/// How long a step may be incomplete here. The higher a rank stands in the tree, the longer. The rank that is nearest
/// to the late one names it. Those above see only a late subtree, and hear of the name in time.
fn lag_patience(machine: &PublisherMachine) -> Duration {
    let CohortConfig { rank, size, fan_out, .. } = machine.config.cohort;
    machine.config.lag_report * (tree::height(rank, size, fan_out) + 1)
}

/// Names the rank that the oldest incomplete step waits for.
pub(crate) fn tick_lag(machine: &mut PublisherMachine) {
    let (now, patience) = (machine.wire.now, lag_patience(machine));
    let due = |partial: &Partial| partial.named.is_none() && now >= partial.since.after(patience);
    let late_steps: Vec<StepId> =
        machine.merging.steps.iter().filter(|(_, partial)| due(partial)).map(|(&step, _)| step).collect();
    for step in late_steps {
        if let Some(rank) = missing(machine, step) {
            late(machine, step, rank);
        }
    }
}

fn missing(machine: &PublisherMachine, step: StepId) -> Option<Rank> {
    let partial = machine.merging.steps.get(&step)?;
    if !partial.own {
        return Some(machine.config.cohort.rank);
    }
    machine.cohort.children().map(|(rank, _)| rank).find(|rank| !partial.children.contains(rank))
}

/// A rank of this subtree is late: the lead tells everybody.
pub(crate) fn late(machine: &mut PublisherMachine, step: StepId, rank: Rank) {
    if let Some(partial) = machine.merging.steps.get_mut(&step) {
        partial.named = Some(rank);
    }
    if machine.lead.is_some() {
        log::append(machine, Decision::Lagging { step, rank });
    } else {
        machine.cohort.tell_parent(&mut machine.wire, Message::Late { step, rank });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_ranks_tell_one_another_is_told_as_not_measured() {
        let part =
            |len: usize| MeasurePart { measure: "max(T)".to_owned(), part: vec![0; len], unmeasured: None };
        assert_eq!(bounded(vec![part(9)]), [part(9)]);
        let cut = bounded(vec![part(LIMIT_PARTS_BYTES / 2), part(LIMIT_PARTS_BYTES / 2)]);
        let [MeasurePart { measure, unmeasured: Some(_), .. }] = &cut[..] else { panic!("{cut:?}") };
        assert_eq!(measure, "");
    }
}
