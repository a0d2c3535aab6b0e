//! What one rank derived, as bytes: blocks that are whole, compressed if that was asked for, and its part of the rest.
//!
//! A length (8 bytes, little-endian as all here), so many bytes, and then zeros. Thanks to the zeros the length of the
//! block seldom changes from step to step, and the layout with it. The bytes are:
//!
//! * how many blocks (4)
//! * the head of a block: its order (1: 0 row-major, 1 column-major), its dimensions (1), its start and its count (8
//!   each a dimension)
//! * after each head, a length (8) and the block's elements
//! * after the last block, the partial result

use fp_transform::{Array, Block, Compression, DerivationPlan, DeriveError, Derived, Memory, decompress};
use fp_types::{Dims, Dtype, MemoryOrder, Region, Shape};

/// Blocks of other lengths than a multiple of this are filled up.
const GRAIN_BYTES: usize = 64;

/// What a rank derived, for the subscriber that has the same plan.
pub(crate) fn pack(
    derived: &Derived,
    compression: Option<Compression>,
    memory: &Memory,
) -> Result<Vec<u8>, DeriveError> {
    let mut bytes = vec![0; 8];
    let blocks = derived.arrays.first().map(Array::blocks).unwrap_or_default();
    bytes.extend((blocks.len() as u32).to_le_bytes());
    for (at, block) in blocks.iter().enumerate() {
        memory.check_stop_after(at)?;
        memory.charge(block.bytes().len() as u64)?;
        write_block(&mut bytes, &block.in_order_within(block.order(), memory)?, compression)?;
    }
    if let Some(partial) = &derived.partial {
        let partial = partial.to_bytes();
        memory.charge(partial.len() as u64)?;
        bytes.extend(partial);
    }
    let len = bytes.len();
    bytes[..8].copy_from_slice(&(len as u64 - 8).to_le_bytes());
    let grain = (len.next_power_of_two() / 16).max(GRAIN_BYTES);
    bytes.resize(len.next_multiple_of(grain), 0);
    Ok(bytes)
}

fn write_block(
    bytes: &mut Vec<u8>,
    block: &Block,
    compression: Option<Compression>,
) -> Result<(), DeriveError> {
    let region = block.region();
    bytes.push(u8::from(block.order() == MemoryOrder::ColumnMajor));
    bytes.push(region.ndims() as u8);
    for number in region.start().iter().chain(region.count().iter()) {
        bytes.extend(number.to_le_bytes());
    }
    let compressed =
        compression.map(|compression| compression.compress(block.dtype(), block.bytes())).transpose()?;
    let elements = compressed.as_deref().unwrap_or(block.bytes());
    bytes.extend((elements.len() as u64).to_le_bytes());
    bytes.extend_from_slice(elements);
    Ok(())
}

/// What is still to be read.
struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, len: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(len).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn dims(&mut self, ndims: u8) -> Option<Dims> {
        let numbers: Option<Vec<u64>> = (0..ndims).map(|_| self.number()).collect();
        Dims::from_slice(&numbers?).ok()
    }
}

/// What [`pack`] wrote on a rank that has the same plan; `None` of anything else.
pub(crate) fn unpack(plan: &DerivationPlan, bytes: &[u8]) -> Option<Derived> {
    let mut input = Input(bytes);
    let len = input.number()?;
    let mut input = Input(input.take(len)?);
    let count = u32::from_le_bytes(input.take(4)?.try_into().ok()?);
    let first = plan.outputs().first()?;
    let is_compressed = plan.derivation().compression().is_some();
    let mut blocks = Vec::new();
    for _ in 0..count {
        blocks.push(read_block(&mut input, (first.dtype, &first.shape), is_compressed)?);
    }
    let empty = plan.outputs().iter().skip(1).map(|of| Array::new(of.dtype, of.shape, Vec::new()));
    let arrays = std::iter::once(Array::new(first.dtype, first.shape, blocks)).chain(empty);
    let arrays = arrays.collect::<Result<_, _>>().ok()?;
    let partial = match (plan.gathers(), input.0.is_empty()) {
        (true, false) => Some(plan.partial_from_bytes(input.0).ok()?),
        (false, true) => None,
        (true, true) | (false, false) => return None,
    };
    Some(Derived { arrays, partial })
}

