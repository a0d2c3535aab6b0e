//! One core that looks at a rank's block, alone: what the time of a decision is compared with.

use crate::decision::{LEN, RANKS, block};
use crate::least::least_of;
use crate::machine::now_ns;
use crate::report::median;
use flexpath::{Array, Block, Derivation, Dtype, Extreme, MemoryOrder, Region, Shape};

/// How often all blocks are looked at.
const ROUNDS: usize = 5;

/// Nanoseconds of a pass over a block. No block is in a cache: all ranks' blocks take turns, as in the cohort.
pub(crate) struct Pass {
    /// By the code that measures for conditions: the least element, and where it is.
    pub(crate) measuring_ns: f64,
    /// By a plain loop that takes the lesser of two numbers.
    pub(crate) plain_ns: f64,
}

pub(crate) fn measure() -> Pass {
    let blocks: Vec<Vec<f64>> = (0..RANKS).map(|rank| block((rank, LEN), false)).collect();
    let array = |numbers: &Vec<f64>| {
        let region = Region::new([0], [LEN]).expect("a region");
        let bytes = flexpath::bytemuck::cast_slice(numbers).to_vec();
        let block = Block::new(region, Dtype::F64, MemoryOrder::RowMajor, bytes).expect("a block");
        Array::new(Dtype::F64, Shape::new([LEN]).expect("a shape"), vec![block]).expect("an array")
    };
    let arrays: Vec<Array> = blocks.iter().map(array).collect();
    let least = Derivation::of(["x"]).and_then(|of| of.locate(Extreme::Least)).expect("a derivation");
    let plan = least.plan(&[arrays[0].array_type()]).expect("a plan");
    let (mut measuring, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        measuring.extend(arrays.iter().map(|array| {
            let began = now_ns();
            std::hint::black_box(plan.apply(std::slice::from_ref(array)).expect("measured"));
            (now_ns() - began) as f64
        }));
        plain.extend(blocks.iter().map(|numbers| {
            let began = now_ns();
            std::hint::black_box(least_of(std::hint::black_box(numbers)));
            (now_ns() - began) as f64
        }));
    }
    Pass { measuring_ns: median(&measuring), plain_ns: median(&plain) }
}
