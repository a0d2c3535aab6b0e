//! Native transforms of plain elements: Rust functions over slices of numbers.

use std::borrow::Cow;

use fp_types::record::{ByteOrder, ElementForm};
use fp_types::{Dtype, MemoryOrder, Region, Shape};
use half::{bf16, f16};

use super::{Native, NativeError};
use crate::block::{Array, Block};
use crate::memory::Memory;

mod sealed {
    pub trait SealedNativeElement {}
}

/// A Rust type that is an element type: sealed, as any bytes of a peer must be a valid value. A complex number is its
/// two parts, the real one first.
pub trait NativeElement: sealed::SealedNativeElement + bytemuck::Pod + Send + Sync {
    /// Which element type it is.
    const DTYPE: Dtype;
}

macro_rules! elements {
    ($($rust:ty => $dtype:ident),* $(,)?) => {
        $(
            impl sealed::SealedNativeElement for $rust {}
            impl NativeElement for $rust {
                const DTYPE: Dtype = Dtype::$dtype;
            }
        )*
    };
}

elements! {
    i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f16 => F16, bf16 => BF16, f32 => F32, f64 => F64,
    [f32; 2] => C32, [f64; 2] => C64,
}

impl Native {
    /// A function from elements to elements, for derivations that call it by its name: `x, y | call(name)`.
    ///
    /// It gets the elements of one block of each variable. All are of the same region, and so equally many, in the
    /// memory order of the first variable's block. It gives as many, in the same order (`call(name)`, or
    /// `call(name, f32)` if they are of another type than those it got). Or it gives those of one row, in row-major
    /// order (`call(name, f64, 3)`).
    pub fn elements<A: NativeElement, B: NativeElement>(
        name: impl Into<String>,
        function: impl Fn(&[&[A]]) -> Result<Vec<B>, NativeError> + Send + Sync + 'static,
    ) -> Self {
        Self::from_elements(name, move |inputs: &[&[A]]| {
            let given = function(inputs)?;
            let shape = Shape::new([given.len() as u64])?;
            Ok(Array::whole(B::DTYPE, shape, MemoryOrder::RowMajor, Given(given))?)
        })
    }

    /// As [`Native::elements`], of a function whose type of elements is known only at run time: it gives an array in one
    /// dimension.
    pub fn from_elements<A: NativeElement>(
        name: impl Into<String>,
        function: impl Fn(&[&[A]]) -> Result<Array, NativeError> + Send + Sync + 'static,
    ) -> Self {
        Self::new(name, move |inputs: &[Array]| {
            let first = inputs.first().and_then(|array| array.blocks().first());
            let order = first.map_or(MemoryOrder::default(), Block::order);
            let elements = |array| elements_of::<A>(array, order);
            let inputs = inputs.iter().map(elements).collect::<Result<Vec<Cow<'_, [A]>>, _>>()?;
            let slices: Vec<&[A]> = inputs.iter().map(|elements| &**elements).collect();
            Ok(vec![function(&slices)?])
        })
    }
}

/// What a function gave, as bytes.
struct Given<B>(Vec<B>);

impl<B: NativeElement> AsRef<[u8]> for Given<B> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

/// The elements of an array in that order: where they lie, if they lie so.
fn elements_of<A: NativeElement>(array: &Array, order: MemoryOrder) -> Result<Cow<'_, [A]>, NativeError> {
    if array.dtype() != A::DTYPE {
        return Err(format!("it takes elements of type {}, and these are {}", A::DTYPE, array.dtype()).into());
    }
    let as_wanted = |block: &Block| {
        let form = ElementForm { dtype: A::DTYPE, byte_order: ByteOrder::NATIVE };
        *block.region() == Region::whole(array.shape()) && block.order() == order && block.form() == form
    };
    if let [block] = array.blocks()
        && as_wanted(block)
        && let Ok(elements) = bytemuck::try_cast_slice(block.bytes())
    {
        return Ok(Cow::Borrowed(elements));
    }
    let memory = Memory::default();
    let native = array.map_blocks(array.array_type(), &memory, |block| block.native(&memory).map(Some))?;
    let bytes = native.assemble(order)?;
    let mut elements = vec![A::zeroed(); bytes.len() / size_of::<A>()];
    bytemuck::cast_slice_mut(&mut elements).copy_from_slice(&bytes);
    Ok(Cow::Owned(elements))
}

#[cfg(test)]
mod tests {
    use super::*;
    use MemoryOrder::{ColumnMajor, RowMajor};
    use std::sync::Arc;

    fn given(native: &Native, inputs: &[Array]) -> Result<Vec<u8>, String> {
        let arrays = (native.function)(inputs).map_err(|error| error.to_string())?;
        Ok(arrays[0].assemble(RowMajor).unwrap())
    }

    #[test]
    fn elements_come_in_the_first_ones_order_wherever_they_lie() {
        let digits = |inputs: &[&[u16]]| {
            Ok(inputs[0].iter().zip(inputs[1]).map(|(a, b)| f32::from(a * 10 + b)).collect::<Vec<f32>>())
        };
        let native = Native::elements("digits", digits);
        let shape = Shape::new([2, 2]).unwrap();
        let bytes = |values: [u16; 4]| values.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
        let columns = Array::whole(Dtype::U16, shape, ColumnMajor, bytes([1, 3, 2, 4])).unwrap();
        // The same elements by rows, in two blocks, in the other byte order, and where no u16 may begin.
        let swapped = ElementForm {
            dtype: Dtype::U16,
            byte_order: if cfg!(target_endian = "big") { ByteOrder::Little } else { ByteOrder::Big },
        };
        let row = |at: u64, values: [u16; 2]| {
            let bytes: Vec<u8> = values.iter().flat_map(|x| x.swap_bytes().to_ne_bytes()).collect();
            let region = Region::new([at, 0], [1, 2]).unwrap();
            Block::shared(region, swapped, RowMajor, Arc::new(bytes)).unwrap()
        };
        let rows = Array::new(Dtype::U16, shape, vec![row(0, [1, 2]), row(1, [3, 4])]).unwrap();
        struct Shifted(Vec<u8>);
        impl AsRef<[u8]> for Shifted {
            fn as_ref(&self) -> &[u8] {
                &self.0[1..]
            }
        }
        let shifted = Shifted([vec![0], bytes([1, 3, 2, 4])].concat());
        let shifted = Array::whole(Dtype::U16, shape, ColumnMajor, shifted).unwrap();
        let wanted: Vec<u8> = [11f32, 33.0, 22.0, 44.0].iter().flat_map(|x| x.to_ne_bytes()).collect();
        for other in [&columns, &rows, &shifted] {
            assert_eq!(given(&native, &[columns.clone(), other.clone()]), Ok(wanted.clone()));
        }
        let by_rows: Vec<u8> = [11f32, 22.0, 33.0, 44.0].iter().flat_map(|x| x.to_ne_bytes()).collect();
        assert_eq!(given(&native, &[rows, columns]), Ok(by_rows));
    }

    #[test]
    fn elements_of_another_type_are_refused_in_words() {
        let native = Native::elements("same", |inputs: &[&[f64]]| Ok(inputs[0].to_vec()));
        for (dtype, len) in [(Dtype::F32, 4), (Dtype::I64, 8)] {
            let array = Array::whole(dtype, Shape::new([1]).unwrap(), RowMajor, vec![0; len]).unwrap();
            let said = format!("it takes elements of type f64, and these are {dtype}");
            assert_eq!(given(&native, &[array]), Err(said));
        }
    }
}
