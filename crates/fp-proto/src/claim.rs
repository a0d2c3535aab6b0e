//! Claiming a name in the rendezvous: published first, then every other entry is probed
//! (`docs/protocol.md`, section 3).

use crate::effect::{DialTicket, DisconnectReason, Effect, Listing, PeerId};
use crate::message::Message;
use crate::transition::Transition;
use crate::wire::{DialPurpose, Role, Wire, mutated};
use fp_types::Epoch;
use std::collections::BTreeMap;

/// A claim of one name.
pub(crate) struct Claim {
    name: String,
    epoch: Epoch,
    state: State,
    dialling: BTreeMap<DialTicket, Epoch>,
    /// Who was asked, with the epoch of the entry that led there.
    asked: BTreeMap<PeerId, Epoch>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Listing,
    Probing,
    Held,
    Withdrawn(Epoch),
}

/// How a claim stands.
pub(crate) enum Standing {
    /// Not settled yet.
    Open,
    /// The name is ours.
    Held,
    /// The name belongs to this epoch.
    Taken(Epoch),
}

impl Claim {
    pub(crate) fn start(wire: &mut Wire, name: &str, epoch: Epoch) -> Self {
        wire.push(Effect::PublishName { name: name.to_owned(), epoch });
        wire.push(Effect::Lookup { name: name.to_owned() });
        Self {
            name: name.to_owned(),
            epoch,
            state: State::Listing,
            dialling: BTreeMap::new(),
            asked: BTreeMap::new(),
        }
    }

    pub(crate) fn standing(&self) -> Standing {
        match self.state {
            State::Listing | State::Probing => Standing::Open,
            State::Held => Standing::Held,
            State::Withdrawn(epoch) => Standing::Taken(epoch),
        }
    }

    pub(crate) fn listing(&mut self, wire: &mut Wire, listing: Vec<Listing>) {
        if self.state != State::Listing {
            return;
        }
        self.state = State::Probing;
        for entry in listing.into_iter().filter(|entry| entry.epoch != self.epoch) {
            let ticket = wire.dial(entry.contact, Some(entry.epoch), DialPurpose::Probe);
            self.dialling.insert(ticket, entry.epoch);
        }
        self.settle(wire);
    }

    pub(crate) fn dialled(&mut self, wire: &mut Wire, ticket: DialTicket, peer: PeerId) {
        let Some(epoch) = self.dialling.remove(&ticket) else {
            wire.disconnect(peer, DisconnectReason::Done);
            return;
        };
        wire.set_role(peer, Role::Candidate);
        wire.send(peer, Message::Probe { epoch: self.epoch });
        self.asked.insert(peer, epoch);
    }

    pub(crate) fn failed(&mut self, wire: &mut Wire, ticket: DialTicket) {
        if self.dialling.remove(&ticket).is_some() {
            wire.mark(Transition::EntryPassedOver);
            self.settle(wire);
        }
    }

    pub(crate) fn gone(&mut self, wire: &mut Wire, peer: PeerId) {
        if self.asked.remove(&peer).is_some() {
            self.settle(wire);
        }
    }

    /// The answer of another entry.
    pub(crate) fn reply(&mut self, wire: &mut Wire, peer: PeerId, theirs: Epoch, incumbent: bool) {
        let Some(expected) = self.asked.remove(&peer) else { return };
        wire.disconnect(peer, DisconnectReason::Done);
        let yields = if incumbent { !mutated!(wire, IncumbentIgnored) } else { theirs < self.epoch };
        if theirs != expected {
            // Somebody else lives there now: the entry is stale, and who that is has an entry of its own.
            wire.mark(Transition::EntryPassedOver);
            self.settle(wire);
        } else if yields {
            self.withdraw(wire, theirs);
        } else {
            self.settle(wire);
        }
    }

    /// Another claimant asks; of two that start together the higher epoch withdraws.
    pub(crate) fn probed(&mut self, wire: &mut Wire, theirs: Epoch) {
        let claiming = matches!(self.state, State::Listing | State::Probing);
        if claiming && theirs != Epoch(0) && theirs < self.epoch {
            self.withdraw(wire, theirs);
        }
    }

    fn settle(&mut self, wire: &mut Wire) {
        if self.state == State::Probing && self.dialling.is_empty() && self.asked.is_empty() {
            wire.mark(Transition::ClaimHeld);
            self.state = State::Held;
        }
    }

    fn withdraw(&mut self, wire: &mut Wire, theirs: Epoch) {
        wire.mark(Transition::ClaimWithdrawn);
        self.state = State::Withdrawn(theirs);
        self.dialling.clear();
        for (peer, _) in std::mem::take(&mut self.asked) {
            wire.disconnect(peer, DisconnectReason::Done);
        }
        self.remove_entry(wire);
    }

    /// Takes the own entry out of the rendezvous.
    pub(crate) fn remove_entry(&self, wire: &mut Wire) {
        wire.push(Effect::WithdrawName { name: self.name.clone(), epoch: self.epoch });
    }
}
