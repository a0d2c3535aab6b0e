//! A few threads on which foreign code runs: with a limit of time, and without harm if it panics.
//!
//! A thread that is stuck cannot be stopped. It is left to itself and another takes its place: the pool keeps its number,
//! and whoever registers code counts how often that may happen (see [`Transforms`](crate::Transforms)).

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// After this long without work a thread ends.
const IDLE: Duration = Duration::from_secs(5);

/// A few threads and what waits for them. Clones are the same pool.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    state: Mutex<State>,
    news: Condvar,
    limit_threads: usize,
    limit_queued: usize,
}

#[derive(Default)]
struct State {
    /// The process that the threads belong to: a forked child has none of them.
    process: u32,
    /// Each says whether its thread is still wanted.
    queue: VecDeque<Box<dyn FnOnce() -> bool + Send>>,
    threads: usize,
    idle: usize,
}

/// Why work was not done, or not to its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// As many wait as may.
    #[error("{queued} calls wait for a thread already")]
    Full {
        /// How many.
        queued: usize,
    },
    /// No thread became idle in time; the work was not begun.
    #[error("no thread became idle within {waited:?}")]
    Busy {
        /// How long it waited.
        waited: Duration,
    },
    /// It panicked.
    #[error("it panicked: {message}")]
    Panicked {
        /// What the panic said.
        message: String,
    },
    /// It ran for longer than it may. Its thread was replaced.
    #[error("it ran for longer than {limit:?}")]
    Overrun {
        /// How long it might.
        limit: Duration,
    },
    /// The system gives no thread.
    #[error("no thread could be started: {reason}")]
    NoThread {
        /// Why.
        reason: String,
    },
}

/// Where a call stands.
enum Phase<T> {
    Queued,
    Running {
        since: Instant,
    },
    Done(Result<T, PoolError>),
    /// Nobody waits for it any more.
    Left,
}

struct Call<T> {
    phase: Mutex<Phase<T>>,
    changed: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// A pool of so many threads at most, with room for so many calls that wait. Threads start when they are needed.
    pub fn new(limit_threads: usize, limit_queued: usize) -> Self {
        let (limit_threads, state) = (limit_threads.max(1), Mutex::new(State::default()));
        Self { inner: Arc::new(Inner { state, news: Condvar::new(), limit_threads, limit_queued }) }
    }

    /// Runs `work` on a thread of the pool and waits for it: at most `limit` for a thread, and at most `limit` for its
    /// end.
    ///
    /// # Errors
    /// It was not begun, panicked, or ran too long.
    pub fn run<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        let call = Arc::new(Call { phase: Mutex::new(Phase::Queued), changed: Condvar::new() });
        let theirs = Arc::clone(&call);
        self.submit(Box::new(move || theirs.perform(work)))?;
        let result = call.wait(limit);
        if matches!(result, Err(PoolError::Overrun { .. })) {
            self.replace();
        }
        result
    }

    fn submit(&self, task: Box<dyn FnOnce() -> bool + Send>) -> Result<(), PoolError> {
        let mut state = lock(&self.inner.state);
        let process = std::process::id();
        if state.process != process {
            *state = State { process, ..State::default() };
        }
        if state.queue.len() >= self.inner.limit_queued {
            return Err(PoolError::Full { queued: state.queue.len() });
        }
        state.queue.push_back(task);
        let started = self.enlist(&mut state);
        if state.threads == 0 {
            state.queue.pop_back();
        }
        if state.threads == 0 { started } else { Ok(()) }
    }

    /// Wakes or starts a thread, if there is more to do than threads that look for it.
    fn enlist(&self, state: &mut State) -> Result<(), PoolError> {
        if state.queue.len() <= state.idle {
            self.inner.news.notify_one();
            return Ok(());
        }
        if state.threads < self.inner.limit_threads {
            let inner = Arc::clone(&self.inner);
            let thread = std::thread::Builder::new().name("flexpath-transform".to_owned());
            let started = thread.spawn(move || inner.serve());
            started.map_err(|error| PoolError::NoThread { reason: error.to_string() })?;
            state.threads += 1;
        }
        Ok(())
    }

    /// Counts a stuck thread no more.
    fn replace(&self) {
        let mut state = lock(&self.inner.state);
        state.threads = state.threads.saturating_sub(1);
        // What waits gets a thread now; if none can be started, the next call tries again.
        let _ = self.enlist(&mut state);
    }
}

