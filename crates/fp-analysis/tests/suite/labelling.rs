//! Features are those of a flood fill, whatever the cut, and to the bit.

use fp_analysis::{Feature, Grid, Labeller, Merger, Neighbours, Part, PartError, PlaneRange, Threshold};
use proptest::prelude::*;

use crate::fields::{Analysis, field};
use crate::oracle::{Field, Filled};

/// Whether two numbers are the same up to rounding.
fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0) || (one.is_nan() && other.is_nan())
}

fn mean(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    numbers.clone().sum::<f64>() / numbers.count() as f64
}

/// A number within the array, in a dimension that is periodic.
fn within(number: f64, period: f64) -> f64 {
    number.rem_euclid(period)
}

fn check_places(feature: &Feature, filled: &Filled, field: &Field) {
    let (places, ndims) = (filled.coordinates(), field.extents.len());
    let wraps = filled.wraps.contains(&true);
    let centre: Vec<f64> = (0..ndims).map(|dim| mean(places.iter().map(|place| place[dim]))).collect();
    for dim in 0..ndims {
        let period = (field.periodic.contains(&dim) && !wraps).then_some(field.extents[dim] as f64);
        let wanted = period.map_or(centre[dim], |period| within(centre[dim], period));
        let off = (feature.centroid[dim] - wanted).abs();
        assert!(off < 1e-9 || period.is_some_and(|period| period - off < 1e-9), "{feature:?} {filled:?}");
        let low = places.iter().map(|place| place[dim]).fold(f64::INFINITY, f64::min);
        let high = places.iter().map(|place| place[dim] + 1.0).fold(f64::NEG_INFINITY, f64::max);
        let wanted = period.map_or(low, |period| within(low, period));
        assert_eq!((feature.low[dim] as f64, feature.high[dim] as f64), (wanted, wanted + high - low));
        for other in 0..ndims {
            let products =
                places.iter().map(|place| (place[dim] - centre[dim]) * (place[other] - centre[other]));
            assert!(is_near(feature.covariance[dim * ndims + other], mean(products)));
        }
    }
}

fn check(feature: &Feature, filled: &Filled, field: &Field, threshold: &Threshold) {
    assert_eq!((&feature.first, &feature.wraps), (&filled.first, &filled.wraps));
    assert_eq!(feature.volume, filled.places.len() as u64);
    check_places(feature, filled, field);
    let first = |is_beyond: fn(&f64, &f64) -> bool| {
        let values = &filled.values;
        (1..values.len()).fold(0, |best, at| if is_beyond(&values[at], &values[best]) { at } else { best })
    };
    let (least, greatest) = (first(f64::lt), first(f64::gt));
    let at = |found: usize| (filled.values[found], &filled.places[found].0);
    assert_eq!((feature.min, &feature.min_place), at(least));
    assert_eq!((feature.max, &feature.max_place), at(greatest));
    let best = if threshold.is_above() { greatest } else { least };
    assert_eq!((feature.peak, &feature.peak_place), at(best));
    let average = mean(filled.values.iter().copied());
    assert!(is_near(feature.mean, average), "{feature:?} {filled:?}");
    // Numbers as far apart as 1e12 and 1 leave the plain way of it few decimals.
    let spread = mean(filled.values.iter().map(|value| (value - average).powi(2)));
    assert!((feature.variance - spread).abs() <= 1e-6 * spread.max(1.0), "{feature:?} {spread}");
}

fn bits(feature: &Feature) -> Vec<u64> {
    let numbers = [feature.min, feature.max, feature.peak, feature.mean, feature.variance];
    let numbers = [&feature.centroid[..], &feature.covariance, &numbers];
    let extrema = [&feature.min_place[..], &feature.max_place, &feature.peak_place].concat();
    let places = [&feature.first[..], &feature.low, &feature.high, &extrema, &[feature.volume]];
    let bits = numbers.concat().into_iter().map(f64::to_bits);
    bits.chain(places.concat()).chain(feature.wraps.iter().map(|&wraps| u64::from(wraps))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(256)))]

    #[test]
    fn features_are_those_of_a_flood_fill(
        field in field(), text in prop::sample::select(vec!["x > 0", "x >= 0", "x < 0", "x <= -1.1", "x > 1e11"]),
        ranks in 1usize..9, planes in prop::collection::vec(0u64..4, 8),
    ) {
        let threshold: Threshold = text.parse().expect("a threshold");
        let (wanted, _) = field.flood(&threshold);
        let whole = Analysis::new(&threshold, 1).take(&field, &[]);
        prop_assert_eq!(whole.features.len(), wanted.len());
        for (feature, filled) in whole.features.iter().zip(&wanted) {
            check(&feature.feature, filled, &field, &threshold);
        }
        let cut = Analysis::new(&threshold, ranks).take(&field, &planes);
        let all = |step: &fp_analysis::TrackedStep| {
            step.features.iter().map(|of| bits(&of.feature)).collect::<Vec<_>>()
        };
        prop_assert_eq!(all(&cut), all(&whole));
    }
}

