//! The cohort tree: a fixed shape over the ranks, so that nobody has to agree on it.

use fp_types::Rank;

/// Children of an inner rank unless configured. With 16, a cohort of 131,072 ranks is five levels deep and no
/// rank holds more than 17 control links because of cohort size.
pub const DEFAULT_FAN_OUT: u32 = 16;

/// The parent of `rank` in a tree of `fan_out` children a rank; `None` for the lead.
pub fn parent(rank: Rank, fan_out: u32) -> Option<Rank> {
    rank.0.checked_sub(1).map(|below| Rank(below / fan_out.max(1)))
}

/// The children of `rank` in a cohort of `size` ranks, rising.
pub fn children(rank: Rank, size: u32, fan_out: u32) -> impl Iterator<Item = Rank> {
    let fan_out = u64::from(fan_out.max(1));
    let first = u64::from(rank.0) * fan_out + 1;
    let end = (first + fan_out).min(u64::from(size));
    (first..end).filter_map(|child| u32::try_from(child).ok()).map(Rank)
}

/// Levels of the tree below `rank`; 0 for a leaf.
pub fn height(rank: Rank, size: u32, fan_out: u32) -> u32 {
    let first_child = |rank: &Rank| children(*rank, size, fan_out).next();
    std::iter::successors(first_child(&rank), first_child).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_but_the_lead_is_the_child_of_its_parent() {
        for fan_out in [1u32, 2, 16] {
            for size in [1u32, 2, 16, 17, 18, 300] {
                let mut seen = 1;
                assert_eq!(height(Rank(size - 1), size, fan_out), 0);
                for rank in 0..size {
                    let below =
                        children(Rank(rank), size, fan_out).map(|child| height(child, size, fan_out) + 1);
                    assert_eq!(height(Rank(rank), size, fan_out), below.max().unwrap_or(0));
                    for child in children(Rank(rank), size, fan_out) {
                        assert_eq!(parent(child, fan_out), Some(Rank(rank)));
                        seen += 1;
                    }
                }
                assert_eq!(seen, size);
            }
        }
    }
}
