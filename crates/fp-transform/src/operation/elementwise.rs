//! Operations that compute each element from the elements of the same index: scale, magnitude, expressions.

use std::sync::Arc;

use fp_types::record::ElementForm;
use fp_types::{Dtype, Instructions};

use super::Operation;
use crate::block::{Array, ArrayType, Block};
use crate::error::DeriveError;
use crate::expression::Evaluation;
use crate::memory::Memory;
use crate::numbers::{STRIP, computed, read_reals, write_reals};

/// Computes one strip of results from one strip of each input.
type Kernel<'a> = Box<dyn FnMut(&[&[f64]], &mut [f64]) + 'a>;

/// What the operation computes; the inputs lie where the first of them has its blocks.
pub(crate) fn elementwise(
    operation: &Operation,
    inputs: &[Array],
    to: ArrayType,
    memory: &Memory,
) -> Result<Array, DeriveError> {
    let Some((first, others)) = inputs.split_first() else {
        return Err(DeriveError::InputCount { count: 0 });
    };
    let mut kernel = kernel(operation, first.dtype());
    let mut blocks = Vec::new();
    for block in first.blocks() {
        for parts in aligned(block, others, memory)? {
            blocks.push(compute(&parts, to.dtype, &mut kernel, memory)?);
        }
    }
    Array::new(to.dtype, to.shape, blocks)
}

fn kernel(operation: &Operation, dtype: Dtype) -> Kernel<'_> {
    let instructions = Instructions::widest();
    match operation {
        Operation::Scale { factor, offset } => Box::new(move |inputs, output| {
            instructions.run(|| {
                output.iter_mut().zip(inputs[0]).for_each(|(to, from)| *to = from * factor + offset);
            });
        }),
        Operation::Compute(expression) => {
            let mut evaluation = Evaluation::new(expression);
            Box::new(move |inputs, output| evaluation.run(inputs, output))
        }
        _ if matches!(dtype, Dtype::C32 | Dtype::C64) => Box::new(|parts, output| {
            let absolute = |(to, (real, imaginary)): (&mut f64, (&f64, &f64))| *to = real.hypot(*imaginary);
            output.iter_mut().zip(parts[0].iter().zip(parts[1])).for_each(absolute);
        }),
        _ => Box::new(move |inputs, output| {
            instructions.run(|| {
                output.fill(0.0);
                for input in inputs {
                    output.iter_mut().zip(*input).for_each(|(to, from)| *to += from * from);
                }
                output.iter_mut().for_each(|sum| *sum = sum.sqrt());
            });
        }),
    }
}

/// A block of the first input, cut so that each of the others has a block around every part: each time as many blocks
/// as there are inputs, all of one region and order. Where all have the same blocks nothing is copied.
pub(crate) fn aligned(
    block: &Block,
    others: &[Array],
    memory: &Memory,
) -> Result<Vec<Vec<Block>>, DeriveError> {
    let mut parts = vec![vec![block.clone()]];
    for other in others {
        let mut cut = Vec::new();
        for part in &parts {
            let region = *part[0].region();
            let mut covered = 0;
            for theirs in other.blocks() {
                let Some(common) = region.intersection(theirs.region()) else {
                    continue;
                };
                covered += common.element_count();
                let mut cells = Vec::with_capacity(part.len() + 1);
                for ours in part.iter().chain([theirs]) {
                    cells.push(ours.part(&common, block.order(), memory)?);
                }
                cut.push(cells);
            }
            if covered != region.element_count() {
                return Err(DeriveError::Uncovered { region: Box::new(region) });
            }
        }
        parts = cut;
    }
    Ok(parts)
}

/// Computes a block from blocks of the same region and order, strip by strip.
fn compute(
    inputs: &[Block],
    dtype: Dtype,
    kernel: &mut Kernel<'_>,
    memory: &Memory,
) -> Result<Block, DeriveError> {
    let block = &inputs[0];
    let native = inputs.iter().map(|block| block.native(memory)).collect::<Result<Vec<_>, _>>()?;
    let size = dtype.size_bytes().unwrap_or(8);
    let mut bytes = memory.room(block.region().element_count(), size)?;
    let is_complex = matches!(block.dtype(), Dtype::C32 | Dtype::C64);
    let mut strips = vec![[0.0; STRIP]; if is_complex { 2 } else { native.len() }];
    for (index, output) in bytes.chunks_mut(STRIP * size).enumerate() {
        let count = output.len() / size;
        if is_complex {
            read_complex(&native[0], index * STRIP, count, &mut strips);
        } else {
            for (strip, input) in strips.iter_mut().zip(&native) {
                let size = input.element_bytes()?;
                let from = &input.bytes()[index * STRIP * size..][..count * size];
                read_reals(input.dtype(), from, &mut strip[..count]);
            }
        }
        let strips: Vec<&[f64]> = strips.iter().map(|strip| &strip[..count]).collect();
        let mut results = [0.0; STRIP];
        kernel(&strips, &mut results[..count]);
        write_reals(dtype, &results[..count], output);
    }
    Block::shared(*block.region(), ElementForm::native(dtype), block.order(), Arc::new(bytes))
}

/// Reads complex elements as a strip of real and one of imaginary parts.
fn read_complex(block: &Block, first: usize, count: usize, strips: &mut [[f64; STRIP]]) {
    let part = computed(block.dtype());
    let size = 2 * part.size_bytes().unwrap_or(8);
    let mut both = [0.0; 2 * STRIP];
    read_reals(part, &block.bytes()[first * size..][..count * size], &mut both[..2 * count]);
    let [real, imaginary] = strips else {
        return;
    };
    let (pairs, _) = both[..2 * count].as_chunks::<2>();
    for ((real, imaginary), pair) in real.iter_mut().zip(imaginary.iter_mut()).zip(pairs) {
        [*real, *imaginary] = *pair;
    }
}
