//! Step tables: composing step by step comes to the same as composing anew.

use std::sync::Arc;

use fp_types::{
    ArrayKind, BlockId, Contribution, Dims, Dtype, Layout, PutChanges, Rank, RankRange, Region, Shape,
    TableBuilder, VariableDef, VariablePut,
};
use proptest::prelude::*;

use crate::arrays::{blocks_in, shape_of};

/// A put of one of three variables: a global array, a joined one, a scalar of each rank.
fn put() -> impl Strategy<Value = VariablePut> {
    let shape = Shape::new([6, 6]).unwrap();
    let put = |def: VariableDef, shape, blocks| VariablePut { def: def.into(), shape, blocks, bytes: 0 };
    let regions =
        move || blocks_in(shape, 3).prop_map(|blocks| blocks.into_iter().map(|(_, region)| region).collect());
    let at_zero = |count: Dims| Region::new(count.zeros_like(), count).unwrap();
    let counts = prop::collection::vec(shape_of(1).prop_map(move |shape| at_zero(*shape.dims())), 0..3);
    let scalars = (0usize..3).prop_map(move |count| vec![at_zero(Dims::default()); count]);
    prop_oneof![
        regions().prop_map(move |blocks| put(
            VariableDef::global_array("T", Dtype::F64, 2),
            Some(shape),
            blocks
        )),
        regions().prop_map(move |blocks| put(
            VariableDef::global_array("P", Dtype::F64, 2),
            Some(shape),
            blocks
        )),
        counts.prop_map(move |blocks| put(VariableDef::joined_array("id", Dtype::I64, 1, 0), None, blocks)),
        scalars.prop_map(move |blocks| put(VariableDef::local_scalar("t", Dtype::F32), None, blocks)),
    ]
}

fn contribution() -> impl Strategy<Value = Contribution> {
    prop::collection::vec(put(), 0..4).prop_map(|mut variables| {
        variables.sort_by(|a, b| a.def.name.cmp(&b.def.name));
        variables.dedup_by(|a, b| a.def.name == b.def.name);
        Contribution { variables }
    })
}

/// Ranks of four parts of a layout, few enough to meet often.
const SPREAD: [u32; 8] = [0, 1, 2, 255, 256, 511, 700, 1023];
const MANY: u32 = 1024;

/// What one variable's blocks are, laid out by brute force.
fn laid_out(name: &str, last: &[Contribution]) -> Option<Layout> {
    let puts = || {
        (0..)
            .zip(last)
            .filter_map(|(rank, put)| Some((rank, put.variables.iter().find(|put| put.def.name == name)?)))
    };
    let blocks = || {
        puts().flat_map(|(rank, put)| {
            (0..).zip(&put.blocks).map(move |(index, region)| (BlockId::new(Rank(rank), index), *region))
        })
    };
    let counts = || blocks().map(|(block, region)| (block, *region.count()));
    let (_, first) = puts().next()?;
    Some(match first.def.kind {
        ArrayKind::GlobalArray => Layout::global(first.shape.unwrap(), blocks()).unwrap(),
        ArrayKind::JoinedArray { joined_dim } => Layout::joined(1, joined_dim.into(), counts()).unwrap(),
        ArrayKind::Scalar | ArrayKind::LocalScalar | ArrayKind::LocalArray => {
            Layout::local(0, counts()).unwrap()
        }
    })
}

