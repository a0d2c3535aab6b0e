//! How far the life of a handle is, of either kind: what happened, whether it is open, and how it closes.

use crate::coordinator::{Endpoint, Look, Role, State};
use crate::error::CloseError;
use crate::session::events::Events;
use crate::value::event::Event as Shown;
use fp_proto::event::{CloseOutcome, Event, OpenFailure};
use fp_types::Epoch;
use std::future::Future;
use std::sync::Arc;
use std::thread::Builder;
use std::time::{Duration, Instant};

/// How long the drop of a handle waits until it is closed.
const DROP_WAIT: Duration = Duration::from_millis(500);

/// What the machine and the coordinator said of a handle.
#[derive(Default)]
pub(crate) struct Life {
    pub(crate) events: Events,
    /// The epoch that was opened, or why there is none; `None` while it is at it.
    pub(crate) opened: Option<Result<Epoch, OpenFailure>>,
    closed: Option<CloseOutcome>,
    /// How the coordinator itself failed.
    pub(crate) failure: Option<String>,
}

impl Life {
    /// What happened is remembered, and waits to be read.
    pub(crate) fn event(&mut self, event: Event) {
        if let Event::Opened { epoch } = &event {
            self.opened = Some(Ok(*epoch));
        } else if let Event::OpenFailed(failure) = &event {
            self.opened = Some(Err(failure.clone()));
        } else if let Event::Closed(outcome) = &event {
            self.closed = Some(outcome.clone());
        }
        if let Some(event) = Shown::of(event) {
            self.events.push(event);
        }
    }
}

/// A role that has such a life.
pub(crate) trait Living: Role {
    fn life(&mut self) -> &mut Life;
}

/// What the handles of either kind share.
pub(crate) trait Session: Send + Sync + 'static {
    type Role: Living;
    fn stream(&self) -> &str;
    fn endpoint(&self) -> &Endpoint<Self::Role>;
    /// Has the machine begin to close; until when that may take.
    fn start_closing(&self) -> Result<Instant, CloseError>;

    /// What is to be told of how it closed, which began then.
    fn told(&self, _closed: CloseOutcome, _started: Instant) -> Result<(), CloseError> {
        Ok(())
    }

    /// Closes it.
    fn close(&self) -> Result<(), CloseError> {
        let started = Instant::now();
        let deadline = self.start_closing()?;
        let closed = self.endpoint().wait(deadline, |state, _| look_closed(state));
        self.told(outcome(self.stream(), closed)?, started)
    }

    /// Closes it on a thread of its own. Where no thread can be started the handle goes without a word, as if its
    /// process were gone.
    fn close_elsewhere(self: &Arc<Self>)
    where
        Self: Sized,
    {
        let (handle, thread) = (self.clone(), Builder::new().name("flexpath-close".to_owned()));
        // Whoever would have been told how it went is gone.
        if let Err(error) = thread.spawn(move || handle.close()) {
            tracing::warn!(%error, "a handle could not be closed");
        }
    }

    /// Closes it as it is dropped: a drop waits for a moment only, as it may be in a task.
    fn close_dropped(self: &Arc<Self>)
    where
        Self: Sized,
    {
        let Ok(deadline) = self.start_closing() else { return };
        let moment = deadline.min(Instant::now() + DROP_WAIT);
        if self.endpoint().wait(moment, |state, _| look_closed(state)).is_none() {
            let stream = self.stream();
            tracing::warn!(%stream, "dropped while steps are held: it goes on closing, and `close` would wait for it");
            self.close_elsewhere();
        }
    }

    /// Closes it, for a task.
    fn close_async(&self) -> impl Future<Output = Result<(), CloseError>> + Send {
        async {
            let started = Instant::now();
            let deadline = self.start_closing()?;
            let closed = self.endpoint().wait_async(deadline, |state, _| look_closed(state)).await;
            self.told(outcome(self.stream(), closed)?, started)
        }
    }
}

/// Whether the machine has closed, and how.
fn look_closed<R: Living>(state: &mut State<R>) -> Look<Result<CloseOutcome, String>> {
    let life = state.role.life();
    match (&life.closed, &life.failure) {
        (Some(closed), _) => Ok(Ok(closed.clone())),
        (None, _) if life.opened.as_ref().is_some_and(Result::is_err) => Ok(Ok(CloseOutcome::Clean)),
        (None, Some(what)) => Ok(Err(what.clone())),
        (None, None) => Err(None),
    }
}

fn outcome(stream: &str, closed: Option<Result<CloseOutcome, String>>) -> Result<CloseOutcome, CloseError> {
    let stalled = || Err("the coordinator made no progress".to_owned());
    let closed = closed.unwrap_or_else(stalled);
    closed.map_err(|what| CloseError::Coordinator { stream: stream.to_owned(), what })
}
