//! The lead's log: every rank applies the same entries in the same order (`docs/protocol.md`, section 5).

use super::ledger::Stage;
use super::{Phase, PublisherMachine};
use crate::effect::{Effect, Misbehaviour, PeerId};
use crate::event::Event;
use crate::message::{ChangeKind, Decision, Message};
use crate::outcome::LossReason;
use crate::transition::Transition;
use fp_types::{Rank, StepId, SubscriptionId, TableId};

/// What is derived for subscriptions, in one message: far below the longest, and more than one takes.
const LIMIT_TOGETHER_BYTES: usize = 4 << 20;

impl PublisherMachine {
    /// At the lead: the next entry, applied here at once and sent down when this input is done.
    pub(crate) fn append(&mut self, decision: Decision) {
        self.serial += 1;
        if self.config.cohort.size > 1 {
            self.outgoing.push(decision.clone());
        }
        self.apply(decision);
    }

    /// The next entries from the parent: passed on before anything else, then applied.
    pub(crate) fn log_from_above(&mut self, from: PeerId, serial: u64, entries: Vec<Decision>) {
        if serial != self.serial {
            self.misbehaved(from, Misbehaviour::OutOfOrder("Log"));
            return;
        }
        self.serial += entries.len() as u64;
        let children: Vec<PeerId> = self.cohort.children().map(|(_, peer)| peer).collect();
        for child in children {
            self.wire.send(self.now, child, Message::Log { serial, entries: entries.clone() });
        }
        for entry in entries {
            self.apply(entry);
        }
        self.tables.keep_live(&self.ledger);
    }

    fn apply(&mut self, decision: Decision) {
        match decision {
            Decision::Prepare { change, subscription, kind } => {
                self.apply_prepare(change, subscription, kind)
            }
            Decision::Start { change, first, reserved, .. } => self.apply_start(change, first, &reserved),
            Decision::Decided { step, table, kept } => self.apply_decided(step, table, &kept),
            Decision::Assigned { subscription, member, step } => {
                self.wire.push(Effect::Assigned { subscription, member, step });
            }
            Decision::Released { subscription, steps, retire } => {
                self.apply_released(subscription, &steps, retire)
            }
            Decision::Lagging { step, rank } => {
                self.wire.mark(Transition::RankLagging);
                self.lagging = Some((step, rank));
                self.wire.event(Event::RankLagging { step, rank });
            }
            Decision::Lost { rank, reason } => self.apply_lost(rank, reason),
            Decision::Closed => self.apply_closed(),
        }
    }

    /// The step is decided: exactly these subscriptions have it, whoever it was kept for here.
    fn apply_decided(&mut self, step: StepId, table: Option<TableId>, kept: &[SubscriptionId]) {
        let Some(local) = self.ledger.steps.get_mut(&step) else { return };
        local.stage = Stage::Decided;
        local.table = table;
        self.tables.latest = table.or(self.tables.latest);
        let surplus: Vec<SubscriptionId> =
            local.kept.iter().copied().filter(|id| !kept.contains(id)).collect();
        if table.is_some() {
            for &subscription in kept {
                self.ledger.hold(subscription, step);
            }
        }
        for subscription in surplus {
            self.let_go_all(subscription, &[step], false);
        }
        self.free_if_unneeded(step);
    }

    fn apply_released(&mut self, subscription: SubscriptionId, steps: &[StepId], retire: bool) {
        #[cfg(feature = "mutations")]
        if self.mutated(crate::mutation::Mutation::EarlyReclaim) {
            for &step in steps {
                let all: Vec<SubscriptionId> = self
                    .ledger
                    .steps
                    .get(&step)
                    .map(|local| local.kept.iter().copied().collect())
                    .unwrap_or_default();
                all.into_iter().for_each(|id| self.let_go_all(id, &[step], retire));
            }
        }
        self.let_go_all(subscription, steps, retire);
    }

    fn apply_lost(&mut self, rank: Rank, reason: LossReason) {
        self.enter_lost(rank, reason, false);
    }

    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.phase, Phase::Lost { .. })
    }
}

/// What a decision takes in a message, if it is more than a little: what is derived for a subscription.
fn derivations_bytes(decision: &Decision) -> usize {
    match decision {
        Decision::Prepare { kind: ChangeKind::Add(spec) | ChangeKind::Update(spec), .. } => {
            spec.derivations.iter().map(Vec::len).sum()
        }
        _ => 0,
    }
}

/// Decisions in as many messages as keeps each far below the longest.
pub(super) fn split(entries: Vec<Decision>) -> Vec<Vec<Decision>> {
    let (mut parts, mut len_bytes) = (vec![Vec::new()], 0);
    for decision in entries {
        let more = derivations_bytes(&decision);
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
            let spec = SubscriptionSpec { derivations: vec![vec![2; len_bytes]], ..Default::default() };
            let kind = ChangeKind::Add(spec);
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
