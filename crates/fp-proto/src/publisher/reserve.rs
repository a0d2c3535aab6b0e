//! The standing subscriptions: the last steps and the first one, kept for newcomers
//! (`docs/protocol.md`, section 6).

use crate::config::StartAt;
use crate::publisher::PublisherMachine;
use crate::publisher::ledger::{PRECIOUS, RESERVE};
use crate::publisher::{assignment, log, membership};
use crate::transition::Transition;
use fp_types::{StepId, SubscriptionId};

/// A decided step joins the reserve; the oldest leaves it.
pub(crate) fn reserve_step(machine: &mut PublisherMachine, step: StepId) {
    let Some(lead) = &mut machine.lead else { return };
    lead.reserve.push_back(step);
    while let Some(lead) = &mut machine.lead
        && lead.reserve.len() > lead.reserve_steps as usize
    {
        let Some(oldest) = lead.reserve.pop_front() else { return };
        assignment::released(machine, RESERVE, vec![oldest], false);
    }
}

/// What a newcomer gets of the decided steps, and from where on the reserve's undecided steps are its too.
pub(crate) fn reserve_for(
    machine: &PublisherMachine,
    subscription: SubscriptionId,
    first: StepId,
) -> (Vec<StepId>, StepId) {
    let Some(lead) = &machine.lead else { return (Vec::new(), first) };
    let Some(served) = lead.served.get(&subscription).filter(|_| !log::is_lost(machine)) else {
        return (Vec::new(), first);
    };
    let mut steps = Vec::new();
    let mut from = first;
    if machine.config.reserve_steps > 0 && served.spec.start_at == StartAt::OldestReserved {
        steps.extend(lead.reserve.iter().copied().filter(|&step| step < first));
        from = steps.first().copied().unwrap_or(lead.next_decided).min(first);
    }
    let precious = lead.steps.get(&StepId(0)).is_some_and(|decided| decided.holders.contains(&PRECIOUS));
    if precious && first > StepId(0) && !steps.contains(&StepId(0)) {
        steps.insert(0, StepId(0));
    }
    (steps, from)
}

/// A new subscription's first step is agreed: it is told, and what it gets of the past is queued.
pub(crate) fn admit(
    machine: &mut PublisherMachine,
    subscription: SubscriptionId,
    first: StepId,
    from: StepId,
    reserved: &[StepId],
) {
    // Of a stream that is lost its members were told the end already: nothing begins for them.
    let lost = log::is_lost(machine);
    let Some(lead) = &mut machine.lead else { return };
    let Some(served) = lead.served.get_mut(&subscription).filter(|served| !served.removed && !lost) else {
        return;
    };
    served.first = Some(first);
    served.reserve_from = from;
    let mut next = from;
    for &step in reserved {
        machine.wire.mark(if step == StepId(0) && from > step {
            Transition::PreciousGiven
        } else {
            Transition::ReserveGiven
        });
        // Steps between that the reserve does not have are gaps like any others.
        let skipped = step.0.saturating_sub(next.0);
        next = next.max(StepId(step.0 + 1));
        served.queue.push_back(super::lead::Queued { step, skipped, redelivered: false });
        if let Some(decided) = lead.steps.get_mut(&step) {
            decided.holders.push(subscription);
        }
    }
    served.skipped = lead.next_decided.min(first).0.saturating_sub(next.0);
    let members = served.members.clone();
    let begins = reserved.first().copied().unwrap_or(first).min(from);
    for member in members {
        membership::tell_subscribed(machine, member, begins);
    }
}
