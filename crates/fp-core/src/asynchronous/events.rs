//! Waiting for what happens on a stream, beside the handle that opened it.

use crate::coordinator::{Endpoint, Look, Role, State};
use crate::session::events::Events;
use crate::session::publisher::{PublisherRole, PublisherSession};
use crate::session::subscriber::{SubscriberRole, SubscriberSession};
use crate::value::limit::after;
use fp_proto::event::Event;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The events of a publisher or a subscriber, for any thread. Waiting for one holds up no call on the handle. An event
/// is given once, here or by `events`. The last 1024 that nobody took are kept.
#[derive(Clone)]
pub struct EventQueue(pub(crate) Of);

#[derive(Clone)]
pub(crate) enum Of {
    Publisher(Arc<PublisherSession>),
    Subscriber(Arc<SubscriberSession>),
}

/// What has events.
pub(crate) trait Eventful: Role {
    fn queue(&mut self) -> &mut Events;
}

impl Eventful for PublisherRole {
    fn queue(&mut self) -> &mut Events {
        &mut self.events
    }
}

impl Eventful for SubscriberRole {
    fn queue(&mut self) -> &mut Events {
        &mut self.events
    }
}

impl EventQueue {
    /// The oldest event that was not taken, waiting up to `timeout` for one; none if none comes, or in a forked child.
    pub fn next(&self, timeout: Duration) -> Option<Event> {
        match &self.0 {
            Of::Publisher(shared) => next(&shared.endpoint, timeout),
            Of::Subscriber(shared) => next(&shared.endpoint, timeout),
        }
    }
}

fn next<R: Eventful>(endpoint: &Endpoint<R>, timeout: Duration) -> Option<Event> {
    if endpoint.is_forked() {
        return None;
    }
    endpoint.wait(after(Instant::now(), timeout), |state, _| look(state))
}

pub(crate) fn look<R: Eventful>(state: &mut State<R>) -> Look<Event> {
    state.role.queue().take_one().ok_or(None)
}
