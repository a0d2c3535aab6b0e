//! The lead's log: every rank applies the same entries in the same order (`docs/protocol.md`, section 5).
//!
//! It is one log, as otherwise every rank would have to sort out by itself how separate messages interleave
//! (`docs/decisions/0010-one-log-at-the-lead.md`).

use super::ledger::Stage;
use super::{Phase, PublisherMachine};
use crate::bounds::LIMIT_RECENT;
use crate::effect::{Effect, Misbehaviour, PeerId};
use crate::event::Event;
use crate::message::{ChangeKind, Decision, Message};
use crate::publisher::{change, drain, loss, steps};
use crate::request::Request;
use crate::transition::Transition;
use crate::wire::mutated;
use fp_types::{StepId, SubscriptionId, TableId};

/// What subscriptions request, in one message: far below the longest, and more than one takes.
const LIMIT_TOGETHER_BYTES: usize = 4 << 20;

/// At the lead: the next entry, applied here at once and sent down when this input is done.
pub(crate) fn append(machine: &mut PublisherMachine, decision: Decision) {
    machine.serial += 1;
    if machine.config.cohort.size > 1 {
        machine.outgoing.push(decision.clone());
    }
    apply(machine, decision);
}

/// The next entries from the parent: passed on before anything else, then applied.
pub(crate) fn log_from_above(
    machine: &mut PublisherMachine,
    from: PeerId,
    serial: u64,
    entries: Vec<Decision>,
) {
    if serial != machine.serial {
        machine.misbehaved(from, Misbehaviour::OutOfOrder("Log"));
        return;
    }
    machine.serial += entries.len() as u64;
    machine.cohort.tell_children(&mut machine.wire, || Message::Log { serial, entries: entries.clone() });
    for entry in entries {
        apply(machine, entry);
    }
    if !mutated!(machine.wire, TablesRemembered) {
        machine.tables.keep_live(&machine.ledger);
    }
}

fn apply(machine: &mut PublisherMachine, decision: Decision) {
    match decision {
        Decision::Prepare { change, subscription, kind } => {
            change::apply_prepare(machine, change, subscription, kind)
        }
        Decision::Start { change, first, reserved, .. } => {
            change::apply_start(machine, change, first, &reserved)
        }
        Decision::Decided { step, table, kept } => apply_decided(machine, step, table, &kept),
        Decision::Assigned { subscription, member, step } => {
            machine.wire.push(Effect::Assigned { subscription, member, step });
        }
        Decision::Released { subscription, steps, retire } => {
            apply_released(machine, subscription, &steps, retire)
        }
        Decision::Lagging { step, rank } => {
            machine.wire.mark(Transition::RankLagging);
            machine.lagging = Some((step, rank));
            machine.wire.event(Event::RankLagging { step, rank });
        }
        Decision::Lost { rank, reason } => loss::enter_lost(machine, rank, reason, false),
        Decision::Closed => drain::apply_closed(machine),
    }
}

/// The step is decided: exactly these subscriptions have it, whoever it was kept for here.
fn apply_decided(
    machine: &mut PublisherMachine,
    step: StepId,
    table: Option<TableId>,
    kept: &[SubscriptionId],
) {
    let limit = if mutated!(machine.wire, TablesForgotten) { 1 } else { LIMIT_RECENT };
    table.into_iter().for_each(|table| machine.tables.decided(table, limit));
    let Some(local) = machine.ledger.steps.get_mut(&step) else { return };
    local.stage = Stage::Decided;
    local.table = table;
    if !local.is_kept_for(kept) {
        correct_kept(machine, step, kept, table.is_some());
    }
    steps::free_if_unneeded(machine, step);
}

/// Others have the step than this rank kept it for.
fn correct_kept(machine: &mut PublisherMachine, step: StepId, kept: &[SubscriptionId], whole: bool) {
    let Some(local) = machine.ledger.steps.get(&step) else { return };
    let is_surplus = |id: &SubscriptionId| kept.binary_search(id).is_err();
    let surplus: Vec<SubscriptionId> = local.kept.iter().copied().filter(is_surplus).collect();
    if whole {
        kept.iter().for_each(|&subscription| machine.ledger.hold(subscription, step));
    }
    if !mutated!(machine.wire, WatchedForEver) {
        change::let_go_watched(machine, step, false);
    }
    // From the last one: what is taken out of a list moves all behind it.
    for subscription in surplus.into_iter().rev() {
        change::let_go_all(machine, subscription, &[step], false);
    }
}

fn apply_released(
    machine: &mut PublisherMachine,
    subscription: SubscriptionId,
    steps: &[StepId],
    retire: bool,
) {
    if mutated!(machine.wire, EarlyReclaim) {
        for &step in steps {
            let all = machine.ledger.keepers(step);
            all.into_iter().for_each(|id| change::let_go_all(machine, id, &[step], retire));
            change::let_go_watched(machine, step, retire);
        }
    }
    change::let_go_all(machine, subscription, steps, retire);
}

pub(crate) fn is_lost(machine: &PublisherMachine) -> bool {
    matches!(machine.phase, Phase::Lost { .. })
}

/// What a decision takes in a message, if it is more than a little: what a subscription requests.
fn requests_bytes(decision: &Decision) -> usize {
    let Decision::Prepare { kind: ChangeKind::Add(spec) | ChangeKind::Update(spec), .. } = decision else {
        return 0;
    };
    spec.requests.iter().map(Request::len_bytes).sum()
}

/// Decisions in as many messages as keeps each far below the longest.
pub(super) fn split(entries: Vec<Decision>) -> Vec<Vec<Decision>> {
    let (mut parts, mut len_bytes) = (vec![Vec::new()], 0);
    for decision in entries {
        let more = requests_bytes(&decision);
        if len_bytes + more > LIMIT_TOGETHER_BYTES && len_bytes > 0 {
            parts.push(Vec::new());
            len_bytes = 0;
        }
        len_bytes += more;
        if let Some(part) = parts.last_mut() {
            part.push(decision);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::SubscriptionSpec;
    use crate::message::ChangeId;

    #[test]
    fn many_modules_go_in_several_messages_in_order() {
        let add = |id: u64, len_bytes: usize| {
            let module = Request::Module { code: vec![2; len_bytes], user: None };
            let spec = SubscriptionSpec { requests: vec![module], ..Default::default() };
            let kind = ChangeKind::Add(spec.into());
            Decision::Prepare { change: ChangeId(id), subscription: SubscriptionId(id), kind }
        };
        let entries: Vec<Decision> = (0..64).map(|id| add(id, 1 << 20)).chain([Decision::Closed]).collect();
        let parts = split(entries.clone());
        assert_eq!(parts.len(), 16);
        assert!(parts.iter().all(|part| crate::codec::encode(&log(part)).len() < 5 << 20));
        assert_eq!(parts.concat(), entries);
        let small: Vec<Decision> = (0..64).map(|id| add(id, 100)).collect();
        assert_eq!(split(small.clone()), [small]);
    }

    fn log(part: &[Decision]) -> Message {
        Message::Log { serial: 0, entries: part.to_vec() }
    }
}
