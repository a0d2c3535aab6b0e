//! What the tests share: arrays of known values, cut at random among ranks, and results as plain numbers.

use fp_transform::{Array, Block, Derivation, DerivationPlan};
use fp_types::{Dims, Dtype, MemoryOrder, Region, Shape};
use half::{bf16, f16};
use proptest::prelude::*;

/// All element types that are real numbers.
pub(crate) const REALS: [Dtype; 12] = [
    Dtype::I8,
    Dtype::I16,
    Dtype::I32,
    Dtype::I64,
    Dtype::U8,
    Dtype::U16,
    Dtype::U32,
    Dtype::U64,
    Dtype::F16,
    Dtype::BF16,
    Dtype::F32,
    Dtype::F64,
];

/// An array as a case draws it: its elements, in row-major order, are small whole numbers.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Shape,
    pub(crate) values: Vec<f64>,
    /// How it is cut, and in which order blocks lie.
    pub(crate) choices: Vec<u16>,
    pub(crate) ranks: usize,
}

pub(crate) fn drawn() -> impl Strategy<Value = Drawn> {
    let dims = proptest::collection::vec(1u64..10, 1..4);
    let choices = proptest::collection::vec(any::<u16>(), 0..24);
    (0..REALS.len(), dims, choices, 1usize..5, any::<u32>()).prop_map(
        |(dtype, dims, choices, ranks, seed)| {
            let shape = Shape::new(Dims::from_slice(&dims).unwrap()).unwrap();
            let dtype = REALS[dtype];
            let lowest = if format!("{dtype}").starts_with('u') { 0.0 } else { -50.0 };
            let value = |at: u64| ((at * 2_654_435_761 + u64::from(seed)) % 101) as f64 + lowest;
            Drawn { dtype, shape, values: (0..shape.element_count()).map(value).collect(), choices, ranks }
        },
    )
}

/// The bytes of a number that the type holds.
pub(crate) fn element(dtype: Dtype, value: f64) -> Vec<u8> {
    match dtype {
        Dtype::I8 => (value as i8).to_ne_bytes().to_vec(),
        Dtype::I16 => (value as i16).to_ne_bytes().to_vec(),
        Dtype::I32 => (value as i32).to_ne_bytes().to_vec(),
        Dtype::I64 => (value as i64).to_ne_bytes().to_vec(),
        Dtype::U8 => (value as u8).to_ne_bytes().to_vec(),
        Dtype::U16 => (value as u16).to_ne_bytes().to_vec(),
        Dtype::U32 => (value as u32).to_ne_bytes().to_vec(),
        Dtype::U64 => (value as u64).to_ne_bytes().to_vec(),
        Dtype::F16 => f16::from_f64(value).to_ne_bytes().to_vec(),
        Dtype::BF16 => bf16::from_f64(value).to_ne_bytes().to_vec(),
        Dtype::F32 => (value as f32).to_ne_bytes().to_vec(),
        Dtype::F64 | Dtype::C32 | Dtype::C64 | Dtype::Bool | Dtype::String | Dtype::Bytes => {
            value.to_ne_bytes().to_vec()
        }
    }
}

/// The number that bytes are.
pub(crate) fn number(dtype: Dtype, bytes: &[u8]) -> f64 {
    macro_rules! read {
        ($number:ty) => {
            <$number>::from_ne_bytes(bytes.try_into().unwrap())
        };
    }
    match dtype {
        Dtype::I8 => read!(i8).into(),
        Dtype::I16 => read!(i16).into(),
        Dtype::I32 => read!(i32).into(),
        Dtype::I64 => read!(i64) as f64,
        Dtype::U8 => read!(u8).into(),
        Dtype::U16 => read!(u16).into(),
        Dtype::U32 => read!(u32).into(),
        Dtype::U64 => read!(u64) as f64,
        Dtype::F16 => read!(f16).to_f64(),
        Dtype::BF16 => read!(bf16).to_f64(),
        Dtype::F32 => read!(f32).into(),
        Dtype::F64 | Dtype::C32 | Dtype::C64 | Dtype::Bool | Dtype::String | Dtype::Bytes => read!(f64),
    }
}

/// Every coordinate of a shape, in row-major order.
pub(crate) fn points(shape: &Shape) -> Vec<Vec<u64>> {
    let mut points = vec![Vec::new()];
    for &extent in shape.dims().iter() {
        let longer = |point: &Vec<u64>| {
            let point = point.clone();
            (0..extent).map(move |at| [point.as_slice(), &[at]].concat())
        };
        points = points.iter().flat_map(longer).collect();
    }
    points
}