/// A block of an array of that type and shape. One that says it lies elsewhere is refused before there is memory for it.
fn read_block(input: &mut Input<'_>, (dtype, shape): (Dtype, &Shape), is_compressed: bool) -> Option<Block> {
    let order = match input.byte()? {
        0 => MemoryOrder::RowMajor,
        1 => MemoryOrder::ColumnMajor,
        _ => return None,
    };
    let ndims = input.byte()?;
    let region = Region::new(input.dims(ndims)?, input.dims(ndims)?).ok()?;
    if !region.fits(shape) {
        return None;
    }
    let len = input.number()?;
    let elements = input.take(len)?;
    let len_bytes = usize::try_from(region.element_count()).ok()?.checked_mul(dtype.size_bytes()?)?;
    let elements = match is_compressed {
        true => decompress(dtype, elements, len_bytes).ok()?,
        false => elements.to_vec(),
    };
    Block::new(region, dtype, order, elements).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_transform::{ArrayType, Derivation};
    use proptest::prelude::*;

    fn packed(text: &str) -> (DerivationPlan, Vec<u8>) {
        let derivation: Derivation = text.parse().expect("a derivation");
        let shape = Shape::new([4, 3]).expect("a shape");
        let plan = derivation.plan(&[ArrayType { dtype: Dtype::F64, shape }]).expect("a plan");
        let bytes: Vec<u8> = (0..12).flat_map(|at| f64::from(at).to_ne_bytes()).collect();
        let array = Array::whole(Dtype::F64, shape, MemoryOrder::ColumnMajor, bytes).expect("an array");
        let bytes =
            pack(&plan.apply(&[array]).expect("a result"), derivation.compression(), &Memory::default())
                .expect("bytes");
        (plan, bytes)
    }

    const TEXTS: [&str; 5] =
        ["T | lz4", "T | sum", "T | average(3, 2)", "T | points(> 3)", "T | scale(2, 1) | pco"];

    #[test]
    fn what_was_packed_is_the_same_again() {
        for text in TEXTS {
            let (plan, bytes) = packed(text);
            let again = unpack(&plan, &bytes).expect("what was packed");
            let packed = pack(&again, plan.derivation().compression(), &Memory::default());
            assert_eq!(packed.as_ref(), Ok(&bytes), "{text}");
            assert_eq!(bytes.len() % GRAIN_BYTES, 0);
        }
    }

    #[test]
    fn a_block_outside_of_its_array_gets_no_memory() {
        let rows = |count: u64| {
            let len_bytes = 8 * 3 * count as usize;
            let elements = Compression::Pco.compress(Dtype::F64, &vec![0; len_bytes]).expect("compressed");
            let numbers = [0, 0, count, 3, elements.len() as u64].map(u64::to_le_bytes);
            [&[0, 2][..], &numbers.concat(), &elements].concat()
        };
        let shape = Shape::new([4, 3]).expect("a shape");
        let read = |bytes: &[u8]| read_block(&mut Input(bytes), (Dtype::F64, &shape), true).is_some();
        assert_eq!([4, 5, 1 << 16].map(|count| read(&rows(count))), [true, false, false]);
    }

    proptest! {
        #[test]
        fn damaged_bytes_never_panic(
            text in prop::sample::select(&TEXTS[..]),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
            len in any::<prop::sample::Index>(),
        ) {
            let (plan, mut bytes) = packed(text);
            damage.into_iter().for_each(|(at, byte)| { let at = at.index(bytes.len()); bytes[at] = byte; });
            let _ = unpack(&plan, &bytes);
            let _ = unpack(&plan, &bytes[..len.index(bytes.len())]);
        }
    }
}
