//! Waiting until a handle is open, and saying why it is not.

use crate::coordinator::troubles::Troubles;
use crate::coordinator::{Look, State};
use crate::error::OpenError;
use crate::session::life::Living;
use fp_proto::event::{OpenFailure, OpenWait};
use fp_proto::outcome::RefusalReason;
use fp_types::{Epoch, Rank};

/// Who opens what, for the error.
pub(crate) struct OpenAttempt<'a> {
    pub(crate) stream: &'a str,
    pub(crate) rank: Rank,
    pub(crate) directory: &'a str,
}

impl OpenAttempt<'_> {
    /// Whether the handle is open, as the machine, the coordinator and the dials say.
    pub(crate) fn look_at<R: Living>(&self, state: &mut State<R>) -> Look<Result<Epoch, OpenError>> {
        if let Some(Err(OpenFailure::Refused(RefusalReason::NameTaken { epoch }))) = state.role.life().opened
        {
            return Ok(Err(self.name_taken(state, epoch)));
        }
        let (life, troubles) = (state.role.life(), &mut state.troubles);
        match (&life.opened, &life.failure) {
            (Some(Ok(epoch)), _) => Ok(Ok(*epoch)),
            (Some(Err(failure)), _) => Ok(Err(self.failed(failure, troubles))),
            (None, Some(what)) => Ok(Err(self.coordinator(what.clone()))),
            (None, None) => troubles.unpublished.take().map(|error| Err(error.into())).ok_or(None),
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

    fn name_taken<R: Living>(&self, state: &State<R>, epoch: Epoch) -> OpenError {
        let (stream, rank) = (self.stream.to_owned(), self.rank);
        OpenError::NameTaken { stream, rank, contact: state.contact_of(epoch).map(Box::new) }
    }

    /// A search that found nobody ends with what the one said who would have been right.
    fn failed(&self, failure: &OpenFailure, troubles: &Troubles) -> OpenError {
        let (stream, rank) = (self.stream.to_owned(), self.rank);
        let searched = matches!(failure, OpenFailure::TimedOut(OpenWait::Name { .. } | OpenWait::Lead));
        match troubles.refusal().filter(|_| searched) {
            Some((contact, refusal)) => {
                OpenError::Refused { stream, rank, contact: Box::new(contact), refusal }
            }
            None => OpenError::Failed {
                stream,
                rank,
                failure: Box::new(failure.clone()),
                directory: self.directory.to_owned(),
                dials: troubles.dials(),
            },
        }
    }
}
