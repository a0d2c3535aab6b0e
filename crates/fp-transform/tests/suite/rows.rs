//! Arrays of which a rank knows its own rows only: what each derives of them, put where they lie, is what the whole
//! array gives.

use crate::support::{Drawn, drawn};
use fp_transform::{Array, ArrayType, Block, Derivation, Derived};
use fp_types::{MemoryOrder, Region, Shape};
use proptest::prelude::*;

/// The rows that a rank has, as an array of its own in one block or two.
fn own(of: &Drawn, dim: usize, (first, end): (u64, u64), choice: u16) -> Array {
    let order = if choice.is_multiple_of(2) { MemoryOrder::RowMajor } else { MemoryOrder::ColumnMajor };
    let middle = first + (end - first) / 2;
    let cuts = if choice.is_multiple_of(3) { vec![first, end] } else { vec![first, middle, end] };
    let blocks = cuts.windows(2).map(|cut| {
        let (mut start, mut count) = (of.shape.dims().zeros_like(), *of.shape.dims());
        (start[dim], count[dim]) = (cut[0], cut[1] - cut[0]);
        let there = of.block(Region::new(start, count).unwrap(), order);
        start[dim] -= first;
        Block::new(Region::new(start, count).unwrap(), of.dtype, order, there.bytes().to_vec()).unwrap()
    });
    let mut dims = *of.shape.dims();
    dims[dim] = end - first;
    Array::new(of.dtype, Shape::new(dims).unwrap(), blocks.collect()).unwrap()
}

/// Derives on each rank by a plan for its own rows, and merges what lies where they lie.
fn by_rows(of: &Drawn, dim: usize, cuts: &[u64], derivation: &Derivation) -> Vec<Vec<u8>> {
    let whole = derivation.plan(&[ArrayType { dtype: of.dtype, shape: of.shape }]).unwrap();
    let mut all: Option<Derived> = None;
    for (cut, choice) in cuts.windows(2).zip(of.choices.iter().copied().chain(std::iter::repeat(0))) {
        let rows = own(of, dim, (cut[0], cut[1]), choice);
        let derived = derivation.plan(&[rows.array_type()]).unwrap().apply(&[rows]).unwrap();
        let placed = whole.placed(derived.clone(), dim, (cut[0], cut[1] - cut[0])).unwrap();
        let has_some = derived.arrays.iter().any(|array| !array.blocks().is_empty());
        let past = whole.placed(derived, dim, (cut[0] + 1, of.shape.dims()[dim]));
        assert!(past.is_none() || !has_some, "more rows than there are");
        match &mut all {
            None => all = Some(placed),
            Some(all) => all.merge(placed).unwrap(),
        }
    }
    let arrays = whole.finish(all.unwrap()).unwrap();
    arrays.iter().map(|array| array.assemble(MemoryOrder::RowMajor).unwrap()).collect()
}

proptest! {
    #[test]
    fn rows_give_what_the_whole_array_gives(
        of in drawn(), dim in any::<prop::sample::Index>(), cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let dim = dim.index(of.shape.ndims());
        let rows = of.shape.dims()[dim];
        let mut cuts: Vec<u64> = cuts.iter().map(|cut| cut.index(rows as usize + 1) as u64).collect();
        cuts.extend([0, rows]);
        cuts.sort_unstable();
        let along = |one: &str, others: &str| {
            (0..of.shape.ndims()).map(|at| if at == dim { one } else { others }).collect::<Vec<_>>().join(", ")
        };
        let texts = [
            "T | scale(2, 1)".to_owned(),
            "T | sum".to_owned(),
            "T | variance".to_owned(),
            "T | argmin".to_owned(),
            "T | compute(T % 7) | argmax".to_owned(),
            "T | points(> 3)".to_owned(),
            "T | histogram(0, 9, 3)".to_owned(),
            "T | all(> 3)".to_owned(),
            format!("T | slice({}) | points(<= 20)", along(":", "-1")),
            format!("T | slice({}) | argmax", along(":", "0:1")),
            format!("T | stride({})", along("1", "2")),
            format!("T | average({})", along("1", "3")),
        ];
        for text in texts {
            let derivation: Derivation = text.parse().unwrap();
            prop_assert!(!derivation.needs_rows(dim));
            let types = [ArrayType { dtype: of.dtype, shape: of.shape }];
            let whole = derivation.plan(&types).unwrap().run(&[own(&of, dim, (0, rows), 0)]).unwrap();
            let whole: Vec<Vec<u8>> = whole.iter().map(|array| array.assemble(MemoryOrder::RowMajor).unwrap()).collect();
            prop_assert_eq!(by_rows(&of, dim, &cuts, &derivation), whole, "{}", text);
        }
    }
}

#[test]
fn what_must_know_its_rows_says_so() {
    let needs = |text: &str| text.parse::<Derivation>().unwrap().needs_rows(0);
    for text in [
        "T | stride(2, 1)",
        "T | average(2, 1)",
        "T | slice(1:, :)",
        "T | slice(:5, :)",
        "T | slice(::2, :)",
        "T | slice(0, :)",
    ] {
        assert!(needs(text), "{text}");
    }
    for text in [
        "T | stride(1, 2)",
        "T | slice(:, 3)",
        "T | slice(0:, ::2)",
        "T | argmax",
        "T | points(> 3)",
        "T | module(m, f64, 1)",
    ] {
        assert!(!needs(text), "{text}");
    }
}
