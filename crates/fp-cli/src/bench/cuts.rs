//! How the global array is cut for the ranks. Publishers cut it along its first dimensions, subscribers along its last.
//! So each subscriber takes parts of many blocks.

use serde::{Deserialize, Serialize};

/// A part of the global array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// Its corner.
    pub(crate) start: Vec<u64>,
    /// Its extents.
    pub(crate) count: Vec<u64>,
}

impl Part {
    /// How many elements it has.
    pub(crate) fn elements(&self) -> u64 {
        self.count.iter().product()
    }
}

/// Why an array cannot be cut.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an array of {} cannot be cut into {parts} parts for {what}: make it larger, or them fewer",
    by(shape)
)]
pub(crate) struct CannotCut {
    what: &'static str,
    shape: Vec<u64>,
    parts: u32,
}

fn by(shape: &[u64]) -> String {
    shape.iter().map(u64::to_string).collect::<Vec<_>>().join("x")
}

/// The parts of all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cuts {
    /// The blocks of each publisher rank.
    pub(crate) publishers: Vec<Vec<Part>>,
    /// What each subscriber rank takes.
    pub(crate) subscribers: Vec<Part>,
}

impl Cuts {
    /// Cuts an array of that shape.
    pub(crate) fn of(
        shape: &[u64],
        publishers: u32,
        blocks: u32,
        subscribers: u32,
    ) -> Result<Self, CannotCut> {
        let whole = Part { start: vec![0; shape.len()], count: shape.to_vec() };
        let no = |what, parts| CannotCut { what, shape: shape.to_vec(), parts };
        let grid = publisher_grid(shape, publishers).ok_or(no("publishers", publishers))?;
        let other = subscriber_grid(shape, subscribers, &grid).ok_or(no("subscribers", subscribers))?;
        let cut_again = |part: &Part| {
            let grid = publisher_grid(&part.count, blocks)?;
            Some(parts(part, &grid))
        };
        let ranks = parts(&whole, &grid);
        let ranks: Option<Vec<Vec<Part>>> = ranks.iter().map(cut_again).collect();
        let publishers =
            ranks.ok_or(no("the blocks of all publishers", publishers.saturating_mul(blocks)))?;
        Ok(Self { publishers, subscribers: parts(&whole, &other) })
    }
}

/// Parts of each dimension: each prime factor where the parts are longest, of equals the first.
fn publisher_grid(shape: &[u64], ranks: u32) -> Option<Vec<u64>> {
    let mut grid = vec![1; shape.len()];
    for factor in factors(ranks) {
        let fitting = (0..shape.len()).filter(|&axis| shape[axis] >= grid[axis] * factor);
        let axis = fitting.max_by_key(|&axis| (shape[axis] / grid[axis], std::cmp::Reverse(axis)))?;
        grid[axis] *= factor;
    }
    Some(grid)
}

/// Parts of each dimension: each prime factor where the publishers cut least, of equals the last.
fn subscriber_grid(shape: &[u64], ranks: u32, publishers: &[u64]) -> Option<Vec<u64>> {
    let mut grid = vec![1; shape.len()];
    for factor in factors(ranks) {
        let fitting = (0..shape.len()).filter(|&axis| shape[axis] >= grid[axis] * factor);
        let axis = fitting.min_by_key(|&axis| (publishers[axis] * grid[axis], std::cmp::Reverse(axis)))?;
        grid[axis] *= factor;
    }
    Some(grid)
}

/// Prime factors, the largest first.
fn factors(number: u32) -> Vec<u64> {
    let (mut rest, mut factor, mut found) = (u64::from(number), 2, Vec::new());
    while rest > 1 {
        if rest % factor == 0 {
            found.push(factor);
            rest /= factor;
        } else {
            factor += 1;
        }
    }
    found.reverse();
    found
}

/// All parts of `whole` by that grid, as even as they can be, the last dimension running fastest.
fn parts(whole: &Part, grid: &[u64]) -> Vec<Part> {
    let number: u64 = grid.iter().product();
    (0..number).map(|index| part(whole, grid, index)).collect()
}

fn part(whole: &Part, grid: &[u64], index: u64) -> Part {
    let (mut rest, mut part) = (index, whole.clone());
    for axis in (0..grid.len()).rev() {
        let (at, of) = (rest % grid[axis], grid[axis]);
        rest /= of;
        let edge = |at: u64| whole.count[axis] * at / of;
        part.start[axis] += edge(at);
        part.count[axis] = edge(at + 1) - edge(at);
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_times_two_cross() {
        let cuts = Cuts::of(&[256, 256, 128], 4, 1, 2).unwrap();
        assert!(cuts.publishers.iter().all(|blocks| blocks[0].count == [128, 128, 128]));
        assert_eq!(cuts.subscribers[1], Part { start: vec![0, 0, 64], count: vec![256, 256, 64] });
    }

    #[test]
    fn every_element_has_one_owner_on_each_side() {
        for (shape, publishers, blocks, subscribers) in
            [(vec![7, 5, 3], 6, 2, 5), (vec![17], 3, 2, 4), (vec![9, 9], 7, 1, 3), (vec![1], 1, 1, 1)]
        {
            let cuts = Cuts::of(&shape, publishers, blocks, subscribers).unwrap();
            let owned: Vec<Part> = cuts.publishers.into_iter().flatten().collect();
            assert_eq!(owned.len() as u32, publishers * blocks);
            for parts in [owned, cuts.subscribers] {
                assert_eq!(owners(&shape, &parts), vec![1; shape.iter().product::<u64>() as usize]);
            }
        }
    }

    /// How many parts each element is in.
    fn owners(shape: &[u64], parts: &[Part]) -> Vec<u32> {
        let place = |index: u64| {
            let mut rest = index;
            let mut place: Vec<u64> = shape.iter().rev().map(|n| (rest % n, rest /= n).0).collect();
            place.reverse();
            place
        };
        let has = |part: &Part, place: &[u64]| {
            place
                .iter()
                .zip(&part.start)
                .zip(&part.count)
                .all(|((at, start), n)| (*start..start + n).contains(at))
        };
        let all = 0..shape.iter().product::<u64>();
        all.map(|index| parts.iter().filter(|part| has(part, &place(index))).count() as u32).collect()
    }

    #[test]
    fn what_is_too_small_is_said_so() {
        let error = Cuts::of(&[2, 3], 7, 1, 1).unwrap_err().to_string();
        assert!(error.contains("2x3") && error.contains("7 parts for publishers"), "{error}");
        assert!(Cuts::of(&[4], 2, 3, 1).is_err() && Cuts::of(&[4], 2, 2, 5).is_err());
    }
}
