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

/// Entries of one listing that are looked at. More are mostly rubbish in the directory, and have their turn later.
const LIMIT_ENTRIES: usize = 64;
/// Entries that are dialled at the same time. Behind each of them nobody may be, and the others must not wait for it.
const LIMIT_UNDER_WAY: usize = 128;

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
        if self.is_under_way(&entry) || self.dialling.len() + self.asked.len() >= LIMIT_UNDER_WAY {
            return;
        }
        let ticket = wire.dial(entry.0.clone(), epoch, DialPurpose::Probe);
        self.dialling.insert(ticket, entry);
    }

    fn is_under_way(&self, entry: &(ContactText, Option<Epoch>)) -> bool {
        self.dialling.values().chain(self.asked.values()).any(|busy| busy == entry)
    }

    /// When an entry is looked at: those first that were not tried, or that may have become the right one since.
    fn turn(&self, entry: &Listing) -> u8 {
        match self.seen.get(&entry.contact) {
            None if self.is_under_way(&(entry.contact.clone(), Some(entry.epoch))) => 1,
            None | Some(Seen::Claiming) => 0,
            Some(Seen::Unreachable | Seen::OtherEpoch | Seen::Refused) => 2,
        }
    }

    /// The entries of the name.
    pub(crate) fn listing(&mut self, wire: &mut Wire, listing: Vec<Listing>) {
        if self.found.is_some() {
            return;
        }
        self.seen.retain(|contact, _| listing.iter().any(|entry| entry.contact == *contact));
        let mut listing = listing;
        listing.retain(|entry| Some(entry.epoch) != self.exclude);
        listing.sort_by_key(|entry| self.turn(entry));
        for entry in listing.into_iter().take(LIMIT_ENTRIES) {
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

    /// Whether this candidate is the only one, and an entry of the name, whose epoch has answered already: only leads have
    /// entries. Then nobody else is known. One that said before that it is not the one is asked first: it may say so for long.
    pub(crate) fn is_alone(&self, peer: PeerId) -> bool {
        let is_new = |contact| self.seen.get(contact) != Some(&Seen::Claiming);
        let is_entry =
            self.asked.get(&peer).is_some_and(|(contact, epoch)| epoch.is_some() && is_new(contact));
        is_entry && self.asked.len() == 1 && self.dialling.is_empty()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::CohortConfig;

    fn contact(number: u128) -> ContactText {
        ContactText(format!("entry {number}"))
    }

    fn listing(entries: u128) -> Vec<Listing> {
        (0..entries).map(|number| Listing { epoch: Epoch(number), contact: contact(number) }).collect()
    }

    /// The entries that are dialled now.
    fn dials(wire: &mut Wire) -> Vec<(DialTicket, ContactText)> {
        let dial = |effect| {
            if let Effect::Dial { ticket, contact, .. } = effect { Some((ticket, contact)) } else { None }
        };
        std::iter::from_fn(|| wire.poll()).filter_map(dial).collect()
    }

    #[test]
    fn the_right_entry_is_dialled_soon_beside_any_number_that_lead_nowhere() {
        let mut wire = Wire::new(&CohortConfig::alone("name", contact(0)), Moment::default());
        let mut search = Search::start(&mut wire, "name", None, Duration::from_millis(50), None);
        search.listing(&mut wire, listing(65));
        let first = dials(&mut wire);
        assert_eq!(first.len(), LIMIT_ENTRIES, "all at once");
        search.listing(&mut wire, listing(65));
        let second: Vec<_> = dials(&mut wire).into_iter().map(|(_, contact)| contact).collect();
        assert_eq!(second, [contact(64)], "though nothing is known of the others yet");
    }

    #[test]
    fn entries_that_lead_nowhere_make_way_for_others() {
        let mut wire = Wire::new(&CohortConfig::alone("name", contact(0)), Moment::default());
        let mut search = Search::start(&mut wire, "name", None, Duration::from_millis(50), None);
        let mut dialled = std::collections::BTreeSet::new();
        for _ in 0..4 {
            (0..3).for_each(|_| search.listing(&mut wire, listing(300)));
            let tickets = dials(&mut wire);
            assert!(tickets.len() <= LIMIT_UNDER_WAY, "{}", tickets.len());
            for (ticket, contact) in tickets {
                dialled.insert(contact);
                search.failed(&mut wire, ticket);
            }
        }
        assert_eq!(dialled.len(), 300, "each had its turn");
    }
}
