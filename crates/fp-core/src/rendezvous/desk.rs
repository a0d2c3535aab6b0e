//! What one handle does with its rendezvous. A directory does it at once; a meeting place is asked in the background.

use crate::error::rendezvous::RendezvousError;
use crate::rendezvous::directory::Directory;
use crate::rendezvous::registrar::Registrar;
use fp_proto::config::ContactText;
use fp_proto::effect::Listing;
use fp_transport::Contact;
use fp_types::Epoch;

/// A handle's rendezvous.
pub(crate) enum Desk {
    /// Files.
    Directory(Directory),
    /// A meeting place.
    Meeting(Registrar),
}

impl Desk {
    pub(crate) fn publish(&self, name: &str, epoch: Epoch, contact: &Contact) -> Result<(), RendezvousError> {
        match self {
            Self::Directory(directory) => directory.publish(name, epoch, contact),
            Self::Meeting(registrar) => {
                registrar.publish(name, epoch, ContactText(contact.to_string()));
                Ok(())
            }
        }
    }

    pub(crate) fn withdraw(&self, name: &str, epoch: Epoch) {
        match self {
            Self::Directory(directory) => directory.withdraw(name, epoch),
            Self::Meeting(registrar) => registrar.withdraw(name, epoch),
        }
    }

    /// The entries of a name; `None`: they will be reported.
    pub(crate) fn lookup(&self, name: &str) -> Option<Vec<Listing>> {
        match self {
            Self::Directory(directory) => Some(of_name(directory, name)),
            Self::Meeting(registrar) => {
                registrar.seek(name);
                None
            }
        }
    }

    /// The contacts of those who opened a name, as far as that is known without waiting.
    pub(crate) fn contacts_of(&self, name: &str) -> Vec<String> {
        let listing = match self {
            Self::Directory(directory) => of_name(directory, name),
            Self::Meeting(registrar) => registrar.listed(name),
        };
        listing.into_iter().map(|entry| entry.contact.0).collect()
    }

    /// Where the one is who opened a name as this epoch, likewise.
    pub(crate) fn contact_of(&self, epoch: Epoch) -> Option<Contact> {
        match self {
            Self::Directory(directory) => {
                let mut entries = directory.entries().unwrap_or_default().into_iter();
                entries.find(|entry| entry.epoch == epoch).map(|entry| entry.contact)
            }
            Self::Meeting(registrar) => registrar.contact_of(epoch)?.parse().ok(),
        }
    }
}

fn of_name(directory: &Directory, name: &str) -> Vec<Listing> {
    let entries = directory.entries_of(name).unwrap_or_default();
    entries
        .into_iter()
        .map(|entry| Listing { epoch: entry.epoch, contact: ContactText(entry.contact.to_string()) })
        .collect()
}
