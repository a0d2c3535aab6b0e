//! How an array is cut into shards, and these into chunks.

use fp_core::{Region, RegionError};

/// The most bytes of a shard.
const MOST_SHARD: u64 = 64 << 20;
/// Fewer bytes are not worth a shard of their own.
const LEAST_SHARD: u64 = 64 << 10;
/// The bytes of a chunk of a large shard, about.
const CHUNK: u64 = 2 << 20;
/// The fewest chunks of a shard along a dimension that grows. Those without elements take no place.
const GROWING_CHUNKS: u64 = 4;

/// How one step of an array is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// The extents of a shard.
    pub(crate) shard: Vec<u64>,
    /// The extents of a chunk in it, which divide those of the shard.
    pub(crate) chunk: Vec<u64>,
}

impl Grid {
    /// For an array of this shape, about one shard for each rank.
    pub(crate) fn of(shape: &[u64], size: u64, ranks: u32) -> Self {
        let ranks = u64::from(ranks);
        let mut shard: Vec<u64> = shape.iter().map(|extent| (*extent).max(1)).collect();
        let len_bytes = bytes(&shard, size);
        let needed = len_bytes.div_ceil(MOST_SHARD).next_multiple_of(ranks);
        split(&mut shard, needed.min(len_bytes.div_ceil(LEAST_SHARD)));
        let mut chunk = shard.clone();
        split(&mut chunk, bytes(&shard, size).div_ceil(CHUNK));
        for (shard, chunk) in shard.iter_mut().zip(&chunk) {
            *shard = shard.next_multiple_of(*chunk);
        }
        Self { shard, chunk }
    }

    /// For an array that has other extents along `dim` in other steps.
    pub(crate) fn growing(shape: &[u64], dim: usize, size: u64, ranks: u32) -> Self {
        let mut chunk: Vec<u64> = shape.iter().map(|extent| (*extent).max(1)).collect();
        chunk[dim] = 1;
        let (row, rows) = (bytes(&chunk, size), shape[dim].div_ceil(u64::from(ranks)));
        let len_bytes = row.saturating_mul(rows.div_ceil(GROWING_CHUNKS)).clamp(LEAST_SHARD, CHUNK);
        chunk[dim] = (len_bytes / row).max(1);
        let most = MOST_SHARD / row.saturating_mul(chunk[dim]).max(1);
        let chunks = rows.div_ceil(chunk[dim]).max(GROWING_CHUNKS).min(most.max(1));
        let mut shard = chunk.clone();
        shard[dim] *= chunks;
        Self { shard, chunk }
    }
}

fn bytes(extents: &[u64], size: u64) -> u64 {
    extents.iter().fold(size, |product, extent| product.saturating_mul(*extent))
}

/// Cuts extents so that about so many pieces make up the whole: along one dimension if one is long enough.
fn split(extents: &mut [u64], pieces: u64) {
    let long_enough = extents.iter().position(|extent| *extent >= pieces);
    let mut left = pieces.max(1);
    for (dim, extent) in extents.iter_mut().enumerate() {
        if long_enough.is_none_or(|long| long == dim) {
            let whole = *extent;
            *extent = whole.div_ceil(left.min(whole));
            left = left.div_ceil(whole.div_ceil(*extent));
        }
    }
}

/// The shards that have elements of a region: the place of each in the grid, and what it has of the region.
pub(crate) fn shards(region: &Region, extents: &[u64]) -> Result<Vec<(Vec<u64>, Region)>, RegionError> {
    let mut found = Vec::new();
    if region.is_empty() {
        return Ok(found);
    }
    let (first, end) = (region.start(), region.end());
    let mut place: Vec<u64> = first.iter().zip(extents).map(|(start, extent)| start / extent).collect();
    loop {
        let (mut start, mut count) = (*first, *first);
        for dim in 0..place.len() {
            start[dim] = (place[dim] * extents[dim]).max(first[dim]);
            count[dim] = ((place[dim] + 1) * extents[dim]).min(end[dim]) - start[dim];
        }
        found.push((place.clone(), Region::new(start, count)?));
        let Some(dim) = (0..place.len()).rev().find(|dim| (place[*dim] + 1) * extents[*dim] < end[*dim])
        else {
            return Ok(found);
        };
        place[dim] += 1;
        for later in dim + 1..place.len() {
            place[later] = first[later] / extents[later];
        }
    }
}

/// The rank that has one of several shards: neighbours go to one rank. Few shards begin at rank `first`.
pub(crate) fn owner(shard: usize, shards: usize, ranks: u32, first: usize) -> usize {
    let ranks = ranks as usize;
    if shards < ranks { (first + shard) % ranks } else { shard * ranks / shards }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_has_a_shard_of_the_slowest_dimension() {
        let grid = Grid::of(&[1000, 512, 8], 8, 4);
        assert_eq!(grid, Grid { shard: vec![250, 512, 8], chunk: vec![63, 512, 8] }.rounded());
        assert_eq!(Grid::of(&[3, 1 << 20], 8, 4).shard, [3, 1 << 18]);
        assert_eq!(Grid::of(&[10, 10], 8, 4), Grid { shard: vec![10, 10], chunk: vec![10, 10] });
        assert_eq!(Grid::of(&[], 8, 4), Grid { shard: vec![], chunk: vec![] });
        assert_eq!(Grid::of(&[0, 5], 8, 4).shard, [1, 5]);
    }

    impl Grid {
        fn rounded(mut self) -> Self {
            self.shard[0] = self.shard[0].next_multiple_of(self.chunk[0]);
            self
        }
    }

    #[test]
    fn large_shards_are_cut_into_even_chunks() {
        for (shape, size, ranks) in
            [(vec![4096, 4096, 9], 8, 3), (vec![2, 2, 1 << 26], 4, 5), (vec![7, 11, 13, 1 << 14], 16, 2)]
        {
            let grid = Grid::of(&shape, size, ranks);
            assert!(bytes(&grid.shard, size) <= MOST_SHARD + MOST_SHARD / 4, "{grid:?}");
            assert!(bytes(&grid.chunk, size) <= 2 * CHUNK, "{grid:?}");
            assert!(grid.shard.iter().zip(&grid.chunk).all(|(s, c)| s.is_multiple_of(*c)), "{grid:?}");
        }
    }

    #[test]
    fn arrays_that_grow_have_room() {
        let grid = Grid::growing(&[0, 4], 0, 8, 4);
        assert_eq!(grid, Grid { shard: vec![8192, 4], chunk: vec![2048, 4] });
        let large = Grid::growing(&[1 << 24, 4], 0, 8, 4);
        assert_eq!(bytes(&large.shard, 8), MOST_SHARD);
    }

    #[test]
    fn shards_cover_a_region_once() {
        let region = Region::new([2, 5], [6, 5]).unwrap();
        let shards = shards(&region, &[4, 4]).unwrap();
        assert_eq!(shards.iter().map(|(_, part)| part.element_count()).sum::<u64>(), 30);
        assert_eq!(shards[0], (vec![0, 1], Region::new([2, 5], [2, 3]).unwrap()));
        assert_eq!(shards[3], (vec![1, 2], Region::new([4, 8], [4, 2]).unwrap()));
        assert_eq!(shards.len(), 4);
    }

    #[test]
    fn all_ranks_have_about_as_many_shards() {
        let owners: Vec<usize> = (0..8).map(|shard| owner(shard, 8, 4, 3)).collect();
        assert_eq!(owners, [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!([owner(0, 2, 4, 3), owner(1, 2, 4, 3)], [3, 0]);
    }
}
