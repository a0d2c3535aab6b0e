//! What memory knows of RDMA: what a peer needs to read a segment, and who registers one for it.

use super::memory_map::Mapping;
use std::sync::Arc;

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
    /// The number of its [`Registrar`].
    fn registrar(&self) -> usize;

    /// What a peer needs to read it.
    fn remote(&self) -> RemoteMemory;
}
