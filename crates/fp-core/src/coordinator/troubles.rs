//! What went wrong while a handle looked for others: kept to be told if nothing comes of the search.

use crate::error::rendezvous::RendezvousError;
use fp_transport::{Contact, DialError, Reason, Refusal};
use std::collections::BTreeMap;
use std::time::Instant;

/// Contacts whose last failure is kept.
const LIMIT_CONTACTS: usize = 64;

/// Failures that the machine passes over, as another entry may be the right one.
#[derive(Debug, Default)]
pub(crate) struct Troubles {
    /// The entry in the rendezvous could not be written.
    pub(crate) unpublished: Option<RendezvousError>,
    /// The meeting place cannot be asked, as far as is known.
    meeting: Option<Box<RendezvousError>>,
    dials: BTreeMap<String, DialError>,
    answered_since: Option<Instant>,
}

impl Extend<Box<DialError>> for Troubles {
    fn extend<I: IntoIterator<Item = Box<DialError>>>(&mut self, errors: I) {
        for error in errors {
            let Some(contact) = error.contact().map(ToString::to_string) else { continue };
            if is_an_answer(&error) {
                self.answered_since.get_or_insert_with(Instant::now);
            }
            if self.dials.len() < LIMIT_CONTACTS || self.dials.contains_key(&contact) {
                self.dials.insert(contact, *error);
            }
        }
    }
}

impl Troubles {
    /// The meeting place cannot be asked, or can be again.
    pub(crate) fn set_meeting(&mut self, trouble: Option<Box<RendezvousError>>) {
        self.meeting = trouble;
    }

    /// Why nothing will come of asking the meeting place, if that is known.
    pub(crate) fn take_final(&mut self) -> Option<RendezvousError> {
        self.meeting.take_if(|error| error.is_final()).map(|error| *error)
    }

    /// Why the meeting place could not be asked, if it still cannot.
    pub(crate) fn take_meeting(&mut self) -> Option<RendezvousError> {
        self.meeting.take().map(|error| *error)
    }

    /// What became of the last dial of each contact, in words.
    pub(crate) fn dials(&self) -> Vec<(String, String)> {
        self.dials.iter().map(|(contact, error)| (contact.clone(), error.to_string())).collect()
    }

    /// When somebody answered first, and did not go with this rank; `None` while nobody has.
    pub(crate) fn answered_since(&self) -> Option<Instant> {
        self.answered_since
    }

    /// Whether of these contacts none can be told to come to anything: each was dialled in vain.
    pub(crate) fn are_all_of(&self, contacts: &[String]) -> bool {
        contacts.iter().all(|contact| self.dials.contains_key(contact))
    }

    /// A live peer whose credentials or TLS do not go with those of this side.
    pub(crate) fn mistrust(&self) -> Option<(Contact, Reason)> {
        self.dials.values().find_map(|error| {
            let reason = credentials_of(error)?;
            Some((error.contact()?.clone(), reason.clone()))
        })
    }

    /// A live peer that speaks another version of the protocol, or wants another token.
    pub(crate) fn refusal(&self) -> Option<(Contact, Refusal)> {
        self.dials.values().find_map(|error| {
            let DialError::Refused { contact, refusal, .. } = error else { return None };
            is_for_us(refusal).then(|| ((**contact).clone(), *refusal))
        })
    }
}

/// Whether somebody answered, and said why there is no link with this rank.
fn is_an_answer(error: &DialError) -> bool {
    let refused = matches!(error, DialError::Refused { refusal, .. } if is_for_us(refusal));
    refused || credentials_of(error).is_some()
}

fn credentials_of(error: &DialError) -> Option<&Reason> {
    error.refused().iter().map(|(_, reason)| reason).find(|reason| reason.is_about_credentials())
}

/// Another epoch means that somebody else listens there: the entry is stale, and nothing is said of this rank.
fn is_for_us(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Token | Refusal::Version { .. })
}
