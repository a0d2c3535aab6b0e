//! The asynchronous calls of a publisher.

use crate::asynchronous::events::{EventQueue, Of};
use crate::asynchronous::leave;
use crate::asynchronous::leave::Leaving;
use crate::coordinator::State;
use crate::error::gather::GatherError;
use crate::error::sync::SyncError;
use crate::error::{BeginError, CloseError, OpenError};
use crate::options::publisher::PublisherOptions;
use crate::publisher::Publisher;
use crate::publisher::step_writer::StepWriter;
use crate::session::begin;
use crate::session::gather::{Gathering, Side};
use crate::session::life::Session as _;
use crate::session::publisher::{BACKSTOP, PublisherRole, PublisherSession};
use crate::session::sync::Syncing;
use crate::value::limit::after;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

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

    /// As [`Publisher::open`], for a task. The first poll binds the listener and writes the rendezvous file; none
    /// waits.
    ///
    /// Cancel safe: dropped, it gives the name back and closes what was opened, on a thread of its own.
    ///
    /// # Errors
    /// As [`Publisher::open`]; and options with collectives, which block.
    pub fn open_async(
        stream: &str,
        options: PublisherOptions,
    ) -> impl Future<Output = Result<Self, OpenError>> + Send + use<> {
        let stream = stream.to_owned();
        async move {
            // Collectives block, and MPI may belong to one thread: an executor does not promise which thread polls.
            if let Some(gathering) = Gathering::of(&options.link, &stream, Side::Publisher) {
                return Err(gathering.error(GatherError::InTask));
            }
            let (shared, directory) = PublisherSession::start(&stream, options)?;
            open(shared, &directory).await
        }
    }

    /// As [`Publisher::begin_step`], for a task.
    ///
    /// Cancel safe: dropped, it has begun no step. What it waited counts: a subscription that held up calls for
    /// longer than its policy allows is detached by the call that finds it so.
    ///
    /// # Errors
    /// As [`Publisher::begin_step`].
    pub async fn begin_step_async(&mut self) -> Result<StepWriter, BeginError> {
        // What a dropped call waited counts all the same: many short calls must not hold a publisher up for ever.
        let mut beginning = begin::beginning(&self.shared)?;
        let deadline = beginning.started + BACKSTOP;
        let begun = self.shared.endpoint.wait_async(deadline, |state, now| beginning.look(state, now)).await;
        let begun = beginning.outcome(begun)?;
        Ok(StepWriter::new(self.shared.clone(), begun))
    }

    /// As [`Publisher::sync`], for a task; `timeout` counts from the first poll.
    ///
    /// Cancel safe: it changes nothing.
    ///
    /// # Errors
    /// As [`Publisher::sync`].
    pub async fn sync_async(&self, timeout: Duration) -> Result<(), SyncError> {
        let mut syncing = Syncing::begin(&self.shared, timeout)?;
        let looked = self.shared.endpoint.wait_async(syncing.deadline, |state, _| syncing.look(state)).await;
        syncing.outcome(looked)
    }

    /// As [`Publisher::close`], for a task. A publisher that is merely dropped waits for half a second, and goes on
    /// closing on a thread of its own. Steps that are not delivered as the process ends are lost then.
    ///
    /// Dropped, it goes on closing on a thread of its own.
    ///
    /// # Errors
    /// As [`Publisher::close`].
    pub fn close_async(mut self) -> impl Future<Output = Result<(), CloseError>> + Send + use<> {
        self.closed = true;
        leave::close(self.shared.clone())
    }
}

async fn open(shared: Arc<PublisherSession>, directory: &str) -> Result<Publisher, OpenError> {
    let leaving = Leaving::new(&shared);
    let started = Instant::now();
    let opened = {
        let (deadline, opening) = shared.opening(started, directory);
        let look = shared.endpoint.wait_async(deadline, |state, _| opening.look_at(state)).await;
        opening.outcome(look)
    };
    let epoch = match opened {
        Ok(epoch) => epoch,
        Err(error) => {
            leaving.done();
            return Err(error);
        }
    };
    let deadline = after(started, shared.options.link.open_timeout);
    let came = shared.endpoint.wait_async(deadline, |state, _| shared.look_for_subscribers(state)).await;
    let outcome = match came {
        Some(()) => Ok(Publisher { shared: shared.clone(), epoch, closed: false }),
        None => {
            let error = shared.too_few_subscribers(started);
            // Whoever opens again at once must find the name given back; how closing went says nothing new.
            let _ = shared.close_async().await;
            Err(error)
        }
    };
    leaving.done();
    outcome
}
