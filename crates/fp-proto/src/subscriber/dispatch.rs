//! The role of the link that a message came over decides what the message means.

use super::{Phase, SubscriberMachine};
use crate::effect::PeerId;
use crate::event::{CloseOutcome, Event};
use crate::let_go::LetGo;
use crate::message::Message;
use crate::status::answer::{self, Question};
use crate::subscriber::{attachment, contacts, drain, loss, questions, stream};
use crate::wire::Role;

/// A whole message from a peer.
pub(crate) fn dispatch(machine: &mut SubscriberMachine, from: PeerId, role: Role, message: Message) {
    let is_closing = matches!(machine.phase, Phase::Closing | Phase::Closed);
    let Some(message) = machine.cohort.hear(&mut machine.wire, from, (role, message), is_closing) else {
        return;
    };
    match (role, message) {
        (Role::Candidate, Message::ProbeReply { epoch, incumbent }) => {
            attachment::publisher_replied(machine, from, epoch, incumbent)
        }
        // For this rank the stream is over: its parent sent that before it heard that the cohort is lost.
        (
            Role::Parent,
            Message::Attached { .. }
            | Message::AwaitingRestart { .. }
            | Message::StreamEnd { .. }
            | Message::Assign(_)
            | Message::AssignJudged { .. }
            | Message::Reselected { .. },
        ) if machine.cohort_is_lost => {}
        (Role::Parent | Role::Publisher, Message::Assign(assignment)) => {
            stream::assigned(machine, from, assignment)
        }
        (Role::Parent | Role::Publisher, Message::AssignJudged { mut assignment, judgement }) => {
            assignment.judgement = Some(judgement);
            stream::assigned(machine, from, *assignment)
        }
        (Role::Parent | Role::Publisher, Message::Reselected { first, spec }) => {
            stream::reselected(machine, first, spec)
        }
        // An answer to a question of an epoch that is over is passed over there.
        (Role::Parent | Role::Publisher | Role::Answerer, Message::Resolved { request, encoded, owners }) => {
            questions::resolved(machine, request, encoded, owners)
        }
        (Role::Parent | Role::Publisher | Role::Answerer, Message::Unresolved { request, reason }) => {
            questions::unresolved(machine, request, reason)
        }
        (Role::Parent | Role::Publisher | Role::Answerer, Message::Contacts { request, contacts }) => {
            contacts::contacts_told(machine, from, request, contacts)
        }
        (Role::Fresh | Role::Prober, Message::AskStatus { request, scope, patience_ms }) => {
            answer::observer_comes(machine, Question { from, request, scope, patience_ms })
        }
        (Role::Observer, Message::AskStatus { request, scope, patience_ms }) => {
            answer::observer_asks(machine, Question { from, request, scope, patience_ms })
        }
        (
            Role::Parent | Role::Child(_) | Role::Publisher,
            Message::AskStatus { request, scope, patience_ms },
        ) => answer::asked(machine, Question { from, request, scope, patience_ms }),
        (Role::Parent | Role::Child(_), Message::Status { request, report }) => {
            answer::heard(machine, from, request, *report)
        }
        (Role::Publisher, Message::Steered { id, outcome }) => {
            machine.wire.event(Event::Steered { id, outcome });
        }
        (Role::Publisher, message) => attachment::hear_publisher(machine, from, message),
        (role, message) => hear_relative(machine, from, role, message),
    }
}

/// The parent or a child in the tree speaks; nobody else has anything to say.
fn hear_relative(machine: &mut SubscriberMachine, from: PeerId, role: Role, message: Message) {
    match (role, message) {
        (Role::Parent, news @ Message::Attached { .. }) => attachment::attached_above(machine, from, news),
        (Role::Parent, Message::AwaitingRestart { reason }) => {
            attachment::await_restart(machine, reason, false)
        }
        (Role::Parent, Message::StreamEnd { reason, skipped }) => loss::ended(machine, reason, skipped),
        (Role::Parent, Message::Left) => drain::closed(machine, CloseOutcome::Clean),
        (Role::Child(child), Message::Release { step, retire, given_back }) => {
            stream::child_released(machine, from, child, (step, LetGo { retire, given_back }))
        }
        (Role::Child(child), Message::RestartHeard) => stream::child_heard_restart(machine, from, child),
        (Role::Child(child), Message::Leaving) => drain::child_leaving(machine, child),
        (Role::Child(_), Message::Resolve { request, table, queries }) => {
            questions::pass_question_on(machine, from, request, table, queries)
        }
        (Role::Child(child), Message::AskContacts { request, ranks }) => {
            contacts::pass_contacts_on(machine, from, child, request, ranks)
        }
        (Role::Parent | Role::Child(_), Message::RankLost { rank, reason }) => {
            loss::cohort_lost(machine, rank, reason)
        }
        (_, other) => machine.unexpected(from, &other),
    }
}
