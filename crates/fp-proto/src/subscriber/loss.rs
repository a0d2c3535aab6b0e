//! Loss of a link: of the publisher, of a rank of the own cohort (`docs/protocol.md`, section 9).

use super::{Phase, SubscriberMachine};
use crate::config::OnLoss;
use crate::effect::{DisconnectReason, PeerId};
use crate::event::{CloseOutcome, Event, OpenFailure};
use crate::message::Message;
use crate::outcome::{EndReason, LossReason};
use crate::transition::Transition;
use crate::wire::Role;
use fp_types::Rank;

impl SubscriberMachine {
    /// A link is gone, with the role it had.
    pub(crate) fn lost_link(&mut self, peer: PeerId, role: Role, reason: LossReason) {
        match role {
            Role::Parent => {
                self.lost_relative(role, reason);
                if self.asks_parent() || self.resolving.seeking {
                    self.answerer_gone();
                }
            }
            Role::Child(_) => self.lost_relative(role, reason),
            Role::Publisher => self.lost_publisher(reason),
            Role::Answerer => self.answerer_gone(),
            Role::Candidate(_) if self.cohort.is_open() => self.attachment.candidate_gone(self.now, peer),
            Role::Candidate(_) | Role::Joiner(_) | Role::Lead => {
                let progress = self.cohort.disconnected(self.now, &mut self.wire, peer, role);
                self.cohort_progress(progress);
            }
            Role::Fresh | Role::Prober | Role::Early | Role::Member(_) | Role::Asker => {}
        }
    }

    fn lost_relative(&mut self, role: Role, reason: LossReason) {
        let Some(rank) = self.cohort.lost_rank(role) else { return };
        match (&self.phase, role) {
            (Phase::Closed, _) => {}
            // All below it had let go and closed: nothing is lost with it.
            (Phase::Closing, Role::Child(_)) if self.left.contains(&rank) => {}
            _ => self.cohort_lost(rank, reason),
        }
    }

    /// A cohort fails as one: the lead unsubscribes, everybody is told.
    pub(crate) fn cohort_lost(&mut self, rank: Rank, reason: LossReason) {
        // Told once: neighbours tell one another, and would go on for ever.
        if self.phase == Phase::Closed || std::mem::replace(&mut self.cohort_is_lost, true) {
            return;
        }
        let lost = Message::RankLost { rank, reason };
        self.tell_children(&lost);
        if let Some(parent) = self.cohort.parent() {
            self.wire.send(self.now, parent, lost);
        }
        if self.phase == Phase::Assembling {
            self.cohort.abort();
            self.open_failed(OpenFailure::RankLost { rank, reason });
            return;
        }
        self.wire.mark(Transition::SubscriberCohortLost);
        // Without a word: what ranks of a broken tree may still look at is retired, not reused.
        self.drop_publisher();
        if self.phase == Phase::Closing {
            self.closed(CloseOutcome::Lost { rank, reason });
            return;
        }
        if self.attachment.epoch().is_none() {
            self.open_failed(OpenFailure::RankLost { rank, reason });
            return;
        }
        self.wire.event(Event::RankLost { rank, reason });
        self.end_here(EndReason::CohortLost { rank, reason });
    }

    /// The subscription ends without a word.
    pub(crate) fn drop_publisher(&mut self) {
        if let Some(publisher) = self.attachment.publisher {
            self.wire.disconnect(publisher, DisconnectReason::Ended);
        }
        self.attachment.stop(&mut self.wire);
        self.drop_answerer();
    }

    /// The publisher's lead is gone without a farewell.
    fn lost_publisher(&mut self, reason: LossReason) {
        match self.phase {
            Phase::Attaching => self.search_on(),
            Phase::Streaming => {
                self.attachment.publisher = None;
                self.publisher_ended(EndReason::Lost { rank: Rank(0), reason }, 0);
            }
            // While closing, the other ranks of the cohort are waited for all the same.
            Phase::Ended | Phase::Closing => self.attachment.publisher = None,
            Phase::Assembling | Phase::Closed => {}
        }
        // Only now: the application hears first what became of the stream, then that its questions are lost.
        self.drop_answerer();
    }

    /// The publisher says, or its silence does, that the stream is over.
    pub(crate) fn publisher_ended(&mut self, reason: EndReason, skipped: u64) {
        let restart = matches!(self.config.on_loss, OnLoss::AwaitRestart(_));
        if restart && matches!(reason, EndReason::Lost { .. }) && self.phase == Phase::Streaming {
            if let Some(publisher) = self.attachment.publisher.take() {
                self.wire.disconnect(publisher, DisconnectReason::Ended);
            }
            self.await_restart(reason);
            return;
        }
        self.ended(reason, skipped);
    }

    /// The stream is over for this cohort; steps assigned before can still be read.
    pub(crate) fn ended(&mut self, reason: EndReason, skipped: u64) {
        self.tell_children(&Message::StreamEnd { reason: reason.clone(), skipped });
        self.end_here(reason);
    }

    fn end_here(&mut self, reason: EndReason) {
        self.wire.mark(match reason {
            EndReason::Closed | EndReason::Left => Transition::SubscriberEndedClosed,
            EndReason::Lost { .. } => Transition::SubscriberEndedLost,
            EndReason::Expelled { .. } => Transition::SubscriberEndedExpelled,
            EndReason::CohortLost { .. } => Transition::SubscriberCohortLost,
        });
        if let Some(ending) = self.stream.end(reason) {
            self.wire.event(Event::Ended(ending));
        }
        if !matches!(self.phase, Phase::Closing | Phase::Closed) {
            self.phase = Phase::Ended;
        }
    }
}
