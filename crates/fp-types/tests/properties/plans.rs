//! Plans, element by element: one owner each, gaps as they are, and bytes that arrive.

use std::collections::BTreeMap;

use fp_types::{
    BlockId, DenseArray, Destination, Dims, GapPolicy, Layout, MemoryOrder, Plan, PlanError, Region,
    Selection, Shape, plan,
};
use proptest::prelude::*;

use crate::arrays::{blocks_in, order, shape};
use crate::oracle::{memory_points, part_points, points};
use crate::selections::selection_in;

type Blocks = Vec<(BlockId, Region)>;

fn cases(most: usize) -> impl Strategy<Value = (Shape, Blocks, Selection)> {
    shape().prop_flat_map(move |shape| (Just(shape), blocks_in(shape, most), selection_in(shape)))
}

/// The owner of every point: the last block, by id, that holds it.
fn owners(blocks: &Blocks) -> BTreeMap<Dims, BlockId> {
    let mut blocks = blocks.clone();
    blocks.sort();
    blocks
        .iter()
        .flat_map(|(block, region)| points(region).into_iter().map(move |point| (point, *block)))
        .collect()
}

/// The points that the destination has places for, in their order there; none for whole blocks.
fn destination_points(plan: &Plan, selection: &Selection, order: MemoryOrder) -> Option<Vec<Dims>> {
    match (plan.destination, selection) {
        (Destination::Elements(elements), _) => Some(memory_points(&DenseArray::new(elements, order))),
        (Destination::Points(_), Selection::Points(points)) => Some(points.clone()),
        _ => None,
    }
}

/// Each block's content: rank, index, and the element's place, so that no two elements are alike.
fn content(block: BlockId, region: &Region, order: MemoryOrder) -> Vec<u8> {
    let all = memory_points(&DenseArray::new(*region, order));
    all.iter().flat_map(|point| value(block, region, point).to_le_bytes()).collect()
}

fn value(block: BlockId, region: &Region, point: &Dims) -> u64 {
    let place = region.linear_offset(point, MemoryOrder::RowMajor).unwrap();
    1 + place + (u64::from(block.index) << 20) + (u64::from(block.rank.0) << 40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn every_element_has_one_owner((shape, blocks, selection) in cases(24)) {
        let layout = Layout::global(shape, blocks.clone()).unwrap();
        let Ok(plan) = plan(&layout, &selection, GapPolicy::Fill) else {
            prop_assert!(matches!(selection, Selection::Block(block) if layout.region_of(block).is_none()));
            return Ok(());
        };
        let Some(wanted) = destination_points(&plan, &selection, MemoryOrder::RowMajor) else {
            return Ok(());
        };
        let owners = owners(&blocks);
        let mut claimed = Vec::new();
        for piece in &plan.pieces {
            prop_assert_eq!(layout.region_of(piece.block), Some(piece.block_region));
            claimed.extend(part_points(&piece.part).into_iter().map(|point| (point, Some(piece.block))));
        }
        claimed.extend(plan.gaps.iter().flat_map(part_points).map(|point| (point, None)));
        let mut expected: Vec<_> = wanted.iter().map(|point| (*point, owners.get(point).copied())).collect();
        claimed.sort();
        expected.sort();
        prop_assert_eq!(claimed, expected);
        prop_assert!(plan.pieces.is_sorted_by_key(|piece| piece.block));
    }

    #[test]
    fn bytes_arrive_from_their_owners(
        (shape, blocks, selection) in cases(6), from in order(), to in order(),
    ) {
        let layout = Layout::global(shape, blocks.clone()).unwrap();
        let Ok(plan) = plan(&layout, &selection, GapPolicy::Fill) else { return Ok(()) };
        let mut array = vec![0; plan.element_count() as usize * 8];
        for piece in &plan.pieces {
            let source = content(piece.block, &piece.block_region, from);
            prop_assert_eq!(plan.copy_piece(piece, &source, from, &mut array, to, 8), Ok(()));
        }
        prop_assert_eq!(plan.fill_gaps(&mut array, to, &u64::MAX.to_le_bytes()), Ok(()));
        let owners = owners(&blocks);
        let expected: Vec<u8> = match destination_points(&plan, &selection, to) {
            Some(wanted) => wanted.iter().flat_map(|point| {
                let owned = |block| value(block, &layout.region_of(block).unwrap(), point);
                owners.get(point).copied().map_or(u64::MAX, owned).to_le_bytes()
            }).collect(),
            None => plan.pieces.iter().flat_map(|piece| content(piece.block, &piece.block_region, to)).collect(),
        };
        prop_assert_eq!(array, expected);
    }

    #[test]
    fn missing_elements_are_counted((shape, blocks, selection) in cases(24)) {
        let layout = Layout::global(shape, blocks.clone()).unwrap();
        let (strict, filled) = (plan(&layout, &selection, GapPolicy::Error), plan(&layout, &selection, GapPolicy::Fill));
        let gap_count = filled.as_ref().map_or(0, |plan| plan.gaps.iter().map(|gap| gap.element_count()).sum());
        match strict {
            Err(PlanError::Gap { first, missing, selected }) => {
                prop_assert_eq!((missing, Some(selected)), (gap_count, selection.element_count(&shape).unwrap()));
                prop_assert!(!owners(&blocks).contains_key(first.region().start()));
            }
            other => {
                prop_assert_eq!(gap_count, 0);
                prop_assert_eq!(other, filled);
            }
        }
    }

    #[test]
    fn the_blocks_touched_are_all_that_a_plan_needs((shape, blocks, selection) in cases(24)) {
        let layout = Layout::global(shape, blocks).unwrap();
        let part = layout.restricted_to(&selection);
        let (whole, part) = [&layout, &part].map(|layout| plan(layout, &selection, GapPolicy::Fill)).into();
        prop_assert_eq!(whole, part);
    }

    #[test]
    fn local_arrays_come_whole(
        (ndims, counts) in (0usize..=3).prop_flat_map(|ndims| {
            (Just(ndims), prop::collection::vec((0u32..4, prop::collection::vec(0u64..4, ndims)), 0..8))
        }),
        rank in 0u32..4,
        order in order(),
    ) {
        let numbered = counts.iter().enumerate().map(|(index, (rank, count))| {
            (BlockId::new((*rank).into(), index as u32), Dims::from_slice(count).unwrap())
        });
        let layout = Layout::local(ndims, numbered).unwrap();
        for selection in [Selection::All, Selection::Rank(rank.into())] {
            let expected: Vec<_> = if selection == Selection::All {
                layout.blocks().collect()
            } else {
                layout.blocks_of(rank.into()).collect()
            };
            let plan = plan(&layout, &selection, GapPolicy::Error).unwrap();
            let found: Vec<_> = plan.pieces.iter().map(|piece| (piece.block, piece.block_region)).collect();
            prop_assert_eq!(&found, &expected);
            let bytes: Vec<u8> = expected.iter().flat_map(|(block, region)| content(*block, region, order)).collect();
            let mut array = vec![0; bytes.len()];
            for piece in &plan.pieces {
                let source = content(piece.block, &piece.block_region, MemoryOrder::RowMajor);
                plan.copy_piece(piece, &source, MemoryOrder::RowMajor, &mut array, order, 8).unwrap();
            }
            prop_assert_eq!(array, bytes);
        }
    }
}