impl Drawn {
    /// The value at a point.
    pub(crate) fn at(&self, point: &[u64]) -> f64 {
        let dims = self.shape.dims();
        self.values[point.iter().zip(dims.iter()).fold(0, |at, (p, extent)| at * extent + p) as usize]
    }

    pub(crate) fn block(&self, region: Region, order: MemoryOrder) -> Block {
        let inside = Shape::new(*region.count()).unwrap();
        let mut placed: Vec<(u64, f64)> = Vec::new();
        for point in points(&inside) {
            let point: Vec<u64> =
                point.iter().zip(region.start().iter()).map(|(p, start)| p + start).collect();
            let offset = region.linear_offset(&Dims::from_slice(&point).unwrap(), order).unwrap();
            placed.push((offset, self.at(&point)));
        }
        placed.sort_by_key(|(offset, _)| *offset);
        let bytes: Vec<u8> = placed.iter().flat_map(|(_, value)| element(self.dtype, *value)).collect();
        Block::new(region, self.dtype, order, bytes).unwrap()
    }

    /// What each rank has: the array cut at random, blocks in both orders. `turn` cuts it otherwise.
    pub(crate) fn ranks(&self, turn: usize) -> Vec<Array> {
        let mut choices = self.choices.iter().copied().skip(turn).collect::<Vec<_>>().into_iter();
        let mut regions = vec![Region::whole(&self.shape)];
        let mut cut = 0;
        while let (Some(choice), true) = (choices.next(), cut < regions.len()) {
            let (region, choice) = (regions[cut], usize::from(choice));
            let dim = choice % region.ndims();
            let count = region.count()[dim];
            if count < 2 {
                cut += 1;
                continue;
            }
            let mut counts = (*region.count(), *region.count());
            let mut start = *region.start();
            counts.0[dim] = 1 + (choice as u64 / 4) % (count - 1);
            counts.1[dim] = count - counts.0[dim];
            start[dim] += counts.0[dim];
            regions[cut] = Region::new(*region.start(), counts.0).unwrap();
            regions.push(Region::new(start, counts.1).unwrap());
            cut += choice / 8 % 2;
        }
        let mut blocks = vec![Vec::new(); self.ranks];
        for (index, region) in regions.into_iter().enumerate() {
            let column = self.choices.get(index).is_some_and(|choice| choice % 2 == 1);
            let order = if column { MemoryOrder::ColumnMajor } else { MemoryOrder::RowMajor };
            blocks[index % self.ranks].push(self.block(region, order));
        }
        blocks.into_iter().map(|blocks| Array::new(self.dtype, self.shape, blocks).unwrap()).collect()
    }

    /// Derives on every rank, merges the parts from the last rank to the first, by way of bytes, and finishes.
    pub(crate) fn derive(&self, derivation: &str) -> Vec<Array> {
        let derivation: Derivation = derivation.parse().unwrap();
        let input = fp_transform::ArrayType { dtype: self.dtype, shape: self.shape };
        let plan = derivation.plan(&[input]).unwrap();
        derive(&plan, self.ranks(0).into_iter().map(|array| vec![array]).collect())
    }
}

pub(crate) fn derive(plan: &DerivationPlan, ranks: Vec<Vec<Array>>) -> Vec<Array> {
    let mut merged: Option<fp_transform::Derived> = None;
    for inputs in ranks.into_iter().rev() {
        let mut derived = plan.apply(&inputs).unwrap();
        if let Some(partial) = &derived.partial {
            let bytes = partial.to_bytes();
            let read = plan.partial_from_bytes(&bytes).unwrap();
            assert_eq!(read.to_bytes(), bytes);
            assert!(plan.partial_from_bytes(&bytes[..bytes.len() - 1]).is_err());
            derived.partial = Some(read);
        }
        match &mut merged {
            None => merged = Some(derived),
            Some(merged) => merged.merge(derived).unwrap(),
        }
    }
    let arrays = plan.finish(merged.unwrap()).unwrap();
    for (array, planned) in arrays.iter().zip(plan.outputs()) {
        assert_eq!(array.dtype(), planned.dtype);
        let fits = array.shape().element_count() <= planned.shape.element_count();
        assert!(if planned.at_most { fits } else { *array.shape() == planned.shape });
    }
    arrays
}

/// All elements, in row-major order, as numbers.
pub(crate) fn numbers(array: &Array) -> Vec<f64> {
    let bytes = array.assemble(MemoryOrder::RowMajor).unwrap();
    bytes.chunks(array.dtype().size_bytes().unwrap()).map(|bytes| number(array.dtype(), bytes)).collect()
}
