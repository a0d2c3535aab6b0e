//! The role of the link that a message came over decides what the message means.

use super::lead::Ask;
use super::{Phase, PublisherMachine};
use crate::cohort::Progress;
use crate::effect::{Misbehaviour, PeerId};
use crate::message::Message;
use crate::publisher::{change, contacts, drain, log, loss, membership, ready, steps, tables};
use crate::wire::Role;
use fp_types::Rank;

/// A whole message from a peer.
pub(crate) fn hear(machine: &mut PublisherMachine, from: PeerId, message: Message) {
    let Some(role) = machine.wire.role(from) else { return };
    match message.check() {
        Ok(()) => dispatch(machine, from, role, message),
        Err(part) => machine.misbehaved(from, Misbehaviour::OutOfBounds(part)),
    }
}

fn dispatch(machine: &mut PublisherMachine, from: PeerId, role: Role, message: Message) {
    match role {
        Role::Fresh | Role::Prober => hear_stranger(machine, from, message),
        Role::Candidate(_) | Role::Lead | Role::Joiner(_) => hear_assembly(machine, from, role, message),
        Role::Parent => hear_parent(machine, from, message),
        Role::Child(rank) => hear_child(machine, from, rank, message),
        Role::Early => expect_heartbeat(machine, from, &message),
        Role::Member(member) => membership::hear_member(machine, from, member, message),
        Role::Asker => hear_asker(machine, from, message),
        Role::Publisher | Role::Answerer => machine.unexpected(from, &message),
    }
}

fn hear_stranger(machine: &mut PublisherMachine, from: PeerId, message: Message) {
    let now = machine.now;
    let progress = match message {
        Message::Heartbeat => Progress::None,
        Message::Probe { epoch } => {
            let closing = !matches!(machine.phase, Phase::Opening | Phase::Streaming);
            machine.cohort.probed(now, &mut machine.wire, from, epoch, closing)
        }
        Message::Join { rank, size, contact } if machine.cohort.is_lead() => {
            machine.cohort.joins(now, &mut machine.wire, from, rank, size, contact)
        }
        Message::TreeHello { rank, contact } => {
            machine.cohort.child_hello(now, &mut machine.wire, from, (rank, contact))
        }
        Message::Subscribe { spec, label, cohort_size, credit } if machine.cohort.is_lead() => {
            membership::subscribe(machine, from, Ask { spec, label, cohort_size, credit });
            Progress::None
        }
        Message::Resolve { request, table, queries } => {
            machine.wire.set_role(from, Role::Asker);
            tables::resolve(machine, from, request, table, queries);
            Progress::None
        }
        Message::AskContacts { request, ranks } => {
            machine.wire.set_role(from, Role::Asker);
            contacts::contacts_asked(machine, from, request, ranks);
            Progress::None
        }
        other => {
            machine.unexpected(from, &other);
            Progress::None
        }
    };
    machine.cohort_progress(progress);
}

fn hear_assembly(machine: &mut PublisherMachine, from: PeerId, role: Role, message: Message) {
    let now = machine.now;
    let progress = match (role, message) {
        (_, Message::Heartbeat) => Progress::None,
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

fn hear_parent(machine: &mut PublisherMachine, from: PeerId, message: Message) {
    match message {
        Message::Heartbeat => {}
        Message::CohortOpen => {
            let progress = machine.cohort.opened_from_above(machine.now, &mut machine.wire, from);
            machine.cohort_progress(progress);
        }
        Message::Log { serial, entries } => log::log_from_above(machine, from, serial, entries),
        Message::RankLost { rank, reason } => loss::lost_from_above(machine, rank, reason),
        Message::TableReply { table, encoded } => tables::table_reply(machine, from, table, encoded),
        Message::TableRefused { table, reason } => tables::table_refused(machine, table, &reason),
        Message::AskContacts { request, ranks } => contacts::contacts_asked(machine, from, request, ranks),
        Message::Contacts { request, contacts } => contacts::contacts_told(machine, from, request, contacts),
        other => machine.unexpected(from, &other),
    }
}

fn hear_child(machine: &mut PublisherMachine, from: PeerId, rank: Rank, message: Message) {
    match message {
        Message::Heartbeat => {}
        Message::SubtreeOpen => {
            let progress = machine.cohort.child_open(machine.now, &mut machine.wire, rank);
            machine.cohort_progress(progress);
        }
        Message::Ready { step, report } => ready::child_ready(machine, from, rank, step, report),
        Message::Prepared { change, next } => change::child_prepared(machine, from, rank, change, next),
        Message::Expire { subscription, rank, waited_ms } => {
            steps::expire(machine, subscription, rank, waited_ms)
        }
        Message::Closing { steps } => drain::child_closing(machine, rank, steps),
        Message::Late { step, rank } => ready::late(machine, step, rank),
        Message::RankLost { rank, reason } => loss::lost_from_below(machine, rank, reason),
        Message::TableRequest { table } => tables::table_request(machine, from, table),
        Message::AskContacts { request, ranks } => contacts::contacts_asked(machine, from, request, ranks),
        Message::Contacts { request, contacts } => contacts::contacts_told(machine, from, request, contacts),
        other => machine.unexpected(from, &other),
    }
}

fn hear_asker(machine: &mut PublisherMachine, from: PeerId, message: Message) {
    match message {
        Message::Heartbeat => {}
        Message::Resolve { request, table, queries } => {
            tables::resolve(machine, from, request, table, queries)
        }
        Message::AskContacts { request, ranks } => contacts::contacts_asked(machine, from, request, ranks),
        other => machine.unexpected(from, &other),
    }
}

fn expect_heartbeat(machine: &mut PublisherMachine, from: PeerId, message: &Message) {
    if *message != Message::Heartbeat {
        machine.unexpected(from, message);
    }
}
