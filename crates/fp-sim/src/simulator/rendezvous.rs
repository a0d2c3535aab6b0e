//! The rendezvous as an object of the world: entries that are live, stale or forged.

use fp_proto::config::ContactText;
use fp_proto::effect::Listing;
use fp_types::Epoch;
use std::collections::BTreeMap;

/// Every entry by name; within a name in the order of the epochs, as a directory would list files.
#[derive(Default)]
pub(crate) struct Rendezvous {
    entries: BTreeMap<String, BTreeMap<u128, ContactText>>,
}

impl Rendezvous {
    /// Writes an entry; one of the same name and epoch is replaced, as a rename would.
    pub(crate) fn publish(&mut self, name: &str, epoch: Epoch, contact: ContactText) {
        self.entries.entry(name.to_owned()).or_default().insert(epoch.0, contact);
    }

    /// Removes an entry, if it is there.
    pub(crate) fn withdraw(&mut self, name: &str, epoch: Epoch) {
        if let Some(entries) = self.entries.get_mut(name) {
            entries.remove(&epoch.0);
        }
    }

    /// The entries of a name.
    pub(crate) fn listing(&self, name: &str) -> Vec<Listing> {
        let entries = self.entries.get(name).into_iter().flatten();
        entries.map(|(&epoch, contact)| Listing { epoch: Epoch(epoch), contact: contact.clone() }).collect()
    }
}
