//! A look at the next step before it is taken: what is in it decides whether a type fits.

use crate::driver::{Look, State};
use crate::error::ReadError;
use crate::step::StepReader;
use crate::subscriber::{Came, SubscriberRole, SubscriberShared};
use fp_proto::commands::Next;
use fp_proto::time::Moment;
use fp_types::StepId;
use std::sync::Arc;
use std::time::Instant;

/// The step that will be the next one, if it is here.
pub(crate) fn look_ahead(state: &mut State<SubscriberRole>, _now: Moment) -> Look<Came> {
    if let Some(what) = &state.role.failure {
        return Ok(Err(what.clone()));
    }
    match state.machine.peek_step() {
        Next::NotYet => Err(None),
        next => Ok(Ok((next, state.machine.epoch()))),
    }
}

impl SubscriberShared {
    /// The step that came, to be looked at; it is still to be taken.
    pub(crate) fn ahead(
        self: &Arc<Self>,
        came: Option<Came>,
        started: Instant,
    ) -> Result<StepReader, ReadError> {
        let stream = self.stream.clone();
        match came {
            Some(Ok((Next::Step(assignment), epoch))) => {
                Ok(StepReader::ahead(self.clone(), assignment, epoch))
            }
            Some(Err(what)) => Err(ReadError::Driver { stream, what }),
            Some(Ok((Next::Ended(_), _))) => Err(ReadError::NoStep { stream }),
            None | Some(Ok((Next::NotYet, _))) => {
                let (step, waited) = (StepId(0), started.elapsed());
                let waits_for = "a step, which says what types the stream has".to_owned();
                Err(ReadError::TimedOut { stream, step, waited, waits_for })
            }
        }
    }
}
