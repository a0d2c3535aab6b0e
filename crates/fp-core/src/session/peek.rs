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
        next @ (Next::Step(_) | Next::Ended(_)) => Ok(Ok((next, CameBy::now(state)))),
    }
}

/// Whether a wait for the next step would be over at once.
pub(crate) fn has_next(state: &mut State<SubscriberRole>) -> bool {
    state.role.life.failure.is_some() || !matches!(state.machine.peek_step(), Next::NotYet)
}

/// What came, with its attachment; or how the coordinator failed.
pub(crate) type Came = Result<(Next, CameBy), String>;

/// By which attachment a step came.
#[derive(Clone, Copy)]
pub(crate) struct CameBy {
    pub(crate) attachment: Option<AttachmentId>,
    /// Whether its publisher goes on with the numbers of the one before.
    pub(crate) continues: bool,
}

impl CameBy {
    fn now(state: &State<SubscriberRole>) -> Self {
        Self { attachment: state.machine.attachment(), continues: state.machine.continues() }
    }
}

/// Takes the next step, if it is here.
pub(crate) fn look_for_step(state: &mut State<SubscriberRole>, now: Moment) -> Look<Came> {
    if let Some(what) = &state.role.life.failure {
        return Ok(Err(what.clone()));
    }
    match state.machine.next_step(now) {
        Next::NotYet => Err(None),
        next @ (Next::Step(_) | Next::Ended(_)) => Ok(Ok((next, CameBy::now(state)))),
    }
}
