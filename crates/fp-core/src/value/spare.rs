//! Memory of what is over, for the next of its kind.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
struct Inner {
    memory: Option<Arc<dyn Any + Send + Sync>>,
    is_closed: bool,
}

/// One value whose memory the next one is to have. Who has it may hold this in turn: it is closed with its handle.
#[derive(Default)]
pub(crate) struct Spare(Mutex<Inner>);

impl Spare {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory, if there is some and nobody else has it any more.
    pub(crate) fn take<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let memory = self.lock().memory.take()?;
        let mut memory = memory.downcast::<T>().ok()?;
        Arc::get_mut(&mut memory).is_some().then_some(memory)
    }

    /// Keeps memory for the next one.
    pub(crate) fn keep<T: Any + Send + Sync>(&self, memory: &Arc<T>) {
        let mut inner = self.lock();
        if !inner.is_closed {
            let before = inner.memory.replace(memory.clone());
            // Dropped without the lock.
            drop(inner);
            drop(before);
        }
    }

    /// Keeps nothing any more.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        inner.is_closed = true;
        let memory = inner.memory.take();
        drop(inner);
        drop(memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_had_again_when_nobody_else_has_it() {
        let spare = Spare::default();
        let value = Arc::new(7_u64);
        spare.keep(&value);
        assert_eq!(spare.take::<u64>(), None, "it is here as well");
        spare.keep(&value);
        let place = Arc::as_ptr(&value);
        drop(value);
        assert_eq!(spare.take::<u64>().map(|memory| Arc::as_ptr(&memory)), Some(place));
        assert_eq!(spare.take::<u64>(), None);
    }

    #[test]
    fn nothing_is_kept_once_it_is_closed() {
        let (spare, early, late) = (Spare::default(), Arc::new(1_u64), Arc::new(2_u64));
        spare.keep(&early);
        spare.close();
        spare.keep(&late);
        assert_eq!([Arc::strong_count(&early), Arc::strong_count(&late)], [1, 1]);
    }
}
