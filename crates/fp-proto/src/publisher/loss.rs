//! Loss of a link: of a member, of a rank of the own cohort (`docs/protocol.md`, section 9).

use super::{Phase, PublisherMachine};
use crate::effect::PeerId;
use crate::event::{Event, OpenFailure};
use crate::message::{Decision, MemberId, Message};
use crate::outcome::{EndReason, LossReason};
use crate::transition::Transition;
use crate::wire::Role;
use fp_types::{Rank, SubscriptionId};

impl PublisherMachine {
    /// A link is gone, with the role it had.
    pub(crate) fn lost_link(&mut self, peer: PeerId, role: Role, reason: LossReason) {
        self.asker_gone(peer, role);
        self.contacts_gone(peer);
        match role {
            Role::Parent | Role::Child(_) => self.lost_relative(role, reason),
            Role::Member(member) => self.member_lost(member, reason),
            Role::Early => {
                if let Some(lead) = &mut self.lead {
                    lead.early.retain(|(early, _)| *early != peer);
                }
            }
            Role::Candidate(_) | Role::Joiner(_) | Role::Lead => {
                let progress = self.cohort.disconnected(self.now, &mut self.wire, peer, role);
                self.cohort_progress(progress);
            }
            Role::Fresh | Role::Prober | Role::Asker | Role::Publisher | Role::Answerer => {}
        }
    }

    fn lost_relative(&mut self, role: Role, reason: LossReason) {
        let Some(rank) = self.cohort.lost_rank(role) else { return };
        match (&self.phase, role) {
            (Phase::Closed, _) => {}
            (Phase::Opening, _) => self.lost_while_opening(rank, reason),
            (_, Role::Parent) => self.lost_from_above(rank, reason),
            _ => self.lost_from_below(rank, reason),
        }
    }

    fn lost_while_opening(&mut self, rank: Rank, reason: LossReason) {
        self.tell_relatives(rank, reason);
        self.cohort.abort();
        self.open_failed(OpenFailure::RankLost { rank, reason });
    }

    fn tell_relatives(&mut self, rank: Rank, reason: LossReason) {
        let children = self.cohort.children().map(|(_, peer)| peer);
        let relatives: Vec<PeerId> = self.cohort.parent().into_iter().chain(children).collect();
        for peer in relatives {
            self.wire.send(self.now, peer, Message::RankLost { rank, reason });
        }
    }

    /// The way to the lead is cut: this subtree is on its own.
    pub(crate) fn lost_from_above(&mut self, rank: Rank, reason: LossReason) {
        if self.phase == Phase::Opening {
            self.lost_while_opening(rank, reason);
            return;
        }
        self.wire.mark(Transition::PublisherCutOff);
        let children: Vec<PeerId> = self.cohort.children().map(|(_, peer)| peer).collect();
        for child in children {
            self.wire.send(self.now, child, Message::RankLost { rank, reason });
        }
        self.questions_unanswered();
        self.enter_lost(rank, reason, true);
    }

    /// A rank of this subtree is lost: the lead ends the stream.
    pub(crate) fn lost_from_below(&mut self, rank: Rank, reason: LossReason) {
        if self.phase == Phase::Opening {
            self.lost_while_opening(rank, reason);
        } else if self.lead.is_none() {
            if let Some(parent) = self.cohort.parent() {
                self.wire.send(self.now, parent, Message::RankLost { rank, reason });
            }
        } else if !self.is_lost() && self.phase != Phase::Closed {
            self.append(Decision::Lost { rank, reason });
            self.end_members(&EndReason::Lost { rank, reason });
        }
    }

    /// The stream is lost on this rank. What was assigned stays until it is released, or until close.
    pub(crate) fn enter_lost(&mut self, rank: Rank, reason: LossReason, cut_off: bool) {
        match &mut self.phase {
            Phase::Lost { cut_off: known, .. } => *known |= cut_off,
            Phase::Closed => return,
            phase => {
                *phase = Phase::Lost { rank, reason, cut_off };
                self.wire.mark(Transition::PublisherLost);
                self.wire.event(Event::RankLost { rank, reason });
                self.merging.clear();
                self.let_go_undecided(cut_off);
            }
        }
        self.consider_closed_after_loss();
    }

    /// Undecided steps will never be decided: nobody was given them. A rank that is cut off from its lead cannot
    /// know that of the steps that it has reported: it keeps those until it is closed.
    fn let_go_undecided(&mut self, cut_off: bool) {
        let open = self.ledger.open.take();
        for step in self.ledger.undecided_steps(open) {
            let reported = self.ledger.is_reported(step);
            self.ledger.settle(step);
            if cut_off && reported {
                continue;
            }
            let kept: Vec<SubscriptionId> = self.ledger.keepers(step);
            kept.into_iter().for_each(|subscription| self.let_go_all(subscription, &[step], false));
            self.free_if_unneeded(step);
        }
    }

    /// At the lead: every member is told that the stream is over; what it did not take is dropped.
    pub(crate) fn end_members(&mut self, reason: &EndReason) {
        let ids: Vec<SubscriptionId> =
            self.lead.iter().flat_map(|lead| lead.served.keys().copied()).collect();
        for subscription in ids {
            self.end_members_of(subscription, reason);
        }
    }

    pub(crate) fn end_members_of(&mut self, subscription: SubscriptionId, reason: &EndReason) {
        let skipped = self.unassigned(subscription);
        let Some(lead) = &mut self.lead else { return };
        let mut dropped = Vec::new();
        if let Some(served) = lead.served.get_mut(&subscription) {
            dropped.extend(served.queue.drain(..).map(|queued| queued.step));
            served.skipped = 0;
        }
        let of_it = lead
            .members
            .iter_mut()
            .filter(|(_, member)| member.subscription == subscription && !member.ended);
        let mut told: Vec<(MemberId, PeerId)> = Vec::new();
        for (&id, member) in of_it {
            member.ended = true;
            told.push((id, member.peer));
        }
        for (_, peer) in told {
            self.wire.send(self.now, peer, Message::StreamEnd { reason: reason.clone(), skipped });
        }
        self.released(subscription, dropped, false);
    }
}
