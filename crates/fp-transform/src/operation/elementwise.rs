//! Operations that compute each element from the elements of the same index: scale, magnitude, expressions.

use std::sync::Arc;

use fp_types::record::ElementForm;
use fp_types::{Dtype, Instructions};

use super::Operation;
use crate::alignment::for_each_part;
use crate::block::{Array, ArrayType, Block};
use crate::error::DeriveError;
use crate::expression::Evaluation;
use crate::memory::Memory;
use crate::numbers::{STRIP, computed, read_reals, write_reals};

/// Computes one strip of results from one strip of each input.
type Kernel<'a> = Box<dyn FnMut(&[&[f64]], &mut [f64]) + 'a>;

/// What the operation computes. Results lie where the first input has its blocks that is no single number.
pub(crate) fn elementwise(
    operation: &Operation,
    inputs: &[Array],
    to: ArrayType,
    memory: &Memory,
) -> Result<Array, DeriveError> {
    let dtype = inputs.first().map(Array::dtype).ok_or(DeriveError::InputCount { count: 0 })?;
    let mut kernel = kernel(operation, dtype);
    let mut blocks = Vec::new();
    for_each_part(inputs, memory, |of, parts| {
        blocks.push(compute(of, &parts, to.dtype, &mut kernel, memory)?);
        Ok(())
    })?;
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
        Operation::Cast(_)
        | Operation::Reorder(_)
        | Operation::Stride(_)
        | Operation::Average(_)
        | Operation::Magnitude
        | Operation::Reduce(_)
        | Operation::Points { .. }
        | Operation::Slice(_)
        | Operation::Locate(_)
        | Operation::Relate(_)
        | Operation::Module(_) => magnitude_kernel(dtype, instructions),
    }
}

fn magnitude_kernel(dtype: Dtype, instructions: Instructions) -> Kernel<'static> {
    if !matches!(dtype, Dtype::C32 | Dtype::C64) {
        return Box::new(move |inputs, output| instructions.run(|| magnitude(inputs, output)));
    }
    Box::new(|parts, output| {
        let absolute = |(to, (real, imaginary)): (&mut f64, (&f64, &f64))| *to = real.hypot(*imaginary);
        output.iter_mut().zip(parts[0].iter().zip(parts[1])).for_each(absolute);
    })
}

/// The roots of the sums of squares: the last square is added and the root taken in one loop, so that they wait
/// together.
#[inline(always)]
fn magnitude(inputs: &[&[f64]], output: &mut [f64]) {
    let Some((last, before)) = inputs.split_last() else { return };
    output.fill(0.0);
    for input in before {
        output.iter_mut().zip(*input).for_each(|(sum, value)| *sum += value * value);
    }
    output.iter_mut().zip(*last).for_each(|(sum, value)| *sum = (*sum + value * value).sqrt());
}

/// Computes a block from blocks of the same region and order, strip by strip.
fn compute(
    block: &Block,
    inputs: &[Block],
    dtype: Dtype,
    kernel: &mut Kernel<'_>,
    memory: &Memory,
) -> Result<Block, DeriveError> {
    let native = inputs.iter().map(|block| block.native(memory)).collect::<Result<Vec<_>, _>>()?;
    let size = dtype.size_bytes().unwrap_or(8);
    let mut bytes = memory.room(block.region().element_count(), size)?;
    let mut sources = native.iter().map(|part| Source::new(part, block)).collect::<Result<Vec<_>, _>>()?;
    for (index, output) in bytes.chunks_mut(STRIP * size).enumerate() {
        let (first, count) = (index * STRIP, output.len() / size);
        sources.iter_mut().for_each(|source| source.read(first, count));
        let strips: Vec<&[f64]> = sources.iter().flat_map(|source| source.strips(first, count)).collect();
        match in_place(dtype, output) {
            Some(results) => kernel(&strips, results),
            None => {
                let mut results = [0.0; STRIP];
                kernel(&strips, &mut results[..count]);
                write_reals(dtype, &results[..count], output);
            }
        }
    }
    Block::shared(*block.region(), ElementForm::native(dtype), block.order(), Arc::new(bytes))
}

/// Elements of 64 bits as they lie in memory, if they lie as they should.
fn in_place(dtype: Dtype, bytes: &mut [u8]) -> Option<&mut [f64]> {
    if dtype == Dtype::F64 { bytemuck::try_cast_slice_mut(bytes).ok() } else { None }
}

/// Where the numbers of a block come from.
enum Source<'a> {
    /// They are read where they lie.
    InPlace(&'a [f64]),
    /// They are converted, a strip at a time.
    Real { block: &'a Block, size: usize, strip: Box<[f64; STRIP]> },
    /// As that, their real and their imaginary parts.
    Complex { block: &'a Block, parts: Box<[[f64; STRIP]; 2]> },
    /// A single number, for every element.
    Value(Box<[f64; STRIP]>),
}

impl<'a> Source<'a> {
    fn new(block: &'a Block, of: &Block) -> Result<Self, DeriveError> {
        if block.region().ndims() == 0 && of.region().ndims() > 0 {
            let mut value = [0.0];
            read_reals(block.dtype(), block.bytes(), &mut value);
            return Ok(Self::Value(Box::new([value[0]; STRIP])));
        }
        match (block.dtype(), bytemuck::try_cast_slice(block.bytes())) {
            (Dtype::C32 | Dtype::C64, _) => Ok(Self::Complex { block, parts: Box::new([[0.0; STRIP]; 2]) }),
            (Dtype::F64, Ok(numbers)) => Ok(Self::InPlace(numbers)),
            _ => Ok(Self::Real { block, size: block.element_bytes()?, strip: Box::new([0.0; STRIP]) }),
        }
    }

    fn read(&mut self, first: usize, count: usize) {
        match self {
            Self::InPlace(_) | Self::Value(_) => {}
            Self::Real { block, size, strip } => {
                let from = &block.bytes()[first * *size..][..count * *size];
                read_reals(block.dtype(), from, &mut strip[..count]);
            }
            Self::Complex { block, parts } => read_complex(block, first, count, parts),
        }
    }

    fn strips(&self, first: usize, count: usize) -> impl Iterator<Item = &[f64]> {
        let (one, other) = match self {
            Self::InPlace(numbers) => (&numbers[first..][..count], None),
            Self::Real { strip, .. } | Self::Value(strip) => (&strip[..count], None),
            Self::Complex { parts, .. } => (&parts[0][..count], Some(&parts[1][..count])),
        };
        std::iter::once(one).chain(other)
    }
}

/// Reads complex elements as a strip of real and one of imaginary parts.
fn read_complex(block: &Block, first: usize, count: usize, strips: &mut [[f64; STRIP]; 2]) {
    let part = computed(block.dtype());
    let size = 2 * part.size_bytes().unwrap_or(8);
    let mut both = [0.0; 2 * STRIP];
    read_reals(part, &block.bytes()[first * size..][..count * size], &mut both[..2 * count]);
    let [real, imaginary] = strips;
    let (pairs, _) = both[..2 * count].as_chunks::<2>();
    for ((real, imaginary), pair) in real.iter_mut().zip(imaginary.iter_mut()).zip(pairs) {
        [*real, *imaginary] = *pair;
    }
}
