//! The role of the link that a message came over decides what the message means.

use super::{Phase, SubscriberMachine};
use crate::cohort::Progress;
use crate::effect::{Misbehaviour, PeerId};
use crate::event::CloseOutcome;
use crate::message::Message;
use crate::subscriber::{attachment, contacts, drain, loss, questions, stream};
use crate::wire::Role;
use fp_types::Rank;

/// A whole message from a peer.
pub(crate) fn hear(machine: &mut SubscriberMachine, from: PeerId, message: Message) {
    let Some(role) = machine.wire.role(from) else { return };
    if let Err(part) = message.check() {
        machine.misbehaved(from, Misbehaviour::OutOfBounds(part));
        return;
    }
    if message == Message::Heartbeat {
        return;
    }
    match role {
        Role::Fresh | Role::Prober => hear_stranger(machine, from, message),
        Role::Candidate(_) | Role::Lead | Role::Joiner(_) => hear_assembly(machine, from, role, message),
        Role::Parent => hear_parent(machine, from, message),
        Role::Child(rank) => hear_child(machine, from, rank, message),
        Role::Publisher => attachment::hear_publisher(machine, from, message),
        Role::Answerer => questions::hear_answerer(machine, from, message),
        Role::Early | Role::Member(_) | Role::Asker => machine.unexpected(from, &message),
    }
}

fn hear_stranger(machine: &mut SubscriberMachine, from: PeerId, message: Message) {
    let now = machine.now;
    let progress = match message {
        Message::Probe { epoch } => {
            let closing = matches!(machine.phase, Phase::Closing | Phase::Closed);
            machine.cohort.probed(now, &mut machine.wire, from, epoch, closing)
        }
        Message::Join { rank, size, contact } if machine.cohort.is_lead() => {
            machine.cohort.joins(now, &mut machine.wire, from, rank, size, contact)
        }
        Message::TreeHello { rank, contact } => {
            machine.cohort.child_hello(now, &mut machine.wire, from, (rank, contact))
        }
        other => {
            machine.unexpected(from, &other);
            Progress::None
        }
    };
    machine.cohort_progress(progress);
}

fn hear_assembly(machine: &mut SubscriberMachine, from: PeerId, role: Role, message: Message) {
    let now = machine.now;
    let progress = match (role, message) {
        (Role::Candidate(_), Message::ProbeReply { epoch, incumbent }) if machine.cohort.is_open() => {
            attachment::publisher_replied(machine, from, epoch, incumbent);
            Progress::None
        }
        (Role::Candidate(_), Message::ProbeReply { epoch, incumbent }) => {
            machine.cohort.probe_reply(now, &mut machine.wire, from, epoch, incumbent)
        }
        (Role::Lead, Message::Welcome { epoch, parent }) => {
            machine.cohort.welcomed(now, &mut machine.wire, from, epoch, parent)
        }
        (Role::Lead, Message::Refused { reason }) => {
            machine.cohort.refused(now, &mut machine.wire, from, reason)
        }
        (Role::Joiner(rank), Message::TreeHello { rank: said, contact }) if said == rank => {
            machine.cohort.child_hello(now, &mut machine.wire, from, (rank, contact))
        }
        (_, other) => {
            machine.unexpected(from, &other);
            Progress::None
        }
    };
    machine.cohort_progress(progress);
}

fn hear_parent(machine: &mut SubscriberMachine, from: PeerId, message: Message) {
    match message {
        Message::CohortOpen => {
            let progress = machine.cohort.opened_from_above(machine.now, &mut machine.wire, from);
            machine.cohort_progress(progress);
        }
        // For this rank the stream is over: its parent sent that before it heard that the cohort is lost.
        Message::Attached { .. }
        | Message::AwaitingRestart { .. }
        | Message::StreamEnd { .. }
        | Message::Assign(_)
        | Message::Reselected { .. }
            if machine.cohort_is_lost => {}
        Message::Attached { .. } | Message::AwaitingRestart { .. } | Message::StreamEnd { .. } => {
            attachment::news_from_above(machine, from, message);
        }
        Message::Assign(assignment) => stream::assigned(machine, from, assignment),
        Message::Reselected { first, spec } => stream::reselected(machine, first, spec),
        Message::RankLost { rank, reason } => loss::cohort_lost(machine, rank, reason),
        Message::Left => drain::closed(machine, CloseOutcome::Clean),
        // An answer to a question of an epoch that is over is passed over there.
        Message::Resolved { .. } | Message::Unresolved { .. } | Message::Contacts { .. } => {
            questions::hear_answerer(machine, from, message)
        }
        other => machine.unexpected(from, &other),
    }
}

fn hear_child(machine: &mut SubscriberMachine, from: PeerId, rank: Rank, message: Message) {
    match message {
        Message::SubtreeOpen => {
            let progress = machine.cohort.child_open(machine.now, &mut machine.wire, rank);
            machine.cohort_progress(progress);
        }
        Message::Release { step } => stream::child_released(machine, from, rank, step),
        Message::RestartHeard => stream::child_heard_restart(machine, from, rank),
        Message::Leaving => drain::child_leaving(machine, rank),
        Message::Resolve { request, table, queries } => {
            questions::pass_question_on(machine, from, request, table, queries)
        }
        Message::AskContacts { request, ranks } => {
            contacts::pass_contacts_on(machine, from, rank, request, ranks)
        }
        Message::RankLost { rank, reason } => loss::cohort_lost(machine, rank, reason),
        other => machine.unexpected(from, &other),
    }
}
