//! Arrays that are compressed: in chunks, by the library itself.
//!
//! The library does one thing at a time. So ranks take their parts side by side, and compress them one after another.
//! Each part is of whole chunks, so each chunk is compressed once.

use std::collections::BTreeMap;

use fp_core::{BlockId, Dtype, Region};
use half::f16;
use hdf5_metno::types::TypeDescriptor;
use hdf5_metno::{Dataset, Error, File, H5Type, Hyperslab, SliceOrIndex};
use ndarray::ArrayViewD;

use crate::hdf5::types;
use crate::part::Part;
use crate::taken_step::TakenVariable;
use crate::zarr::grid::Grid;

/// How hard deflate tries: what `h5repack` and h5py take if nothing is said.
pub(crate) const LEVEL: u8 = 4;
/// An array of fewer bytes is not worth a chunk.
const SMALL: u64 = 4 << 10;

/// An array that is compressed.
pub(crate) struct Compressed {
    pub(crate) descriptor: TypeDescriptor,
    dtype: Dtype,
    /// All of it.
    pub(crate) region: Region,
    /// The extents of what is written at once: whole chunks.
    pub(crate) shard: Vec<u64>,
    /// Those of a chunk.
    pub(crate) chunk: Vec<u64>,
}

impl Compressed {
    /// A variable or a block of it, if it is worth it: large ones of plain numbers are.
    pub(crate) fn of(variable: &TakenVariable, region: Region, ranks: u32) -> Option<Self> {
        let dtype = variable.dtype;
        let is_plain = variable.records.is_none() && !matches!(dtype, Dtype::C32 | Dtype::C64);
        let size = dtype.size_bytes().filter(|_| is_plain)? as u64;
        if region.element_count() * size < SMALL {
            return None;
        }
        let (descriptor, _) = types::of(variable).ok()?;
        let Grid { shard, chunk } = Grid::of(region.count(), size, ranks);
        Some(Self { descriptor, dtype, region, shard, chunk })
    }
}

/// A dataset, and what it holds.
struct Held {
    dataset: Dataset,
    dtype: Dtype,
    region: Region,
}

/// The compressed arrays of a file, by variable and block.
#[derive(Default)]
pub(crate) struct CompressedArrays(BTreeMap<(usize, Option<BlockId>), Held>);

impl CompressedArrays {
    pub(crate) fn insert(&mut self, key: (usize, Option<BlockId>), dataset: Dataset, array: Compressed) {
        let Compressed { dtype, region, .. } = array;
        self.0.insert(key, Held { dataset, dtype, region });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn of_file(self, file: File) -> CompressedFile {
        CompressedFile { arrays: self, file }
    }
}

/// A file that the library still has.
pub(crate) struct CompressedFile {
    arrays: CompressedArrays,
    file: File,
}

impl CompressedFile {
    /// Compresses a part and writes it; none if it is one of an array that is not compressed.
    pub(crate) fn write(&self, part: &Part, bytes: &[u8]) -> Option<Result<(), Error>> {
        self.arrays.0.get(&(part.variable, part.block)).map(|held| held.write(&part.region, bytes))
    }

    /// Writes what the library still has in memory.
    pub(crate) fn close(self) -> Result<(), Error> {
        drop(self.arrays);
        self.file.close()
    }
}

impl Held {
    fn write(&self, region: &Region, bytes: &[u8]) -> Result<(), Error> {
        /// The elements as that type of Rust.
        macro_rules! numbers {
            ($type:ty) => {{
                let numbers: &[$type] =
                    bytemuck::try_cast_slice(bytes).map_err(|error| Error::from(error.to_string()))?;
                self.write_elements(region, numbers)
            }};
        }
        match self.dtype {
            Dtype::I8 => numbers!(i8),
            Dtype::I16 => numbers!(i16),
            Dtype::I32 => numbers!(i32),
            Dtype::I64 => numbers!(i64),
            Dtype::U8 => numbers!(u8),
            Dtype::U16 => numbers!(u16),
            Dtype::U32 => numbers!(u32),
            Dtype::U64 => numbers!(u64),
            Dtype::F32 => numbers!(f32),
            Dtype::F64 => numbers!(f64),
            Dtype::F16 => {
                let (pairs, _) = bytes.as_chunks();
                let numbers: Vec<f16> = pairs.iter().map(|pair| f16::from_ne_bytes(*pair)).collect();
                self.write_elements(region, &numbers)
            }
            Dtype::Bool => {
                let truths: Vec<bool> = bytes.iter().map(|byte| *byte != 0).collect();
                self.write_elements(region, &truths)
            }
            other @ (Dtype::BF16 | Dtype::C32 | Dtype::C64 | Dtype::String | Dtype::Bytes) => {
                Err(Error::from(format!("arrays of {other} are not compressed")))
            }
        }
    }

    fn write_elements<T: H5Type>(&self, region: &Region, elements: &[T]) -> Result<(), Error> {
        let shape: Vec<usize> = region.count().iter().map(|count| *count as usize).collect();
        let view = ArrayViewD::from_shape(shape, elements).map_err(|error| Error::from(error.to_string()))?;
        let first = region.start().iter().zip(self.region.start().iter()).map(|(at, first)| at - first);
        let slice = |(start, count): (u64, &u64)| SliceOrIndex::SliceCount {
            start: start as usize,
            step: 1,
            count: *count as usize,
            block: 1,
        };
        let slices: Vec<SliceOrIndex> = first.zip(region.count().iter()).map(slice).collect();
        self.dataset.write_slice(view, Hyperslab::from(slices))
    }
}
