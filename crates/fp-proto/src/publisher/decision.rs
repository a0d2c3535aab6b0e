//! The decision of a step (`docs/protocol.md`, section 7).

use super::lead::{Decided, Lead, Served};
use crate::event::{Event, StepRejection};
use crate::few::Few;
use crate::message::{Decision, ReadyReport};
use crate::publisher::PublisherMachine;
use crate::publisher::condition::Numbers;
use crate::publisher::ledger::{PRECIOUS, RESERVE, is_standing, takes};
use crate::publisher::{assignment, condition, drain, log, reserve};
use crate::transition::Transition;
use crate::wire::mutated;
use fp_types::{Judgement, Rank, StepId, StepTable, SubscriptionId, Verdict};
use std::sync::Arc;

/// A subscription's relation to a decided step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Share {
    /// It gets the step.
    Has,
    /// It should have had it.
    Misses,
    /// It did not want it.
    Indifferent,
    /// It is about other steps.
    Unmet,
}

impl Lead {
    /// The blocks of every rank, as last reported; the table of the step before if no rank reports a change.
    fn table_of(&mut self, report: &mut ReadyReport) -> Result<Arc<StepTable>, String> {
        if let (true, Some(same)) = (report.changed.is_empty(), &self.last_table) {
            return Ok(same.clone());
        }
        self.last_table = None;
        let changed = std::mem::take(&mut report.changed);
        let anew =
            |rank: &Rank| changed.ranks.iter().any(|range| (range.first..=range.last()).contains(rank));
        self.refused.retain(|rank, _| !anew(rank));
        let refused = self.builder.apply(changed);
        self.refused.extend(refused.into_iter().map(|(rank, error)| (rank, error.to_string())));
        if let Some(what) = self.refused.values().next() {
            return Err(what.clone());
        }
        let table = Arc::new(self.builder.build().map_err(|error| error.to_string())?);
        self.last_table = Some(table.clone());
        Ok(table)
    }
}

/// Every rank has reported: the step is whole, or for nobody.
pub(crate) fn decide(machine: &mut PublisherMachine, step: StepId, mut report: ReadyReport) {
    if let Some(lead) = &mut machine.lead {
        lead.inherit(step);
    }
    change_conditions(machine, step);
    let earlier = mutated!(machine.wire, ConditionOfAnotherTable);
    let before = machine.lead.as_ref().filter(|_| earlier).and_then(|lead| lead.last_table.clone());
    let table = compose(machine, step, &mut report);
    let judged = table.as_ref().and(before.as_ref().or(table.as_ref()));
    let numbers = Numbers::of(std::mem::take(&mut report.parts), &*machine.config.measures);
    let (shares, judgements) = shares(machine, step, &report, judged.map(|table| (&**table, &numbers)));
    let mut kept = Few::new();
    shares.iter().filter(|(_, share)| *share == Share::Has).for_each(|&(id, _)| kept.push(id));
    let full = report.full;
    let Some(lead) = &mut machine.lead else { return };
    lead.next_decided = StepId(step.0 + 1);
    let id = table.as_ref().map(|table| table.id());
    if let Some(table) = table {
        remember(machine, step, table, report, (Few::from_slice(&kept), judgements));
    }
    log::append(machine, Decision::Decided { step, table: id, kept });
    hand_out(machine, step, &shares);
    if let Some(Lead { judging, served, .. }) = &mut machine.lead {
        judging.decided(step, served);
    }
    if full {
        assignment::make_room(machine);
    }
    drain::consider_ending(machine);
}

/// Conditions that hold from this step on take the place of those that were.
fn change_conditions(machine: &mut PublisherMachine, step: StepId) {
    let early = u64::from(mutated!(machine.wire, ConditionChangedEarly));
    let ignored = mutated!(machine.wire, ConditionUnchanged);
    let Some(lead) = machine.lead.as_mut().filter(|_| !ignored) else { return };
    if lead.change_conditions(StepId(step.0 + early)) {
        machine.wire.mark(Transition::ConditionChanged);
    }
}

