//! Work that is mostly waiting, done for many at one time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does something for each of them, on this thread and on others, so many in all; a panic is the outcome of that one
/// alone. If the system gives fewer threads, it only takes longer.
pub(crate) fn each_of<T: Sync, R: Send>(
    of: &[T],
    limit_threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<thread::Result<R>> {
    let next = AtomicUsize::new(0);
    let take = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        of.get(at).map(|one| (at, one))
    };
    let serve = || {
        let mut done = Vec::new();
        while let Some((at, one)) = take() {
            done.push((at, catch_unwind(AssertUnwindSafe(|| work(one)))));
        }
        done
    };
    let mut outcomes = thread::scope(|scope| {
        let start = |_| thread::Builder::new().spawn_scoped(scope, serve).ok();
        let others: Vec<_> = (1..of.len().min(limit_threads)).filter_map(start).collect();
        let mut outcomes = serve();
        outcomes.extend(others.into_iter().filter_map(|thread| thread.join().ok()).flatten());
        outcomes
    });
    outcomes.sort_by_key(|(at, _)| *at);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_done_once_by_no_more_threads_than_may_be() {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let together = std::sync::Barrier::new(2);
        let numbers: Vec<usize> = (0..100).collect();
        let doubled = each_of(&numbers, 8, |number| {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            // Two at a time: one thread alone would wait for ever.
            together.wait();
            now.fetch_sub(1, Ordering::SeqCst);
            assert!(*number != 70, "one of them panics");
            2 * number
        });
        let wanted = |number: &usize| (*number != 70).then_some(2 * number);
        let doubled: Vec<Option<usize>> = doubled.into_iter().map(Result::ok).collect();
        assert_eq!(doubled, numbers.iter().map(wanted).collect::<Vec<_>>());
        assert!((2..=8).contains(&most.into_inner()));
        assert!(each_of(&[] as &[usize], 8, |number| *number).is_empty());
    }
}
