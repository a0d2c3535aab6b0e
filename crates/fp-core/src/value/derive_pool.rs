//! The threads of the process that run derivations.

use fp_transform::CallPool;
use std::sync::OnceLock;

/// Threads that derive in this process, and calls that may wait for one.
pub(crate) const THREADS: usize = 2;

const LIMIT_QUEUED: usize = 64;

pub(crate) fn pool() -> &'static CallPool {
    static POOL: OnceLock<CallPool> = OnceLock::new();
    POOL.get_or_init(|| CallPool::new(THREADS, LIMIT_QUEUED))
}
