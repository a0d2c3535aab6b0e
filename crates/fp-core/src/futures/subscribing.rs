//! The asynchronous calls of a subscriber.

use super::leaving::Leaving;
use crate::collectives::GatherError;
use crate::error::{CloseError, OpenError, ReadError};
use crate::gathering::{Gathering, Side};
use crate::options::SubscriberOptions;
use crate::patience::after;
use crate::subscriber::{NextStep, Subscriber, SubscriberShared, look_closed, look_for_step};
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Subscriber {
    /// As [`Subscriber::open`], for a task. The first poll binds the listener and looks into the rendezvous directory;
    /// none waits.
    ///
    /// Cancel safe: dropped, it leaves, on a thread of its own.
    ///
    /// # Errors
    /// As [`Subscriber::open`]; and options with collectives, which block.
    pub fn open_async(
        stream: &str,
        options: SubscriberOptions,
    ) -> impl Future<Output = Result<Self, OpenError>> + Send + use<> {
        let stream = stream.to_owned();
        async move {
            if let Some(gathering) = Gathering::of(&options.link, &stream, Side::Subscriber) {
                return Err(gathering.error(GatherError::InTask));
            }
            let (shared, directory) = SubscriberShared::start(&stream, options)?;
            open(shared, &directory).await
        }
    }

    /// As [`Subscriber::next_step`], for a task; `timeout` counts from the first poll.
    ///
    /// Cancel safe: a step is taken by the poll that gives it and by no other, so a call that is dropped before, as a
    /// `select` does with those that come second, loses none.
    ///
    /// # Errors
    /// As [`Subscriber::next_step`].
    pub async fn next_step_async(&mut self, timeout: Duration) -> Result<NextStep, ReadError> {
        let shared = &self.shared;
        shared.check_fork().map_err(|source| shared.misuse(source))?;
        let deadline = after(Instant::now(), timeout);
        let came = shared.endpoint.wait_async(deadline, look_for_step).await;
        shared.taken(came)
    }

    /// As [`Subscriber::close`], for a task. A subscriber that is merely dropped leaves as well, but waits for it, which
    /// a task must not.
    ///
    /// Dropped, it goes on leaving on a thread of its own.
    ///
    /// # Errors
    /// As [`Subscriber::close`].
    pub fn close_async(mut self) -> impl Future<Output = Result<(), CloseError>> + Send + use<> {
        self.closed = true;
        let shared = self.shared.clone();
        let leaving = Leaving::new(&shared);
        async move {
            let outcome = close(&shared).await;
            leaving.done();
            outcome
        }
    }
}

async fn open(shared: Arc<SubscriberShared>, directory: &str) -> Result<Subscriber, OpenError> {
    let leaving = Leaving::new(&shared);
    let outcome = {
        let (deadline, opening) = shared.opening(directory);
        let look = shared.endpoint.wait_async(deadline, |state, _| opening.look_at_subscriber(state)).await;
        opening.outcome(look)
    };
    leaving.done();
    outcome.map(|_| Subscriber { shared, closed: false })
}

async fn close(shared: &SubscriberShared) -> Result<(), CloseError> {
    let deadline = shared.start_closing()?;
    let closed = shared.endpoint.wait_async(deadline, |state, _| look_closed(state)).await;
    shared.close_outcome(closed)
}
