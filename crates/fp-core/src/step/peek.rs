//! A look at a step that was not taken yet.

use crate::error::ReadError;
use crate::session::peek::Came;
use crate::session::subscriber::SubscriberSession;
use crate::step::held::HeldStep;
use fp_proto::commands::Next;
use fp_types::StepId;
use std::sync::Arc;
use std::time::Instant;

/// The step that came, to be looked at; it is still to be taken.
pub(crate) fn ahead(
    shared: &Arc<SubscriberSession>,
    came: Option<Came>,
    started: Instant,
) -> Result<Arc<HeldStep>, ReadError> {
    let stream = shared.stream.clone();
    match came {
        Some(Ok((Next::Step(assignment), by))) => Ok(HeldStep::new(shared.clone(), assignment, by, true)),
        Some(Err(what)) => Err(ReadError::Coordinator { stream, what }),
        Some(Ok((Next::Ended(_), _))) => Err(ReadError::NoStep { stream }),
        None | Some(Ok((Next::NotYet, _))) => {
            let (step, waited) = (StepId(0), started.elapsed());
            let waits_for = "a step, which says what types the stream has".to_owned();
            Err(ReadError::TimedOut { stream, step, waited, waits_for })
        }
    }
}
