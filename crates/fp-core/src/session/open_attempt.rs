//! Waiting until a handle is open, and saying why it is not.

use crate::coordinator::troubles::Troubles;
use crate::coordinator::{Look, Role, State};
use crate::error::OpenError;
use fp_proto::event::{OpenFailure, OpenWait};
use fp_types::{Epoch, Rank};

/// A role that says how far its opening is.
pub(crate) trait Opens: Role {
    /// The epoch that was opened, or why there is none; `None` while it is at it.
    fn opened(&self) -> &Option<Result<Epoch, OpenFailure>>;
    /// How the coordinator itself failed.
    fn failure(&self) -> &Option<String>;
}

/// Who opens what, for the error.
pub(crate) struct OpenAttempt<'a> {
    pub(crate) stream: &'a str,
    pub(crate) rank: Rank,
    pub(crate) directory: &'a str,
}

/// What a look at a handle that opens found; `None`: it is still at it.
pub(crate) type Outcome = Option<Result<Epoch, OpenError>>;

impl OpenAttempt<'_> {
    /// Whether the handle is open.
    pub(crate) fn look_at<R: Opens>(&self, state: &mut State<R>) -> Look<Result<Epoch, OpenError>> {
        self.look(state.role.opened(), state.role.failure(), &mut state.troubles).ok_or(None)
    }

    /// What became of it.
    pub(crate) fn outcome(&self, opened: Outcome) -> Result<Epoch, OpenError> {
        opened.unwrap_or_else(|| Err(self.coordinator("the coordinator made no progress".to_owned())))
    }

    /// What the machine, the coordinator and the dials say of the opening.
    fn look(
        &self,
        opened: &Option<Result<Epoch, OpenFailure>>,
        failure: &Option<String>,
        troubles: &mut Troubles,
    ) -> Outcome {
        match (opened, failure) {
            (Some(Ok(epoch)), _) => Some(Ok(*epoch)),
            (Some(Err(failure)), _) => Some(Err(self.failed(failure, troubles))),
            (None, Some(what)) => Some(Err(self.coordinator(what.clone()))),
            (None, None) => troubles.unpublished.take().map(|error| Err(error.into())),
        }
    }

    /// The coordinator failed.
    fn coordinator(&self, what: String) -> OpenError {
        OpenError::Coordinator { stream: self.stream.to_owned(), what }
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
