//! The asynchronous calls of a subscriber.

use crate::asynchronous::errand::call;
use crate::asynchronous::events::{EventQueue, Of};
use crate::asynchronous::leave;
use crate::asynchronous::leave::Leaving;
use crate::asynchronous::next_step::next_step;
#[cfg(feature = "stream")]
use crate::asynchronous::steps::Steps;
use crate::coordinator::signals::Signal;
use crate::error::gather::GatherError;
use crate::error::{CloseError, OpenError, ReadError};
use crate::options::subscriber::SubscriberOptions;
use crate::records::fit::Provided;
use crate::session::gather::{Gathering, Side};
use crate::session::life::Session as _;
use crate::session::peek::{has_next, look_ahead};
use crate::session::subscriber::SubscriberSession;
use crate::step::peek;
use crate::step::records::provide;
use crate::subscriber::attach::{Attached, refused};
use crate::subscriber::{NextStep, Subscriber};
use crate::value::limit::after;
use fp_types::record::{Record, RecordSchema};
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Subscriber {
    /// The events of this subscriber, to wait for them beside it.
    pub fn event_queue(&self) -> EventQueue {
        EventQueue(Of::Subscriber(self.shared.clone()))
    }

    /// A descriptor that is readable as long as [`Subscriber::next_step`] would return at once. That is with a
    /// step, the end of the stream or an error. It is for a program that waits by `poll` for other things as well. Such a
    /// program calls `next_step` with a timeout of zero when it is readable.
    ///
    /// # Errors
    /// There is no descriptor left.
    pub fn step_signal(&self) -> std::io::Result<Signal> {
        self.shared.endpoint.signal(has_next)
    }

    /// As [`Subscriber::open`], for a task. The first poll looks into the rendezvous directory. Before that it binds the
    /// listener of a rank that has one. No poll waits.
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
            // Collectives block, and MPI may belong to one thread: an executor does not promise which thread polls.
            if let Some(gathering) = Gathering::of(&options.link, &stream, Side::Subscriber) {
                return Err(gathering.error(GatherError::InTask));
            }
            let (shared, directory) = SubscriberSession::start(&stream, options)?;
            open(shared, &directory).await
        }
    }

    /// As [`Subscriber::next_step`], for a task; `timeout` counts from the first poll.
    ///
    /// Cancel safe: only the poll that gives a step takes it. A call that is dropped before loses none, as when a
    /// `select` drops the calls that come second.
    ///
    /// # Errors
    /// As [`Subscriber::next_step`].
    pub async fn next_step_async(&mut self, timeout: Duration) -> Result<NextStep, ReadError> {
        next_step(&self.shared, timeout).await
    }

    /// The steps one after the other, as a `Stream` (feature `stream`).
    /// Whoever drops them, or a wait for the next one, loses no step.
    #[cfg(feature = "stream")]
    pub fn steps(&mut self) -> Steps<'_> {
        Steps::new(&self.shared)
    }

    /// As [`Subscriber::of`], for a task.
    ///
    /// Cancel safe: the step that is looked at is still the next one.
    ///
    /// # Errors
    /// As [`Subscriber::of`].
    pub async fn of_async<T: Record>(&mut self) -> Result<Vec<Provided>, ReadError> {
        let wanted = T::schema().map_err(|error| self.no_type(error.into()))?;
        self.of_schema_async(&wanted).await
    }

    /// As [`Subscriber::of_schema`], for a task.
    ///
    /// Cancel safe, as [`Subscriber::of_async`] is.
    ///
    /// # Errors
    /// As [`Subscriber::of_schema`].
    pub async fn of_schema_async(&mut self, wanted: &RecordSchema) -> Result<Vec<Provided>, ReadError> {
        let (shared, wanted, started) = (&self.shared, wanted.clone(), Instant::now());
        shared.check_fork()?;
        let deadline = after(started, shared.options.link.open_timeout);
        let came = shared.endpoint.wait_async(deadline, look_ahead).await;
        let step = peek::ahead(shared, came, started)?;
        call(step, deadline, move |held, limit| provide::provided(held, &wanted, None, limit)).await
    }

    /// As [`Subscriber::close`], for a task. A subscriber that is merely dropped waits for half a second, and goes
    /// on leaving on a thread of its own.
    ///
    /// Dropped, it goes on leaving on a thread of its own.
    ///
    /// # Errors
    /// As [`Subscriber::close`].
    pub fn close_async(mut self) -> impl Future<Output = Result<(), CloseError>> + Send + use<> {
        self.closed = true;
        leave::close(self.shared.clone())
    }
}

async fn open(shared: Arc<SubscriberSession>, directory: &str) -> Result<Subscriber, OpenError> {
    let (leaving, begun) = (Leaving::new(&shared), Instant::now());
    let outcome = {
        let (deadline, opening) = shared.opening(directory);
        let look = shared.endpoint.wait_async(deadline, |state, _| opening.look_at(state)).await;
        opening.outcome(look)
    };
    let outcome = match (&outcome, shared.attached(begun)) {
        (Ok(_), Some(attached)) => types_there(&shared, attached).await,
        _ => outcome.map(drop),
    };
    leaving.done();
    outcome.map(|()| Subscriber { shared, closed: false })
}

/// As [`SubscriberSession::finish_opening`], for a task.
async fn types_there(shared: &Arc<SubscriberSession>, attached: Attached) -> Result<(), OpenError> {
    let came = shared.endpoint.wait_async(attached.deadline, look_ahead).await;
    let fits = match peek::ahead(shared, came, attached.at) {
        Ok(step) => call(step, attached.deadline, |held, limit| provide::check_types(held, limit)).await,
        Err(error) => Err(error),
    };
    match fits {
        Ok(()) => Ok(()),
        Err(error) => {
            // Why it leaves is what the caller is told; how that went is not.
            let _ = shared.close_async().await;
            Err(refused(error))
        }
    }
}
