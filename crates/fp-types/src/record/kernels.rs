//! The loops that convert numbers, one for each pair of types. The compiler makes vector instructions of them.

use half::{bf16, f16};

use super::byte_order::ByteOrder;
use crate::dtype::Dtype;
use crate::instructions::Instructions;

/// A loop over numbers that lie densely on both sides.
pub(super) type Kernel = fn(Instructions, &[u8], &mut [u8]);

/// A loop, and the size in bytes of a number after it.
pub(super) type Step = (Kernel, usize);

/// Converts numbers one by one.
#[inline(always)]
fn each<const A: usize, const B: usize>(
    instructions: Instructions,
    source: &[u8],
    destination: &mut [u8],
    convert: impl Fn([u8; A]) -> [u8; B],
) {
    instructions.run(|| {
        let (from, _) = source.as_chunks::<A>();
        let (to, _) = destination.as_chunks_mut::<B>();
        for (to, from) in to.iter_mut().zip(from) {
            *to = convert(*from);
        }
    });
}

/// The loop that turns bytes around where the orders differ.
pub(super) fn swap(dtype: Dtype, from: ByteOrder, to: ByteOrder) -> Option<Step> {
    let kernel: Kernel = match dtype.size_bytes() {
        Some(2) => |instructions, source, destination| {
            each(instructions, source, destination, |bytes| {
                u16::from_ne_bytes(bytes).swap_bytes().to_ne_bytes()
            })
        },
        Some(4) => |instructions, source, destination| {
            each(instructions, source, destination, |bytes| {
                u32::from_ne_bytes(bytes).swap_bytes().to_ne_bytes()
            })
        },
        Some(8) => |instructions, source, destination| {
            each(instructions, source, destination, |bytes| {
                u64::from_ne_bytes(bytes).swap_bytes().to_ne_bytes()
            })
        },
        _ => return None,
    };
    (from != to).then_some((kernel, dtype.size_bytes()?))
}

/// The casts from one number type to another; none at all if they are the same.
pub(super) fn casts(from: Dtype, to: Dtype) -> Option<Vec<Step>> {
    if from == to {
        return Some(Vec::new());
    }
    let (widened, narrowed) = (widen(from), narrow(to));
    let source = if widened.is_some() { Dtype::F32 } else { from };
    let destination = if narrowed.is_some() { Dtype::F32 } else { to };
    let between = match source == destination {
        true => None,
        false => Some((kernel(source, destination)?, destination.size_bytes()?)),
    };
    Some(widened.into_iter().chain(between).chain(narrowed).collect())
}

/// From a short real type to `f32`.
fn widen(from: Dtype) -> Option<Step> {
    let kernel: Kernel = match from {
        Dtype::F16 => |instructions, source, destination| {
            each(instructions, source, destination, |bytes| f16::from_ne_bytes(bytes).to_f32().to_ne_bytes())
        },
        Dtype::BF16 => |instructions, source, destination| {
            each(instructions, source, destination, |bytes| bf16::from_ne_bytes(bytes).to_f32().to_ne_bytes())
        },
        Dtype::I8
        | Dtype::I16
        | Dtype::I32
        | Dtype::I64
        | Dtype::U8
        | Dtype::U16
        | Dtype::U32
        | Dtype::U64
        | Dtype::F32
        | Dtype::F64
        | Dtype::C32
        | Dtype::C64
        | Dtype::Bool
        | Dtype::String
        | Dtype::Bytes => return None,
    };
    Some((kernel, 4))
}

/// From `f32` to a short real type.
fn narrow(to: Dtype) -> Option<Step> {
    let kernel: Kernel = match to {
        Dtype::F16 => |instructions, source, destination| {
            each(instructions, source, destination, |bytes| {
                f16::from_f32(f32::from_ne_bytes(bytes)).to_ne_bytes()
            })
        },
        Dtype::BF16 => |instructions, source, destination| {
            each(instructions, source, destination, |bytes| {
                bf16::from_f32(f32::from_ne_bytes(bytes)).to_ne_bytes()
            })
        },
        Dtype::I8
        | Dtype::I16
        | Dtype::I32
        | Dtype::I64
        | Dtype::U8
        | Dtype::U16
        | Dtype::U32
        | Dtype::U64
        | Dtype::F32
        | Dtype::F64
        | Dtype::C32
        | Dtype::C64
        | Dtype::Bool
        | Dtype::String
        | Dtype::Bytes => return None,
    };
    Some((kernel, 2))
}

/// One loop for each pair of number types that the machine computes with.
macro_rules! kernels {
    ($from:expr, $to:expr; $($source:ident = $rust:ty),*) => {
        match $from {
            $(Dtype::$source => kernels!(@to $to; $rust; I8 = i8, I16 = i16, I32 = i32, I64 = i64, U8 = u8,
                U16 = u16, U32 = u32, U64 = u64, F32 = f32, F64 = f64),)*
            Dtype::F16 | Dtype::BF16 | Dtype::C32 | Dtype::C64 | Dtype::Bool | Dtype::String | Dtype::Bytes => None,
        }
    };
    (@to $to:expr; $source:ty; $($destination:ident = $rust:ty),*) => {
        match $to {
            $(Dtype::$destination => Some(|instructions, source, destination| {
                each(instructions, source, destination, |bytes| (<$source>::from_ne_bytes(bytes) as $rust).to_ne_bytes())
            }),)*
            Dtype::F16 | Dtype::BF16 | Dtype::C32 | Dtype::C64 | Dtype::Bool | Dtype::String | Dtype::Bytes => None,
        }
    };
}

fn kernel(from: Dtype, to: Dtype) -> Option<Kernel> {
    kernels!(from, to; I8 = i8, I16 = i16, I32 = i32, I64 = i64, U8 = u8, U16 = u16, U32 = u32, U64 = u64,
        F32 = f32, F64 = f64)
}
