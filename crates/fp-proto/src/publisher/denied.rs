//! What the access list does not allow is refused, each question in the way in which it would have been answered.

use super::PublisherMachine;
use crate::access::Denial;
use crate::effect::{DisconnectReason, PeerId};
use crate::event::{Event, MemberEnd};
use crate::message::{MemberId, Message, NoTable};
use crate::outcome::{EndReason, RefusalReason};
use crate::publisher::membership;
use crate::status::report::StatusRefusal;
use crate::steering::{SteeringOutcome, SteeringRefusal};
use crate::transition::Transition;
use crate::wire::Role;

/// Refuses what a peer asked for.
pub(crate) fn deny(
    machine: &mut PublisherMachine,
    from: PeerId,
    role: Role,
    message: Message,
    denial: Denial,
) {
    if role == Role::Declined {
        // It has asked before it read that this lead is not the one, and leaves by itself.
        machine.wire.mark(Transition::DeclinedUnheard);
        machine.wire.disconnect(from, DisconnectReason::Done);
        return;
    }
    machine.wire.event(Event::Denied(denial.clone()));
    match (role, message) {
        (Role::Member(member), Message::Reselect { .. }) => detach(machine, from, member, denial),
        (Role::Member(_), Message::Steer { id, .. }) => {
            machine.wire.mark(Transition::SteeringRefused);
            let outcome = SteeringOutcome::Refused(SteeringRefusal::Denied(denial));
            machine.wire.send(from, Message::Steered { id, outcome });
        }
        (_, Message::Resolve { request, .. }) => {
            machine.wire.send(from, Message::Unresolved { request, reason: NoTable::Denied(denial) });
        }
        (_, Message::AskContacts { request, ranks }) => {
            let contacts = ranks.into_iter().map(|rank| (rank, None)).collect();
            machine.wire.send(from, Message::Contacts { request, contacts });
        }
        (_, Message::AskStatus { request, .. }) => {
            machine.wire.mark(Transition::StatusRefused);
            let reason = StatusRefusal::Denied(denial);
            machine.wire.send(from, Message::StatusRefused { request, reason });
        }
        (
            Role::Fresh | Role::Prober,
            Message::Subscribe { .. } | Message::Join { .. } | Message::TreeHello { .. },
        ) => {
            machine.wire.mark(Transition::SubscribeRefused);
            machine.wire.send(from, Message::Refused { reason: RefusalReason::Denied(denial) });
            machine.wire.disconnect(from, DisconnectReason::Refused);
        }
        (_, other) => machine.unexpected(from, &other),
    }
}

/// A member that asks for more than it may is told so, and is one no more.
fn detach(machine: &mut PublisherMachine, from: PeerId, member: MemberId, denial: Denial) {
    machine.wire.mark(Transition::SubscribeRefused);
    membership::end_with(machine, from, member, EndReason::Denied(denial), MemberEnd::Denied);
}
