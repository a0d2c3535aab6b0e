//! A few threads of the process move bytes for asynchronous calls, as somebody's thread must do it. On a few others,
//! publishers wait for transforms that subscribers asked for.
//!
//! They start when there is something to do and nobody idle to do it. They end when they have been idle for a while. No
//! stream has more than a part of them, so that one whose publisher has stopped does not hold up the others.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Threads of a process.
const LIMIT_THREADS: usize = 8;

/// Threads that work for one stream at a time.
const LIMIT_OF_STREAM: usize = 2;

/// After this long without work a thread ends.
const IDLE: Duration = Duration::from_secs(5);

/// From so many tasks in the queue on, those that were withdrawn are looked for and taken out.
const SWEEP_TASKS: usize = 64;

/// Something to be done.
pub(crate) trait Task: Send + Sync {
    /// Equal for tasks of the same stream.
    fn stream(&self) -> usize;
    /// Does it. A panic ends here: the task itself says so to whoever waits.
    fn run(&self);
    /// Whether nobody wants it any more.
    fn is_withdrawn(&self) -> bool;
}

/// The threads and what they have to do.
pub(crate) struct Workers {
    /// What its threads are called.
    name: &'static str,
    inner: Mutex<Inner>,
    news: Condvar,
    idle: Duration,
}

struct Inner {
    /// The process that the threads belong to: a forked child has none of them.
    process: u32,
    queue: VecDeque<Arc<dyn Task>>,
    /// How many tasks of each stream are being done.
    running: BTreeMap<usize, usize>,
    threads: usize,
    idle: usize,
}

/// Those that fetch.
pub(crate) static FETCHING: Workers = Workers::new("flexpath-fetch", IDLE);

/// Those that do for a publisher what subscribers may wait for. Its threads are apart from those that wait for what is
/// made here: in one process they could wait for each other.
pub(crate) static MAKING: Workers = Workers::new("flexpath-make", IDLE);

/// Those that read for a publisher what is in no memory, apart from transforms that take long.
pub(crate) static READING: Workers = Workers::new("flexpath-read", IDLE);

/// Those that register memory with devices, for subscribers that are told afterwards where blocks lie.
pub(crate) static REGISTERING: Workers = Workers::new("flexpath-register", IDLE);

impl Workers {
    const fn new(name: &'static str, idle: Duration) -> Self {
        let inner =
            Inner { process: 0, queue: VecDeque::new(), running: BTreeMap::new(), threads: 0, idle: 0 };
        Self { name, inner: Mutex::new(inner), news: Condvar::new(), idle }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a task done.
    ///
    /// # Errors
    /// There is no thread, and none can be started.
    pub(crate) fn submit(&'static self, task: Arc<dyn Task>) -> std::io::Result<()> {
        let mut inner = self.lock();
        let withdrawn = inner.admit(task);
        let enlisted = self.enlist(&mut inner);
        if enlisted.is_err() && inner.threads == 0 {
            let refused = inner.queue.pop_back();
            drop(inner);
            drop((withdrawn, refused));
            return enlisted;
        }
        drop(inner);
        drop(withdrawn);
        Ok(())
    }

    /// Wakes a thread, or starts one, for a task that may be done now, if there is one. Whoever takes a task sees to
    /// the next, so one wake for each is enough.
    fn enlist(&'static self, inner: &mut Inner) -> std::io::Result<()> {
        if inner.next().is_none() {
            return Ok(());
        }
        if inner.idle > 0 {
            self.news.notify_one();
            return Ok(());
        }
        if inner.threads < LIMIT_THREADS {
            let thread = std::thread::Builder::new().name(self.name.to_owned());
            thread.spawn(move || self.serve())?;
            inner.threads += 1;
        }
        Ok(())
    }

    fn serve(&'static self) {
        let mut inner = self.lock();
        loop {
            match inner.next().and_then(|at| inner.take(at)) {
                Some(task) => inner = self.work(inner, task),
                None => {
                    inner.idle += 1;
                    let waited = self.news.wait_timeout(inner, self.idle);
                    let (woken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
                    inner = woken;
                    inner.idle -= 1;
                    if timeout.timed_out() && inner.next().is_none() {
                        inner.threads -= 1;
                        return;
                    }
                }
            }
        }
    }

    fn work(
        &'static self,
        mut inner: MutexGuard<'_, Inner>,
        task: Arc<dyn Task>,
    ) -> MutexGuard<'static, Inner> {
        // If no thread can be started those that are there get to it.
        let _ = self.enlist(&mut inner);
        drop(inner);
        let stream = task.stream();
        let _ = catch_unwind(AssertUnwindSafe(move || {
            task.run();
            drop(task);
        }));
        let mut inner = self.lock();
        inner.finished(stream);
        inner
    }
}

impl Inner {
    /// Queues a task; those that were withdrawn come back, to be dropped outside the lock.
    fn admit(&mut self, task: Arc<dyn Task>) -> Vec<Arc<dyn Task>> {
        let process = fp_transport::own_pid();
        if self.process != process {
            (self.process, self.threads, self.idle) = (process, 0, 0);
            self.running.clear();
            // Those of a parent are its own: to drop them here could wait for locks that its threads held.
            std::mem::forget(std::mem::take(&mut self.queue));
        }
        let mut withdrawn = Vec::new();
        if self.queue.len() >= SWEEP_TASKS {
            let (gone, left) = self.queue.drain(..).partition::<Vec<_>, _>(|task| task.is_withdrawn());
            (self.queue, withdrawn) = (left.into(), gone);
        }
        self.queue.push_back(task);
        withdrawn
    }

