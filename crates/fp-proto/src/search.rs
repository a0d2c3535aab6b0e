//! Looking for the lead behind a name: entries are dialled and only one that returns its epoch is believed
//! (`docs/protocol.md`, section 3).

use crate::config::ContactText;
use crate::effect::{DialTicket, DisconnectReason, Effect, Listing, PeerId};
use crate::event::{OpenWait, Seen};
use crate::message::Message;
use crate::time::Moment;
use crate::transition::Transition;
use crate::wire::{DialPurpose, Role, Wire};
use fp_types::Epoch;
use std::collections::BTreeMap;
use std::time::Duration;

/// Entries of one listing that are looked at; more can only be rubbish in the directory.
const LIMIT_ENTRIES: usize = 64;

/// One search under way.
#[derive(Default)]
pub(crate) struct Search {
    name: String,
    direct: Option<ContactText>,
    interval: Duration,
    next_lookup: Option<Moment>,
    exclude: Option<Epoch>,
    dialling: BTreeMap<DialTicket, (ContactText, Option<Epoch>)>,
    asked: BTreeMap<PeerId, (ContactText, Option<Epoch>)>,
    seen: BTreeMap<ContactText, Seen>,
    found: Option<ContactText>,
}

impl Search {
    /// Starts to look for `name`, or to dial `direct`; `exclude` is the epoch that has just ended.
    pub(crate) fn start(
        wire: &mut Wire,
        name: &str,
        direct: Option<ContactText>,
        interval: Duration,
        exclude: Option<Epoch>,
    ) -> Self {
        let mut search = Self { name: name.to_owned(), direct, interval, exclude, ..Self::default() };
        search.look(wire);
        search
    }

    fn look(&mut self, wire: &mut Wire) {
        self.next_lookup = None;
        match self.direct.clone() {
            Some(contact) => self.dial(wire, contact, None),
            None => wire.push(Effect::Lookup { name: self.name.clone() }),
        }
    }

    /// Dials an entry, unless that is under way already. An entry behind which nobody answers may take long to fail,
    /// and the others must not wait for it.
    fn dial(&mut self, wire: &mut Wire, contact: ContactText, epoch: Option<Epoch>) {
        let entry = (contact, epoch);
        if self.dialling.values().chain(self.asked.values()).any(|busy| *busy == entry) {
            return;
        }
        let ticket = wire.dial(entry.0.clone(), epoch, DialPurpose::Probe);
        self.dialling.insert(ticket, entry);
    }

    /// The entries of the name.
    pub(crate) fn listing(&mut self, wire: &mut Wire, listing: Vec<Listing>) {
        if self.found.is_some() {
            return;
        }
        self.seen.retain(|contact, _| listing.iter().any(|entry| entry.contact == *contact));
        let exclude = self.exclude;
        for entry in listing.into_iter().filter(|entry| Some(entry.epoch) != exclude).take(LIMIT_ENTRIES) {
            self.dial(wire, entry.contact, Some(entry.epoch));
        }
        self.next_lookup = Some(wire.now.after(self.interval));
    }

    /// A known contact is dialled again when nothing came of it; a name is looked up again anyway.
    fn again_if_idle(&mut self, wire: &Wire) {
        let idle = self.dialling.is_empty() && self.asked.is_empty() && self.found.is_none();
        if idle && self.next_lookup.is_none() {
            self.next_lookup = Some(wire.now.after(self.interval));
        }
    }

    /// A dial of this search came through: ask who it is.
    pub(crate) fn dialled(&mut self, wire: &mut Wire, ticket: DialTicket, peer: PeerId) {
        let Some(entry) = self.dialling.remove(&ticket) else {
            wire.disconnect(peer, DisconnectReason::Done);
            return;
        };
        wire.set_role(peer, Role::Candidate);
        wire.send(peer, Message::Probe { epoch: Epoch(0) });
        self.asked.insert(peer, entry);
    }

    /// A dial of this search failed.
    pub(crate) fn failed(&mut self, wire: &mut Wire, ticket: DialTicket) {
        if let Some((contact, _)) = self.dialling.remove(&ticket) {
            wire.mark(Transition::EntryPassedOver);
            self.seen.insert(contact, Seen::Unreachable);
            self.again_if_idle(wire);
        }
    }

    /// A candidate went away before it was settled.
    pub(crate) fn gone(&mut self, wire: &Wire, peer: PeerId) {
        if let Some((contact, _)) = self.asked.remove(&peer) {
            self.seen.insert(contact, Seen::Unreachable);
            self.again_if_idle(wire);
        }
    }

    /// A candidate said who it is: whether it is the lead.
    pub(crate) fn reply(&mut self, wire: &mut Wire, peer: PeerId, epoch: Epoch, incumbent: bool) -> bool {
        let Some((contact, expected)) = self.asked.remove(&peer) else { return false };
        let other = expected.is_some_and(|expected| expected != epoch) || Some(epoch) == self.exclude;
        if incumbent && !other {
            self.drop_rest(wire);
            self.found = Some(contact);
            self.next_lookup = None;
            return true;
        }
        wire.mark(Transition::EntryPassedOver);
        self.seen.insert(contact, if other { Seen::OtherEpoch } else { Seen::Claiming });
        wire.disconnect(peer, DisconnectReason::Done);
        self.again_if_idle(wire);
        false
    }

    fn drop_rest(&mut self, wire: &mut Wire) {
        self.dialling.clear();
        for (peer, _) in std::mem::take(&mut self.asked) {
            wire.disconnect(peer, DisconnectReason::Done);
        }
    }

    /// Gives up.
    pub(crate) fn stop(mut self, wire: &mut Wire) {
        self.drop_rest(wire);
    }

    pub(crate) fn deadline(&self) -> Option<Moment> {
        self.next_lookup
    }

    /// Looks again if it is time.
    pub(crate) fn tick(&mut self, wire: &mut Wire) {
        if self.next_lookup.is_some_and(|due| wire.now >= due) {
            self.look(wire);
        }
    }

    /// Looks again soon, after the lead that was found refused or went away.
    pub(crate) fn resume(&mut self, wire: &Wire) {
        if let Some(contact) = self.found.take() {
            self.seen.insert(contact, Seen::Refused);
        }
        self.next_lookup = Some(wire.now.after(self.interval));
    }

    /// What this search waits for, for the error.
    pub(crate) fn waits_for(&self) -> OpenWait {
        OpenWait::Name {
            name: self.name.clone(),
            seen: self.seen.iter().map(|(contact, &seen)| (contact.clone(), seen)).collect(),
        }
    }
}
