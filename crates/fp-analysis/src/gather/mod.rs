//! How the parts of all ranks come to rank 0: within a process, or over a stream of their own.

pub(crate) mod stream;
pub(crate) mod threads;

use std::error::Error;
use std::time::Duration;

/// What goes wrong with it.
pub type GatherFailure = Box<dyn Error + Send + Sync>;

/// How soon an interrupt is noticed in a wait.
pub(crate) const NOTICE: Duration = Duration::from_millis(100);

/// Brings one message of each rank to rank 0, again and again. Each rank of an analysis has one.
pub trait Gather: Send {
    /// Hands a message over. On rank 0 that gives those of all ranks, by rank, its own among them; on others nothing.
    ///
    /// # Errors
    /// A rank is lost, or does not hand over its own in time.
    fn gather(&mut self, message: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, GatherFailure>;

    /// No more follows. Waits until what was handed over is taken.
    ///
    /// # Errors
    /// A rank is lost that had not taken it.
    fn close(self: Box<Self>) -> Result<(), GatherFailure>;
}

/// Why messages do not come together.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Missing {
    #[error("rank {rank} of the analysis is gone")]
    Gone { rank: usize },
    #[error("rank {rank} of the analysis handed over nothing within {waited:?}")]
    TimedOut { rank: usize, waited: Duration },
    #[error("interrupted while rank {rank} of the analysis was awaited")]
    Interrupted { rank: usize },
    #[error("stream {stream:?}: the ranks' parts came over it, and it is over: {ending}")]
    Ended { stream: String, ending: String },
    #[error("stream {stream:?}: of the ranks' parts nothing came within {waited:?}")]
    Nothing { stream: String, waited: Duration },
    #[error("rank {rank} of the analysis handed over no message")]
    Empty { rank: usize },
}
