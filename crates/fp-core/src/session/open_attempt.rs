//! Waiting until a handle is open, and saying why it is not.

use crate::coordinator::troubles::Troubles;
use crate::coordinator::{Look, State};
use crate::error::OpenError;
use crate::session::life::Living;
use fp_proto::event::{OpenFailure, OpenWait};
use fp_proto::outcome::RefusalReason;
use fp_transport::Contact;
use fp_types::{Epoch, Rank};
use std::time::Duration;

/// How long others may still prove right, after one answered that does not go with this rank.
const GRACE: Duration = Duration::from_secs(1);

/// Who opens what, for the error.
pub(crate) struct OpenAttempt<'a> {
    pub(crate) stream: &'a str,
    pub(crate) rank: Rank,
    pub(crate) directory: &'a str,
    /// Where it looks for somebody, if it does.
    pub(crate) looks: Looks<'a>,
}

/// Whom a rank looks for as it opens.
pub(crate) enum Looks<'a> {
    /// Nobody whose credentials would matter.
    Nobody,
    /// Those who opened this name.
    Named(&'a str),
    /// The one at this contact.
    At(&'a Contact),
}

impl<'a> Looks<'a> {
    /// For the one at the contact, if it is known, or else for the name.
    pub(crate) fn of(name: &'a str, contact: Option<&'a Contact>) -> Self {
        contact.map_or(Self::Named(name), Self::At)
    }
}

impl OpenAttempt<'_> {
    /// Whether the handle is open, as the machine, the coordinator and the dials say.
    pub(crate) fn look_at<R: Living>(&self, state: &mut State<R>) -> Look<Result<Epoch, OpenError>> {
        if let Some(Err(OpenFailure::Refused(RefusalReason::NameTaken { epoch }))) = state.role.life().opened
        {
            return Ok(Err(self.name_taken(state, epoch)));
        }
        if let Some(Err(OpenFailure::Refused(RefusalReason::Denied(denial)))) = &state.role.life().opened {
            let (stream, rank, denial) = (self.stream.to_owned(), self.rank, denial.clone());
            return Ok(Err(OpenError::Denied { stream, rank, denial }));
        }
        if state.role.life().opened.is_none() && self.is_in_vain(state) {
            return Ok(Err(self.not_wanted(&state.troubles)));
        }
        let (life, troubles) = (state.role.life(), &mut state.troubles);
        if let Some(error) = troubles.unpublished.take() {
            return Ok(Err(error.into()));
        }
        if let Some(error) = troubles.take_final().filter(|_| life.opened.is_none()) {
            return Ok(Err(error.into()));
        }
        match (&life.opened, &life.failure) {
            (Some(Ok(epoch)), _) => Ok(Ok(*epoch)),
            (Some(Err(failure)), _) => Ok(Err(self.failed(failure, troubles))),
            (None, Some(what)) => Ok(Err(self.coordinator(what.clone()))),
            (None, None) => Err(None),
        }
    }

    /// What became of it.
    pub(crate) fn outcome(&self, opened: Option<Result<Epoch, OpenError>>) -> Result<Epoch, OpenError> {
        opened.unwrap_or_else(|| Err(self.coordinator("the coordinator made no progress".to_owned())))
    }

    /// The coordinator failed.
    fn coordinator(&self, what: String) -> OpenError {
        OpenError::Coordinator { stream: self.stream.to_owned(), what }
    }

    /// Whether somebody answered who does not go with this rank, and there is nobody else.
    fn is_in_vain<R: Living>(&self, state: &State<R>) -> bool {
        if state.troubles.answered_since().is_none_or(|since| since.elapsed() < GRACE) {
            return false;
        }
        let contacts = match self.looks {
            Looks::Nobody => Vec::new(),
            Looks::Named(name) => state.contacts_of(name),
            Looks::At(contact) => vec![contact.to_string()],
        };
        !contacts.is_empty() && state.troubles.are_all_of(&contacts)
    }

    /// What the one said who would have been right.
    fn not_wanted(&self, troubles: &Troubles) -> OpenError {
        let (stream, rank) = (self.stream.to_owned(), self.rank);
        if let Some((contact, refusal)) = troubles.refusal() {
            return OpenError::Refused { stream, rank, contact: Box::new(contact), refusal };
        }
        match troubles.mistrust() {
            Some((contact, reason)) => {
                let (contact, reason) = (Box::new(contact), Box::new(reason));
                OpenError::NotTrusted { stream, rank, contact, reason }
            }
            None => self.coordinator("an answer was forgotten".to_owned()),
        }
    }

    fn name_taken<R: Living>(&self, state: &State<R>, epoch: Epoch) -> OpenError {
        let (stream, rank) = (self.stream.to_owned(), self.rank);
        OpenError::NameTaken { stream, rank, contact: state.contact_of(epoch).map(Box::new) }
    }

    /// A search that found nobody ends with what the one said who would have been right, or with why the meeting place
    /// could not be asked.
    fn failed(&self, failure: &OpenFailure, troubles: &mut Troubles) -> OpenError {
        let (stream, rank) = (self.stream.to_owned(), self.rank);
        let searched = matches!(failure, OpenFailure::TimedOut(OpenWait::Name { .. } | OpenWait::Lead));
        if searched && troubles.answered_since().is_some() {
            return self.not_wanted(troubles);
        }
        let timed_out = matches!(failure, OpenFailure::TimedOut(_));
        if let Some(error) = troubles.take_meeting().filter(|_| timed_out) {
            return error.into();
        }
        let (failure, directory) = (Box::new(failure.clone()), self.directory.to_owned());
        OpenError::Failed { stream, rank, failure, directory, dials: troubles.dials() }
    }
}
