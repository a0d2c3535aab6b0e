//! Loss of a link: of a member, of a rank of the own cohort (`docs/protocol.md`, section 9).

use super::{Phase, PublisherMachine};
use crate::effect::PeerId;
use crate::event::{Event, OpenFailure};
use crate::few::Few;
use crate::message::{Decision, Message};
use crate::outcome::{EndReason, ExpulsionCause, LossReason};
use crate::publisher::{assignment, contacts, drain, log, membership, steps, tables};
use crate::status::answer;
use crate::transition::Transition;
use crate::wire::Role;
use fp_types::{Rank, SubscriptionId};

/// A link is gone, with the role it had.
pub(crate) fn lost_link(machine: &mut PublisherMachine, peer: PeerId, role: Role, reason: LossReason) {
    tables::asker_gone(machine, peer, role);
    contacts::contacts_gone(machine, peer);
    answer::gone(machine, peer);
    match role {
        Role::Parent | Role::Child(_) => lost_relative(machine, role, reason),
        Role::Member(member) => membership::member_lost(machine, member, reason),
        Role::Early => {
            if let Some(lead) = &mut machine.lead {
                lead.early.retain(|(early, _)| *early != peer);
            }
        }
        Role::Candidate | Role::Joiner(_) | Role::Lead => {
            machine.cohort.disconnected(&mut machine.wire, peer, role);
            machine.cohort_progress();
        }
        Role::Fresh | Role::Prober | Role::Declined => {}
        Role::Asker | Role::Publisher | Role::Answerer | Role::Observer => {}
    }
}

/// A peer was silent for too long. A subscriber that only slept is told what became of it.
pub(crate) fn silent_peer(machine: &mut PublisherMachine, peer: PeerId) {
    let silence = machine.wire.silence();
    let (own, reason) = (machine.config.cohort.rank, LossReason::Silent { silence });
    let farewell = if let Some(Role::Member(member)) = machine.wire.role(peer) {
        let cause = ExpulsionCause::Silent { silence };
        membership::farewell(machine, member, EndReason::Expelled { rank: own, cause })
    } else {
        None
    };
    if let Some(role) = machine.wire.silenced(peer, farewell) {
        lost_link(machine, peer, role, reason);
    }
}

fn lost_relative(machine: &mut PublisherMachine, role: Role, reason: LossReason) {
    let Some(rank) = machine.cohort.lost_rank(role) else { return };
    if role == Role::Parent {
        lost_from_above(machine, rank, reason);
    } else {
        lost_from_below(machine, rank, reason);
    }
}

fn lost_while_opening(machine: &mut PublisherMachine, rank: Rank, reason: LossReason) {
    let lost = Message::RankLost { rank, reason };
    machine.cohort.tell_parent(&mut machine.wire, lost.clone());
    machine.cohort.tell_children(&mut machine.wire, || lost.clone());
    machine.cohort.abort();
    machine.open_failed(OpenFailure::RankLost { rank, reason });
}

/// The way to the lead is cut: this subtree is on its own.
pub(crate) fn lost_from_above(machine: &mut PublisherMachine, rank: Rank, reason: LossReason) {
    if machine.phase == Phase::Opening {
        lost_while_opening(machine, rank, reason);
        return;
    }
    machine.wire.mark(Transition::PublisherCutOff);
    machine.cohort.tell_children(&mut machine.wire, || Message::RankLost { rank, reason });
    tables::questions_unanswered(machine);
    enter_lost(machine, rank, reason, true);
}

/// A rank of this subtree is lost: the lead ends the stream.
pub(crate) fn lost_from_below(machine: &mut PublisherMachine, rank: Rank, reason: LossReason) {
    if machine.phase == Phase::Opening {
        lost_while_opening(machine, rank, reason);
    } else if machine.lead.is_none() {
        machine.cohort.tell_parent(&mut machine.wire, Message::RankLost { rank, reason });
    } else if !log::is_lost(machine) {
        log::append(machine, Decision::Lost { rank, reason });
        end_members(machine, &EndReason::Lost { rank, reason });
    }
}

/// The stream is lost on this rank. What was assigned stays until it is released, or until close.
pub(crate) fn enter_lost(machine: &mut PublisherMachine, rank: Rank, reason: LossReason, cut_off: bool) {
    match &mut machine.phase {
        Phase::Lost { cut_off: known, .. } => *known |= cut_off,
        Phase::Closed => return,
        phase @ (Phase::Opening | Phase::Streaming | Phase::Draining) => {
            *phase = Phase::Lost { rank, reason, cut_off };
            machine.wire.mark(Transition::PublisherLost);
            machine.wire.event(Event::RankLost { rank, reason });
            machine.merging.clear();
            let_go_undecided(machine, cut_off);
        }
    }
    drain::consider_closed_after_loss(machine);
}

/// Undecided steps will never be decided: nobody was given them. A rank that is cut off from its lead cannot know that
/// of the steps that it has reported. It keeps those until it is closed.
fn let_go_undecided(machine: &mut PublisherMachine, cut_off: bool) {
    let open = machine.ledger.open.take();
    for step in machine.ledger.undecided_steps(open) {
        let reported = machine.ledger.is_reported(step);
        if cut_off && reported {
            machine.ledger.settle(step);
        } else {
            steps::settle(machine, step, |_| false);
        }
    }
}

/// At the lead: every member is told that the stream is over; what it did not take is dropped.
pub(crate) fn end_members(machine: &mut PublisherMachine, reason: &EndReason) {
    let ids: Vec<SubscriptionId> = machine.lead.iter().flat_map(|lead| lead.served.keys().copied()).collect();
    for subscription in ids {
        end_members_of(machine, subscription, reason);
    }
}

pub(crate) fn end_members_of(
    machine: &mut PublisherMachine,
    subscription: SubscriptionId,
    reason: &EndReason,
) {
    let skipped = membership::unassigned(machine, subscription);
    let Some(lead) = &mut machine.lead else { return };
    let mut dropped = Few::new();
    if let Some(served) = lead.served.get_mut(&subscription) {
        dropped.extend(served.queue.drain(..).map(|queued| queued.step));
        (served.skipped, served.ended) = (0, true);
        for id in &served.members {
            if let Some(member) = lead.members.get_mut(id).filter(|member| !member.ended) {
                member.ended = true;
                machine.wire.send(member.peer, Message::StreamEnd { reason: reason.clone(), skipped });
            }
        }
    }
    assignment::released(machine, subscription, dropped, false);
}
