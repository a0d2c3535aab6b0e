//! How many elements regions of a step share with those of the step before.

use std::collections::BTreeMap;

use crate::part::Overlap;
use crate::plane::Run;
use crate::slab::Labels;

/// Counts them. Of another array, or another range of planes of it, nothing is shared.
pub(crate) fn overlaps(before: &Labels, now: &Labels) -> Vec<Overlap> {
    let mut shared = BTreeMap::new();
    if before.extents == now.extents && before.slab == now.slab {
        (0..now.rows.len()).for_each(|row| count_row(before.rows.row(row), now.rows.row(row), &mut shared));
    }
    shared.into_iter().map(|((before, now), count)| Overlap { before, now, count }).collect()
}

fn count_row(before: &[Run], now: &[Run], shared: &mut BTreeMap<(u32, u32), u64>) {
    let (mut at, mut beside) = (0, 0);
    while let (Some(one), Some(other)) = (before.get(at), now.get(beside)) {
        let count = one.end.min(other.end).saturating_sub(one.start.max(other.start));
        if count > 0 {
            *shared.entry((one.node, other.node)).or_default() += u64::from(count);
        }
        if one.end < other.end { at += 1 } else { beside += 1 }
    }
}
