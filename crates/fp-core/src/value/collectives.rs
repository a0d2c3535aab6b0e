//! What the ranks of a cohort can do together before they know one another: collectives that a launcher such as MPI
//! supplies.

use crate::error::gather::CollectiveFailure;
use std::fmt;
use std::sync::Arc;

/// Collectives over the ranks of one cohort, in the order of their ranks.
///
/// Every rank that opens a stream calls `allgather` once and then `barrier` once. It does so on the thread that called
/// `open`, before `open` returns: so an MPI that was started without threads will do. Neither is called at any other
/// time, in a step or in `close`. How long they wait for ranks that do not come is the launcher's matter.
pub trait Collectives: Send + Sync {
    /// Gives `own` (512 bytes, on every rank) to all ranks and returns the bytes of all of them, rising by rank.
    ///
    /// # Errors
    /// What the launcher says.
    fn allgather(&self, own: &[u8]) -> Result<Vec<u8>, CollectiveFailure>;

    /// Returns when every rank has called it.
    ///
    /// # Errors
    /// What the launcher says.
    fn barrier(&self) -> Result<(), CollectiveFailure>;
}

/// The collectives in a set of options.
#[derive(Clone)]
pub struct SharedCollectives(Arc<dyn Collectives>);

impl SharedCollectives {
    /// For a set of options.
    pub fn new(collectives: impl Collectives + 'static) -> Self {
        Self(Arc::new(collectives))
    }

    pub(crate) fn inner(&self) -> &dyn Collectives {
        &*self.0
    }
}

impl fmt::Debug for SharedCollectives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedCollectives")
    }
}
