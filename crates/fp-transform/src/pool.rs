//! A few threads on which foreign code runs: with a limit of time, and without harm if it panics.
//!
//! A thread that is stuck cannot be stopped. It is left to itself and another takes its place, so that the pool keeps
//! its number of threads. No code costs more than [`MAX_OVERRUNS`] threads, however many call it at once. As many calls
//! of it run at the same time as may still overrun. Waiting calls are refused once none may (see [`Overruns`]).

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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
    fn refused(&self) -> Option<u32> {
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

struct Task {
    overruns: Arc<Overruns>,
    /// Does it, or refuses it after so many overruns; says whether its thread is still wanted.
    perform: Box<dyn FnOnce(Option<u32>) -> bool + Send>,
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

impl CallPool {
    /// A pool of so many threads at most, with room for so many calls that wait. Threads start when they are needed.
    pub fn new(limit_threads: usize, limit_queued: usize) -> Self {
        let (limit_threads, state) = (limit_threads.max(1), Mutex::new(State::default()));
        Self { inner: Arc::new(Inner { state, news: Condvar::new(), limit_threads, limit_queued }) }
    }

    /// Runs `work` on a thread of the pool and waits for it. It waits at most `limit` for a thread, and at most `limit`
    /// for its end.
    ///
    /// # Errors
    /// It was not begun, panicked, or ran too long.
    pub fn run<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        self.run_counted(&Arc::default(), limit, work)
    }

    /// As [`run`](Self::run), for code that may overrun [`MAX_OVERRUNS`] times. As many calls of it run at once as may
    /// still overrun. Others wait for them as for a thread.
    ///
    /// # Errors
    /// Those of [`run`](Self::run), and that the code overran too often: before this call, or while it waited.
    pub fn run_counted<T: Send + 'static>(
        &self,
        overruns: &Arc<Overruns>,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        self.run_within(overruns, (limit, limit), work)
    }

    /// As [`run_counted`](Self::run_counted), with one limit for a thread and another for the end.
    pub(crate) fn run_within<T: Send + 'static>(
        &self,
        overruns: &Arc<Overruns>,
        limits: (Duration, Duration),
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        if let Some(overruns) = overruns.refused() {
            return Err(PoolError::Refused { overruns });
        }
        let call = Arc::new(Call { phase: Mutex::new(Phase::Queued), changed: Condvar::new() });
        let theirs = Arc::clone(&call);
        let perform = Box::new(move |refused: Option<u32>| theirs.perform(refused, work));
        self.submit(Task { overruns: Arc::clone(overruns), perform })?;
        let result = call.wait(limits);
        if matches!(result, Err(PoolError::Overrun { .. })) {
            self.replace(overruns);
        }
        result
    }

    fn submit(&self, task: Task) -> Result<(), PoolError> {
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
    fn replace(&self, overruns: &Arc<Overruns>) {
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

impl<T> Call<T> {
    /// Does the work on the pool's thread, or refuses it; says whether the thread is still one of the pool.
    fn perform(&self, refused: Option<u32>, work: impl FnOnce() -> T) -> bool {
        {
            let mut phase = lock(&self.phase);
            if matches!(*phase, Phase::Left) {
                return true;
            }
            if let Some(overruns) = refused {
                *phase = Phase::Done(Err(PoolError::Refused { overruns }));
                self.changed.notify_all();
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

    fn wait(&self, (waited, limit): (Duration, Duration)) -> Result<T, PoolError> {
        let begun = Instant::now();
        let mut phase = lock(&self.phase);
        loop {
            let (deadline, late) = match &*phase {
                Phase::Queued => (begun + waited, PoolError::Busy { waited }),
                Phase::Running { since } => (*since + limit, PoolError::Overrun { limit }),
                Phase::Done(_) | Phase::Left => {
                    let Phase::Done(done) = std::mem::replace(&mut *phase, Phase::Left) else {
                        return Err(PoolError::Busy { waited });
                    };
                    return done;
                }
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
        let pool = CallPool::new(2, 8);
        assert_eq!(pool.run(PATIENCE, || 6 * 7), Ok(42));
        let panicked = pool.run(PATIENCE, || -> u32 { panic!("no {}", "luck") });
        assert_eq!(panicked, Err(PoolError::Panicked { message: "no luck".into() }));
        assert_eq!(pool.run(PATIENCE, || 1), Ok(1));
    }

    #[test]
    fn a_stuck_thread_is_replaced() {
        let pool = CallPool::new(1, 8);
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
        let pool = CallPool::new(1, 1);
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
