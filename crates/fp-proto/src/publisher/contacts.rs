//! Where publisher ranks are: each keeps the contacts of its own children, and a question goes along the tree to the
//! parent of each rank that is asked for (`docs/protocol.md`, section 11).

use super::PublisherMachine;
use crate::asking::{Asking, Told, Unanswered, untold};
use crate::config::{CohortConfig, ContactText};
use crate::effect::{Misbehaviour, PeerId};
use crate::message::Message;
use crate::transition::Transition;
use crate::tree;
use fp_types::Rank;
use std::collections::{BTreeMap, BTreeSet};

/// Who asked this rank, and with which number.
#[derive(Clone, Copy)]
pub(crate) struct Asker {
    peer: PeerId,
    request: u64,
}

/// Questions that this rank has passed on. They have no deadline here: who asked has one, and in the tree a question may
/// wait behind many others at a rank that lives. A neighbour that does not is lost after `silence`, and with it its
/// questions.
pub(crate) type Contacts = Asking<Asker>;

/// Where the answer for a rank is.
enum Way {
    /// Here.
    Told(ContactText),
    /// At this neighbour, or beyond it.
    Beyond(PeerId),
    /// Nowhere any more: the neighbour that it was at is lost.
    Lost,
}

impl PublisherMachine {
    /// Somebody asks where these ranks are: a subscriber rank, a child for what is not below it, or the parent for
    /// what is below this rank.
    pub(crate) fn contacts_asked(&mut self, from: PeerId, request: u64, ranks: Vec<Rank>) {
        let CohortConfig { rank: own, size, fan_out, .. } = self.config.cohort;
        let is_below = |&rank: &Rank| rank == own || tree::child_towards(own, rank, fan_out).is_some();
        let from_parent = self.cohort.parent() == Some(from);
        if ranks.iter().any(|rank| rank.0 >= size) || (from_parent && !ranks.iter().all(is_below)) {
            self.misbehaved(from, Misbehaviour::OutOfBounds("AskContacts.ranks"));
            return;
        }
        let full = self.contacts.is_full();
        let (mut told, mut beyond) = (Told::new(), BTreeMap::<PeerId, Vec<Rank>>::new());
        for rank in ranks {
            match self.way_to(rank) {
                Way::Told(contact) => told.push((rank, Some(contact))),
                Way::Beyond(peer) if !full => beyond.entry(peer).or_default().push(rank),
                Way::Beyond(_) | Way::Lost => told.push((rank, None)),
            }
        }
        let asker = Asker { peer: from, request };
        self.tell_contacts(asker, told);
        for (peer, ranks) in beyond {
            self.wire.mark(Transition::ContactsPassedOn);
            self.contacts.pass(asker, Some(peer), ranks);
        }
        self.pass_contacts_on();
    }

    /// Sends the questions whose way is free.
    fn pass_contacts_on(&mut self) {
        while let Some((_, way, question)) = self.contacts.next_to_send(self.now) {
            if let Some(peer) = way {
                self.wire.send(self.now, peer, question);
            }
        }
    }

    fn way_to(&self, rank: Rank) -> Way {
        let CohortConfig { rank: own, fan_out, contact, .. } = &self.config.cohort;
        if rank == *own {
            return Way::Told(contact.clone());
        }
        let Some(child) = tree::child_towards(*own, rank, *fan_out) else {
            return self.cohort.parent().map_or(Way::Lost, Way::Beyond);
        };
        match self.cohort.child(child) {
            Some((_, contact)) if child == rank => Way::Told(contact.clone()),
            Some((peer, _)) => Way::Beyond(peer),
            None => Way::Lost,
        }
    }

    /// Part of an answer, if there is any.
    fn tell_contacts(&mut self, asker: Asker, contacts: Told) {
        if contacts.is_empty() {
            return;
        }
        let unknown = contacts.iter().any(|(_, contact)| contact.is_none());
        self.wire.mark(if unknown { Transition::ContactsUnknown } else { Transition::ContactsTold });
        self.wire.send(self.now, asker.peer, Message::Contacts { request: asker.request, contacts });
    }

    /// Part of the answer to a question that was passed on: it goes on as it is.
    pub(crate) fn contacts_told(&mut self, from: PeerId, request: u64, contacts: Told) {
        match self.contacts.heard(self.now, from, request, &contacts) {
            Ok(Some(heard)) => {
                self.tell_contacts(heard.asker, contacts);
                if heard.left == 0 {
                    self.pass_contacts_on();
                }
            }
            Ok(None) => {}
            Err(what) => self.misbehaved(from, what),
        }
    }

    /// A neighbour is gone: what it was asked nobody can say.
    pub(crate) fn contacts_gone(&mut self, peer: PeerId) {
        let unanswered = self.contacts.gone(peer);
        self.contacts_untold(unanswered);
    }

    fn contacts_untold(&mut self, unanswered: Vec<Unanswered<Asker>>) {
        #[cfg(feature = "mutations")]
        if self.mutated(crate::mutation::Mutation::ContactsForgotten) {
            return;
        }
        for (asker, _, missing) in unanswered {
            self.tell_contacts(asker, untold(missing));
        }
    }

    /// Of these ranks' contacts those that need not be asked for: its own, and its children's.
    pub(crate) fn contacts_at_hand(&self, ranks: &BTreeSet<Rank>) -> Vec<(Rank, ContactText)> {
        let CohortConfig { rank, contact, .. } = &self.config.cohort;
        let known = std::iter::once((*rank, contact)).chain(self.cohort.children_contacts());
        known.filter(|(rank, _)| ranks.contains(rank)).map(|(rank, text)| (rank, text.clone())).collect()
    }
}
