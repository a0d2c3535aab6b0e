//! Waiting for what happens on a stream, beside the handle that opened it.

use crate::coordinator::signals::Signal;
use crate::coordinator::{Endpoint, State};
use crate::session::life::Living;
use crate::session::publisher::PublisherSession;
use crate::session::subscriber::SubscriberSession;
use crate::value::event::Event;
use crate::value::limit::after;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The events of a publisher or a subscriber, for any thread. Waiting for one holds up no call on the handle. An event
/// is given once, here or by `events`. The last 1024 that nobody took are kept.
///
/// ```
/// # use fp_core as flexpath;
/// # use flexpath::{NextStep, Publisher, PublisherOptions, Region, Rendezvous, Subscriber, SubscriberOptions, Variable};
/// # use std::time::Duration;
/// # let place = tempfile::tempdir()?;
/// # let rendezvous = Rendezvous::at(place.path())?;
/// # let mut publisher = Publisher::open("heat", PublisherOptions::default().with_rendezvous(rendezvous.clone()))?;
/// # let mut subscriber = Subscriber::open("heat", SubscriberOptions::default().with_rendezvous(rendezvous))?;
/// let events = publisher.event_queue();
/// let watching = std::thread::spawn(move || {
///     while let Some(event) = events.next(Duration::from_millis(100)) {
///         println!("{event:?}");
///     }
/// });
/// # watching.join().expect("it ends");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct EventQueue(pub(crate) Of);

#[derive(Clone)]
pub(crate) enum Of {
    Publisher(Arc<PublisherSession>),
    Subscriber(Arc<SubscriberSession>),
}

impl EventQueue {
    /// The oldest event that was not taken, waiting up to `timeout` for one; none if none comes, or in a forked child.
    pub fn next(&self, timeout: Duration) -> Option<Event> {
        match &self.0 {
            Of::Publisher(shared) => next(&shared.endpoint, timeout),
            Of::Subscriber(shared) => next(&shared.endpoint, timeout),
        }
    }

    /// A descriptor that is readable as long as [`EventQueue::next`] has an event, for a program that waits by `poll`.
    ///
    /// # Errors
    /// There is no descriptor left.
    pub fn signal(&self) -> std::io::Result<Signal> {
        match &self.0 {
            Of::Publisher(shared) => shared.endpoint.signal(has_event),
            Of::Subscriber(shared) => shared.endpoint.signal(has_event),
        }
    }
}

fn has_event<R: Living>(state: &mut State<R>) -> bool {
    !state.role.life().events.is_empty()
}

fn next<R: Living>(endpoint: &Endpoint<R>, timeout: Duration) -> Option<Event> {
    if endpoint.is_forked() {
        return None;
    }
    endpoint.wait(after(Instant::now(), timeout), |state, _| state.role.life().events.take_one().ok_or(None))
}