impl Inner {
    fn serve(&self) {
        let mut state = lock(&self.state);
        loop {
            if let Some(task) = state.queue.pop_front() {
                drop(state);
                if !task() {
                    return;
                }
                state = lock(&self.state);
                continue;
            }
            state.idle += 1;
            let waited = self.news.wait_timeout(state, IDLE);
            let (woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if timeout.timed_out() && state.queue.is_empty() {
                state.threads = state.threads.saturating_sub(1);
                return;
            }
        }
    }
}

impl<T> Call<T> {
    /// Does the work on the pool's thread; says whether the thread is still one of the pool.
    fn perform(&self, work: impl FnOnce() -> T) -> bool {
        {
            let mut phase = lock(&self.phase);
            if matches!(*phase, Phase::Left) {
                return true;
            }
            *phase = Phase::Running { since: Instant::now() };
            self.changed.notify_all();
        }
        let done = catch_unwind(AssertUnwindSafe(work));
        let done = done.map_err(|payload| PoolError::Panicked { message: panic_message(&*payload) });
        let mut phase = lock(&self.phase);
        let wanted = !matches!(*phase, Phase::Left);
        if wanted {
            *phase = Phase::Done(done);
            self.changed.notify_all();
        }
        wanted
    }

    fn wait(&self, limit: Duration) -> Result<T, PoolError> {
        let begun = Instant::now();
        let mut phase = lock(&self.phase);
        loop {
            let (deadline, late) = match &*phase {
                Phase::Queued => (begun + limit, PoolError::Busy { waited: limit }),
                Phase::Running { since } => (*since + limit, PoolError::Overrun { limit }),
                Phase::Done(_) | Phase::Left => match std::mem::replace(&mut *phase, Phase::Left) {
                    Phase::Done(done) => return done,
                    _ => return Err(PoolError::Busy { waited: limit }),
                },
            };
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                *phase = Phase::Left;
                return Err(late);
            }
            phase = self.changed.wait_timeout(phase, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// What a panic said, if it said it in words.
fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without words".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    const PATIENCE: Duration = Duration::from_secs(20);
    const SHORT: Duration = Duration::from_millis(30);

    #[test]
    fn work_is_done_and_panics_are_told() {
        let pool = Pool::new(2, 8);
        assert_eq!(pool.run(PATIENCE, || 6 * 7), Ok(42));
        let panicked = pool.run(PATIENCE, || -> u32 { panic!("no {}", "luck") });
        assert_eq!(panicked, Err(PoolError::Panicked { message: "no luck".into() }));
        assert_eq!(pool.run(PATIENCE, || 1), Ok(1));
    }

    #[test]
    fn a_stuck_thread_is_replaced() {
        let pool = Pool::new(1, 8);
        let mut holds = Vec::new();
        for _ in 0..3 {
            let (hold, held) = channel::<()>();
            let stuck = pool.run(SHORT, move || {
                let _ = held.recv_timeout(PATIENCE);
            });
            assert_eq!(stuck, Err(PoolError::Overrun { limit: SHORT }));
            assert_eq!(pool.run(PATIENCE, || 1), Ok(1), "another thread is there");
            holds.push(hold);
        }
    }

    #[test]
    fn waiting_has_an_end_and_a_bound() {
        let pool = Pool::new(1, 1);
        let ((hold, held), (begun, begins)) = (channel::<()>(), channel());
        let other = pool.clone();
        let running = std::thread::spawn(move || {
            other.run(PATIENCE, move || {
                let _ = begun.send(());
                let _ = held.recv_timeout(PATIENCE);
            })
        });
        begins.recv_timeout(PATIENCE).unwrap();
        assert_eq!(pool.run(SHORT, || ()), Err(PoolError::Busy { waited: SHORT }));
        assert_eq!(pool.run(SHORT, || ()), Err(PoolError::Full { queued: 1 }), "the first is still there");
        hold.send(()).unwrap();
        assert_eq!(running.join().unwrap(), Ok(()));
    }
}
