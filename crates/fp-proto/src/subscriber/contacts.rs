//! Where publisher ranks are. This rank asks for its application and for its children. For itself it asks where the
//! publisher rank is that answers it (`docs/protocol.md`, section 11).

use super::{Phase, SubscriberMachine};
use crate::effect::{Misbehaviour, PeerId};
use crate::event::Event;
use crate::message::Message;
use crate::passed_questions::{Asking, Told, Unanswered, untold};
use crate::subscriber::questions;
use crate::transition::Transition;
use crate::wire::DialPurpose;
use fp_types::Rank;

/// For whom this rank asks.
#[derive(Clone, Copy)]
pub(crate) enum Asker {
    /// The application.
    Application,
    /// A child, and its number for the question.
    Child(PeerId, u64),
    /// This rank, which has nobody to ask yet but its parent.
    Itself,
}

/// Questions that this rank has passed on.
pub(crate) type Contacts = Asking<Asker>;

/// Sends the questions whose way is free.
pub(crate) fn put_contact_questions(machine: &mut SubscriberMachine) {
    while let Some((asker, way, question)) = machine.contacts.next_to_send(machine.wire.now) {
        match (asker, way) {
            (Asker::Itself, Some(parent)) => machine.wire.send(parent, question),
            _ => questions::put_question(machine, question),
        }
    }
}

/// A child asks.
pub(crate) fn pass_contacts_on(
    machine: &mut SubscriberMachine,
    from: PeerId,
    child: Rank,
    request: u64,
    ranks: Vec<Rank>,
) {
    let over = machine.stream.behind.contains_key(&child);
    if over || matches!(machine.phase, Phase::Assembling | Phase::Attaching | Phase::Closed) {
        // It asked before it heard that the epoch is over, with which its questions end.
        return;
    }
    if ranks.iter().any(|rank| rank.0 >= machine.attachment.publisher_size) {
        machine.misbehaved(from, Misbehaviour::OutOfBounds("AskContacts.ranks"));
        return;
    }
    let asker = Asker::Child(from, request);
    if machine.contacts.is_full() {
        tell_contacts(machine, asker, 0, untold(ranks), 0);
        return;
    }
    machine.wire.mark(Transition::ContactsPassedOn);
    machine.contacts.pass(asker, None, ranks);
    put_contact_questions(machine);
}

/// Asks the parent where the publisher rank is that answers this one: which a rank does once it has a question.
pub(crate) fn seek_answerer(machine: &mut SubscriberMachine) {
    let Some(parent) = machine.cohort.parent().filter(|_| !questions::asks_parent(machine)) else {
        questions::answerer_gone(machine);
        return;
    };
    machine.wire.mark(Transition::AnswererSought);
    machine.resolving.seeking = true;
    let ranks = vec![machine.answering_rank()];
    machine.contacts.pass(Asker::Itself, Some(parent), ranks);
    put_contact_questions(machine);
}

/// Part of an answer has come.
pub(crate) fn contacts_told(machine: &mut SubscriberMachine, from: PeerId, request: u64, contacts: Told) {
    match machine.contacts.heard(machine.wire.now, from, request, &contacts) {
        Ok(Some(heard)) => {
            tell_contacts(machine, heard.asker, request, contacts, heard.left);
            put_contact_questions(machine);
        }
        Ok(None) => {}
        Err(what) => machine.misbehaved(from, what),
    }
}

fn tell_contacts(machine: &mut SubscriberMachine, asker: Asker, own: u64, contacts: Told, left: usize) {
    match asker {
        Asker::Application => machine.wire.event(Event::Contacts { request: own, contacts, left }),
        Asker::Child(peer, request) => {
            machine.wire.send(peer, Message::Contacts { request, contacts });
        }
        Asker::Itself => answerer_found(machine, contacts),
    }
}

fn answerer_found(machine: &mut SubscriberMachine, contacts: Told) {
    machine.resolving.seeking = false;
    match contacts.into_iter().next().and_then(|(_, contact)| contact) {
        Some(contact) => {
            machine.attachment.answerer = Some(contact.clone());
            machine.resolving.dialling = Some(machine.wire.dial(contact, None, DialPurpose::Answerer));
        }
        None => questions::answerer_gone(machine),
    }
}

/// Nobody will answer any more: every question is told so.
pub(crate) fn contacts_unanswered(machine: &mut SubscriberMachine) {
    machine.resolving.seeking = false;
    let unanswered = machine.contacts.end();
    contacts_untold(machine, unanswered);
}

/// Whoever waited for too long is told that nobody says.
pub(crate) fn tick_contacts(machine: &mut SubscriberMachine) {
    let overdue = machine.contacts.overdue(machine.wire.now);
    contacts_untold(machine, overdue);
    put_contact_questions(machine);
}

fn contacts_untold(machine: &mut SubscriberMachine, unanswered: Vec<Unanswered<Asker>>) {
    for (asker, request, missing) in unanswered {
        let sought = matches!(asker, Asker::Itself);
        if !sought || machine.resolving.seeking {
            tell_contacts(machine, asker, request, untold(missing), 0);
        }
    }
}