/// Everything as if it came up a tree: merged in some order, sorted on the way or not.
fn merged(changed: &[(u32, Contribution)], sorted: bool) -> PutChanges {
    let mut all = PutChanges::default();
    for half in changed.chunks(3) {
        let mut below = PutChanges::default();
        half.iter().for_each(|(rank, put)| below.append(PutChanges::of(Rank(*rank), put).unwrap()));
        if sorted {
            below.sort();
            below.check(1 << 20).unwrap();
        }
        all.append(below);
    }
    all.sort();
    all.check(1 << 20).unwrap();
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn step_by_step_is_as_good_as_brute_force(
        steps in prop::collection::vec(
            (prop::collection::btree_map(prop::sample::select(&SPREAD[..]), contribution(), 1..8), any::<bool>(), any::<u64>()),
            1..6,
        ),
    ) {
        let mut last = vec![Contribution::default(); MANY as usize];
        let mut builder = TableBuilder::new(MANY);
        let nothing: Vec<(u32, Contribution)> = (0..MANY).map(|rank| (rank, Contribution::default())).collect();
        prop_assert_eq!(builder.apply(merged(&nothing, true)), []);
        for (changed, sorted, turn) in steps {
            let mut changed: Vec<(u32, Contribution)> = changed.into_iter().collect();
            let turn = turn as usize % changed.len();
            changed.rotate_left(turn);
            changed.iter().for_each(|(rank, put)| last[*rank as usize] = put.clone());
            prop_assert_eq!(builder.apply(merged(&changed, sorted)), []);
            let table = builder.build().unwrap();
            for name in ["T", "P", "id", "t"] {
                let found = table.entry(name).map(|entry| entry.layout.as_ref());
                let expected = laid_out(name, &last);
                prop_assert_eq!(found, expected.as_ref());
                prop_assert_eq!(found.map(Layout::id), expected.as_ref().map(Layout::id));
            }
            for pair in table.entries().windows(2) {
                let (a, b) = (&pair[0].layout, &pair[1].layout);
                prop_assert_eq!(a.id() == b.id(), Arc::ptr_eq(a, b), "equal layouts are one value");
            }
        }
    }

    #[test]
    fn what_was_merged_tells_what_each_rank_put(
        changed in prop::collection::btree_map(prop::sample::select(&SPREAD[..]), contribution(), 1..8),
    ) {
        let changed: Vec<(u32, Contribution)> = changed.into_iter().collect();
        let all = merged(&changed, true);
        prop_assert_eq!(&all, &merged(&changed, false));
        let ranks: u32 = all.ranks.iter().map(|range| range.count).sum();
        prop_assert_eq!(ranks as usize, changed.len());
        let blocks: usize = changed.iter().flat_map(|(_, put)| &put.variables).map(|put| put.blocks.len()).sum();
        prop_assert_eq!(all.block_count(), blocks as u64);
    }

    #[test]
    fn damaged_changes_are_refused_or_taken(
        changed in prop::collection::btree_map(prop::sample::select(&SPREAD[..]), contribution(), 1..5),
        damage in prop::collection::vec((0usize..6, any::<prop::sample::Index>(), any::<u64>()), 1..4),
    ) {
        let changed: Vec<(u32, Contribution)> = changed.into_iter().collect();
        let mut all = merged(&changed, true);
        damage.into_iter().for_each(|(what, at, to)| damaged(&mut all, what, at, to));
        let sound = all.check(u64::MAX).is_ok();
        let mut builder = TableBuilder::new(MANY);
        let refused = builder.apply(all);
        prop_assert!(sound || !refused.is_empty());
        let _ = builder.build();
    }
}

/// Sets one number of the changes to another, or takes one away.
fn damaged(all: &mut PutChanges, what: usize, at: prop::sample::Index, to: u64) {
    if what == 0 {
        let range = at.index(all.ranks.len());
        (all.ranks[range].first, all.ranks[range].count) = (Rank(to as u32), (to >> 32) as u32);
        return;
    }
    if all.columns.is_empty() {
        return;
    }
    let place = at.index(all.columns.len());
    let column = &mut all.columns[place];
    match what {
        1 => column.ranks[0] = RankRange { first: Rank(to as u32 % MANY), count: (to >> 60) as u32 },
        2 => drop(column.numbers.pop()),
        3 => column.block_counts.push((to % 3000) as u32),
        4 => column.numbers.iter_mut().for_each(|number| *number = to),
        _ => column.def.kind = ArrayKind::LocalArray,
    }
}

#[test]
fn a_rank_whose_block_breaks_the_rules_is_named() {
    let put = |count: u64| VariablePut {
        def: VariableDef::global_array("T", Dtype::F64, 1).into(),
        shape: Shape::new([8]).ok(),
        blocks: vec![Region::new([2], [1]).unwrap(), Region::new([2], [count]).unwrap()],
        bytes: 0,
    };
    let mut builder = TableBuilder::new(3);
    let changed: Vec<(u32, Contribution)> = [6, 7, 6]
        .map(|count| Contribution { variables: vec![put(count)] })
        .into_iter()
        .zip(0..)
        .map(|(put, rank)| (rank, put))
        .collect();
    let refused = builder.apply(merged(&changed, true));
    let text: Vec<String> = refused.iter().map(|(rank, error)| format!("{rank}: {error}")).collect();
    assert_eq!(text, ["1: rank 1: variable \"T\": block 1, [2:9], does not go with shape [8]"]);
    let again = PutChanges::of(Rank(1), &changed[0].1).unwrap();
    assert_eq!(builder.apply(again), []);
    assert_eq!(builder.build().unwrap().entry("T").unwrap().layout.block_count(), 6);
}
