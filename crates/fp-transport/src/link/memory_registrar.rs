//! Who registers segments for the peers of a link. It can be kept apart from the link, as a device may take long to
//! register: whoever waits for that need not hold the link.

use crate::memory::{Mapping, Pool, Registered, Registrar, RemoteMemory, SegmentId};
use crate::verbs::{Protection, VerbsTrouble};
use std::sync::Arc;

/// Registers segments with the device of a link. Links of one stream over one device have the same; clones are the same.
#[derive(Clone)]
pub struct MemoryRegistrar {
    number: usize,
    with: Arc<dyn RegisterMapping>,
}

/// Registers a mapping for reading.
trait RegisterMapping: Send + Sync {
    fn register_mapping(&self, mapping: Arc<Mapping>) -> Result<Box<dyn Registered>, VerbsTrouble>;
}

struct Device(Arc<Protection>);

impl RegisterMapping for Device {
    fn register_mapping(&self, mapping: Arc<Mapping>) -> Result<Box<dyn Registered>, VerbsTrouble> {
        self.0.register(mapping)
    }
}

impl MemoryRegistrar {
    pub(crate) fn of(protection: &Arc<Protection>) -> MemoryRegistrar {
        MemoryRegistrar { number: protection.number(), with: Arc::new(Device(protection.clone())) }
    }

    /// Tells it from others that live, or that something is registered with.
    pub fn number(&self) -> usize {
        self.number
    }
}

impl Registrar for MemoryRegistrar {
    type Error = VerbsTrouble;

    fn number(&self) -> usize {
        self.number
    }

    fn register(&self, mapping: Arc<Mapping>) -> Result<Box<dyn Registered>, VerbsTrouble> {
        self.with.register_mapping(mapping)
    }
}

impl Pool {
    /// A segment as the peer of a verbs link may READ it. The first call for a stream's domain and device registers it,
    /// which may take long; others use the pool meanwhile. It stays registered for as long as it lives, whatever it
    /// holds. `None` if the pool has let the segment go or cannot share.
    ///
    /// # Errors
    /// [`VerbsTrouble`]: most often [`VerbsTrouble::MemoryLock`].
    pub fn remote_memory(
        &self,
        id: SegmentId,
        registrar: &MemoryRegistrar,
    ) -> Result<Option<RemoteMemory>, VerbsTrouble> {
        self.registered(id, registrar)
    }

    /// The same, if it is registered already: never waits for a device.
    pub fn known_remote_memory(&self, id: SegmentId, registrar: &MemoryRegistrar) -> Option<RemoteMemory> {
        self.known_registered(id, registrar.number)
    }
}

/// Registers nothing, but does what a test says: it may wait, or fail. It gets the length in bytes.
#[cfg(feature = "testing")]
struct MadeUp<F>(F);

#[cfg(feature = "testing")]
struct MadeUpRegistration(Arc<Mapping>);

#[cfg(feature = "testing")]
impl Registered for MadeUpRegistration {
    fn remote(&self) -> RemoteMemory {
        RemoteMemory { address: 1 << 20, key: 1, len_bytes: self.0.len() as u64 }
    }
}

#[cfg(feature = "testing")]
impl<F: Fn(u64) -> Result<(), VerbsTrouble> + Send + Sync> RegisterMapping for MadeUp<F> {
    fn register_mapping(&self, mapping: Arc<Mapping>) -> Result<Box<dyn Registered>, VerbsTrouble> {
        self.0(mapping.len() as u64)?;
        Ok(Box::new(MadeUpRegistration(mapping)))
    }
}

#[cfg(feature = "testing")]
impl MemoryRegistrar {
    /// One without a device. It is called with the length of what is to be registered, in bytes.
    pub fn made_up(
        register: impl Fn(u64) -> Result<(), VerbsTrouble> + Send + Sync + 'static,
    ) -> MemoryRegistrar {
        let with = Arc::new(MadeUp(register));
        MemoryRegistrar { number: Arc::as_ptr(&with) as *const () as usize, with }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::PoolOptions;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    const PATIENCE: Duration = Duration::from_secs(30);

    #[test]
    fn a_pool_lends_and_takes_back_while_a_device_registers_and_registers_once() {
        let pool = Pool::new(PoolOptions::default());
        let (begun, begins) = channel();
        let (go, gate) = channel::<()>();
        let (begun, gate) = (Mutex::new(begun), Mutex::new(gate));
        let registrar = MemoryRegistrar::made_up(move |len_bytes| {
            begun.lock().unwrap().send(len_bytes).unwrap();
            gate.lock().unwrap().recv_timeout(PATIENCE).map_err(|_| VerbsTrouble::NoDevice)
        });
        let loan = pool.loan(100_000, 64).unwrap().freeze();
        let segment = loan.location().unwrap().segment;
        let (pool, registrar) = (&pool, &registrar);
        std::thread::scope(|scope| {
            let register = || scope.spawn(move || pool.remote_memory(segment, registrar));
            let first = register();
            begins.recv_timeout(PATIENCE).expect("it is being registered");
            let second = register();
            let (done, lent) = channel();
            scope.spawn(move || {
                drop(pool.loan(1 << 20, 64).unwrap());
                assert_eq!(pool.known_remote_memory(segment, registrar), None, "not yet");
                done.send(pool.stats().segments_made).unwrap();
            });
            let lent = lent.recv_timeout(Duration::from_secs(10));
            go.send(()).unwrap();
            assert_eq!(lent, Ok(2), "the pool goes on meanwhile");
            let found = [first, second].map(|thread| thread.join().unwrap().unwrap().expect("it lives"));
            assert_eq!(found[0], found[1]);
            assert_eq!(pool.known_remote_memory(segment, registrar), Some(found[0]));
        });
        assert!(begins.try_recv().is_err(), "once, though two wanted it");
    }

    #[test]
    fn what_could_not_be_registered_is_tried_again() {
        let pool = Pool::new(PoolOptions::default());
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = calls.clone();
        let registrar =
            MemoryRegistrar::made_up(move |needed_bytes| match counted.fetch_add(1, Ordering::SeqCst) {
                0 => Err(VerbsTrouble::MemoryLock { needed_bytes, limit_bytes: 1 }),
                _ => Ok(()),
            });
        let loan = pool.loan(100_000, 64).unwrap().freeze();
        let segment = loan.location().unwrap().segment;
        let refused = pool.remote_memory(segment, &registrar).unwrap_err();
        assert!(matches!(refused, VerbsTrouble::MemoryLock { limit_bytes: 1, .. }), "{refused}");
        assert_eq!(pool.known_remote_memory(segment, &registrar), None);
        assert!(pool.remote_memory(segment, &registrar).unwrap().is_some());
        assert!(pool.remote_memory(segment, &registrar).unwrap().is_some());
        assert_eq!(calls.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn a_segment_that_goes_while_it_is_registered_is_told_to_nobody() {
        let pool = Pool::new(PoolOptions::default());
        let segment = pool.loan(100_000, 64).unwrap().freeze().location().unwrap().segment;
        let trimmed = pool.clone();
        let registrar = MemoryRegistrar::made_up(move |_| {
            trimmed.trim();
            Ok(())
        });
        assert_eq!(pool.remote_memory(segment, &registrar).unwrap(), None);
    }
}
