//! The slow truth: all elements of a region as a list of points.

use fp_types::{DenseArray, Dims, MemoryOrder, Part, Region, StridedRegion};

/// All points of a region, the last dimension fastest; the one point of a region without dimensions.
pub(crate) fn points(region: &Region) -> Vec<Dims> {
    let mut all = vec![*region.start()];
    for dim in 0..region.ndims() {
        let coordinates = region.start()[dim]..region.end()[dim];
        all = all.iter().flat_map(|point| coordinates.clone().map(move |c| with(*point, dim, c))).collect();
    }
    all
}

fn with(mut point: Dims, dim: usize, coordinate: u64) -> Dims {
    point[dim] = coordinate;
    point
}

/// The points of a strided region, found by looking at every point of its region.
pub(crate) fn strided_points(strided: &StridedRegion) -> Vec<Dims> {
    let start = *strided.region().start();
    let taken = |point: &Dims| {
        (0..start.len()).all(|dim| (point[dim] - start[dim]).is_multiple_of(strided.stride()[dim]))
    };
    points(strided.region()).into_iter().filter(taken).collect()
}

/// The points of a part of a plan.
pub(crate) fn part_points(part: &Part) -> Vec<Dims> {
    match part {
        Part::Region(region) => points(region),
        Part::Strided(strided) => strided_points(strided),
        Part::Points(selected) => selected.iter().map(|selected| selected.point).collect(),
    }
}

/// The points in the order in which they lie in memory.
pub(crate) fn memory_points(array: &DenseArray) -> Vec<Dims> {
    let mut all = strided_points(array.elements());
    if array.order() == MemoryOrder::ColumnMajor {
        all.sort_by_key(|point| point.iter().rev().copied().collect::<Vec<u64>>());
    }
    all
}
