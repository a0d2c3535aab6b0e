//! Calls on the threads of a pool, each with its limits of time: one that is waited for, or several together.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use crate::pool::{CallPool, Overruns, PoolError, Task, lock};

/// Several calls that are waited for together. Those that nobody waits for any more are not begun.
pub struct Calls<T> {
    pool: CallPool,
    /// For a thread, and for the end.
    limits: (Duration, Duration),
    shared: Arc<Shared<T>>,
    overruns: Vec<Arc<Overruns>>,
}

/// What became of several calls.
#[derive(Debug, PartialEq, Eq)]
pub enum Next<T> {
    /// One ended, or was given up.
    Ended {
        /// Which: the number that [`Calls::start`] gave.
        number: usize,
        /// What it gave.
        result: Result<T, PoolError>,
    },
    /// None did until then.
    Late,
    /// None is under way.
    Nothing,
}

/// Where each call stands.
struct Shared<T> {
    phases: Mutex<Vec<Phase<T>>>,
    changed: Condvar,
}

enum Phase<T> {
    Queued {
        since: Instant,
        work: Box<dyn FnOnce() -> T + Send>,
    },
    Running {
        since: Instant,
    },
    Done(Result<T, PoolError>),
    /// Nobody waits for it any more.
    Left,
}

impl CallPool {
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
        self.run_within(&Arc::default(), (limit, limit), work)
    }

    /// As [`run`](Self::run), for code that may overrun [`MAX_OVERRUNS`](crate::MAX_OVERRUNS) times, with one limit for
    /// a thread and another for the end. As many calls of it run at once as may still overrun. Others wait for them as
    /// for a thread.
    pub(crate) fn run_within<T: Send + 'static>(
        &self,
        overruns: &Arc<Overruns>,
        limits: (Duration, Duration),
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        let mut calls = Calls::new(self, limits);
        calls.start(overruns, work)?;
        match calls.next(None) {
            Next::Ended { result, .. } => result,
            Next::Late | Next::Nothing => Err(PoolError::Busy { waited: limits.0 }),
        }
    }
}

