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

/// The child of `top` in whose subtree `rank` is; none if it is in none of them.
pub fn child_towards(top: Rank, rank: Rank, fan_out: u32) -> Option<Rank> {
    let mut way =
        std::iter::successors(Some(rank), |&rank| parent(rank, fan_out)).take_while(|&rank| rank > top);
    way.find(|&rank| parent(rank, fan_out) == Some(top))
}

/// Ranks in the subtree of `top`, itself among them.
pub fn subtree_size(top: Rank, size: u32, fan_out: u32) -> u32 {
    let (fan_out, size) = (u64::from(fan_out.max(1)), u64::from(size));
    let below = |&(first, last): &(u64, u64)| Some((first * fan_out + 1, (last + 1) * fan_out));
    let levels = std::iter::successors(Some((u64::from(top.0), u64::from(top.0))), below);
    let within = levels.take_while(|&(first, _)| first < size);
    within.map(|(first, last)| (last.min(size - 1) + 1 - first) as u32).sum()
}

/// Levels of the tree below `rank`; 0 for a leaf.
pub fn height(rank: Rank, size: u32, fan_out: u32) -> u32 {
    let first_child = |rank: &Rank| children(*rank, size, fan_out).next();
    std::iter::successors(first_child(&rank), first_child).count() as u32
}

/// Whether neighbouring ranks, from the first to the last, are all in the subtree of `top`, which is not the lead.
pub fn are_below(top: Rank, (first, last): (Rank, Rank), fan_out: u32) -> bool {
    let levels = |rank: Rank| {
        let way = std::iter::successors(Some(rank), |&rank| parent(rank, fan_out));
        way.take_while(|&rank| rank >= top)
            .enumerate()
            .find(|&(_, rank)| rank == top)
            .map(|(levels, _)| levels)
    };
    // A level of a subtree is a range of ranks, and does not touch the next: but in a tree without branches.
    match (levels(first), levels(last)) {
        (Some(one), Some(other)) => first <= last && (one == other || fan_out <= 1),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subtree_has_as_many_ranks_as_are_below() {
        for (fan_out, size) in [(1, 9), (2, 1), (2, 12), (3, 40), (16, 300)] {
            for top in (0..size).map(Rank) {
                let is_below = |rank: Rank| {
                    std::iter::successors(Some(rank), |&rank| parent(rank, fan_out)).any(|it| it == top)
                };
                let below = (0..size).map(Rank).filter(|&rank| is_below(rank)).count();
                assert_eq!(subtree_size(top, size, fan_out), below as u32, "{top} of {size} by {fan_out}");
            }
        }
    }

    #[test]
    fn a_subtree_is_what_climbs_to_its_top() {
        for fan_out in [1u32, 2, 3, 16] {
            let climbs = |top: u32, rank: u32| {
                std::iter::successors(Some(Rank(rank)), |&rank| parent(rank, fan_out))
                    .any(|rank| rank.0 == top)
            };
            for top in 1..6 {
                for first in 0..60 {
                    for last in first..60 {
                        let expected = (first..=last).all(|rank| climbs(top, rank));
                        let found = are_below(Rank(top), (Rank(first), Rank(last)), fan_out);
                        assert_eq!(found, expected, "{first} to {last} below {top}, {fan_out} children each");
                    }
                }
            }
        }
    }

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
