//! Where publisher ranks are: this rank asks for its application, for its children, and for itself, where the publisher
//! rank is that answers it (`docs/protocol.md`, section 11).

use super::{Phase, SubscriberMachine};
use crate::asking::{Asking, Told, Unanswered, untold};
use crate::bounds::LIMIT_CONTACTS;
use crate::commands::CommandError;
use crate::effect::{Misbehaviour, PeerId};
use crate::event::Event;
use crate::message::Message;
use crate::time::Moment;
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

impl SubscriberMachine {
    /// Asks where these publisher ranks are; answered by `Event::Contacts` with the number given here, in one or more
    /// parts.
    ///
    /// # Errors
    /// If the stream is not attached, or if these are no ranks of the publisher, or none, or more than
    /// [`LIMIT_CONTACTS`].
    pub fn ask_contacts(&mut self, now: Moment, mut ranks: Vec<Rank>) -> Result<u64, CommandError> {
        self.enter(now);
        if !matches!(self.phase, Phase::Streaming | Phase::Ended) {
            return Err(CommandError::NotAttached);
        }
        ranks.sort();
        ranks.dedup();
        let size = self.attachment.publisher_size;
        let in_bounds = ranks.last().is_some_and(|last| last.0 < size) && ranks.len() <= LIMIT_CONTACTS;
        if !in_bounds {
            return Err(CommandError::InvalidRanks { ranks: ranks.len(), size });
        }
        let request = self.contacts.pass(Asker::Application, None, ranks);
        self.put_contact_questions();
        Ok(request)
    }

    /// Sends the questions whose way is free.
    fn put_contact_questions(&mut self) {
        while let Some((asker, way, question)) = self.contacts.next_to_send(self.now) {
            match (asker, way) {
                (Asker::Itself, Some(parent)) => self.wire.send(self.now, parent, question),
                _ => self.put_question(question),
            }
        }
    }

    /// A child asks.
    pub(crate) fn pass_contacts_on(&mut self, from: PeerId, child: Rank, request: u64, ranks: Vec<Rank>) {
        let over = self.stream.behind.contains_key(&child);
        if over || matches!(self.phase, Phase::Assembling | Phase::Attaching | Phase::Closed) {
            // It asked before it heard that the epoch is over, with which its questions end.
            return;
        }
        if ranks.iter().any(|rank| rank.0 >= self.attachment.publisher_size) {
            self.misbehaved(from, Misbehaviour::OutOfBounds("AskContacts.ranks"));
            return;
        }
        let asker = Asker::Child(from, request);
        if self.contacts.is_full() {
            self.tell_contacts(asker, 0, untold(ranks), 0);
            return;
        }
        self.wire.mark(Transition::ContactsPassedOn);
        self.contacts.pass(asker, None, ranks);
        self.put_contact_questions();
    }

    /// Asks the parent where the publisher rank is that answers this one: which a rank does once it has a question.
    pub(crate) fn seek_answerer(&mut self) {
        let Some(parent) = self.cohort.parent().filter(|_| !self.asks_parent()) else {
            self.answerer_gone();
            return;
        };
        self.wire.mark(Transition::AnswererSought);
        self.resolving.seeking = true;
        let ranks = vec![self.answering_rank()];
        self.contacts.pass(Asker::Itself, Some(parent), ranks);
        self.put_contact_questions();
    }

    /// Part of an answer has come.
    pub(crate) fn contacts_told(&mut self, from: PeerId, request: u64, contacts: Told) {
        match self.contacts.heard(self.now, from, request, &contacts) {
            Ok(Some(heard)) => {
                self.tell_contacts(heard.asker, request, contacts, heard.left);
                self.put_contact_questions();
            }
            Ok(None) => {}
            Err(what) => self.misbehaved(from, what),
        }
    }

    fn tell_contacts(&mut self, asker: Asker, own: u64, contacts: Told, left: usize) {
        match asker {
            Asker::Application => self.wire.event(Event::Contacts { request: own, contacts, left }),
            Asker::Child(peer, request) => {
                self.wire.send(self.now, peer, Message::Contacts { request, contacts });
            }
            Asker::Itself => self.answerer_found(contacts),
        }
    }

    fn answerer_found(&mut self, contacts: Told) {
        self.resolving.seeking = false;
        match contacts.into_iter().next().and_then(|(_, contact)| contact) {
            Some(contact) => {
                self.attachment.answerer = Some(contact.clone());
                self.resolving.dialling = Some(self.wire.dial(contact, None, DialPurpose::Answerer));
            }
            None => self.answerer_gone(),
        }
    }

    /// Nobody will answer any more: every question is told so.
    pub(crate) fn contacts_unanswered(&mut self) {
        self.resolving.seeking = false;
        let unanswered = self.contacts.end();
        self.contacts_untold(unanswered);
    }

    /// Whoever waited for too long is told that nobody says.
    pub(crate) fn tick_contacts(&mut self) {
        let overdue = self.contacts.overdue(self.now);
        self.contacts_untold(overdue);
        self.put_contact_questions();
    }

    fn contacts_untold(&mut self, unanswered: Vec<Unanswered<Asker>>) {
        for (asker, request, missing) in unanswered {
            let sought = matches!(asker, Asker::Itself);
            if !sought || self.resolving.seeking {
                self.tell_contacts(asker, request, untold(missing), 0);
            }
        }
    }
}
