//! What went up one link of the tree lately, remembered alike at both ends. What returns is said by its number
//! (`docs/protocol.md`, section 7).
//!
//! Both ends see the same reports in the same order, and forget by the same rule. So no word is needed about what the
//! other end has.

use crate::bounds::{LIMIT_RECENT, LIMIT_RECENT_BYTES};
use crate::fragment;
use fp_types::PutChanges;
use std::collections::VecDeque;
use std::sync::Arc;

struct Told {
    number: u64,
    changed: Arc<PutChanges>,
    len_bytes: usize,
}

/// The last contents of reports over one link, each once.
#[derive(Default)]
pub(crate) struct Repeats {
    /// The number of the next contents that travel.
    next: u64,
    /// What was said last comes first.
    recent: VecDeque<Told>,
}

impl Repeats {
    /// The number under which the other end knows these contents.
    pub(crate) fn number_of(&self, changed: &PutChanges) -> Option<u64> {
        self.recent.iter().find(|told| *told.changed == *changed).map(|told| told.number)
    }

    /// The number of what was said last.
    pub(crate) fn latest(&self) -> Option<u64> {
        self.recent.front().map(|told| told.number)
    }

    /// What a number stands for.
    pub(crate) fn find(&self, number: u64) -> Option<Arc<PutChanges>> {
        self.recent.iter().find(|told| told.number == number).map(|told| told.changed.clone())
    }

    /// The number was said again.
    pub(crate) fn renew(&mut self, number: u64) {
        let Some(at) = self.recent.iter().position(|told| told.number == number) else { return };
        if let Some(told) = self.recent.remove(at) {
            self.recent.push_front(told);
        }
    }

    /// Contents travelled.
    pub(crate) fn note(&mut self, changed: &PutChanges) {
        let number = self.next;
        self.next += 1;
        let len_bytes = fragment::changed_bytes(changed);
        if len_bytes > LIMIT_RECENT_BYTES {
            return;
        }
        self.recent.push_front(Told { number, changed: Arc::new(changed.clone()), len_bytes });
        self.recent.truncate(LIMIT_RECENT);
        while self.len_bytes() > LIMIT_RECENT_BYTES {
            self.recent.pop_back();
        }
    }

    fn len_bytes(&self) -> usize {
        self.recent.iter().map(|told| told.len_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_types::{Contribution, Dtype, Rank, Region, VariableDef, VariablePut};

    fn put(blocks: u64, count: u64) -> PutChanges {
        let regions = (0..blocks).map(|_| Region::new([0], [count]).expect("small"));
        let def = VariableDef::local_array("L", Dtype::U64, 1).into();
        let put = VariablePut { def, shape: None, blocks: regions.collect(), bytes: 0 };
        PutChanges::of(Rank(3), &Contribution { variables: vec![put] }).expect("blocks fit")
    }

    #[test]
    fn the_last_eight_are_remembered_and_what_is_said_again_is_the_latest() {
        let mut repeats = Repeats::default();
        (0..8).for_each(|count| repeats.note(&put(1, count)));
        assert_eq!(repeats.number_of(&put(1, 0)), Some(0));
        repeats.renew(0);
        repeats.note(&put(1, 8));
        assert_eq!((repeats.number_of(&put(1, 0)), repeats.number_of(&put(1, 1))), (Some(0), None));
        assert_eq!((repeats.latest(), repeats.find(1)), (Some(8), None));
        assert_eq!(repeats.find(0).as_deref(), Some(&put(1, 0)));
        assert_eq!(repeats.recent.len(), LIMIT_RECENT);
    }

    #[test]
    fn what_is_remembered_has_a_bound_in_bytes() {
        let mut repeats = Repeats::default();
        let third = (LIMIT_RECENT_BYTES / 3 / 16) as u64;
        for count in 0..20 {
            repeats.note(&put(third, count));
            assert!(repeats.len_bytes() <= LIMIT_RECENT_BYTES);
        }
        assert!(repeats.recent.len() >= 2 && repeats.recent.len() < LIMIT_RECENT);
        let last = repeats.latest();
        repeats.note(&put(LIMIT_RECENT_BYTES as u64, 1));
        assert_eq!(repeats.latest(), last, "it is too large to be remembered, and has a number all the same");
        repeats.note(&put(1, 1));
        assert_eq!(repeats.latest(), Some(21));
    }
}
