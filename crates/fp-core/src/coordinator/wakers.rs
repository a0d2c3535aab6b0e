//! Tasks that wait for an endpoint. Whoever drives it wakes them when something has happened. The background thread
//! wakes them at their deadlines.
//!
//! A task that has looked in vain registers under the lock of the endpoint's state. Whoever changes the state lets that
//! lock go, and then wakes. So no change is missed. A wake runs foreign code, which may drop what holds a handle of
//! ours: it never runs under a lock of ours.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Instant;

/// What a task waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// Anything that happens on the endpoint, or the deadline.
    News,
    /// The deadline alone: what it waits for besides comes from elsewhere.
    Deadline,
}

struct Waiting {
    waker: Waker,
    awaited: Awaited,
    due: Instant,
}

/// The tasks that wait for one endpoint.
#[derive(Default)]
pub(crate) struct Wakers {
    waiting: Mutex<BTreeMap<u64, Waiting>>,
    /// How many they are: mostly none, which whoever drives sees without the lock.
    count: AtomicUsize,
    next: AtomicU64,
}

/// A task's place among those that wait; it leaves when this is dropped.
pub(crate) struct Seat<'w> {
    wakers: &'w Wakers,
    number: u64,
}

/// A waker that was replaced, to be dropped outside every lock.
#[must_use]
pub(crate) struct Replaced(#[allow(dead_code)] Option<Waker>);

impl Wakers {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place to register under.
    pub(crate) fn seat(&self) -> Seat<'_> {
        Seat { wakers: self, number: self.next.fetch_add(1, Ordering::Relaxed) }
    }

    /// Whether anybody waits for news.
    pub(crate) fn any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
            && self.lock().values().any(|waiting| waiting.awaited == Awaited::News)
    }

    /// The first deadline.
    pub(crate) fn due(&self) -> Option<Instant> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.lock().values().map(|waiting| waiting.due).min()
    }

    /// Something has happened.
    pub(crate) fn wake_all(&self) {
        self.wake(|waiting| waiting.awaited == Awaited::News);
    }

    /// Wakes those whose deadline is past.
    pub(crate) fn wake_due(&self, now: Instant) {
        self.wake(|waiting| waiting.due <= now);
    }

    #[inline]
    fn wake(&self, which: impl Fn(&Waiting) -> bool) {
        // Mostly nobody waits.
        if self.count.load(Ordering::Acquire) > 0 {
            self.wake_some(which);
        }
    }

    fn wake_some(&self, which: impl Fn(&Waiting) -> bool) {
        let mut all = self.lock();
        let woken: Vec<Waiting> = all.extract_if(.., |_, waiting| which(waiting)).map(|(_, it)| it).collect();
        self.count.store(all.len(), Ordering::Release);
        drop(all);
        woken.into_iter().for_each(|waiting| waiting.waker.wake());
    }
}

impl Seat<'_> {
    /// Wants to be woken, at the latest when it is `due`.
    pub(crate) fn register(&self, waker: Waker, awaited: Awaited, due: Instant) -> Replaced {
        let mut all = self.wakers.lock();
        let replaced = all.insert(self.number, Waiting { waker, awaited, due });
        self.wakers.count.store(all.len(), Ordering::Release);
        drop(all);
        Replaced(replaced.map(|waiting| waiting.waker))
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        if self.wakers.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut all = self.wakers.lock();
        let left = all.remove(&self.number);
        self.wakers.count.store(all.len(), Ordering::Release);
        drop(all);
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::task::Wake;
    use std::time::Duration;

    #[derive(Default)]
    struct Bell(AtomicUsize);

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn rung(bell: &Arc<Bell>) -> usize {
        bell.0.load(Ordering::Relaxed)
    }

    #[test]
    fn each_is_woken_once_for_what_it_awaits() {
        let (wakers, news, late) = (Wakers::default(), Arc::new(Bell::default()), Arc::new(Bell::default()));
        let now = Instant::now();
        let (first, second) = (wakers.seat(), wakers.seat());
        let _ = first.register(news.clone().into(), Awaited::News, now + Duration::from_secs(9));
        let _ = second.register(late.clone().into(), Awaited::Deadline, now + Duration::from_secs(5));
        assert_eq!(wakers.due(), Some(now + Duration::from_secs(5)));
        wakers.wake_all();
        wakers.wake_all();
        assert_eq!((rung(&news), rung(&late)), (1, 0));
        wakers.wake_due(now + Duration::from_secs(4));
        assert_eq!(rung(&late), 0);
        wakers.wake_due(now + Duration::from_secs(5));
        assert_eq!((rung(&news), rung(&late)), (1, 1));
        assert_eq!(wakers.due(), None);
    }

    #[test]
    fn who_left_is_not_woken() {
        let (wakers, bell) = (Wakers::default(), Arc::new(Bell::default()));
        let seat = wakers.seat();
        let _ = seat.register(bell.clone().into(), Awaited::News, Instant::now());
        assert!(wakers.any());
        drop(seat);
        assert!(!wakers.any());
        wakers.wake_all();
        assert_eq!(rung(&bell), 0);
        assert_eq!(Arc::strong_count(&bell), 1, "its waker is gone too");
    }
}
