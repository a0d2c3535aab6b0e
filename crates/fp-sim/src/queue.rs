//! Virtual time, in whatever unit: what is due, in order; of two things due at once the one that was entered first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

struct Entry<A, T> {
    at: A,
    serial: u64,
    what: T,
}

impl<A, T> PartialEq for Entry<A, T> {
    fn eq(&self, other: &Self) -> bool {
        self.serial == other.serial
    }
}

impl<A, T> Eq for Entry<A, T> {}

impl<A: Ord, T> PartialOrd for Entry<A, T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<A: Ord, T> Ord for Entry<A, T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.at, self.serial).cmp(&(&other.at, other.serial))
    }
}

/// A queue over virtual time.
pub(crate) struct Queue<A, T> {
    heap: BinaryHeap<Reverse<Entry<A, T>>>,
    serial: u64,
}

impl<A: Ord, T> Queue<A, T> {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::new(), serial: 0 }
    }

    /// Enters something that is due at this time.
    pub(crate) fn push(&mut self, at: A, what: T) {
        self.serial += 1;
        self.heap.push(Reverse(Entry { at, serial: self.serial, what }));
    }

    /// Takes what is due next.
    pub(crate) fn pop(&mut self) -> Option<(A, T)> {
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.what))
    }
}
