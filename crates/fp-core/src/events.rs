//! Waiting for what happens on a stream, beside the handle that opened it.

use crate::driver::{Endpoint, Look, Role, State};
use crate::patience::after;
use crate::publisher::{Events, Publisher, PublisherRole, PublisherShared};
use crate::subscriber::{Subscriber, SubscriberRole, SubscriberShared};
use fp_proto::event::Event;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The events of a publisher or a subscriber, of any thread's: waiting for one holds up no call on the handle. An event
/// is given once, here or by `events`; of those that nobody takes the last 1024 are kept.
#[derive(Clone)]
pub struct EventQueue(Of);

#[derive(Clone)]
enum Of {
    Publisher(Arc<PublisherShared>),
    Subscriber(Arc<SubscriberShared>),
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

fn look<R: Eventful>(state: &mut State<R>) -> Look<Event> {
    state.role.queue().take_one().ok_or(None)
}

impl Publisher {
    /// The events of this publisher, to wait for them beside it.
    pub fn event_queue(&self) -> EventQueue {
        EventQueue(Of::Publisher(self.shared.clone()))
    }

    /// Waits up to `timeout` until there are `count` subscriptions, and says how many there are.
    pub fn wait_for_subscriptions(&self, count: u32, timeout: Duration) -> u32 {
        let endpoint = &self.shared.endpoint;
        let deadline = after(Instant::now(), timeout);
        let enough = |state: &mut State<PublisherRole>| Some(state.role.present()).filter(|&n| n >= count);
        let came = (!endpoint.is_forked())
            .then(|| endpoint.wait(deadline, |state, _| enough(state).ok_or(None)))
            .flatten();
        came.unwrap_or_else(|| endpoint.inspect(|state| state.role.present()))
    }
}

impl Subscriber {
    /// The events of this subscriber, to wait for them beside it.
    pub fn event_queue(&self) -> EventQueue {
        EventQueue(Of::Subscriber(self.shared.clone()))
    }
}