impl<T: Send + 'static> Calls<T> {
    /// No calls yet. Each is to wait at most so long for a thread, and then at most so long for its end.
    pub fn new(pool: &CallPool, limits: (Duration, Duration)) -> Self {
        let shared = Arc::new(Shared { phases: Mutex::default(), changed: Condvar::new() });
        Self { pool: pool.clone(), limits, shared, overruns: Vec::new() }
    }

    /// Has a thread of the pool do `work`, and does not wait. Numbers count from 0.
    ///
    /// # Errors
    /// The code overran too often, too many calls wait for a thread, or there is none.
    pub fn start(
        &mut self,
        overruns: &Arc<Overruns>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<usize, PoolError> {
        if let Some(overruns) = overruns.refused() {
            return Err(PoolError::Refused { overruns });
        }
        let number = self.overruns.len();
        lock(&self.shared.phases).push(Phase::Queued { since: Instant::now(), work: Box::new(work) });
        self.overruns.push(Arc::clone(overruns));
        let theirs = Arc::clone(&self.shared);
        let perform = Box::new(move |refused: Option<u32>| theirs.perform(number, refused));
        let submitted = self.pool.submit(Task { overruns: Arc::clone(overruns), perform });
        submitted.inspect_err(|_| _ = self.shared.leave(number))?;
        Ok(number)
    }

    /// Does `work` on this thread, at once: for what takes less than to wake another one, and cannot run on.
    pub fn do_here(&mut self, work: impl FnOnce() -> T) -> usize {
        let number = self.overruns.len();
        let done = contained(work);
        lock(&self.shared.phases).push(Phase::Done(done));
        self.overruns.push(Arc::default());
        number
    }

    /// Waits for the next one that ends or has used up its time, until then at most.
    pub fn next(&mut self, until: Option<Instant>) -> Next<T> {
        let shared = Arc::clone(&self.shared);
        let mut phases = lock(&shared.phases);
        loop {
            let (now, mut deadline, mut is_any) = (Instant::now(), until, false);
            for (number, phase) in phases.iter_mut().enumerate() {
                let Some(ends) = phase.ends(now, self.limits) else { continue };
                if ends.is_none_or(|ends| ends > now) {
                    (is_any, deadline) = (true, [deadline, ends].into_iter().flatten().min());
                    continue;
                }
                let ended = std::mem::replace(phase, Phase::Left);
                drop(phases);
                return Next::Ended { number, result: self.result(number, ended) };
            }
            if !is_any {
                return Next::Nothing;
            }
            if until.is_some_and(|until| until <= now) {
                return Next::Late;
            }
            let left = deadline.map_or(Duration::MAX, |deadline| deadline.saturating_duration_since(now));
            let waited = shared.changed.wait_timeout(phases, left);
            phases = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
    }

    /// What came of one, or why it is given up.
    fn result(&self, number: usize, ended: Phase<T>) -> Result<T, PoolError> {
        let (waited, limit) = self.limits;
        match ended {
            Phase::Done(done) => done,
            Phase::Queued { .. } | Phase::Left => Err(PoolError::Busy { waited }),
            Phase::Running { .. } => {
                self.overruns.get(number).into_iter().for_each(|overruns| self.pool.replace(overruns));
                Err(PoolError::Overrun { limit })
            }
        }
    }

    /// Takes those back that no thread has begun, and gives their numbers.
    pub fn withdraw(&mut self) -> Vec<usize> {
        let all = 0..self.overruns.len();
        all.filter(|&number| self.shared.leave(number)).collect()
    }
}

impl<T> Phase<T> {
    /// When it is over, if that has not been told: `Some(None)` if only its thread says so.
    fn ends(&self, now: Instant, (waited, limit): (Duration, Duration)) -> Option<Option<Instant>> {
        match self {
            Self::Queued { since, .. } => Some(since.checked_add(waited)),
            Self::Running { since } => Some(since.checked_add(limit)),
            Self::Done(_) => Some(Some(now)),
            Self::Left => None,
        }
    }
}

impl<T> Shared<T> {
    /// Takes back what no thread has begun; says whether it did.
    fn leave(&self, number: usize) -> bool {
        let mut phases = lock(&self.phases);
        let Some(phase @ Phase::Queued { .. }) = phases.get_mut(number) else { return false };
        let work = std::mem::replace(phase, Phase::Left);
        drop(phases);
        drop(work);
        true
    }

    /// Does the work on the pool's thread, or refuses it; says whether the thread is still one of the pool.
    fn perform(&self, number: usize, refused: Option<u32>) -> bool {
        let Some(work) = self.begin(number, refused) else { return true };
        self.finish(number, contained(work))
    }

    /// The work, if it is still to be done.
    fn begin(&self, number: usize, refused: Option<u32>) -> Option<Box<dyn FnOnce() -> T + Send>> {
        let mut phases = lock(&self.phases);
        let phase = phases.get_mut(number).filter(|phase| matches!(phase, Phase::Queued { .. }))?;
        let next = match refused {
            Some(overruns) => Phase::Done(Err(PoolError::Refused { overruns })),
            None => Phase::Running { since: Instant::now() },
        };
        let Phase::Queued { work, .. } = std::mem::replace(phase, next) else { return None };
        if refused.is_some() {
            self.changed.notify_all();
        }
        refused.is_none().then_some(work)
    }

    fn finish(&self, number: usize, done: Result<T, PoolError>) -> bool {
        let mut phases = lock(&self.phases);
        let running = phases.get_mut(number).filter(|phase| matches!(phase, Phase::Running { .. }));
        let wanted = running.map(|phase| *phase = Phase::Done(done)).is_some();
        self.changed.notify_all();
        wanted
    }
}

/// What work gives, or how it panicked.
fn contained<T>(work: impl FnOnce() -> T) -> Result<T, PoolError> {
    catch_unwind(AssertUnwindSafe(work))
        .map_err(|payload| PoolError::Panicked { message: panic_message(&*payload) })
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
    fn brief_work_is_done_here_and_panics_are_told() {
        let mut calls = Calls::new(&CallPool::new(1, 8), (PATIENCE, PATIENCE));
        let here = std::thread::current().id();
        assert_eq!(calls.do_here(|| std::thread::current().id() == here), 0);
        calls.start(&Arc::default(), move || std::thread::current().id() == here).expect("a thread");
        assert_eq!(calls.do_here(|| panic!("no {}", "luck")), 2);
        let mut ended = Vec::new();
        while let Next::Ended { number, result } = calls.next(None) {
            ended.push((number, result));
        }
        ended.sort_by_key(|(number, _)| *number);
        let panicked = Err(PoolError::Panicked { message: "no luck".into() });
        assert_eq!(ended, [(0, Ok(true)), (1, Ok(false)), (2, panicked)]);
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

    #[test]
    fn several_are_waited_for_together_and_what_is_not_begun_is_taken_back() {
        let pool = CallPool::new(2, 8);
        let mut calls = Calls::new(&pool, (PATIENCE, PATIENCE));
        assert_eq!(calls.next(None), Next::Nothing);
        let (first, second) = (channel::<()>(), channel::<()>());
        // Each waits for the other: so both run at the same time.
        for (tell, hear) in [(first.0, second.1), (second.0, first.1)] {
            let both = move || tell.send(()).is_ok() && hear.recv_timeout(PATIENCE).is_ok();
            calls.start(&Arc::default(), both).unwrap();
        }
        let mut ended = [calls.next(None), calls.next(None)].map(|next| match next {
            Next::Ended { number, result } => (number, result),
            Next::Late | Next::Nothing => panic!("two are under way"),
        });
        ended.sort_by_key(|(number, _)| *number);
        assert_eq!(ended, [(0, Ok(true)), (1, Ok(true))]);
        let (hold, held) = channel::<()>();
        let held = Arc::new(Mutex::new(held));
        for _ in 0..3 {
            let held = Arc::clone(&held);
            calls.start(&Arc::default(), move || lock(&held).recv_timeout(PATIENCE).is_ok()).unwrap();
        }
        assert_eq!(calls.next(Some(Instant::now() + SHORT)), Next::Late);
        assert_eq!(calls.withdraw(), [4]);
        drop(hold);
        for _ in 0..2 {
            assert!(matches!(calls.next(None), Next::Ended { result: Ok(false), .. }));
        }
        assert_eq!(calls.next(None), Next::Nothing);
    }
}
