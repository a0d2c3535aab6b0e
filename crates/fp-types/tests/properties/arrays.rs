//! Strategies: small shapes of 0 to 8 dimensions, regions and strides inside them.

use fp_types::{BlockId, Dims, MemoryOrder, Rank, Region, Shape, StridedRegion};
use proptest::prelude::*;

/// The largest extent that keeps an array of so many dimensions to a few hundred elements.
fn max_extent(ndims: usize) -> u64 {
    [1, 40, 12, 6, 4, 3, 3, 2, 2][ndims]
}

pub(crate) fn shape() -> impl Strategy<Value = Shape> {
    (0usize..=8).prop_flat_map(shape_of)
}

pub(crate) fn shape_of(ndims: usize) -> impl Strategy<Value = Shape> {
    let extents = prop::collection::vec(1..=max_extent(ndims), ndims);
    (extents, emptied()).prop_map(|(extents, emptied)| {
        Shape::new(empty_one(Dims::from_slice(&extents).unwrap(), emptied)).unwrap()
    })
}

/// Any region of the shape; one in twelve is empty.
pub(crate) fn region_in(shape: Shape) -> impl Strategy<Value = Region> {
    let corners: Vec<_> = shape.dims().iter().map(|&extent| (0..=extent, 0..=extent)).collect();
    (corners, emptied()).prop_map(move |(corners, emptied)| {
        let (mut start, mut count) = (shape.dims().zeros_like(), shape.dims().zeros_like());
        for (dim, (a, b)) in corners.into_iter().enumerate() {
            start[dim] = a.min(b).min(shape.dims()[dim].saturating_sub(1));
            count[dim] = a.abs_diff(b).max(1).min(shape.dims()[dim] - start[dim]);
        }
        Region::new(start, empty_one(count, emptied)).unwrap()
    })
}

/// Now and then the dimension in which something is to have no extent.
fn emptied() -> impl Strategy<Value = Option<prop::sample::Index>> {
    prop_oneof![11 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)]
}

fn empty_one(mut extent: Dims, emptied: Option<prop::sample::Index>) -> Dims {
    if let (Some(emptied), true) = (emptied, extent.ndims() > 0) {
        let dim = emptied.index(extent.ndims());
        extent[dim] = 0;
    }
    extent
}

pub(crate) fn strided_in(shape: Shape) -> impl Strategy<Value = StridedRegion> {
    let strides = prop::collection::vec(1u64..=4, shape.ndims());
    (region_in(shape), strides)
        .prop_map(|(region, stride)| StridedRegion::new(region, Dims::from_slice(&stride).unwrap()).unwrap())
}

pub(crate) fn order() -> impl Strategy<Value = MemoryOrder> {
    prop_oneof![Just(MemoryOrder::RowMajor), Just(MemoryOrder::ColumnMajor)]
}

/// Up to so many regions of the shape, each with an id; some ranks put none, some put several; shuffled.
pub(crate) fn blocks_in(shape: Shape, most: usize) -> impl Strategy<Value = Vec<(BlockId, Region)>> {
    let puts = prop::collection::vec((0u32..6, region_in(shape)), 0..=most);
    puts.prop_map(number).prop_shuffle()
}

/// Gives each rank's puts their index.
fn number(puts: Vec<(u32, Region)>) -> Vec<(BlockId, Region)> {
    let mut next = [0u32; 6];
    let id = |rank: u32, next: &mut u32| {
        *next += 1;
        BlockId::new(Rank(rank), *next - 1)
    };
    puts.into_iter().map(|(rank, region)| (id(rank, &mut next[rank as usize]), region)).collect()
}
