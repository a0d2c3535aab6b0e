//! The smallest executor there is: all tasks on this thread, each polled when it was woken and never else.

use super::PATIENCE;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Instant;

/// A waker that tells whether it was woken.
pub struct Bell {
    rung: AtomicBool,
    thread: Thread,
}

impl Bell {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { rung: AtomicBool::new(false), thread: std::thread::current() })
    }

    pub fn waker(self: &Arc<Self>) -> Waker {
        self.clone().into()
    }

    pub fn take(&self) -> bool {
        self.rung.swap(false, Ordering::AcqRel)
    }

    /// Waits until it is rung.
    pub fn listen(&self) {
        let deadline = Instant::now() + PATIENCE;
        while !self.take() {
            assert!(Instant::now() < deadline, "nobody woke the task");
            std::thread::park_timeout(deadline.saturating_duration_since(Instant::now()));
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// Polls once, with the bell as its waker.
pub fn poll<F: Future + ?Sized>(future: Pin<&mut F>, bell: &Arc<Bell>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&bell.waker()))
}

/// Runs one future.
pub fn block_on<F: Future>(future: F) -> F::Output {
    counted(future).0
}

/// Runs one future, and tells how often it was polled.
pub fn counted<F: Future>(future: F) -> (F::Output, usize) {
    let (mut future, bell) = (pin!(future), Bell::new());
    for polls in 1.. {
        if let Poll::Ready(output) = poll(future.as_mut(), &bell) {
            return (output, polls);
        }
        bell.listen();
    }
    unreachable!("a loop without end")
}

/// A task of [`run`].
pub type Task<'t> = Pin<Box<dyn Future<Output = ()> + 't>>;

/// Runs all tasks on this thread, taking turns; how often they were polled in all.
pub fn run(tasks: Vec<Task<'_>>) -> usize {
    let polls = AtomicUsize::new(0);
    let mut tasks: Vec<_> = tasks.into_iter().map(|task| (task, Bell::new())).collect();
    tasks.iter().for_each(|(_, bell)| bell.rung.store(true, Ordering::Relaxed));
    while !tasks.is_empty() {
        let before = polls.load(Ordering::Relaxed);
        tasks.retain_mut(|(task, bell)| {
            if !bell.take() {
                return true;
            }
            polls.fetch_add(1, Ordering::Relaxed);
            poll(task.as_mut(), bell).is_pending()
        });
        if polls.load(Ordering::Relaxed) == before && !tasks.is_empty() {
            let parked = Instant::now();
            std::thread::park_timeout(PATIENCE);
            assert!(parked.elapsed() < PATIENCE, "{} tasks that nobody wakes", tasks.len());
        }
    }
    polls.into_inner()
}