/// A snake around the end of a periodic dimension, a ring around it, and a lone element: by hand.
#[test]
fn what_lies_across_an_end_is_one_piece() {
    let rows = ["##..#", ".....", "#####", ".....", "..#.."];
    let elements = rows.iter().flat_map(|row| row.chars().map(|letter| f64::from(u8::from(letter == '#'))));
    let field = Field {
        extents: vec![5, 5],
        periodic: vec![1],
        neighbours: Neighbours::Faces,
        elements: elements.collect(),
    };
    let step = Analysis::new(&"x > 0".parse().expect("a threshold"), 3).take(&field, &[1, 2]);
    let [snake, ring, lone] = &step.features[..] else { panic!("{step:?}") };
    let of = |at: &fp_analysis::TrackedFeature| {
        let feature = at.feature.clone();
        (feature.volume, feature.centroid, feature.low, feature.high, feature.wraps)
    };
    assert_eq!(of(snake), (3, vec![0.0, 0.0], vec![0, 4], vec![1, 7], vec![false, false]));
    assert_eq!(of(ring), (5, vec![2.0, 2.0], vec![2, 0], vec![3, 5], vec![false, true]));
    assert_eq!(of(lone), (1, vec![4.0, 2.0], vec![4, 2], vec![5, 3], vec![false, false]));
    assert_eq!(snake.feature.covariance, [0.0, 0.0, 0.0, 2.0 / 3.0]);
}

fn parts_of(extents: &[u64], cut: u64) -> (Grid, Vec<Part>) {
    let grid = Grid::new(extents, Neighbours::Faces, &[]).expect("a grid");
    let threshold: Threshold = "x > 0".parse().expect("a threshold");
    let plane = extents[1..].iter().product::<u64>() as usize;
    let slabs = [PlaneRange { first: 0, planes: cut }, PlaneRange { first: cut, planes: extents[0] - cut }];
    let part = |slab: PlaneRange| {
        Labeller::new(threshold.clone()).label(7, &grid, slab, &vec![1.0; slab.planes as usize * plane])
    };
    let parts = slabs.map(part).to_vec();
    (grid, parts)
}

fn merger() -> Merger {
    Merger::new(
        "x > 0".parse().expect("a threshold"),
        (fp_analysis::Column::Volume, fp_analysis::Column::Peak),
    )
}

#[test]
fn parts_that_do_not_go_together_are_refused() {
    let (grid, parts) = parts_of(&[4, 3], 2);
    assert!(merger().merge(&grid, &parts).is_ok());
    let swapped = [parts[1].clone(), parts[0].clone()];
    assert_eq!(
        merger().merge(&grid, &swapped).expect_err("refused"),
        PartError::Planes { rank: 0, first: 2, wanted: 0 }
    );
    let short = merger().merge(&grid, &parts[..1]).expect_err("refused");
    assert_eq!(short, PartError::Planes { rank: 1, first: 2, wanted: 4 });
    let (_, other) = parts_of(&[4, 4], 2);
    let mixed = merger().merge(&grid, &[parts[0].clone(), other[1].clone()]).expect_err("refused");
    assert!(matches!(mixed, PartError::Other { rank: 1, step: 7, .. }), "{mixed}");
}

proptest! {
    /// Whatever comes instead of a part, be it one that was changed: an error or a part, and no panic in what follows.
    #[test]
    fn bytes_of_nobody_harm_nobody(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4), cut in any::<prop::sample::Index>()) {
        let (grid, parts) = parts_of(&[4, 3, 2], 2);
        let mut bytes = parts[0].encode();
        for (at, byte) in &changes {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        bytes.truncate(1 + cut.index(bytes.len() * 2));
        if let Ok(part) = Part::decode(0, &bytes) {
            let _ = merger().merge(&grid, &[part, parts[1].clone()]);
        }
    }
}
