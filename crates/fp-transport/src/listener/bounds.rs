//! How many connections a listener holds before it knows whose they are, and how many descriptors it leaves to the
//! program.

use super::ListenOptions;
use rustix::process::{Resource, getrlimit};
use std::sync::atomic::{AtomicU64, Ordering};

/// Of the descriptors that the process may have, one of so many is for handshakes at most.
const HANDSHAKES_SHARE: u64 = 8;
/// Of the descriptors that the process may have, one of so many is left to the program.
const KEPT_SHARE: u64 = 4;
/// So many handshakes may go on however few descriptors there are.
const LEAST_HANDSHAKES: u64 = 16;

/// What a listener did to stay within its bounds.
#[derive(Debug, Default)]
pub struct ListenCounts {
    dropped: AtomicU64,
    turned_away: AtomicU64,
}

impl ListenCounts {
    /// Handshakes that were given up, the oldest first, for a newcomer.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Newcomers that were told `Busy` as there was nothing to give up.
    pub fn turned_away(&self) -> u64 {
        self.turned_away.load(Ordering::Relaxed)
    }

    pub(super) fn count_dropped(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_turned_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }
}

/// The bounds, as the limit of descriptors is now.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Handshakes at one time.
    pub(super) total: usize,
    /// Those of one origin.
    pub(super) each_origin: usize,
    /// Descriptors of this number and above are the program's. The system gives the lowest that is free, so a number
    /// tells how many are taken.
    pub(super) first_kept: u64,
}

impl Bounds {
    pub(super) fn now(options: &ListenOptions) -> Bounds {
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let share = usize::try_from((limit / HANDSHAKES_SHARE).max(LEAST_HANDSHAKES)).unwrap_or(usize::MAX);
        let total = options.handshakes_limit.min(share);
        let kept = options.kept_descriptors.unwrap_or(limit / KEPT_SHARE);
        Bounds { total, each_origin: total.div_ceil(2), first_kept: limit.saturating_sub(kept) }
    }
}
