//! The words that the ends of a ring read and write: memory that two processes map. In a test they are those of a model
//! of memory, which tries every order that a machine may choose.

use super::super::memory_map::Mapping;
use super::super::peer_segment::MappedSegment;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// A word that another process may change at any time.
pub(super) trait Word {
    fn load(&self, order: Ordering) -> u64;
    fn store(&self, value: u64, order: Ordering);
    /// Keeps what stands before it from what stands behind it, as all threads see it.
    fn fence();
}

/// Memory made of such words.
pub(super) trait Words {
    type Word: Word;
    fn words(&self) -> &[Self::Word];
}

impl Word for AtomicU64 {
    #[inline]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }

    #[inline]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }

    #[inline]
    fn fence() {
        fence(Ordering::SeqCst);
    }
}

impl Words for Mapping {
    type Word = AtomicU64;

    #[inline]
    fn words(&self) -> &[AtomicU64] {
        Mapping::words(self)
    }
}

impl Words for MappedSegment {
    type Word = AtomicU64;

    #[inline]
    fn words(&self) -> &[AtomicU64] {
        MappedSegment::words(self)
    }
}
