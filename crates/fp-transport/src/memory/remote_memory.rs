//! What memory knows of RDMA: what a peer needs to read a segment, and who registers one for it.

use super::memory_map::Mapping;
use crate::lock::lock;
use std::sync::{Arc, Mutex, OnceLock};

/// Memory of the peer that may be read, as the peer told of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemoteMemory {
    /// Its first byte, in the peer's own address space.
    pub address: u64,
    /// The key that the peer registered it with.
    pub key: u32,
    /// Bytes.
    pub len_bytes: u64,
}

/// Registers segments, so that a peer can read them. A pool needs to know no more of devices than this.
pub(crate) trait Registrar {
    /// Why a segment cannot be registered.
    type Error;

    /// Tells this registrar from all others, as long as it lives or anything that it registered.
    fn number(&self) -> usize;

    /// Registers a whole mapping for reading.
    fn register(&self, mapping: Arc<Mapping>) -> Result<Box<dyn Registered>, Self::Error>;
}

/// A registered mapping. It keeps the mapping, and ends the registration when it is dropped.
pub(crate) trait Registered: Send + Sync {
    /// What a peer needs to read it.
    fn remote(&self) -> RemoteMemory;
}

/// A segment's registration with one registrar: to be made, under way, or made.
pub(crate) struct Registration {
    registrar: usize,
    made: OnceLock<Box<dyn Registered>>,
    /// Held by whoever makes it.
    making: Mutex<()>,
}

impl Registration {
    pub(crate) fn new(registrar: usize) -> Registration {
        Registration { registrar, made: OnceLock::new(), making: Mutex::new(()) }
    }

    /// The number of its [`Registrar`].
    pub(crate) fn registrar(&self) -> usize {
        self.registrar
    }

    /// What a peer needs, if it is made.
    pub(crate) fn known(&self) -> Option<RemoteMemory> {
        self.made.get().map(|made| made.remote())
    }

    /// Makes it, unless somebody has or does just now. After a failure whoever waited tries it.
    pub(crate) fn make<R: Registrar>(
        &self,
        registrar: &R,
        mapping: Arc<Mapping>,
    ) -> Result<RemoteMemory, R::Error> {
        let _making = lock(&self.making);
        if let Some(known) = self.known() {
            return Ok(known);
        }
        let made = registrar.register(mapping)?;
        Ok(self.made.get_or_init(|| made).remote())
    }
}
