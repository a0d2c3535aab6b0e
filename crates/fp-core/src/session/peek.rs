//! A look at the next step before it is taken: what is in it decides whether a type fits.

use crate::coordinator::{Look, State};
use crate::session::subscriber::SubscriberRole;
use fp_proto::commands::Next;
use fp_proto::subscriber::AttachmentId;
use fp_proto::time::Moment;

/// The step that will be the next one, if it is here.
pub(crate) fn look_ahead(state: &mut State<SubscriberRole>, _now: Moment) -> Look<Came> {
    if let Some(what) = &state.role.life.failure {
        return Ok(Err(what.clone()));
    }
    match state.machine.peek_step() {
        Next::NotYet => Err(None),
        next @ (Next::Step(_) | Next::Ended(_)) => Ok(Ok((next, state.machine.attachment()))),
    }
}

/// Whether a wait for the next step would be over at once.
pub(crate) fn has_next(state: &mut State<SubscriberRole>) -> bool {
    state.role.life.failure.is_some() || !matches!(state.machine.peek_step(), Next::NotYet)
}

/// What came, with its attachment; or how the coordinator failed.
pub(crate) type Came = Result<(Next, Option<AttachmentId>), String>;

/// Takes the next step, if it is here.
pub(crate) fn look_for_step(state: &mut State<SubscriberRole>, now: Moment) -> Look<Came> {
    if let Some(what) = &state.role.life.failure {
        return Ok(Err(what.clone()));
    }
    match state.machine.next_step(now) {
        Next::NotYet => Err(None),
        next @ (Next::Step(_) | Next::Ended(_)) => Ok(Ok((next, state.machine.attachment()))),
    }
}
