//! Dialling owners: many at a time, and no more than that.

use crate::data::taker::context::Taker;
use fp_transport::Link;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Dials under way at one time, each on a thread of its own, as most of a dial is waiting for the other side.
const LIMIT_DIALS: usize = 64;

/// A link to each contact, in their order.
pub(crate) fn dial_all(taker: Taker<'_>, contacts: &[&str], deadline: Instant) -> Vec<Result<Link, String>> {
    each_of(contacts, LIMIT_DIALS, |contact| taker.dial(contact, deadline))
        .into_iter()
        .map(|dialled| dialled.unwrap_or_else(|| Err("the dial panicked".to_owned())))
        .collect()
}

/// Does something for each of them, on this thread and on others, so many in all. Nothing comes of what panics. If the
/// system gives fewer threads, it only takes longer.
fn each_of<T: Sync, R: Send>(
    of: &[T],
    limit_threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<Option<R>> {
    let next = AtomicUsize::new(0);
    let take = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        of.get(at).map(|one| (at, one))
    };
    let serve = || {
        let mut done = Vec::new();
        while let Some((at, one)) = take() {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(one)));
            done.push((at, outcome.ok()));
        }
        done
    };
    let mut outcomes: Vec<Option<R>> = of.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, serve).ok();
        let others: Vec<_> = (1..of.len().min(limit_threads)).filter_map(start).collect();
        let ours = serve();
        let theirs = others.into_iter().filter_map(|thread| thread.join().ok()).flatten();
        ours.into_iter().chain(theirs).for_each(|(at, outcome)| outcomes[at] = outcome);
    });
    outcomes
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
        assert_eq!(doubled, numbers.iter().map(wanted).collect::<Vec<_>>());
        assert!((2..=8).contains(&most.into_inner()));
        assert!(each_of(&[] as &[usize], 8, |number| *number).is_empty());
    }
}
