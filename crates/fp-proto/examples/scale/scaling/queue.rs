//! Virtual time in nanoseconds: what is due, in order; of two things due at once the one that was entered first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

struct Entry<T> {
    at_ns: u64,
    serial: u64,
    what: T,
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.serial == other.serial
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at_ns, self.serial).cmp(&(other.at_ns, other.serial))
    }
}

/// A queue over virtual time.
pub(crate) struct Queue<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    serial: u64,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        Self { heap: BinaryHeap::new(), serial: 0 }
    }

    /// Enters something that is due at this nanosecond.
    pub(crate) fn push(&mut self, at_ns: u64, what: T) {
        self.serial += 1;
        self.heap.push(Reverse(Entry { at_ns, serial: self.serial, what }));
    }

    /// Takes what is due next.
    pub(crate) fn pop(&mut self) -> Option<(u64, T)> {
        self.heap.pop().map(|Reverse(entry)| (entry.at_ns, entry.what))
    }
}
