//! Questions about tables, to the publisher rank that answers this one (`docs/protocol.md`, section 11).

use super::{Phase, SubscriberMachine};
use crate::config::ContactText;
use crate::effect::{DialTicket, DisconnectReason, PeerId};
use crate::event::{Event, ResolveOutcome};
use crate::message::{Message, NoTable, ResolveQuery};
use crate::subscriber::contacts;
use crate::transition::Transition;
use crate::wire::{DialPurpose, Role};
use fp_types::{Rank, TableId};
use std::collections::{BTreeMap, BTreeSet};

/// Questions under way.
#[derive(Default)]
pub(crate) struct Resolving {
    next: u64,
    answerer: Option<PeerId>,
    pub(crate) dialling: Option<DialTicket>,
    /// Whether the parent was asked where the answerer is.
    pub(crate) seeking: bool,
    /// Waiting for the link.
    unsent: Vec<Message>,
    /// Sent or unsent, not answered.
    pub(crate) open: BTreeSet<u64>,
    /// The same for those of children: who asked, and the child's number for it.
    relayed: BTreeMap<u64, (PeerId, u64)>,
}

/// Questions of children that may be under way at one time.
const LIMIT_RELAYED: usize = 4096;

/// The number of the next question.
pub(crate) fn next_request(machine: &mut SubscriberMachine) -> u64 {
    let request = machine.resolving.next;
    machine.resolving.next += 1;
    request
}

pub(crate) fn put_question(machine: &mut SubscriberMachine, question: Message) {
    let parent =
        machine.cohort.parent().filter(|&peer| asks_parent(machine) && machine.wire.role(peer).is_some());
    match machine.attachment.publisher.or(machine.resolving.answerer).or(parent) {
        Some(peer) => machine.wire.send(peer, question),
        None => ask_later(machine, question),
    }
}

/// Whether this rank has no publisher rank to ask: so many ranks of the cohort have.
pub(crate) fn asks_parent(machine: &SubscriberMachine) -> bool {
    let rank = machine.config.cohort.rank;
    rank != Rank::LEAD && rank.0 >= machine.attachment.askers
}

/// A child has nobody else to ask.
pub(crate) fn pass_question_on(
    machine: &mut SubscriberMachine,
    from: PeerId,
    request: u64,
    table: TableId,
    queries: Vec<ResolveQuery>,
) {
    if matches!(machine.phase, Phase::Assembling | Phase::Attaching | Phase::Closed) {
        // It asked before it heard that the epoch is over, with which its questions end.
        return;
    }
    if machine.resolving.relayed.len() >= LIMIT_RELAYED {
        machine.wire.send(from, Message::Unresolved { request, reason: NoTable::Unanswered });
        return;
    }
    machine.wire.mark(Transition::QuestionPassedOn);
    let own = next_request(machine);
    machine.resolving.relayed.insert(own, (from, request));
    put_question(machine, Message::Resolve { request: own, table, queries });
}

fn ask_later(machine: &mut SubscriberMachine, question: Message) {
    machine.resolving.unsent.push(question);
    if machine.resolving.dialling.is_some() || machine.resolving.seeking {
        return;
    }
    match machine.attachment.answerer.clone() {
        Some(contact) => {
            machine.resolving.dialling = Some(machine.wire.dial(contact, None, DialPurpose::Answerer));
        }
        None => contacts::seek_answerer(machine),
    }
}

pub(crate) fn answerer_dialled(machine: &mut SubscriberMachine, ticket: DialTicket, peer: PeerId) {
    if machine.resolving.dialling != Some(ticket) {
        machine.wire.disconnect(peer, DisconnectReason::Done);
        return;
    }
    machine.resolving.dialling = None;
    machine.resolving.answerer = Some(peer);
    machine.wire.set_role(peer, Role::Answerer);
    for question in std::mem::take(&mut machine.resolving.unsent) {
        machine.wire.send(peer, question);
    }
}

pub(crate) fn resolved(
    machine: &mut SubscriberMachine,
    request: u64,
    encoded: Option<Vec<u8>>,
    owners: Vec<(Rank, ContactText)>,
) {
    if let Some((child, request)) = machine.resolving.relayed.remove(&request) {
        machine.wire.send(child, Message::Resolved { request, encoded, owners });
        return;
    }
    let outcome = match encoded {
        Some(encoded) => ResolveOutcome::Table { encoded, owners },
        None => ResolveOutcome::Unknown,
    };
    settle_question(machine, request, outcome);
}

pub(crate) fn unresolved(machine: &mut SubscriberMachine, request: u64, reason: NoTable) {
    if let Some((child, request)) = machine.resolving.relayed.remove(&request) {
        machine.wire.send(child, Message::Unresolved { request, reason });
        return;
    }
    let outcome = match reason {
        NoTable::Unanswered => ResolveOutcome::Lost,
        reason @ (NoTable::TooLarge { .. } | NoTable::Unreadable { .. } | NoTable::Denied(_)) => {
            ResolveOutcome::Refused(reason)
        }
    };
    settle_question(machine, request, outcome);
}

fn settle_question(machine: &mut SubscriberMachine, request: u64, outcome: ResolveOutcome) {
    if machine.resolving.open.remove(&request) {
        machine.wire.event(Event::Resolved { request, outcome });
    }
}

/// A dial failed; one of an epoch that is over means nothing to the questions of this one.
pub(crate) fn answerer_unreachable(machine: &mut SubscriberMachine, ticket: DialTicket) {
    if machine.resolving.dialling == Some(ticket) {
        answerer_gone(machine);
    }
}

/// Nobody will answer any more: every question is told so.
pub(crate) fn answerer_gone(machine: &mut SubscriberMachine) {
    machine.resolving.answerer = None;
    machine.resolving.dialling = None;
    machine.resolving.unsent.clear();
    for request in std::mem::take(&mut machine.resolving.open) {
        machine.wire.event(Event::Resolved { request, outcome: ResolveOutcome::Lost });
    }
    for (_, (child, request)) in std::mem::take(&mut machine.resolving.relayed) {
        machine.wire.send(child, Message::Unresolved { request, reason: NoTable::Unanswered });
    }
    contacts::contacts_unanswered(machine);
}

/// The epoch is over: the link to its answerer as well.
pub(crate) fn drop_answerer(machine: &mut SubscriberMachine) {
    if let Some(peer) = machine.resolving.answerer {
        machine.wire.disconnect(peer, DisconnectReason::Ended);
    }
    answerer_gone(machine);
}
