//! Where publisher ranks are. Each keeps the contacts of its own children. A question goes along the tree to the parent
//! of each rank that is asked for (`docs/protocol.md`, section 11).
//!
//! Publisher ranks have no cache of contacts: it would answer nobody but those who have forgotten
//! (`docs/decisions/0009-questions-go-through-the-cohorts-tree.md`).

use super::PublisherMachine;
use crate::config::{CohortConfig, ContactText};
use crate::effect::{Misbehaviour, PeerId};
use crate::message::Message;
use crate::passed_questions::{Asking, Told, untold};
use crate::transition::Transition;
use crate::tree;
use crate::wire::mutated;
use fp_types::Rank;
use std::collections::{BTreeMap, BTreeSet};

/// Who asked this rank, and with which number.
#[derive(Clone, Copy)]
pub(crate) struct Asker {
    peer: PeerId,
    request: u64,
}

/// Questions that this rank has passed on. They have no deadline here: who asked has one, and in the tree a question
/// may wait behind many others at a rank that lives. A neighbour that does not is lost after `silence`, and with it its
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

/// Somebody asks where these ranks are. A subscriber rank may ask for any, a child for what is not below it, the parent
/// for what is below this rank.
pub(crate) fn contacts_asked(machine: &mut PublisherMachine, from: PeerId, request: u64, ranks: Vec<Rank>) {
    let CohortConfig { rank: own, size, fan_out, .. } = machine.config.cohort;
    let is_below = |&rank: &Rank| rank == own || tree::child_towards(own, rank, fan_out).is_some();
    let from_parent = machine.cohort.parent() == Some(from);
    if ranks.iter().any(|rank| rank.0 >= size) || (from_parent && !ranks.iter().all(is_below)) {
        machine.misbehaved(from, Misbehaviour::OutOfBounds("AskContacts.ranks"));
        return;
    }
    let full = machine.contacts.is_full();
    let (mut told, mut beyond) = (Told::new(), BTreeMap::<PeerId, Vec<Rank>>::new());
    for rank in ranks {
        match way_to(machine, rank) {
            Way::Told(contact) => told.push((rank, Some(contact))),
            Way::Beyond(peer) if !full => beyond.entry(peer).or_default().push(rank),
            Way::Beyond(_) | Way::Lost => told.push((rank, None)),
        }
    }
    let asker = Asker { peer: from, request };
    tell_contacts(machine, asker, told);
    for (peer, ranks) in beyond {
        machine.wire.mark(Transition::ContactsPassedOn);
        machine.contacts.pass(asker, Some(peer), ranks);
    }
    pass_contacts_on(machine);
}

/// Sends the questions whose way is free.
fn pass_contacts_on(machine: &mut PublisherMachine) {
    while let Some((_, way, question)) = machine.contacts.next_to_send(machine.wire.now) {
        if let Some(peer) = way {
            machine.wire.send(peer, question);
        }
    }
}

fn way_to(machine: &PublisherMachine, rank: Rank) -> Way {
    let CohortConfig { rank: own, fan_out, contact, .. } = &machine.config.cohort;
    if rank == *own {
        return Way::Told(contact.clone());
    }
    let Some(child) = tree::child_towards(*own, rank, *fan_out) else {
        return machine.cohort.parent().map_or(Way::Lost, Way::Beyond);
    };
    match machine.cohort.child(child) {
        Some((_, contact)) if child == rank => Way::Told(contact.clone()),
        Some((peer, _)) => Way::Beyond(peer),
        None => Way::Lost,
    }
}

/// Part of an answer, if there is any.
fn tell_contacts(machine: &mut PublisherMachine, asker: Asker, contacts: Told) {
    if contacts.is_empty() {
        return;
    }
    let unknown = contacts.iter().any(|(_, contact)| contact.is_none());
    machine.wire.mark(if unknown { Transition::ContactsUnknown } else { Transition::ContactsTold });
    machine.wire.send(asker.peer, Message::Contacts { request: asker.request, contacts });
}

/// Part of the answer to a question that was passed on: it goes on as it is.
pub(crate) fn contacts_told(machine: &mut PublisherMachine, from: PeerId, request: u64, contacts: Told) {
    match machine.contacts.heard(machine.wire.now, from, request, &contacts) {
        Ok(Some(heard)) => {
            tell_contacts(machine, heard.asker, contacts);
            if heard.left == 0 {
                pass_contacts_on(machine);
            }
        }
        Ok(None) => {}
        Err(what) => machine.misbehaved(from, what),
    }
}

/// A neighbour is gone: what it was asked nobody can say.
pub(crate) fn contacts_gone(machine: &mut PublisherMachine, peer: PeerId) {
    let unanswered = machine.contacts.gone(peer);
    if mutated!(machine.wire, ContactsForgotten) {
        return;
    }
    for (asker, _, missing) in unanswered {
        tell_contacts(machine, asker, untold(missing));
    }
}

/// Of these ranks' contacts those that need not be asked for: its own, and its children's.
pub(crate) fn contacts_at_hand(
    machine: &PublisherMachine,
    ranks: &BTreeSet<Rank>,
) -> Vec<(Rank, ContactText)> {
    let CohortConfig { rank, contact, .. } = &machine.config.cohort;
    let known = std::iter::once((*rank, contact)).chain(machine.cohort.children_contacts());
    known.filter(|(rank, _)| ranks.contains(rank)).map(|(rank, text)| (rank, text.clone())).collect()
}
