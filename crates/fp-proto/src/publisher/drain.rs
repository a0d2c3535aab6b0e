//! Closing a stream: everything decided, assigned and released, or the deadline (`docs/protocol.md`, section 10).

use super::ledger::Stage;
use super::{Phase, PublisherMachine};
use crate::event::{CloseOutcome, Event, OpenFailure};
use crate::message::{Decision, Message};
use crate::outcome::{EndReason, LossReason};
use crate::publisher::{log, loss, steering, steps};
use crate::time::Moment;
use crate::transition::Transition;
use crate::wire::mutated;
use fp_types::{Rank, StepId, SubscriptionId};
use std::collections::BTreeMap;

/// How far closing is.
#[derive(Default)]
pub(crate) struct Draining {
    /// When this rank's patience ends; set by `close`.
    give_up: Option<Moment>,
    /// Ended steps of each child's subtree that has closed.
    children: BTreeMap<Rank, u64>,
    /// Whether this subtree's `Closing` was sent, or at the lead, all have closed.
    complete: bool,
}

impl PublisherMachine {
    /// The application publishes no more. `Event::Closed` tells when the handle may go.
    pub fn close(&mut self, now: Moment) {
        self.enter(now);
        if self.draining.give_up.is_some() || self.phase == Phase::Closed {
            return;
        }
        self.wire.mark(Transition::PublisherClosing);
        self.draining.give_up = Some(self.wire.now.after(self.config.cohort.close_timeout));
        if let Some(step) = self.ledger.open {
            let _ = self.abandon_step(now, step);
            self.report_ended();
        }
        match self.phase {
            Phase::Opening => {
                self.cohort.abort();
                let rank = self.config.cohort.rank;
                self.open_failed(OpenFailure::RankLost { rank, reason: LossReason::Disconnected });
            }
            Phase::Streaming => {
                self.phase = Phase::Draining;
                steering::closing(self);
                consider_closing(self);
            }
            Phase::Lost { .. } => consider_closed_after_loss(self),
            Phase::Draining | Phase::Closed => {}
        }
        self.finish();
    }
}

/// A child's subtree has closed.
pub(crate) fn child_closing(machine: &mut PublisherMachine, child: Rank, steps: u64) {
    machine.draining.children.insert(child, steps);
    consider_closing(machine);
}

/// Passes `Closing` up when this rank has closed and reported all, and all children have closed.
pub(crate) fn consider_closing(machine: &mut PublisherMachine) {
    if machine.draining.complete || machine.phase != Phase::Draining {
        return;
    }
    let reported = |stage| matches!(stage, Stage::Reported | Stage::Decided);
    let all_reported = machine.ledger.steps.values().all(|local| reported(local.stage));
    let all_children =
        machine.cohort.children().all(|(rank, _)| machine.draining.children.contains_key(&rank));
    if !all_reported || !all_children {
        return;
    }
    machine.draining.complete = true;
    if machine.lead.is_some() {
        consider_ending(machine);
    } else {
        let below = machine.draining.children.values().copied();
        let steps = below.fold(machine.ledger.next.0, u64::min);
        machine.cohort.tell_parent(&mut machine.wire, Message::Closing { steps });
    }
}

/// At the lead: tells members whose queue is empty that the stream is over, and closes when all is released.
pub(crate) fn consider_ending(machine: &mut PublisherMachine) {
    if log::is_lost(machine) {
        consider_closed_after_loss(machine);
        return;
    }
    if !machine.draining.complete || machine.phase != Phase::Draining || !machine.changes.is_empty() {
        return;
    }
    let Some(lead) = &machine.lead else { return };
    let early = mutated!(machine.wire, EndBeforeLast);
    let untold = lead.served.iter().filter(|(_, served)| !served.ended);
    let drained = untold.filter(|(id, served)| early || lead.is_drained(served, **id));
    let drained: Vec<SubscriptionId> = drained.map(|(&id, _)| id).collect();
    for subscription in drained {
        loss::end_members_of(machine, subscription, &EndReason::Closed);
    }
    if machine.lead.as_ref().is_some_and(|lead| lead.is_idle()) && machine.phase == Phase::Draining {
        log::append(machine, Decision::Closed);
    }
}

/// When this rank's patience with closing ends.
pub(crate) fn drain_deadline(machine: &PublisherMachine) -> Option<Moment> {
    machine.draining.give_up
}

pub(crate) fn tick_drain(machine: &mut PublisherMachine) {
    let due = machine.draining.give_up.is_some_and(|give_up| machine.wire.now >= give_up);
    if !due || machine.phase == Phase::Closed {
        return;
    }
    if let Phase::Lost { rank, reason, .. } = machine.phase {
        if mutated!(machine.wire, LossHoldsClose) {
            return;
        }
        closed(machine, CloseOutcome::Lost { rank, reason });
        return;
    }
    let held = machine.holders();
    loss::end_members(machine, &EndReason::Closed);
    if machine.lead.is_some() {
        machine.outgoing.push(Decision::Closed);
        machine.serial += 1;
        machine.finish();
    }
    closed_holding(machine, held);
}

/// The lead has closed the stream: with everything released, or at its deadline.
pub(crate) fn apply_closed(machine: &mut PublisherMachine) {
    machine.finish();
    let held = machine.ledger.holders();
    closed_holding(machine, held);
}

fn closed_holding(machine: &mut PublisherMachine, held: Vec<(SubscriptionId, Vec<StepId>)>) {
    closed(machine, if held.is_empty() { CloseOutcome::Clean } else { CloseOutcome::Held(held) });
}

/// After a loss this rank is done when the application has closed and nothing is held here any more, or
/// nobody could tell.
pub(crate) fn consider_closed_after_loss(machine: &mut PublisherMachine) {
    let Phase::Lost { rank, reason, cut_off } = machine.phase else { return };
    let empty = machine.ledger.holders().is_empty();
    if machine.draining.give_up.is_some() && (cut_off || empty) {
        closed(machine, CloseOutcome::Lost { rank, reason });
    }
}

fn closed(machine: &mut PublisherMachine, outcome: CloseOutcome) {
    machine.wire.mark(match outcome {
        CloseOutcome::Clean => Transition::PublisherClosedClean,
        CloseOutcome::Held(_) => Transition::PublisherClosedHeld,
        CloseOutcome::Lost { .. } => Transition::PublisherClosedLost,
    });
    machine.phase = Phase::Closed;
    free_all(machine, outcome != CloseOutcome::Clean);
    machine.cohort.end(&mut machine.wire, Event::Closed(outcome));
}

/// Whoever still holds a step may look at it: its memory is retired. A rank that was not told by its lead that all is
/// released cannot know whom its steps were given to. Steps of the reserve are among them.
fn free_all(machine: &mut PublisherMachine, retire_all: bool) {
    let steps: Vec<StepId> = machine.ledger.steps.keys().copied().collect();
    for step in steps {
        let is_retired = |subscription| retire_all || !super::ledger::is_standing(subscription);
        steps::settle(machine, step, is_retired);
    }
}
