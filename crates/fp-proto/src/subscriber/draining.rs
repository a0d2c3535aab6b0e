//! Leaving a stream (`docs/protocol.md`, section 10).

use super::{Phase, SubscriberMachine};
use crate::effect::DisconnectReason;
use crate::event::{CloseOutcome, Event, OpenFailure};
use crate::message::Message;
use crate::outcome::LossReason;
use crate::time::Moment;
use crate::transition::Transition;
use fp_types::{Rank, StepId};

impl SubscriberMachine {
    /// The application wants no more: everything it holds is released. `Event::Closed` tells when the handle
    /// may go.
    pub fn close(&mut self, now: Moment) {
        self.enter(now);
        if matches!(self.phase, Phase::Closing | Phase::Closed) {
            return;
        }
        self.wire.mark(Transition::SubscriberClosing);
        if self.phase == Phase::Assembling {
            self.cohort.abort();
            let rank = self.config.cohort.rank;
            self.open_failed(OpenFailure::RankLost { rank, reason: LossReason::Disconnected });
            return;
        }
        self.phase = Phase::Closing;
        self.close_give_up = Some(now.after(self.config.cohort.close_timeout));
        let own: Vec<StepId> = self.stream.own_steps();
        own.into_iter().for_each(|step| self.release_own(step));
        self.consider_leaving();
    }

    /// A child's subtree has closed.
    pub(crate) fn child_leaving(&mut self, child: Rank) {
        self.left.insert(child);
        self.stream.forget_child(child);
        self.merge_all_releases();
        self.consider_leaving();
    }

    fn consider_leaving(&mut self) {
        let all = self.cohort.children().all(|(rank, _)| self.left.contains(&rank));
        if self.phase != Phase::Closing || !all {
            return;
        }
        if self.cohort.is_lead() {
            self.leave_publisher();
            self.closed(CloseOutcome::Clean);
        } else if let Some(parent) = self.cohort.parent() {
            self.wire.send(self.now, parent, Message::Leaving);
        } else {
            self.closed(CloseOutcome::Clean);
        }
    }

    fn leave_publisher(&mut self) {
        if let Some(publisher) = self.attachment.publisher {
            self.wire.send(self.now, publisher, Message::Unsubscribe);
            self.wire.disconnect(publisher, DisconnectReason::Done);
        }
        self.attachment.stop(&mut self.wire);
    }

    /// At the deadline this rank goes by itself. Others of its cohort may still look at steps, so that the
    /// publisher is left without a word: that retires what they hold.
    pub(crate) fn tick_close(&mut self) {
        if self.phase == Phase::Closing && self.close_give_up.is_some_and(|due| self.now >= due) {
            self.drop_publisher();
            self.closed(CloseOutcome::Clean);
        }
    }

    /// Nothing more will happen on this rank. Children that have not closed are not told that all have left:
    /// they lose their parent.
    pub(crate) fn closed(&mut self, outcome: CloseOutcome) {
        if self.phase == Phase::Closed {
            return;
        }
        let left = self.cohort.children().filter(|(rank, _)| self.left.contains(rank)).map(|(_, peer)| peer);
        for child in left.collect::<Vec<_>>() {
            self.wire.send(self.now, child, Message::Left);
        }
        self.wire.mark(Transition::SubscriberClosed);
        self.phase = Phase::Closed;
        self.cohort.release_name(&mut self.wire);
        self.wire.event(Event::Closed(outcome));
        self.wire.disconnect_all(DisconnectReason::Ended);
    }
}
