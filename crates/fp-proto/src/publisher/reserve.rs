//! The standing subscriptions: the last steps and the first one, kept for newcomers
//! (`docs/protocol.md`, section 6).

use crate::config::StartAt;
use crate::publisher::PublisherMachine;
use crate::publisher::ledger::{PRECIOUS, RESERVE};
use crate::publisher::{assignment, condition, log, membership};
use crate::transition::Transition;
use crate::wire::mutated;
use fp_types::{Judgement, StepId, SubscriptionId, Verdict};
use smallvec::smallvec;
use std::collections::BTreeSet;

/// What a newcomer gets of the decided steps.
#[derive(Default)]
pub(crate) struct Past {
    /// What it gets, in order.
    pub(crate) given: Vec<StepId>,
    /// What is told of why it gets each of these.
    judgements: Vec<Judgement>,
    /// What it would get, were it about such steps.
    unmet: Vec<StepId>,
    /// Whether what it does not get of them is none that it is about.
    is_all: bool,
    /// Whether it goes on with what the reserve's condition remembers.
    inherits: bool,
    /// From here on the reserve's undecided steps are its too.
    pub(crate) from: StepId,
}

/// A decided step joins the reserve; the oldest leave it, as far as there are too many steps or bytes.
pub(crate) fn reserve_step(machine: &mut PublisherMachine, step: StepId) {
    let limit_bytes = match mutated!(machine.wire, ReserveBytesIgnored) {
        true => u64::MAX,
        false => machine.config.reserve_bytes,
    };
    let Some(lead) = &mut machine.lead else { return };
    lead.reserve.push_back(step);
    lead.reserved_bytes += lead.reserve_bytes(step);
    while let Some(lead) = &mut machine.lead
        && (lead.reserve.len() > lead.reserve_steps as usize
            || (lead.reserve.len() > 1 && lead.reserved_bytes > limit_bytes.into()))
    {
        let Some(oldest) = lead.reserve.pop_front() else { return };
        lead.reserved_bytes -= lead.reserve_bytes(oldest);
        assignment::released(machine, RESERVE, smallvec![oldest], false);
    }
}

/// What a newcomer gets of the decided steps.
pub(crate) fn reserve_for(machine: &PublisherMachine, subscription: SubscriptionId, first: StepId) -> Past {
    let nothing = Past { from: first, ..Past::default() };
    let Some(lead) = &machine.lead else { return nothing };
    let Some(served) = lead.served.get(&subscription).filter(|_| !log::is_lost(machine)) else {
        return nothing;
    };
    let mut steps = Vec::new();
    let mut from = first;
    let of_the_past = served.spec.start_at == StartAt::OldestReserved || served.lowest.is_some();
    if machine.config.reserve_steps > 0 && of_the_past {
        let wanted = |step: &StepId| *step < first && served.wants_past(*step);
        steps.extend(lead.reserve.iter().copied().filter(wanted));
        from = steps.first().copied().unwrap_or(lead.next_decided).min(first);
    }
    let first_of_all = machine.first_step();
    let precious = lead.steps.get(&first_of_all).is_some_and(|decided| decided.holders.contains(&PRECIOUS));
    let wanted = first > first_of_all && served.wants_past(first_of_all);
    if precious && wanted && !steps.contains(&first_of_all) {
        steps.insert(0, first_of_all);
    }
    let (mut given, mut unmet, mut judgements) = (Vec::new(), Vec::new(), Vec::new());
    let as_reserve = lead.wants_as_reserve(served) && !mutated!(machine.wire, ReservedHitForgotten);
    for step in steps {
        let decided = lead.steps.get(&step);
        let reserved = decided.filter(|decided| as_reserve && decided.holders.contains(&RESERVE));
        let table = decided.and_then(|decided| machine.tables.find(decided.table));
        let judged = match reserved {
            // It was judged for the reserve.
            Some(decided) => Some((Verdict::Met, decided.judgement_of(RESERVE).cloned().unwrap_or_default())),
            None => table.map(|table| condition::judge_unmeasured(served, (step, &table))),
        };
        match judged {
            Some((Verdict::Unmet, _)) => unmet.push(step),
            judged => {
                given.push(step);
                judgements.push(judged.map(|(_, judgement)| judgement).unwrap_or_default());
            }
        }
    }
    // Whoever starts at a number is told of what is gone since.
    let is_all = as_reserve && served.lowest.is_none();
    let has_memory = served.condition.as_ref().is_some_and(|standing| standing.condition().has_memory());
    Past { given, judgements, unmet, from, is_all, inherits: as_reserve && of_the_past && has_memory }
}

/// A new subscription's first step is agreed: it is told, and what it gets of the past is queued.
pub(crate) fn admit(
    machine: &mut PublisherMachine,
    subscription: SubscriptionId,
    first: StepId,
    past: &Past,
) {
    let first_of_all = machine.first_step();
    // Of a stream that is lost its members were told the end already: nothing begins for them.
    let lost = log::is_lost(machine);
    let Some(lead) = &mut machine.lead else { return };
    let Some(served) = lead.served.get_mut(&subscription).filter(|served| !served.removed && !lost) else {
        return;
    };
    let (from, begins) = (past.from, past.given.first().copied().unwrap_or(first).min(past.from));
    served.first = Some(first);
    served.reserve_from = from;
    let mut next = served.lowest.map_or(from, |lowest| lowest.min(first));
    let mut skipped = 0;
    let all: BTreeSet<StepId> = past.given.iter().chain(&past.unmet).copied().collect();
    for step in all {
        // Steps between that the reserve does not have are gaps like any others, where it could have had them.
        skipped += if past.is_all { 0 } else { step.0.saturating_sub(next.0) };
        next = next.max(StepId(step.0 + 1));
        if past.unmet.contains(&step) {
            machine.wire.mark(Transition::ConditionUnmet);
            continue;
        }
        machine.wire.mark(if step == first_of_all && from > step {
            Transition::PreciousGiven
        } else {
            Transition::ReserveGiven
        });
        let skipped = std::mem::take(&mut skipped);
        served.queue.push_back(super::lead::Queued { step, skipped, redelivered: false });
        if let Some(decided) = lead.steps.get_mut(&step) {
            decided.hold(subscription);
            let at = past.given.binary_search(&step).ok();
            let judgement = at.and_then(|at| past.judgements.get(at)).filter(|_| served.condition.is_some());
            decided.judgements.extend(judgement.map(|told| (subscription, told.clone())));
        }
    }
    served.skipped = skipped;
    if served.lowest.is_some() {
        // How many are gone is known when the first comes that is not.
        served.accounted = Some(next);
    } else if !past.is_all {
        served.skipped += lead.next_decided.min(first).0.saturating_sub(next.0);
    }
    let members = served.members.clone();
    lead.inheriting.extend(past.inherits.then_some(subscription));
    for member in members {
        membership::tell_subscribed(machine, member, begins);
    }
}
