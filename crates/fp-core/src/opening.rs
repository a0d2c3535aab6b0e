//! Waiting until a handle is open, and saying why it is not.

use crate::driver::{Look, State, Troubles};
use crate::error::OpenError;
use crate::publisher::PublisherRole;
use crate::subscriber::SubscriberRole;
use fp_proto::event::{OpenFailure, OpenWait};
use fp_types::{Epoch, Rank};

/// Who opens what, for the error.
pub(crate) struct Opening<'a> {
    pub(crate) stream: &'a str,
    pub(crate) rank: Rank,
    pub(crate) directory: &'a str,
}

/// What a look at a handle that opens found; `None`: it is still at it.
pub(crate) type Outcome = Option<Result<Epoch, OpenError>>;

impl Opening<'_> {
    /// Whether the publisher is open.
    pub(crate) fn look_at_publisher(
        &self,
        state: &mut State<PublisherRole>,
    ) -> Look<Result<Epoch, OpenError>> {
        self.look(&state.role.opened, &state.role.failure, &mut state.troubles).ok_or(None)
    }

    /// Whether the subscriber is attached.
    pub(crate) fn look_at_subscriber(
        &self,
        state: &mut State<SubscriberRole>,
    ) -> Look<Result<Epoch, OpenError>> {
        self.look(&state.role.opened, &state.role.failure, &mut state.troubles).ok_or(None)
    }

    /// What became of it.
    pub(crate) fn outcome(&self, opened: Outcome) -> Result<Epoch, OpenError> {
        opened.unwrap_or_else(|| Err(self.driver("the driver made no progress".to_owned())))
    }

    /// What the machine, the driver and the dials say of the opening.
    fn look(
        &self,
        opened: &Option<Result<Epoch, OpenFailure>>,
        failure: &Option<String>,
        troubles: &mut Troubles,
    ) -> Outcome {
        match (opened, failure) {
            (Some(Ok(epoch)), _) => Some(Ok(*epoch)),
            (Some(Err(failure)), _) => Some(Err(self.failed(failure, troubles))),
            (None, Some(what)) => Some(Err(self.driver(what.clone()))),
            (None, None) => troubles.unpublished.take().map(|error| Err(error.into())),
        }
    }

    /// The driver failed.
    fn driver(&self, what: String) -> OpenError {
        OpenError::Driver { stream: self.stream.to_owned(), what }
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
