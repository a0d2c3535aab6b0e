//! Layouts: content ids, joined offsets, and the spatial index against a look at every block.

use fp_types::{BlockId, Dims, Layout, Rank, Region, Shape};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::arrays::{blocks_in, region_in, shape, shape_of};

/// What the index should find.
fn scan(blocks: &[(BlockId, Region)], region: &Region) -> Vec<(BlockId, Region)> {
    let mut found: Vec<_> = blocks.iter().filter(|(_, block)| block.overlaps(region)).copied().collect();
    found.sort();
    found
}

proptest! {
    #[test]
    fn ids_depend_on_content_alone(
        (shape, blocks, changed) in shape().prop_flat_map(|shape| {
            (Just(shape), blocks_in(shape, 12), (any::<Index>(), region_in(shape)))
        }),
        shuffle in any::<u64>(),
    ) {
        let layout = Layout::global(shape, blocks.clone()).unwrap();
        let mut other = blocks.clone();
        other.sort_by_key(|(block, _)| (u64::from(block.rank.0) ^ shuffle).wrapping_mul(u64::from(block.index) | 1));
        prop_assert_eq!(&Layout::global(shape, other.clone()).unwrap(), &layout);
        if !other.is_empty() {
            let place = changed.0.index(other.len());
            let same = other[place].1 == changed.1;
            other[place].1 = changed.1;
            prop_assert_eq!(Layout::global(shape, other).unwrap().id() == layout.id(), same);
        }
    }

    #[test]
    fn the_index_finds_what_a_scan_finds(
        (shape, blocks, regions) in shape().prop_flat_map(|shape| {
            (Just(shape), blocks_in(shape, 120), prop::collection::vec(region_in(shape), 8))
        }),
    ) {
        let layout = Layout::global(shape, blocks.clone()).unwrap();
        for region in regions {
            prop_assert_eq!(layout.touching(&region).collect::<Vec<_>>(), scan(&blocks, &region));
        }
    }

    #[test]
    fn joined_offsets_are_prefix_sums(
        (ndims, joined_dim, others, counts) in (1usize..=8).prop_flat_map(|ndims| {
            let counts = prop::collection::vec((0u32..6, 0u64..5), 0..20);
            (Just(ndims), 0..ndims, shape_of(ndims), counts)
        }),
    ) {
        let mut blocks: Vec<(BlockId, Dims)> = Vec::new();
        for (index, (rank, count)) in counts.into_iter().enumerate() {
            let mut extent = *others.dims();
            extent[joined_dim] = count;
            blocks.push((BlockId::new(Rank(rank), index as u32), extent));
        }
        let layout = Layout::joined(ndims, joined_dim, blocks.clone()).unwrap();
        blocks.sort();
        let mut end = 0;
        for ((block, extent), (found, region)) in blocks.iter().zip(layout.blocks()) {
            prop_assert_eq!((*block, end, *extent), (found, region.start()[joined_dim], *region.count()));
            end += extent[joined_dim];
        }
        prop_assert_eq!(layout.block_count(), blocks.len());
        prop_assert_eq!(layout.shape().map(|shape| shape.dims()[joined_dim]), Some(end));
    }
}

/// Many blocks of unlike sizes, so that the tree has several levels.
#[test]
fn the_index_finds_what_a_scan_finds_among_thousands() {
    let mut random = Random(7);
    let shape = Shape::new([1 << 34, 1000, 1000]).unwrap();
    let mut region = |largest: u64| {
        let count = [random.below(largest << 20), random.below(largest), random.below(largest)];
        let start = [
            random.below((1 << 34) - count[0]),
            random.below(1000 - count[1]),
            random.below(1000 - count[2]),
        ];
        Region::new(start, count).unwrap()
    };
    let mut blocks: Vec<(BlockId, Region)> = (0..5000)
        .map(|rank| (BlockId::new(Rank(rank), 0), region(if rank % 100 == 0 { 500 } else { 20 })))
        .collect();
    let layout = Layout::global(shape, blocks.clone()).unwrap();
    blocks.sort();
    for largest in [2, 50, 900] {
        for _ in 0..20 {
            let region = region(largest);
            assert_eq!(layout.touching(&region).collect::<Vec<_>>(), scan(&blocks, &region));
        }
    }
}

/// A small generator (xorshift), so that the test is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        for (left, shift) in [(true, 13), (false, 7), (true, 17)] {
            self.0 ^= if left { self.0 << shift } else { self.0 >> shift };
        }
        self.0 % bound.max(1)
    }
}
