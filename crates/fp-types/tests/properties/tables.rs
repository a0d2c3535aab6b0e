//! Step tables: composing step by step comes to the same as composing anew.

use std::sync::Arc;

use fp_types::{Contribution, Dims, Dtype, Rank, Region, Shape, TableBuilder, VariableDef, VariablePut};
use proptest::prelude::*;

use crate::arrays::{blocks_in, shape_of};

const RANKS: u32 = 3;

/// A put of one of three variables: a global array, a joined one, a scalar of each rank.
fn put() -> impl Strategy<Value = VariablePut> {
    let shape = Shape::new([6, 6]).unwrap();
    let put = |def, shape, blocks| VariablePut { def, shape, blocks, bytes: 0 };
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn step_by_step_is_as_good_as_anew(steps in prop::collection::vec((0..RANKS, contribution()), 1..12)) {
        let mut last = vec![Contribution::default(); RANKS as usize];
        let mut builder = TableBuilder::new(RANKS);
        for rank in 0..RANKS {
            builder.apply(Rank(rank), Contribution::default()).unwrap();
        }
        for (rank, contribution) in steps {
            last[rank as usize] = contribution.clone();
            builder.apply(Rank(rank), contribution).unwrap();
            let table = builder.build().unwrap();
            let mut anew = TableBuilder::new(RANKS);
            for (rank, contribution) in (0..).zip(&last) {
                anew.apply(Rank(rank), contribution.clone()).unwrap();
            }
            prop_assert_eq!(&table, &anew.build().unwrap());
            for pair in table.entries().windows(2) {
                let (a, b) = (&pair[0].layout, &pair[1].layout);
                prop_assert_eq!(a.id() == b.id(), Arc::ptr_eq(a, b), "equal layouts are one value");
            }
            for rank in (0..RANKS).map(Rank) {
                let put: usize = last[rank.0 as usize].variables.iter().map(|put| put.blocks.len()).sum();
                let found: usize = table.entries().iter().map(|entry| entry.layout.blocks_of(rank).count()).sum();
                prop_assert_eq!(put, found);
            }
        }
    }
}
