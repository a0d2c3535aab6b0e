//! Runs between any two dense arrays, element by element.

use std::collections::BTreeMap;

use fp_types::MemoryOrder::{ColumnMajor, RowMajor};
use fp_types::{CopyError, DenseArray, Region, Run, Runs, StridedRegion, copy, copy_runs};
use proptest::prelude::*;

use crate::arrays::{order, region_in, shape, strided_in};
use crate::oracle::{memory_points, strided_points};

/// Two dense arrays and a part that both hold.
fn copies() -> impl Strategy<Value = (DenseArray, DenseArray, StridedRegion)> {
    let parts =
        shape().prop_flat_map(|shape| (region_in(shape), strided_in(shape), region_in(shape), any::<bool>()));
    (parts, order(), order()).prop_map(|((block, selected, also, dense), from, to)| {
        let selected = if dense { StridedRegion::dense(*selected.region()) } else { selected };
        let part = selected.intersection(&block).and_then(|part| part.intersection(&also));
        let empty = Region::new(*block.start(), block.start().zeros_like()).unwrap();
        let part = part.unwrap_or(StridedRegion::dense(empty));
        // Without a common part, copy nothing from the block to itself.
        let destination = if part.is_empty() { StridedRegion::dense(block) } else { selected };
        (DenseArray::new(block, from), DenseArray::new(destination, to), part)
    })
}

/// Which source offset goes to which destination offset.
fn expected(source: &DenseArray, destination: &DenseArray, part: &StridedRegion) -> BTreeMap<u64, u64> {
    let place = |array: &DenseArray, point| memory_points(array).iter().position(|other| other == point);
    let pair = |point| (place(destination, point).unwrap() as u64, place(source, point).unwrap() as u64);
    if part.is_empty() { BTreeMap::new() } else { strided_points(part).iter().map(pair).collect() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn runs_copy_each_element_once((source, destination, part) in copies()) {
        let runs = Runs::between(&source, &destination, &part).unwrap();
        let mut copied = BTreeMap::new();
        for Run { source_offset, destination_offset, len } in runs.iter() {
            for element in 0..len {
                prop_assert_eq!(copied.insert(destination_offset + element, source_offset + element), None);
            }
        }
        prop_assert_eq!(runs.element_count(), copied.len() as u64);
        prop_assert_eq!(runs.run_count(), runs.iter().count() as u64);
        prop_assert_eq!(&copied, &expected(&source, &destination, &part));
        let ends = (copied.values().max().map_or(0, |end| end + 1), copied.keys().max().map_or(0, |end| end + 1));
        prop_assert_eq!(runs.ends(), ends);
    }

    #[test]
    fn runs_are_as_long_as_they_can_be((source, destination, part) in copies()) {
        let runs = Runs::between(&source, &destination, &part).unwrap();
        let pairs: Vec<(u64, u64)> = expected(&source, &destination, &part).into_iter().collect();
        let breaks = pairs.windows(2).filter(|pair| (pair[0].0 + 1, pair[0].1 + 1) != pair[1]).count();
        prop_assert_eq!(runs.run_count(), if pairs.is_empty() { 0 } else { breaks as u64 + 1 });
    }

    #[test]
    fn bytes_arrive_where_runs_say((source, destination, part) in copies(), size in 1usize..=24) {
        let from: Vec<u8> = (0..source.element_count() as usize * size).map(|byte| (byte % 251) as u8).collect();
        let mut to = vec![255; destination.element_count() as usize * size];
        let mut expected_bytes = to.clone();
        for (to, at) in expected(&source, &destination, &part) {
            let (to, at) = (to as usize * size, at as usize * size);
            expected_bytes[to..to + size].copy_from_slice(&from[at..at + size]);
        }
        prop_assert_eq!(copy(&from, &source, &mut to, &destination, &part, size), Ok(()));
        prop_assert_eq!(to, expected_bytes);
    }

    #[test]
    fn a_byte_too_few_is_refused((source, destination, part) in copies(), size in 1usize..=9) {
        let runs = Runs::between(&source, &destination, &part).unwrap();
        let (source_end, destination_end) = runs.ends();
        if source_end == 0 {
            return Ok(());
        }
        let (source_len, destination_len) = (source_end as usize * size, destination_end as usize * size);
        let (from, mut to) = (vec![1; source_len], vec![0; destination_len]);
        let short_source = copy_runs(&from[1..], &mut to, size, &runs);
        prop_assert!(matches!(short_source, Err(CopyError::SourceTooShort { .. })), "{:?}", short_source);
        let short_destination = copy_runs(&from, &mut to[1..], size, &runs);
        prop_assert!(matches!(short_destination, Err(CopyError::DestinationTooShort { .. })), "{:?}", short_destination);
        prop_assert!(to.iter().all(|&byte| byte == 0), "an error writes nothing");
        prop_assert_eq!(copy_runs(&from, &mut to, size, &runs), Ok(()));
    }
}

/// Larger than the tiles in which transposes are done, at every element size that has a loop of its own.
#[test]
fn large_transposes_arrive() {
    let block = Region::new([3, 5, 2], [70, 3, 101]).unwrap();
    let selected = Region::new([0, 6, 10], [99, 1, 80]).unwrap();
    let part = StridedRegion::dense(block.intersection(&selected).unwrap());
    for size in [1, 2, 3, 4, 8, 16] {
        for (from, to) in [(RowMajor, ColumnMajor), (ColumnMajor, RowMajor)] {
            let (source, destination) = (DenseArray::new(block, from), DenseArray::new(selected, to));
            let bytes: Vec<u8> =
                (0..source.element_count() as usize * size).map(|byte| (byte % 251) as u8).collect();
            let mut copied = vec![0; destination.element_count() as usize * size];
            copy(&bytes, &source, &mut copied, &destination, &part, size).unwrap();
            for point in strided_points(&part) {
                let at = source.offset(&point).unwrap() as usize * size;
                let to = destination.offset(&point).unwrap() as usize * size;
                assert_eq!(copied[to..to + size], bytes[at..at + size], "{point} of {size} bytes");
            }
        }
    }
}

/// Wider and higher than the panels in which tiles are taken, on both sides of their edges.
#[test]
fn transposes_beyond_a_panel_arrive() {
    let (rows, columns) = (1030u64, 521u64);
    let whole = Region::new([0, 0], [rows, columns]).unwrap();
    let value = |row: u64, column: u64| (row * columns + column) as u32;
    let dense = |order| DenseArray::new(whole, order);
    let by_rows: Vec<u32> =
        (0..rows).flat_map(|row| (0..columns).map(move |column| value(row, column))).collect();
    let by_columns: Vec<u32> =
        (0..columns).flat_map(|column| (0..rows).map(move |row| value(row, column))).collect();
    for (from, to, source, expected) in
        [(RowMajor, ColumnMajor, &by_rows, &by_columns), (ColumnMajor, RowMajor, &by_columns, &by_rows)]
    {
        let bytes: Vec<u8> = source.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let mut copied = vec![0; bytes.len()];
        copy(&bytes, &dense(from), &mut copied, &dense(to), &StridedRegion::dense(whole), 4).unwrap();
        let copied: Vec<u32> = copied.as_chunks().0.iter().map(|chunk| u32::from_ne_bytes(*chunk)).collect();
        let wrong = copied.iter().zip(expected).position(|(found, wanted)| found != wanted);
        assert_eq!(wrong, None, "the first wrong element, {from} to {to}");
    }
}
