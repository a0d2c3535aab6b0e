//! The data links of a subscriber rank, one for each owner, checked out by one fetch at a time.

use crate::data::link_status::link_status;
use crate::data::taker::owner_link::OwnerLink;
use crate::data::taker::owner_wait::OwnerFate;
use fp_proto::config::ContactText;
use fp_proto::status::report::LinkStatus;
use fp_proto::subscriber::AttachmentId;
use fp_types::{Rank, StepId, StepSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Links to owners that are kept; beyond it the least recently used is closed. A fetch from more goes in waves of so
/// many.
pub(crate) const LIMIT_LINKS: usize = 256;

enum Slot {
    Free(Box<OwnerLink>, u64),
    Busy,
}

#[derive(Default)]
struct Inner {
    slots: BTreeMap<Rank, Slot>,
    contacts: BTreeMap<Rank, ContactText>,
    /// Questions about contacts that are answered whole, until whoever asked has seen it.
    answered: BTreeSet<u64>,
    uses: u64,
    /// The attachment to the publisher; links of an older one are not taken back.
    epoch: Option<AttachmentId>,
    /// Ranks that are lost, as the stream's end says.
    lost: BTreeSet<Rank>,
    /// Steps that were taken and not released.
    held: StepSet,
    newest: Option<StepId>,
    /// Fetches that wait for a link to come back.
    waiting: usize,
}

/// Checked-out links come back here.
#[derive(Default)]
pub(crate) struct OwnerDirectory {
    inner: Mutex<Inner>,
    returned: Condvar,
}

/// What a checkout found.
pub(crate) enum Checkout {
    /// The link is the caller's until it is given back.
    Link(Box<OwnerLink>),
    /// There is none: the caller dials this contact, and the slot is its.
    Dial(ContactText),
    /// Nobody knows where that rank is.
    NoContact,
    /// That attachment to the stream is over, and another one has begun.
    OtherEpoch,
    /// Another fetch had the link until the deadline.
    Busy,
}

impl OwnerDirectory {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn learn(
        &self,
        epoch: Option<AttachmentId>,
        contacts: impl IntoIterator<Item = (Rank, ContactText)>,
    ) {
        let mut inner = self.lock();
        if inner.epoch == epoch {
            inner.contacts.extend(contacts);
        }
    }

    /// Part of the answer to a question about contacts, of the present opening.
    pub(crate) fn told(&self, request: u64, contacts: &[(Rank, Option<ContactText>)], left: usize) {
        let mut inner = self.lock();
        let known = contacts.iter().filter_map(|(rank, contact)| Some((*rank, contact.clone()?)));
        inner.contacts.extend(known);
        if left == 0 {
            inner.answered.insert(request);
        }
    }

    /// Whether that question is answered whole: once.
    pub(crate) fn take_answer(&self, request: u64) -> bool {
        self.lock().answered.remove(&request)
    }

    /// Those of these ranks whose contact nobody has told yet, rising; none if that opening is over.
    pub(crate) fn unknown(
        &self,
        epoch: Option<AttachmentId>,
        ranks: impl IntoIterator<Item = Rank>,
    ) -> Vec<Rank> {
        let inner = self.lock();
        let is_unknown = |rank: &Rank| inner.epoch == epoch && !inner.contacts.contains_key(rank);
        ranks.into_iter().filter(is_unknown).collect::<BTreeSet<Rank>>().into_iter().collect()
    }

    pub(crate) fn took(&self, step: StepId) {
        let mut inner = self.lock();
        inner.held.insert(step);
        inner.newest = inner.newest.max(Some(step));
    }

    pub(crate) fn released(&self, step: StepId, epoch: Option<AttachmentId>) {
        let mut inner = self.lock();
        if inner.epoch == epoch {
            inner.held.remove(&step);
        }
    }

    /// Another attachment, or none: every link of the old one is closed, those checked out when they come back.
    pub(crate) fn attached(&self, epoch: Option<AttachmentId>) {
        let mut inner = self.lock();
        let answered = std::mem::take(&mut inner.answered);
        let waiting = inner.waiting;
        *inner = Inner { epoch, answered, waiting, uses: inner.uses, ..Inner::default() };
        drop(inner);
        if waiting > 0 {
            self.returned.notify_all();
        }
    }

    /// The stream has ended because this rank is lost.
    pub(crate) fn lost(&self, rank: Rank) {
        self.lock().lost.insert(rank);
    }

    pub(crate) fn checkout(&self, rank: Rank, epoch: Option<AttachmentId>, deadline: Instant) -> Checkout {
        let mut inner = self.lock();
        loop {
            if inner.epoch != epoch {
                return Checkout::OtherEpoch;
            }
            match inner.slots.insert(rank, Slot::Busy) {
                Some(Slot::Free(peer, _)) => return Checkout::Link(peer),
                Some(Slot::Busy) => {}
                None => {
                    let Some(contact) = inner.contacts.get(&rank).cloned() else {
                        inner.slots.remove(&rank);
                        return Checkout::NoContact;
                    };
                    return Checkout::Dial(contact);
                }
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Checkout::Busy;
            }
            inner.waiting += 1;
            let waited = self.returned.wait_timeout(inner, left.min(Duration::from_secs(1)));
            inner = waited.unwrap_or_else(PoisonError::into_inner).0;
            inner.waiting = inner.waiting.saturating_sub(1);
        }
    }

    /// The contact of a rank whose slot the caller has, to dial it again.
    pub(crate) fn contact(&self, rank: Rank, epoch: Option<AttachmentId>) -> Option<ContactText> {
        let inner = self.lock();
        inner.contacts.get(&rank).filter(|_| inner.epoch == epoch).cloned()
    }

    /// Gives a link back, or with `None` only the slot.
    pub(crate) fn give_back(&self, rank: Rank, epoch: Option<AttachmentId>, peer: Option<Box<OwnerLink>>) {
        let mut inner = self.lock();
        if inner.epoch == epoch {
            match peer {
                None => drop(inner.slots.remove(&rank)),
                Some(peer) => inner.put_back(rank, peer),
            }
        }
        if inner.waiting > 0 {
            self.returned.notify_all();
        }
    }

    /// How bytes go over each link, and why no faster.
    pub(crate) fn link_statuses(&self) -> Vec<LinkStatus> {
        let inner = self.lock();
        let free = inner.slots.values().filter_map(|slot| match slot {
            Slot::Free(peer, _) => Some(link_status(&peer.link)),
            Slot::Busy => None,
        });
        free.collect()
    }

    /// What the links run over.
    pub(crate) fn transports(&self) -> Vec<(Rank, String)> {
        let inner = self.lock();
        let free = inner.slots.iter().filter_map(|(&rank, slot)| match slot {
            Slot::Free(peer, _) => Some((rank, peer.link.negotiated().to_string())),
            Slot::Busy => None,
        });
        let mut all: Vec<_> = free.collect();
        all.sort();
        all
    }
}

impl OwnerFate for OwnerDirectory {
    /// Whether nothing is to be expected of a rank any more.
    fn is_lost(&self, rank: Rank, epoch: Option<AttachmentId>) -> bool {
        let inner = self.lock();
        inner.epoch != epoch || inner.lost.contains(&rank)
    }

    /// Whether a step is held, or may come yet.
    fn may_read(&self, step: StepId) -> bool {
        let inner = self.lock();
        inner.held.contains(&step) || Some(step) > inner.newest
    }
}

impl Inner {
    fn put_back(&mut self, rank: Rank, mut peer: Box<OwnerLink>) {
        let (held, newest) = (&self.held, self.newest);
        peer.forget(|step| Some(step) <= newest && !held.contains(&step));
        self.uses += 1;
        let free = Slot::Free(peer, self.uses);
        match self.slots.get_mut(&rank) {
            Some(slot) => *slot = free,
            None => drop(self.slots.insert(rank, free)),
        }
        self.evict();
    }

    fn evict(&mut self) {
        while self.slots.len() > LIMIT_LINKS {
            let used = |(rank, slot): (&Rank, &Slot)| match slot {
                Slot::Free(_, used) => Some((*used, *rank)),
                Slot::Busy => None,
            };
            let Some((_, oldest)) = self.slots.iter().filter_map(used).min() else { return };
            self.slots.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_types::Epoch;

    fn contact(text: &str) -> (Rank, ContactText) {
        (Rank(3), ContactText(text.to_owned()))
    }

    #[test]
    fn where_owners_are_is_learned_of_the_present_attachment_alone() {
        let [first, second] = [1, 2].map(|nth| Some(AttachmentId { epoch: Epoch(7), nth }));
        let owners = OwnerDirectory::default();
        owners.attached(first);
        owners.learn(first, [contact("here")]);
        assert_eq!(owners.unknown(first, [Rank(4), Rank(3)]), [Rank(4)]);
        owners.attached(second);
        owners.learn(first, [contact("here")]);
        assert_eq!(owners.unknown(second, [Rank(3)]), [Rank(3)], "that was of the attachment before");
        owners.learn(second, [contact("there")]);
        assert_eq!(owners.contact(Rank(3), second), Some(contact("there").1));
        assert_eq!(owners.contact(Rank(3), first), None);
    }
}
