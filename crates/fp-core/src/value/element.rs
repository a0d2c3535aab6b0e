//! Element types: which Rust types can be put and got.

use fp_types::Dtype;
use half::{bf16, f16};
use num_complex::{Complex32, Complex64};

mod sealed {
    pub trait Sealed {}
}

/// A plain-old-data element of an array. Sealed: the types below and no others, so that bytes from a peer are
/// always a valid value. Bool and enumerations travel as integers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no element of an array",
    label = "no element type",
    note = "elements are integers of 8 to 64 bits, `f32`, `f64`, `half::f16`, `half::bf16` and `num_complex::Complex` of floats; structs are put as records"
)]
pub trait Element: sealed::Sealed + bytemuck::Pod + Send + Sync {
    /// The element type on the wire.
    const DTYPE: Dtype;
}

macro_rules! elements {
    ($($rust:ty => $dtype:ident),* $(,)?) => {
        $(
            impl sealed::Sealed for $rust {}
            impl Element for $rust {
                const DTYPE: Dtype = Dtype::$dtype;
            }
        )*
    };
}

elements! {
    i8 => I8, i16 => I16, i32 => I32, i64 => I64,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f16 => F16, bf16 => BF16, f32 => F32, f64 => F64,
    Complex32 => C32, Complex64 => C64,
}
