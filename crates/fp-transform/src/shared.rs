//! Several subscriptions may ask the same of one step. It is derived once. The first who asks computes it, the others
//! wait for it.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fp_types::StepId;

use crate::derivation::DerivationId;

/// Results by step and derivation, kept until their step is [forgotten](Self::forget); or by whatever else tells them
/// apart.
pub struct Shared<T, E, K = (StepId, DerivationId)> {
    state: Mutex<State<T, E, K>>,
    changed: Condvar,
    limit_results: usize,
}

struct State<T, E, K> {
    slots: BTreeMap<K, Slot<T, E>>,
    counts: SharedCounts,
}

enum Slot<T, E> {
    /// Somebody computes it.
    Computing,
    Done(Result<Arc<T>, E>),
}

/// How often something was computed, and how often it was there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedCounts {
    /// Derivations that were computed.
    pub computed: u64,
    /// Times that a result was used again.
    pub reused: u64,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShareError<E> {
    /// Who computes it did not end in time.
    #[error("somebody else derives it already, and did not end within {waited:?}")]
    TimedOut {
        /// How long was waited.
        waited: Duration,
    },
    /// It failed, for all who asked.
    #[error(transparent)]
    Failed(E),
}

impl<T, E: Clone> Shared<T, E> {
    /// The result of that derivation of that step: computed by the first who asks. Others wait at most `limit`.
    ///
    /// # Errors
    /// Computing it failed, now or when it was first asked for; or waiting did.
    pub fn derive(
        &self,
        step: StepId,
        derivation: DerivationId,
        limit: Duration,
        compute: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, ShareError<E>> {
        self.derive_as((step, derivation), limit, compute)
    }

    /// Lets go of all results of steps up to that one: they were reclaimed.
    pub fn forget(&self, step: StepId) {
        self.lock().slots.retain(|(of, _), slot| *of > step || matches!(slot, Slot::Computing));
    }
}

impl<T, E: Clone, K: Ord + Clone> Shared<T, E, K> {
    /// Room for that many results; beyond it the results of the earliest steps go first.
    pub fn new(limit_results: usize) -> Self {
        let state = State { slots: BTreeMap::new(), counts: SharedCounts::default() };
        Self { state: Mutex::new(state), changed: Condvar::new(), limit_results: limit_results.max(1) }
    }

    /// Forgets all that was computed.
    pub fn clear(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.counts = SharedCounts::default();
        if !state.slots.is_empty() {
            state.slots.clear();
        }
    }

    /// What that key stands for: computed by the first who asks. Others wait at most `limit`.
    ///
    /// # Errors
    /// As [`Shared::derive`].
    pub fn derive_as(
        &self,
        key: K,
        limit: Duration,
        compute: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, ShareError<E>> {
        if let Some(result) = self.find(&key, limit)? {
            return result.map_err(ShareError::Failed);
        }
        // If computing panics, the place is given up and the next who asks computes.
        let place = Place { shared: self, key };
        let result = compute().map(Arc::new);
        place.fill(result.clone());
        result.map_err(ShareError::Failed)
    }

    /// What is there or comes in time; nothing if the caller is the one to compute it.
    #[allow(clippy::type_complexity)]
    fn find(&self, key: &K, limit: Duration) -> Result<Option<Result<Arc<T>, E>>, ShareError<E>> {
        let begun = Instant::now();
        let mut state = self.lock();
        loop {
            match state.slots.get(key) {
                None => {
                    state.slots.insert(key.clone(), Slot::Computing);
                    state.counts.computed += 1;
                    return Ok(None);
                }
                Some(Slot::Done(result)) => {
                    let result = result.clone();
                    state.counts.reused += 1;
                    return Ok(Some(result));
                }
                Some(Slot::Computing) => {}
            }
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                return Err(ShareError::TimedOut { waited: limit });
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Lets go of one result, so that who asks next computes it again.
    pub fn discard(&self, key: &K) {
        let mut state = self.lock();
        if matches!(state.slots.get(key), Some(Slot::Done(_))) {
            state.slots.remove(key);
        }
    }

    /// How much sharing there was.
    pub fn counts(&self) -> SharedCounts {
        self.lock().counts
    }

    fn lock(&self) -> MutexGuard<'_, State<T, E, K>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of a result that is being computed.
struct Place<'a, T, E: Clone, K: Ord + Clone> {
    shared: &'a Shared<T, E, K>,
    key: K,
}

impl<T, E: Clone, K: Ord + Clone> Place<'_, T, E, K> {
    fn fill(self, result: Result<Arc<T>, E>) {
        let mut state = self.shared.lock();
        state.slots.insert(self.key.clone(), Slot::Done(result));
        while state.slots.len() > self.shared.limit_results {
            let done = state.slots.iter().find(|(_, slot)| matches!(slot, Slot::Done(_)));
            let Some(first) = done.map(|(key, _)| key.clone()) else {
                break;
            };
            state.slots.remove(&first);
        }
    }
}

impl<T, E: Clone, K: Ord + Clone> Drop for Place<'_, T, E, K> {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        if matches!(state.slots.get(&self.key), Some(Slot::Computing)) {
            state.slots.remove(&self.key);
        }
        drop(state);
        self.shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    const PATIENCE: Duration = Duration::from_secs(20);
    const ID: DerivationId = DerivationId([7; 16]);

