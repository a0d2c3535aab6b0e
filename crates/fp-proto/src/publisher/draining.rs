//! Closing a stream: everything decided, assigned and released, or the deadline (`docs/protocol.md`, section 10).

use super::ledger::Stage;
use super::{Phase, PublisherMachine};
use crate::effect::DisconnectReason;
use crate::event::{CloseOutcome, Event, OpenFailure};
use crate::message::{Decision, Message};
use crate::outcome::{EndReason, LossReason};
use crate::time::Moment;
use crate::transition::Transition;
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
        self.draining.give_up = Some(now.after(self.config.cohort.close_timeout));
        if let Some(step) = self.ledger.open {
            let _ = self.abandon_step(now, step);
        }
        match self.phase {
            Phase::Opening => {
                self.cohort.abort();
                let rank = self.config.cohort.rank;
                self.open_failed(OpenFailure::RankLost { rank, reason: LossReason::Disconnected });
            }
            Phase::Streaming => {
                self.phase = Phase::Draining;
                self.consider_closing();
            }
            Phase::Lost { .. } => self.consider_closed_after_loss(),
            Phase::Draining | Phase::Closed => {}
        }
        self.finish();
    }

    /// A child's subtree has closed.
    pub(crate) fn child_closing(&mut self, child: Rank, steps: u64) {
        self.draining.children.insert(child, steps);
        self.consider_closing();
    }

    /// Passes `Closing` up when this rank has closed and reported all, and all children have closed.
    pub(crate) fn consider_closing(&mut self) {
        let reported = |stage| matches!(stage, Stage::Reported | Stage::Decided);
        let all_reported = self.ledger.steps.values().all(|local| reported(local.stage));
        let all_children = self.cohort.children().all(|(rank, _)| self.draining.children.contains_key(&rank));
        if self.draining.complete || self.phase != Phase::Draining || !all_reported || !all_children {
            return;
        }
        self.draining.complete = true;
        let lowest = self.draining.children.values().copied().chain([self.ledger.next.0]).min();
        if self.lead.is_some() {
            self.consider_ending();
        } else if let Some(parent) = self.cohort.parent() {
            self.wire.send(self.now, parent, Message::Closing { steps: lowest.unwrap_or(0) });
        }
    }

    /// At the lead: tells members whose queue is empty that the stream is over, and closes when all is released.
    pub(crate) fn consider_ending(&mut self) {
        if self.is_lost() {
            self.consider_closed_after_loss();
            return;
        }
        if !self.draining.complete || self.phase != Phase::Draining {
            return;
        }
        let Some(lead) = &self.lead else { return };
        if !self.changes.is_empty() {
            return;
        }
        #[cfg(feature = "mutations")]
        let early = self.mutated(crate::mutation::Mutation::EndBeforeLast);
        #[cfg(not(feature = "mutations"))]
        let early = false;
        let drained = lead.served.iter().filter(|(id, served)| early || lead.is_drained(served, **id));
        let drained: Vec<SubscriptionId> = drained.map(|(&id, _)| id).collect();
        for subscription in drained {
            self.end_members_of(subscription, &EndReason::Closed);
        }
        if self.lead.as_ref().is_some_and(|lead| lead.is_idle()) && self.phase == Phase::Draining {
            self.append(Decision::Closed);
        }
    }

    /// When this rank's patience with closing ends.
    pub(crate) fn drain_deadline(&self) -> Option<Moment> {
        self.draining.give_up
    }

    pub(crate) fn tick_drain(&mut self) {
        let due = self.draining.give_up.is_some_and(|give_up| self.now >= give_up);
        if !due || self.phase == Phase::Closed {
            return;
        }
        if let Phase::Lost { rank, reason, .. } = self.phase {
            self.closed(CloseOutcome::Lost { rank, reason });
            return;
        }
        let held = self.held_for_report();
        self.end_members(&EndReason::Closed);
        if self.lead.is_some() {
            self.outgoing.push(Decision::Closed);
            self.serial += 1;
            self.finish();
        }
        self.closed(if held.is_empty() { CloseOutcome::Clean } else { CloseOutcome::Held(held) });
    }

    fn held_for_report(&self) -> Vec<(SubscriptionId, Vec<StepId>)> {
        match &self.lead {
            Some(lead) => lead.holders(),
            None => self.ledger.holders(),
        }
    }

    /// The lead has closed the stream: with everything released, or at its deadline.
    pub(crate) fn apply_closed(&mut self) {
        self.finish();
        let held = self.ledger.holders();
        self.closed(if held.is_empty() { CloseOutcome::Clean } else { CloseOutcome::Held(held) });
    }

    /// After a loss this rank is done when the application has closed and nothing is held here any more, or
    /// nobody could tell.
    pub(crate) fn consider_closed_after_loss(&mut self) {
        let Phase::Lost { rank, reason, cut_off } = self.phase else { return };
        let empty = self.ledger.holders().is_empty();
        if self.draining.give_up.is_some() && (cut_off || empty) {
            self.closed(CloseOutcome::Lost { rank, reason });
        }
    }

    fn closed(&mut self, outcome: CloseOutcome) {
        self.wire.mark(match outcome {
            CloseOutcome::Clean => Transition::PublisherClosedClean,
            CloseOutcome::Held(_) => Transition::PublisherClosedHeld,
            CloseOutcome::Lost { .. } => Transition::PublisherClosedLost,
        });
        self.phase = Phase::Closed;
        self.free_all(outcome != CloseOutcome::Clean);
        self.cohort.release_name(&mut self.wire);
        self.wire.event(Event::Closed(outcome));
        self.wire.disconnect_all(DisconnectReason::Ended);
    }

    /// Whoever still holds a step may look at it: its memory is retired. A rank that was not told by its lead that
    /// all is released cannot know whom its steps were given to, those of the reserve among them.
    fn free_all(&mut self, retire_all: bool) {
        let steps: Vec<StepId> = self.ledger.steps.keys().copied().collect();
        for step in steps {
            self.ledger.settle(step);
            for subscription in self.ledger.keepers(step) {
                let retire = retire_all || !super::ledger::is_standing(subscription);
                self.let_go_all(subscription, &[step], retire);
            }
            self.free_if_unneeded(step);
        }
    }
}