/// The table of a step: the blocks of every rank, as last reported.
fn compose(machine: &mut PublisherMachine, step: StepId, report: &mut ReadyReport) -> Option<Arc<StepTable>> {
    let ignore = mutated!(machine.wire, AbandonIgnored);
    let forgets = mutated!(machine.wire, DisputeForgotten);
    let lead = machine.lead.as_mut()?;
    let before = lead.last_table.clone().filter(|_| forgets);
    let built = lead.table_of(report);
    if built.is_err() && forgets {
        lead.last_table = before;
    }
    let reason = match (report.abandoned, built) {
        (Some(rank), _) if !ignore => StepRejection::Abandoned { rank },
        (_, Err(what)) => StepRejection::Disagreement { what },
        (_, Ok(table)) => {
            machine.wire.mark(Transition::StepDecided);
            return Some(table);
        }
    };
    machine.wire.mark(Transition::StepRejected);
    machine.wire.event(Event::StepRejected { step, reason });
    None
}

/// What was found for whom has a condition.
type Judgements = Vec<(SubscriptionId, Judgement)>;

/// What every rank says of a step.
struct Kept<'r> {
    /// Whether it has a table.
    is_whole: bool,
    /// For whom some rank does not keep it; sorted.
    not_kept: &'r [SubscriptionId],
}

impl Kept<'_> {
    fn by_all(&self, id: SubscriptionId) -> bool {
        self.is_whole && self.not_kept.binary_search(&id).is_err()
    }
}

/// Whom a step of that table is for, in order. A step without a table is for nobody.
fn shares(
    machine: &mut PublisherMachine,
    step: StepId,
    report: &ReadyReport,
    judged: Option<(&StepTable, &Numbers)>,
) -> (Few<(SubscriptionId, Share)>, Judgements) {
    let any = mutated!(machine.wire, KeptByAny);
    let forgets = mutated!(machine.wire, ReservedHitForgotten);
    let kept = Kept { is_whole: judged.is_some(), not_kept: if any { &[] } else { &report.not_kept } };
    let of_reserve = judge_for_reserve(machine, step, &kept, judged);
    let (mut shares, mut judgements) = (standing_shares(machine, step, &kept, &of_reserve), Vec::new());
    let told = of_reserve.iter().filter(|(verdict, _)| *verdict != Verdict::Unmet);
    judgements.extend(told.map(|(_, judgement)| (RESERVE, judgement.clone())));
    for id in looked_at(machine, &kept, judged) {
        let Some(lead) = &machine.lead else { break };
        let Some(served) = lead.served.get(&id) else { continue };
        let Some(share) = share_by_number((id, served), step, &kept, &shares) else { continue };
        let is_conditional = served.condition.is_some() && share != Share::Indifferent;
        // What has no table cannot be judged: it may be one that it should have had.
        let share = match judged.filter(|_| is_conditional) {
            None => share,
            Some((table, numbers)) => {
                let is_past = served.first.is_none_or(|first| step < first);
                // A rank that does not keep it does not measure for it either.
                let is_measured = share == Share::Has && !is_past;
                let (verdict, judgement) = if is_measured {
                    condition::judge(machine, id, (step, table), numbers)
                } else {
                    let for_reserve =
                        of_reserve.as_ref().filter(|_| is_past && lead.wants_as_reserve(served));
                    let for_reserve = for_reserve.filter(|_| !forgets).cloned();
                    for_reserve.unwrap_or_else(|| condition::judge_unmeasured(served, (step, table)))
                };
                if verdict != Verdict::Unmet && share == Share::Has {
                    judgements.push((id, judgement));
                }
                if verdict == Verdict::Unmet { Share::Unmet } else { share }
            }
        };
        shares.push((id, share));
    }
    (shares, judgements)
}

/// What the reserve's condition says of a step that every rank keeps for it, if it has one.
fn judge_for_reserve(
    machine: &mut PublisherMachine,
    step: StepId,
    kept: &Kept<'_>,
    judged: Option<(&StepTable, &Numbers)>,
) -> Option<(Verdict, Judgement)> {
    let ignored = mutated!(machine.wire, ReserveUnjudged);
    let condition = machine.lead.as_mut()?.reserve_condition.as_mut().filter(|_| kept.by_all(RESERVE))?;
    let (table, numbers) = judged?;
    let (verdict, judgement) = condition.judge((step, table), |measure| numbers.get(measure));
    Some((if ignored { Verdict::Met } else { verdict }, judgement))
}

