//! What went wrong while a handle looked for others: kept to be told if nothing comes of the search.

use crate::error::rendezvous::RendezvousError;
use fp_transport::{DialError, Refusal};
use std::collections::BTreeMap;

/// Contacts whose last failure is kept.
const LIMIT_CONTACTS: usize = 64;

/// Failures that the machine passes over, as another entry may be the right one.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    /// The entry in the rendezvous could not be written.
    pub(crate) unpublished: Option<RendezvousError>,
    dials: BTreeMap<String, DialError>,
}

impl Extend<Box<DialError>> for Troubles {
    fn extend<I: IntoIterator<Item = Box<DialError>>>(&mut self, errors: I) {
        for error in errors {
            let Some(contact) = contact_of(&error) else { continue };
            if self.dials.len() < LIMIT_CONTACTS || self.dials.contains_key(&contact) {
                self.dials.insert(contact, *error);
            }
        }
    }
}

impl Troubles {
    /// What became of the last dial of each contact, in words.
    pub(crate) fn dials(&self) -> Vec<(String, String)> {
        self.dials.iter().map(|(contact, error)| (contact.clone(), error.to_string())).collect()
    }

    /// A live peer that speaks another version of the protocol, or wants another token.
    pub(crate) fn refusal(&self) -> Option<(fp_transport::Contact, Refusal)> {
        self.dials.values().find_map(|error| {
            let DialError::Refused { contact, refusal, .. } = error else { return None };
            is_for_us(refusal).then(|| ((**contact).clone(), *refusal))
        })
    }
}

fn contact_of(error: &DialError) -> Option<String> {
    match error {
        DialError::Refused { contact, .. }
        | DialError::NoTransport { contact, .. }
        | DialError::FallbackForbidden { contact, .. }
        | DialError::Deadline { contact, .. } => Some(contact.to_string()),
        _ => None,
    }
}

/// Another epoch means that somebody else listens there: the entry is stale, and nothing is said of this rank.
fn is_for_us(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Token | Refusal::Version { .. })
}
