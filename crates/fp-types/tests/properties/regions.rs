//! Regions and strided regions, element by element.

use std::collections::BTreeSet;

use fp_types::{DenseArray, Dims, Region, Shape, StridedRegion};
use proptest::prelude::*;

use crate::arrays::{order, region_in, shape, strided_in};
use crate::oracle::{memory_points, points, strided_points};

/// A point of another number of dimensions is in no array.
#[test]
fn nothing_is_around_a_point_that_is_not_there() {
    let shape = Shape::new([4, 6]).expect("a shape");
    for outside in [&[4, 0][..], &[0, 6], &[1], &[1, 1, 1], &[u64::MAX, 0]] {
        let point = Dims::from_slice(outside).expect("few dimensions");
        assert_eq!(Region::around(&point, 3, &shape), None, "{outside:?}");
    }
}

fn pair() -> impl Strategy<Value = (Region, Region)> {
    shape().prop_flat_map(|shape| (region_in(shape), region_in(shape)))
}

fn set(points: Vec<Dims>) -> BTreeSet<Dims> {
    points.into_iter().collect()
}

proptest! {
    #[test]
    fn intersection_and_subtraction_split_a_region((a, b) in pair()) {
        let (in_a, in_b) = (set(points(&a)), set(points(&b)));
        let common = a.intersection(&b).map_or(BTreeSet::new(), |common| set(points(&common)));
        prop_assert_eq!(&common, &(&in_a & &in_b));
        prop_assert_eq!(a.overlaps(&b), !common.is_empty());
        prop_assert_eq!(b.contains(&a), in_a.is_subset(&in_b));
        let rest = a.subtract(&b);
        prop_assert!(rest.len() <= 2 * a.ndims().max(1) && rest.iter().all(|part| !part.is_empty()));
        let counted: u64 = rest.iter().map(Region::element_count).sum();
        let rest: BTreeSet<Dims> = rest.iter().flat_map(points).collect();
        prop_assert_eq!(counted, rest.len() as u64, "parts overlap");
        prop_assert_eq!(rest, &in_a - &in_b);
    }

    #[test]
    fn linear_offsets_count_elements((region, _) in pair(), order in order()) {
        let array = DenseArray::new(region, order);
        for (offset, point) in memory_points(&array).iter().enumerate() {
            prop_assert_eq!(region.linear_offset(point, order), Some(offset as u64));
            prop_assert!(region.contains_point(point));
        }
        prop_assert_eq!(region.linear_offset(&region.end(), order).is_some(), region.ndims() == 0);
    }

    /// Element by element: those that are no further away in any dimension.
    #[test]
    fn what_is_around_a_point_ends_at_the_edges(
        (shape, region) in shape().prop_flat_map(|shape| (Just(shape), region_in(shape))), reach in prop::sample::select(vec![0, 1, 2, 5, u64::MAX]),
    ) {
        let point = *region.start();
        let is_near = |other: &Dims| point.iter().zip(other.iter()).all(|(at, other)| at.abs_diff(*other) <= reach);
        let wanted: BTreeSet<Dims> = points(&Region::whole(&shape)).into_iter().filter(is_near).collect();
        let around = Region::around(&point, reach, &shape);
        prop_assert_eq!(around.is_some(), Region::whole(&shape).contains_point(&point));
        prop_assert!(around.is_none_or(|around| set(points(&around)) == wanted));
    }

    #[test]
    fn moving_there_and_back((a, b) in pair()) {
        let moved = a.translate(a.start(), b.start());
        prop_assert_eq!(moved.clone().map(|moved| *moved.start()), Ok(*b.start()));
        prop_assert_eq!(moved.and_then(|moved| moved.translate(b.start(), a.start())), Ok(a));
    }

    #[test]
    fn strided_regions_are_their_elements(
        (strided, region) in shape().prop_flat_map(|shape| (strided_in(shape), region_in(shape))),
        order in order(),
    ) {
        let all = strided_points(&strided);
        prop_assert_eq!(strided.element_count(), all.len() as u64);
        let (inside, outside): (Vec<Dims>, Vec<Dims>) = all.iter().partition(|point| region.contains_point(point));
        let common = strided.intersection(&region).map_or(Vec::new(), |common| strided_points(&common));
        prop_assert_eq!(common, inside);
        let rest = strided.subtract(&region);
        let counted: u64 = rest.iter().map(StridedRegion::element_count).sum();
        prop_assert_eq!(counted, outside.len() as u64);
        prop_assert_eq!(rest.iter().flat_map(strided_points).collect::<BTreeSet<_>>(), set(outside));
        let array = DenseArray::new(strided, order);
        for (offset, point) in memory_points(&array).iter().enumerate() {
            prop_assert_eq!(array.offset(point), Some(offset as u64));
        }
    }

    #[test]
    fn equal_elements_are_equal_strided_regions(
        (a, b) in shape().prop_flat_map(|shape| (strided_in(shape), strided_in(shape))),
    ) {
        let (in_a, in_b) = (strided_points(&a), strided_points(&b));
        prop_assert!(in_a.is_empty() || (a == b) == (in_a == in_b), "{} {}", a, b);
        prop_assert!(in_a.is_empty() || a.is_dense() == (strided_points(&a) == points(a.region())));
    }
}
