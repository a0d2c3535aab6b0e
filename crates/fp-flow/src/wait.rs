//! Waiting for several futures at one time, as a task or as a thread.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use fp_core::{Interrupt, NextStep, ReadError};

/// What a stream gave.
pub(crate) type Came = Result<NextStep, ReadError>;

/// A wait for the next step of a stream. Only the poll that gives a step takes it.
pub(crate) type Waiting<'a> = Pin<Box<dyn Future<Output = Came> + Send + 'a>>;

/// A place for what a stream gives, and the wait for that.
pub(crate) type Slot<'a> = (&'a mut Option<Came>, Waiting<'a>);

/// Polls them all, and fills the places of those that are ready: whether any was. Dropping the waits afterwards loses
/// nothing, as what was taken is in its place.
pub(crate) fn poll_each(slots: &mut [Slot<'_>], ctx: &mut Context<'_>) -> bool {
    let mut is_any = false;
    for (place, waiting) in slots.iter_mut().filter(|(place, _)| place.is_none()) {
        if let Poll::Ready(came) = waiting.as_mut().poll(ctx) {
            (**place, is_any) = (Some(came), true);
        }
    }
    is_any
}

/// The end of a wait that begins now; `None` if it is further away than time is counted.
pub(crate) fn end_of(timeout: Duration) -> Option<Instant> {
    Instant::now().checked_add(timeout)
}

/// What is left until then; all of time for `None`.
pub(crate) fn left(until: Option<Instant>) -> Duration {
    until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()))
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// How often a thread that waits asks whether it is to end, if there is anything to ask.
const ASK: Duration = Duration::from_millis(50);

/// Has this thread wait for a future, which has a deadline of its own. `None` if it was asked to end before.
pub(crate) fn block_on<T>(future: impl Future<Output = T>, interrupt: Option<&Interrupt>) -> Option<T> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut ctx, mut future) = (Context::from_waker(&waker), pin!(future));
    loop {
        if let Poll::Ready(outcome) = future.as_mut().poll(&mut ctx) {
            return Some(outcome);
        }
        match interrupt {
            None => thread::park(),
            Some(interrupt) if interrupt.is_asked() => return None,
            Some(_) => thread::park_timeout(ASK),
        }
    }
}
