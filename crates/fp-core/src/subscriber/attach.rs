//! Waiting until a subscriber is attached and, where it asked for types, until a step says whether they are there.
//!
//! Types are not in the subscription: the publisher's lead would judge for others without knowing their transforms.

use crate::error::{OpenError, ReadError};
use crate::session::life::Session as _;
use crate::session::peek::look_ahead;
use crate::session::subscriber::SubscriberSession;
use crate::step::peek;
use crate::step::records::provide;
use crate::value::limit::after;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// In this time a publisher on the same host answers twice, as a rule. To sleep meanwhile and be woken takes as long as the
/// answers themselves.
const ANSWERS_WITHIN: Duration = Duration::from_micros(200);

/// How long the types of a stream are waited for: the rest of what opening may take.
#[derive(Clone, Copy)]
pub(crate) struct Attached {
    pub(crate) at: Instant,
    pub(crate) deadline: Instant,
}

impl SubscriberSession {
    /// Waits until it is attached, and the stream is known to have the types that were asked for.
    pub(crate) fn finish_opening(self: &Arc<Self>, directory: &str) -> Result<(), OpenError> {
        let begun = Instant::now();
        let (deadline, opening) = self.opening(directory);
        let looks = (deadline, ANSWERS_WITHIN);
        let opened = self.endpoint.wait_looking(looks, |state, _| opening.look_at(state));
        opening.outcome(opened)?;
        let Some(attached) = self.attached(begun) else { return Ok(()) };
        let came = self.endpoint.wait(attached.deadline, look_ahead);
        let step = peek::ahead(self, came, attached.at);
        let fits = step.and_then(|step| provide::check_types(&step, attached.deadline.into()));
        fits.map_err(|error| {
            // Why it leaves is what the caller is told; how that went is not.
            let _ = self.close();
            refused(error)
        })
    }

    /// Whether types are to be looked at, by one whose opening began then and who is attached now.
    pub(crate) fn attached(&self, begun: Instant) -> Option<Attached> {
        let deadline = after(begun, self.options.link.open_timeout);
        self.options.types().next().is_some().then(|| Attached { at: Instant::now(), deadline })
    }
}

/// What the caller is told of types that are not there.
pub(crate) fn refused(error: ReadError) -> OpenError {
    OpenError::Types { source: Box::new(error) }
}
