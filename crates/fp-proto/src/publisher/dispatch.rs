//! The role of the link that a message came over decides what the message means.

use super::lead::Ask;
use super::{Phase, PublisherMachine};
use crate::effect::PeerId;
use crate::let_go::LetGo;
use crate::message::Message;
use crate::publisher::{
    assignment, change, contacts, drain, log, loss, membership, ready, steering, steps, tables,
};
use crate::status::answer::{self, Question};
use crate::wire::Role;

/// A whole message from a peer.
pub(crate) fn dispatch(machine: &mut PublisherMachine, from: PeerId, role: Role, message: Message) {
    let is_closing = !matches!(machine.phase, Phase::Opening | Phase::Streaming);
    let Some(message) = machine.cohort.hear(&mut machine.wire, from, (role, message), is_closing) else {
        return;
    };
    match (role, message) {
        (Role::Fresh | Role::Prober, question @ (Message::Resolve { .. } | Message::AskContacts { .. })) => {
            machine.wire.set_role(from, Role::Asker);
            dispatch(machine, from, Role::Asker, question);
        }
        (Role::Fresh | Role::Prober, Message::Subscribe { spec, label, cohort_size, credit, resume })
            if machine.cohort.is_lead() =>
        {
            membership::subscribe(machine, from, Ask { spec: *spec, label, cohort_size, credit, resume });
        }
        (Role::Member(member), Message::Release { step, retire, given_back }) => {
            assignment::member_released(machine, from, member, (step, LetGo { retire, given_back }))
        }
        (Role::Member(member), Message::Reselect { spec }) => {
            membership::reselect(machine, from, member, *spec)
        }
        (Role::Member(member), Message::Steer { id, name, value, urgency }) => {
            steering::asked(machine, from, member, id, steering::Asked { name, value, urgency })
        }
        (Role::Member(member), Message::Unsubscribe) => membership::member_left(machine, from, member),
        (Role::Member(_) | Role::Asker, Message::Resolve { request, table, queries }) => {
            tables::resolve(machine, from, request, table, queries)
        }
        (
            Role::Member(_) | Role::Asker | Role::Parent | Role::Child(_),
            Message::AskContacts { request, ranks },
        ) => contacts::contacts_asked(machine, from, request, ranks),
        (Role::Parent | Role::Child(_), Message::Contacts { request, contacts }) => {
            contacts::contacts_told(machine, from, request, contacts)
        }
        (Role::Fresh | Role::Prober, Message::AskStatus { request, scope, patience_ms }) => {
            answer::observer_comes(machine, Question { from, request, scope, patience_ms })
        }
        (Role::Observer, Message::AskStatus { request, scope, patience_ms }) => {
            answer::observer_asks(machine, Question { from, request, scope, patience_ms })
        }
        (Role::Parent | Role::Child(_), Message::AskStatus { request, scope, patience_ms }) => {
            answer::asked(machine, Question { from, request, scope, patience_ms })
        }
        (Role::Parent | Role::Child(_) | Role::Member(_), Message::Status { request, report }) => {
            answer::heard(machine, from, request, *report)
        }
        (role, message) => hear_relative(machine, from, role, message),
    }
}

/// The parent or a child in the tree speaks; nobody else has anything to say.
fn hear_relative(machine: &mut PublisherMachine, from: PeerId, role: Role, message: Message) {
    match (role, message) {
        (Role::Parent, Message::Log { serial, entries }) => {
            log::log_from_above(machine, from, serial, entries)
        }
        (Role::Parent, Message::RankLost { rank, reason }) => loss::lost_from_above(machine, rank, reason),
        (Role::Parent, Message::TableReply { table, encoded }) => {
            tables::table_reply(machine, from, table, encoded)
        }
        (Role::Parent, Message::TableRefused { table, reason }) => {
            tables::table_refused(machine, table, &reason)
        }
        (Role::Child(child), Message::ReadyMeasured { step, again, mut report, parts }) => {
            report.parts = parts;
            ready::child_ready(machine, from, child, step, again, *report);
        }
        (Role::Child(child), Message::Ready { step, again, report }) => {
            ready::child_ready(machine, from, child, step, again, *report)
        }
        (Role::Child(child), Message::Prepared { change, next }) => {
            change::child_prepared(machine, from, child, change, next)
        }
        (Role::Child(child), Message::SteeringAnswer { change, declined }) => {
            steering::child_answered(machine, from, child, change, declined)
        }
        (Role::Child(_), Message::Expire { subscription, rank, waited_ms }) => {
            steps::expire(machine, subscription, rank, waited_ms)
        }
        (Role::Child(child), Message::Closing { steps }) => drain::child_closing(machine, child, steps),
        (Role::Child(_), Message::Late { step, rank }) => ready::late(machine, step, rank),
        (Role::Child(_), Message::RankLost { rank, reason }) => loss::lost_from_below(machine, rank, reason),
        (Role::Child(_), Message::TableRequest { table }) => tables::table_request(machine, from, table),
        (_, other) => machine.unexpected(from, &other),
    }
}