    #[test]
    fn who_asks_at_once_gets_one_result() {
        let (shared, computed) = (Shared::<u32, String>::new(8), AtomicU32::new(0));
        std::thread::scope(|scope| {
            let ask = || {
                shared.derive(StepId(3), ID, PATIENCE, || {
                    std::thread::yield_now();
                    Ok(computed.fetch_add(1, Ordering::SeqCst))
                })
            };
            let asked: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            assert!(asked.into_iter().all(|asked| asked.join().unwrap() == Ok(Arc::new(0))));
        });
        assert_eq!(shared.counts(), SharedCounts { computed: 1, reused: 7 });
        shared.forget(StepId(3));
        assert_eq!(shared.derive(StepId(3), ID, PATIENCE, || Ok(9)), Ok(Arc::new(9)));
    }

    #[test]
    fn failures_are_shared_and_panics_are_not() {
        let shared = Shared::<u32, String>::new(2);
        let failed = shared.derive(StepId(1), ID, PATIENCE, || Err("no".to_owned()));
        assert_eq!(failed, Err(ShareError::Failed("no".into())));
        assert_eq!(shared.derive(StepId(1), ID, PATIENCE, || Ok(1)), failed);
        let panicking = std::panic::AssertUnwindSafe(|| {
            let _ = shared.derive(StepId(2), ID, PATIENCE, || panic!("on the way"));
        });
        assert!(std::panic::catch_unwind(panicking).is_err());
        assert_eq!(shared.derive(StepId(2), ID, PATIENCE, || Ok(5)), Ok(Arc::new(5)));
        assert_eq!(shared.derive(StepId(3), ID, PATIENCE, || Ok(6)), Ok(Arc::new(6)));
        assert_eq!(shared.derive(StepId(1), ID, PATIENCE, || Ok(1)), Ok(Arc::new(1)), "it had to go");
    }

    #[test]
    fn waiting_for_others_has_an_end() {
        let shared = Shared::<u32, String>::new(2);
        let limit = Duration::from_millis(1);
        let outer = shared.derive(StepId(1), ID, PATIENCE, || {
            let inner = shared.derive(StepId(1), ID, limit, || Ok(1));
            assert_eq!(inner, Err(ShareError::TimedOut { waited: limit }));
            Ok(2)
        });
        assert_eq!(outer, Ok(Arc::new(2)));
    }

    #[test]
    fn what_is_discarded_is_computed_again() {
        let shared = Shared::<u32, String, &str>::new(2);
        let ask = |value| shared.derive_as("bonds", PATIENCE, move || Ok(value));
        assert_eq!((ask(1), ask(2)), (Ok(Arc::new(1)), Ok(Arc::new(1))));
        shared.discard(&"bonds");
        assert_eq!(ask(3), Ok(Arc::new(3)));
    }
}