    /// The place of the first task that may be done now.
    fn next(&self) -> Option<usize> {
        let of_stream = |task: &Arc<dyn Task>| self.running.get(&task.stream()).copied().unwrap_or(0);
        self.queue.iter().position(|task| of_stream(task) < LIMIT_OF_STREAM)
    }

    fn take(&mut self, at: usize) -> Option<Arc<dyn Task>> {
        let task = self.queue.remove(at)?;
        *self.running.entry(task.stream()).or_default() += 1;
        Some(task)
    }

    fn finished(&mut self, stream: usize) {
        if let Some(running) = self.running.get_mut(&stream) {
            *running = running.saturating_sub(1);
        }
        self.running.retain(|_, running| *running > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, Sender, channel};
    use std::time::Instant;

    const PATIENCE: Duration = Duration::from_secs(10);

    /// Says when it starts, and ends when it is told to.
    struct Held {
        stream: usize,
        number: usize,
        started: Mutex<Sender<usize>>,
        end: Mutex<Receiver<()>>,
    }

    impl Task for Held {
        fn stream(&self) -> usize {
            self.stream
        }

        fn run(&self) {
            self.started.lock().unwrap().send(self.number).unwrap();
            let _ = self.end.lock().unwrap().recv_timeout(PATIENCE);
            assert!(self.number % 2 == 0, "panics must not harm the thread");
        }

        fn is_withdrawn(&self) -> bool {
            false
        }
    }

    fn held(stream: usize, number: usize, started: &Sender<usize>) -> (Arc<Held>, Sender<()>) {
        let (tell, end) = channel();
        let (started, end) = (Mutex::new(started.clone()), Mutex::new(end));
        (Arc::new(Held { stream, number, started, end }), tell)
    }

    fn await_starts(starts: &Receiver<usize>, count: usize) {
        for _ in 0..count {
            starts.recv_timeout(PATIENCE).unwrap();
        }
    }

    fn workers(idle: Duration) -> &'static Workers {
        Box::leak(Box::new(Workers::new("flexpath-test", idle)))
    }

    #[test]
    fn a_stream_takes_its_part_and_no_more() {
        let (workers, (started, starts)) = (workers(IDLE), channel());
        let tasks: Vec<_> = (0..4).map(|number| held(1, number, &started)).collect();
        let other = held(2, 4, &started);
        for (task, _) in &tasks {
            workers.submit(task.clone()).unwrap();
        }
        workers.submit(other.0.clone()).unwrap();
        let mut first: Vec<usize> = (0..3).map(|_| starts.recv_timeout(PATIENCE).unwrap()).collect();
        first.sort_unstable();
        assert_eq!(first, [0, 1, 4], "two of the first stream, and the other one's past its queue");
        assert!(starts.try_recv().is_err());
        tasks[1].1.send(()).unwrap();
        assert_eq!(starts.recv_timeout(PATIENCE), Ok(2), "the next when one has ended, be it in a panic");
        for (_, end) in tasks.iter().chain([&other]) {
            let _ = end.send(());
        }
        assert_eq!(starts.recv_timeout(PATIENCE), Ok(3));
    }

    #[test]
    fn threads_are_few_and_end_when_idle() {
        let (workers, (started, starts)) = (workers(Duration::from_millis(20)), channel());
        let tasks: Vec<_> = (0..40).map(|number| held(number, number * 2, &started)).collect();
        for (task, _) in &tasks {
            workers.submit(task.clone()).unwrap();
        }
        await_starts(&starts, LIMIT_THREADS);
        assert_eq!(workers.lock().threads, LIMIT_THREADS);
        assert!(starts.try_recv().is_err(), "no more than there are threads");
        for (_, end) in &tasks {
            let _ = end.send(());
        }
        await_starts(&starts, 40 - LIMIT_THREADS);
        let deadline = Instant::now() + PATIENCE;
        while workers.lock().threads > 0 {
            assert!(Instant::now() < deadline, "threads that do not end");
            std::thread::yield_now();
        }
        let (last, end) = held(0, 0, &started);
        end.send(()).unwrap();
        workers.submit(last).unwrap();
        assert_eq!(starts.recv_timeout(PATIENCE), Ok(0), "they start again");
    }
}
