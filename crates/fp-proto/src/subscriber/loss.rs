//! Loss of a link: of the publisher, of a rank of the own cohort (`docs/protocol.md`, section 9).

use super::{Phase, SubscriberMachine};
use crate::config::OnLoss;
use crate::effect::{DisconnectReason, PeerId};
use crate::event::{CloseOutcome, Event, OpenFailure};
use crate::message::Message;
use crate::outcome::{EndReason, ExpulsionCause, LossReason};
use crate::status::answer;
use crate::subscriber::{attachment, drain, questions};
use crate::transition::Transition;
use crate::wire::{Role, mutated};
use fp_types::Rank;

/// A link is gone, with the role it had.
pub(crate) fn lost_link(machine: &mut SubscriberMachine, peer: PeerId, role: Role, reason: LossReason) {
    answer::gone(machine, peer);
    match role {
        Role::Parent => {
            lost_relative(machine, role, reason);
            if questions::asks_parent(machine) || machine.resolving.seeking {
                questions::answerer_gone(machine);
            }
        }
        Role::Child(_) => lost_relative(machine, role, reason),
        Role::Publisher => lost_publisher(machine, reason),
        Role::Answerer => questions::answerer_gone(machine),
        Role::Candidate | Role::Joiner(_) | Role::Lead => {
            match (role, &mut machine.attachment.search) {
                (Role::Candidate, Some(search)) => search.gone(&machine.wire, peer),
                _ => machine.cohort.disconnected(&mut machine.wire, peer, role),
            }
            machine.cohort_progress();
        }
        Role::Fresh | Role::Prober | Role::Declined => {}
        Role::Early | Role::Member(_) | Role::Asker | Role::Observer => {}
    }
}

/// A peer was silent for too long.
pub(crate) fn silent_peer(machine: &mut SubscriberMachine, peer: PeerId) {
    let reason = LossReason::Silent { silence: machine.wire.silence() };
    if let Some(role) = machine.wire.silenced(peer, None) {
        lost_link(machine, peer, role, reason);
    }
}

fn lost_relative(machine: &mut SubscriberMachine, role: Role, reason: LossReason) {
    let Some(rank) = machine.cohort.lost_rank(role) else { return };
    match (&machine.phase, role) {
        (Phase::Closed, _) => {}
        // All below it had let go and closed: nothing is lost with it.
        (_, Role::Child(_)) if machine.left.contains(&rank) => {}
        _ => cohort_lost(machine, rank, reason),
    }
}

/// A cohort fails as one: the lead unsubscribes, everybody is told.
pub(crate) fn cohort_lost(machine: &mut SubscriberMachine, rank: Rank, reason: LossReason) {
    // Told once: neighbours tell one another, and would go on for ever.
    if machine.phase == Phase::Closed || std::mem::replace(&mut machine.cohort_is_lost, true) {
        return;
    }
    machine.cohort.tell_children(&mut machine.wire, || Message::RankLost { rank, reason });
    machine.cohort.tell_parent(&mut machine.wire, Message::RankLost { rank, reason });
    if machine.phase == Phase::Assembling {
        machine.cohort.abort();
        machine.open_failed(OpenFailure::RankLost { rank, reason });
        return;
    }
    machine.wire.mark(Transition::SubscriberCohortLost);
    // Without a word: what ranks of a broken tree may still look at is retired, not reused.
    drop_publisher(machine);
    if machine.phase == Phase::Closing {
        drain::closed(machine, CloseOutcome::Lost { rank, reason });
        return;
    }
    if machine.attachment.epoch.is_none() {
        machine.open_failed(OpenFailure::RankLost { rank, reason });
        return;
    }
    machine.wire.event(Event::RankLost { rank, reason });
    end_here(machine, EndReason::CohortLost { rank, reason }, 0);
}

