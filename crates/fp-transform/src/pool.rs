//! A few threads on which foreign code runs: with a limit of time, and without harm if it panics.
//!
//! A thread that is stuck cannot be stopped. It is left to itself and another takes its place, so that the pool keeps
//! its number of threads. No code costs more than [`MAX_OVERRUNS`] threads, however many call it at once. As many calls
//! of it run at the same time as may still overrun. Waiting calls are refused once none may (see [`Overruns`]).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// After that many calls that ran too long code is refused until the process starts again.
pub const MAX_OVERRUNS: u32 = 2;
/// After this long without work a thread ends.
const IDLE: Duration = Duration::from_secs(5);

/// How often some code ran too long. Who calls it shares one of these with all others that do.
#[derive(Debug, Default)]
pub struct Overruns {
    count: AtomicU32,
}

impl Overruns {
    /// How often.
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    /// Counts one that ended by itself: the pool counts those whose thread it gave up.
    pub fn add(&self) {
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether, and after how many, the code is refused.
    pub(crate) fn refused(&self) -> Option<u32> {
        Some(self.count()).filter(|count| *count >= MAX_OVERRUNS)
    }
}

/// A few threads and what waits for them. Clones are the same pool.
#[derive(Clone)]
pub struct CallPool {
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
    queue: VecDeque<Task>,
    /// What runs, by what is called: no more than there are threads.
    running: Vec<Arc<Overruns>>,
    threads: usize,
    idle: usize,
}

/// One call, as a thread does it.
pub(crate) struct Task {
    pub(crate) overruns: Arc<Overruns>,
    /// Does it, or refuses it after so many overruns; says whether its thread is still wanted.
    pub(crate) perform: Box<dyn FnOnce(Option<u32>) -> bool + Send>,
}

impl State {
    /// What is to be done next: of code that may not run more often at once, nothing. What is refused goes quickly.
    fn begin(&mut self) -> Option<Task> {
        let may = |task: &Task| {
            let same = |other: &&Arc<Overruns>| Arc::ptr_eq(other, &task.overruns);
            let (running, count) = (self.running.iter().filter(same).count(), task.overruns.count());
            count >= MAX_OVERRUNS || running < (MAX_OVERRUNS - count) as usize
        };
        let task = self.queue.iter().position(may).and_then(|at| self.queue.remove(at))?;
        self.running.push(Arc::clone(&task.overruns));
        Some(task)
    }

    /// Something of this ended, or was given up.
    fn end(&mut self, overruns: &Arc<Overruns>) {
        if let Some(at) = self.running.iter().position(|other| Arc::ptr_eq(other, overruns)) {
            self.running.swap_remove(at);
        }
    }
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
    /// Calls of the same code ran too long too often; it was not begun.
    #[error("it ran too long {overruns} times and is refused until this process starts again")]
    Refused {
        /// How often.
        overruns: u32,
    },
    /// The system gives no thread.
    #[error("no thread could be started: {reason}")]
    NoThread {
        /// Why.
        reason: String,
    },
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CallPool {
    /// A pool of so many threads at most, with room for so many calls that wait. Threads start when they are needed.
    pub fn new(limit_threads: usize, limit_queued: usize) -> Self {
        let (limit_threads, state) = (limit_threads.max(1), Mutex::new(State::default()));
        Self { inner: Arc::new(Inner { state, news: Condvar::new(), limit_threads, limit_queued }) }
    }

    pub(crate) fn submit(&self, task: Task) -> Result<(), PoolError> {
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
        // Idle ones may be so because what waits may not run beside what runs.
        self.inner.news.notify_one();
        if state.queue.len() > state.idle && state.threads < self.inner.limit_threads {
            let inner = Arc::clone(&self.inner);
            let thread = std::thread::Builder::new().name("flexpath-transform".to_owned());
            let started = thread.spawn(move || inner.serve());
            started.map_err(|error| PoolError::NoThread { reason: error.to_string() })?;
            state.threads += 1;
        }
        Ok(())
    }

    /// Counts a stuck thread no more, but what it is stuck in.
    pub(crate) fn replace(&self, overruns: &Arc<Overruns>) {
        let mut state = lock(&self.inner.state);
        overruns.add();
        state.end(overruns);
        state.threads = state.threads.saturating_sub(1);
        // What waits gets a thread now; if none can be started, the next call tries again.
        let _ = self.enlist(&mut state);
    }
}

impl Inner {
    fn serve(&self) {
        let mut state = lock(&self.state);
        loop {
            if let Some(Task { overruns, perform }) = state.begin() {
                drop(state);
                if !perform(overruns.refused()) {
                    return;
                }
                state = lock(&self.state);
                state.end(&overruns);
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
