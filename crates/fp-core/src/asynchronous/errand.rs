//! What a thread of the process does for a task. It is handed over with all that it works on, and everything is given
//! back with it.

use crate::coordinator::wakers::Seat;
use crate::coordinator::workers;
use crate::coordinator::workers::Task;
use crate::error::ReadError;
use crate::step::held::HeldStep;
use crate::value::limit::Limit;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// Something about a step that may wait, and so is not for a poll.
pub(crate) trait Errand: Send + 'static {
    /// What comes of it.
    type Outcome: Send + 'static;
    /// Does it.
    fn run(self, limit: Limit<'_>) -> Self::Outcome;
    /// It was not begun.
    fn refuse(self, error: ReadError) -> Self::Outcome;
    /// It was begun, and was lost in a panic.
    fn lost(error: ReadError) -> Self::Outcome;
}

/// A call that gives nothing back but its outcome.
struct Call<F>(Arc<HeldStep>, F);

impl<R, F> Errand for Call<F>
where
    R: Send + 'static,
    F: FnOnce(&Arc<HeldStep>, Limit<'_>) -> Result<R, ReadError> + Send + 'static,
{
    type Outcome = Result<R, ReadError>;

    fn run(self, limit: Limit<'_>) -> Self::Outcome {
        let Self(held, call) = self;
        call(&held, limit)
    }

    fn refuse(self, error: ReadError) -> Self::Outcome {
        Err(error)
    }

    fn lost(error: ReadError) -> Self::Outcome {
        Err(error)
    }
}

enum Stage<E: Errand> {
    Queued(E),
    Running,
    Done(E::Outcome),
    /// Nobody wants it any more; or the thread panicked.
    Gone,
}

struct Progress<E: Errand> {
    stage: Stage<E>,
    waker: Option<Waker>,
}

/// An errand under way.
struct Entrusted<E: Errand> {
    held: Arc<HeldStep>,
    deadline: Instant,
    started: Instant,
    given_up: AtomicBool,
    progress: Mutex<Progress<E>>,
}

/// Has an errand about a step run until `deadline`. Dropped, it is not begun, or given up.
pub(crate) async fn on_a_thread<E: Errand>(held: Arc<HeldStep>, errand: E, deadline: Instant) -> E::Outcome {
    let shared = held.shared.clone();
    let progress = Mutex::new(Progress { stage: Stage::Queued(errand), waker: None });
    let (started, given_up) = (Instant::now(), AtomicBool::new(false));
    let entrusted = Arc::new(Entrusted { held, deadline, started, given_up, progress });
    let wanted = Wanted(entrusted.clone());
    if let Err(error) = workers::FETCHING.submit(entrusted) {
        let failed = wanted.0.held.failed(format!("no thread to fetch on: {error}"));
        let errand = wanted.0.take_queued(&mut wanted.0.lock());
        return match errand {
            Some(errand) => errand.refuse(failed),
            None => E::lost(failed),
        };
    }
    let seat = shared.endpoint.seat();
    poll_fn(|ctx| wanted.0.poll(&seat, ctx)).await
}

/// Has a call about a step run by a thread until `deadline`; dropped, it is not begun, or given up.
pub(crate) async fn call<R: Send + 'static>(
    held: Arc<HeldStep>,
    deadline: Instant,
    call: impl FnOnce(&Arc<HeldStep>, Limit<'_>) -> Result<R, ReadError> + Send + 'static,
) -> Result<R, ReadError> {
    on_a_thread(held.clone(), Call(held, call), deadline).await
}

/// An errand that somebody waits for.
struct Wanted<E: Errand>(Arc<Entrusted<E>>);

impl<E: Errand> Drop for Wanted<E> {
    fn drop(&mut self) {
        self.0.given_up.store(true, Ordering::Relaxed);
        // Dropped outside the lock: it may release a step.
        let _undone = self.0.take_queued(&mut self.0.lock());
    }
}

impl<E: Errand> Entrusted<E> {
    fn lock(&self) -> MutexGuard<'_, Progress<E>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the errand away, if no thread has begun it.
    fn take_queued(&self, progress: &mut Progress<E>) -> Option<E> {
        match std::mem::replace(&mut progress.stage, Stage::Gone) {
            Stage::Queued(errand) => Some(errand),
            other @ (Stage::Running | Stage::Done(_) | Stage::Gone) => {
                progress.stage = other;
                None
            }
        }
    }

    fn poll(&self, seat: &Seat<'_>, ctx: &Context<'_>) -> Poll<E::Outcome> {
        let waker = ctx.waker().clone();
        let mut progress = self.lock();
        let late = Instant::now() >= self.deadline;
        match std::mem::replace(&mut progress.stage, Stage::Gone) {
            Stage::Done(outcome) => return Poll::Ready(outcome),
            Stage::Gone => {
                let failed = self.held.failed("the thread that fetched panicked");
                return Poll::Ready(E::lost(failed));
            }
            Stage::Queued(errand) if late => {
                drop(progress);
                return Poll::Ready(errand.refuse(self.timed_out()));
            }
            stage @ (Stage::Queued(_) | Stage::Running) => progress.stage = stage,
        }
        let queued = matches!(progress.stage, Stage::Queued(_));
        let replaced = progress.waker.replace(waker);
        drop(progress);
        drop(replaced);
        if queued {
            // An errand under way ends at its deadline by itself; for one that waits for a thread somebody must look.
            drop(self.held.shared.endpoint.alarm(seat, ctx, self.deadline));
        }
        Poll::Pending
    }

    fn timed_out(&self) -> ReadError {
        let stream = self.held.stream().to_owned();
        let (waited, waits_for) = (self.started.elapsed(), "a thread to fetch on".to_owned());
        ReadError::TimedOut { stream, step: self.held.step(), waited, waits_for }
    }
}

impl<E: Errand> Task for Entrusted<E> {
    fn stream(&self) -> usize {
        Arc::as_ptr(&self.held.shared) as usize
    }

    fn run(&self) {
        let mut progress = self.lock();
        let Some(errand) = self.take_queued(&mut progress) else { return };
        progress.stage = Stage::Running;
        drop(progress);
        let ended = Ended(self);
        let outcome = errand.run(Limit { deadline: self.deadline, given_up: Some(&self.given_up) });
        self.lock().stage = Stage::Done(outcome);
        drop(ended);
    }

    fn is_withdrawn(&self) -> bool {
        !matches!(self.lock().stage, Stage::Queued(_))
    }
}

/// Wakes who waits when the thread has ended, be it in a panic.
struct Ended<'t, E: Errand>(&'t Entrusted<E>);

impl<E: Errand> Drop for Ended<'_, E> {
    fn drop(&mut self) {
        let mut progress = self.0.lock();
        if matches!(progress.stage, Stage::Running) {
            progress.stage = Stage::Gone;
        }
        let waker = progress.waker.take();
        drop(progress);
        waker.into_iter().for_each(Waker::wake);
    }
}