/// The subscription ends without a word.
pub(crate) fn drop_publisher(machine: &mut SubscriberMachine) {
    if let Some(publisher) = machine.attachment.publisher {
        machine.wire.disconnect(publisher, DisconnectReason::Ended);
    }
    machine.attachment.stop(&mut machine.wire);
    questions::drop_answerer(machine);
}

/// The publisher's lead is gone without a farewell.
fn lost_publisher(machine: &mut SubscriberMachine, reason: LossReason) {
    match machine.phase {
        Phase::Attaching => attachment::search_on(machine),
        Phase::Streaming => {
            machine.attachment.publisher = None;
            let reason = EndReason::Lost { rank: Rank(0), reason };
            if !comes_back(machine, &reason, false) {
                ended(machine, reason, 0);
            }
        }
        // The other ranks of the cohort are waited for all the same, and hear that nothing more comes.
        Phase::Closing => {
            machine.attachment.publisher = None;
            ended(machine, EndReason::Lost { rank: Rank(0), reason }, 0);
        }
        Phase::Ended => machine.attachment.publisher = None,
        Phase::Assembling | Phase::Closed => {}
    }
    // Only now: the application hears first what became of the stream, then that its questions are lost.
    questions::drop_answerer(machine);
}

/// The publisher says that the stream is over, for all or for this cohort.
pub(crate) fn publisher_ended(machine: &mut SubscriberMachine, reason: EndReason, skipped: u64) {
    // A publisher that lost a rank takes no more steps. One that only heard nothing of this cohort goes on.
    let is_over = matches!(reason, EndReason::Lost { .. });
    if !comes_back(machine, &reason, is_over) {
        ended(machine, reason, skipped);
    }
}

/// Looks for the publisher again, if that was asked for and the reason lets it. Whoever was expelled because it released
/// too slowly does not come back by itself.
fn comes_back(machine: &mut SubscriberMachine, reason: &EndReason, is_over: bool) -> bool {
    let asked = matches!(machine.config.on_loss, OnLoss::AwaitRestart(_));
    let lets = match reason {
        EndReason::Lost { .. } | EndReason::Expelled { cause: ExpulsionCause::Silent { .. }, .. } => true,
        EndReason::Expelled { cause: ExpulsionCause::Unreleased { .. }, .. }
        | EndReason::Closed
        | EndReason::Left
        | EndReason::CohortLost { .. }
        | EndReason::Denied(_) => false,
    };
    let lets = lets && !mutated!(machine.wire, LossIsFinal);
    if !asked || !lets || machine.phase != Phase::Streaming {
        return false;
    }
    if let Some(publisher) = machine.attachment.publisher.take() {
        machine.wire.disconnect(publisher, DisconnectReason::Ended);
    }
    attachment::await_restart(machine, reason.clone(), is_over);
    true
}

/// The stream is over for this cohort; steps assigned before can still be read.
pub(crate) fn ended(machine: &mut SubscriberMachine, reason: EndReason, skipped: u64) {
    let news = || Message::StreamEnd { reason: reason.clone(), skipped };
    machine.cohort.tell_children(&mut machine.wire, news);
    end_here(machine, reason, skipped);
}

fn end_here(machine: &mut SubscriberMachine, reason: EndReason, skipped: u64) {
    machine.wire.mark(match reason {
        EndReason::Closed | EndReason::Left => Transition::SubscriberEndedClosed,
        EndReason::Lost { .. } => Transition::SubscriberEndedLost,
        EndReason::Expelled { .. } | EndReason::Denied(_) => Transition::SubscriberEndedExpelled,
        EndReason::CohortLost { .. } => Transition::SubscriberCohortLost,
    });
    let skipped = if mutated!(machine.wire, MissedAtEndUntold) { 0 } else { skipped };
    if let Some(ending) = machine.stream.end(reason, skipped) {
        machine.wire.event(Event::Ended(ending));
    }
    if !matches!(machine.phase, Phase::Closing | Phase::Closed) {
        machine.phase = Phase::Ended;
    }
}