/// Standing subscriptions that have a step.
fn standing_shares(
    machine: &PublisherMachine,
    step: StepId,
    kept: &Kept<'_>,
    of_reserve: &Option<(Verdict, Judgement)>,
) -> Few<(SubscriptionId, Share)> {
    let is_wanted = of_reserve.as_ref().is_none_or(|(verdict, _)| *verdict != Verdict::Unmet);
    let reserve = machine.config.reserve_steps > 0 && kept.by_all(RESERVE) && is_wanted;
    let first_of_all = step == machine.first_step();
    let precious = machine.config.precious_first && first_of_all && kept.by_all(PRECIOUS);
    let mut shares = Few::new();
    for (id, _) in [(RESERVE, reserve), (PRECIOUS, precious)].into_iter().filter(|(_, has)| *has) {
        shares.push((id, Share::Has));
    }
    shares
}

/// Whom a decision has to look at, in order: all but those that are judged together and for whom the step is none.
fn looked_at(
    machine: &mut PublisherMachine,
    kept: &Kept<'_>,
    judged: Option<(&StepTable, &Numbers)>,
) -> Few<SubscriptionId> {
    let ignored = mutated!(machine.wire, ConditionIgnored);
    let counted = mutated!(machine.wire, IndifferentIsSkipped);
    let forgets = mutated!(machine.wire, LastWatchForgotten);
    let Some(lead) = &machine.lead else { return Few::new() };
    let mut looked_at: Few<SubscriptionId> = Few::from_slice(lead.judging.one_by_one());
    let together = lead.judging.together();
    if together.is_empty() {
        return looked_at;
    }
    let alone = looked_at.len();
    match judged.filter(|_| !ignored && !counted) {
        None => looked_at.extend(together.keys()),
        Some((_, numbers)) => {
            looked_at.extend(together.wanted(|measure| numbers.get(measure)));
            looked_at.truncate(looked_at.len() - usize::from(forgets && looked_at.len() > alone));
            let is_of_them = |id: &SubscriptionId| lead.judging.is_judged_together(*id, &lead.served);
            looked_at.extend(kept.not_kept.iter().copied().filter(is_of_them));
        }
    }
    if looked_at.len() - alone < together.len() {
        machine.wire.mark(Transition::ConditionUnmet);
    }
    looked_at.sort_unstable();
    looked_at.dedup();
    looked_at
}

/// The relation of a subscription to a step, before that is judged. `None` if it has not begun.
fn share_by_number(
    (id, served): (SubscriptionId, &Served),
    step: StepId,
    kept: &Kept<'_>,
    standing: &[(SubscriptionId, Share)],
) -> Option<Share> {
    let has = |standing_id| standing.iter().any(|(id, _)| *id == standing_id);
    let first = served.first.filter(|_| !served.removed)?;
    Some(if step >= first {
        match takes(served.spec.policy, first, step) {
            false => Share::Indifferent,
            true if kept.by_all(id) => Share::Has,
            true => Share::Misses,
        }
    } else if !served.wants_past(step) {
        Share::Indifferent
    } else if has(PRECIOUS) || (step >= served.reserve_from && has(RESERVE)) {
        Share::Has
    } else if step >= served.reserve_from {
        Share::Misses
    } else {
        Share::Indifferent
    })
}

fn remember(
    machine: &mut PublisherMachine,
    step: StepId,
    table: Arc<StepTable>,
    report: ReadyReport,
    (holders, judgements): (Few<SubscriptionId>, Judgements),
) {
    let at = machine.wire.now;
    let Some(lead) = &mut machine.lead else { return };
    if holders.is_empty() {
        return;
    }
    let id = table.id();
    machine.tables.hold(table);
    lead.steps.insert(
        step,
        Decided {
            at,
            table: id,
            values: report.values,
            len_bytes: report.len_bytes,
            holders,
            retire: false,
            judgements,
        },
    );
}

fn hand_out(machine: &mut PublisherMachine, step: StepId, shares: &[(SubscriptionId, Share)]) {
    for &(id, share) in shares {
        match share {
            Share::Has if id == RESERVE => reserve::reserve_step(machine, step),
            Share::Has if is_standing(id) => {}
            Share::Has => assignment::enqueue(machine, id, step),
            Share::Misses => assignment::missed(machine, id, step),
            Share::Unmet => condition::unmet(machine, id, step),
            Share::Indifferent => {}
        }
    }
}
