//! Element types, kinds and memory orders as numbers, and the step from a number to a Rust type.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::failure::{Failure, Status};
use fp_types::{ArrayKind, Dtype, MemoryOrder};

/// Element types. The numbers never change.
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum DtypeCode {
    /// int8_t
    I8 = 1,
    /// int16_t
    I16 = 2,
    /// int32_t
    I32 = 3,
    /// int64_t
    I64 = 4,
    /// uint8_t; opaque bytes travel so too
    U8 = 5,
    /// uint16_t
    U16 = 6,
    /// uint32_t
    U32 = 7,
    /// uint64_t
    U64 = 8,
    /// IEEE 754 binary16
    F16 = 9,
    /// the upper half of a float
    Bf16 = 10,
    /// float
    F32 = 11,
    /// double
    F64 = 12,
    /// two floats, real part first
    C32 = 13,
    /// two doubles, real part first
    C64 = 14,
    /// uint8_t that is 0 or 1: other values are refused as they are put and as they are taken
    Bool = 15,
    /// UTF-8 text of any length: scalars, by `flexpath_publisher_put_text` and `flexpath_step_text`, and fields of records
    String = 16,
    /// opaque bytes of any length: fields of records, and what is said of a variable of records
    Bytes = 17,
}

/// How the blocks that the ranks put make up a variable.
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum KindCode {
    /// one value for all ranks
    Scalar = 0,
    /// one value of each rank
    LocalScalar = 1,
    /// one array; each rank puts regions of it
    GlobalArray = 2,
    /// each block is an array of its own
    LocalArray = 3,
    /// one array: the rows of all ranks, one after another
    JoinedArray = 4,
}

/// The order in which elements lie in the memory of a block.
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum OrderCode {
    /// the last dimension runs fastest, as in C
    RowMajor = 0,
    /// the first dimension runs fastest, as in Fortran
    ColumnMajor = 1,
}

/// The element type with that number.
pub(crate) fn dtype(code: i32) -> Result<Dtype, Failure> {
    let found = u8::try_from(code).ok().and_then(|code| Dtype::try_from(code).ok());
    found.ok_or_else(|| Failure::new(Status::WrongDtype, format!("{code} is no element type")))
}

pub(crate) fn order(code: i32) -> Result<MemoryOrder, Failure> {
    let found = u8::try_from(code).ok().and_then(MemoryOrder::from_u8);
    found.ok_or_else(|| Failure::misuse(format!("{code} is no memory order: 0 row-major, 1 column-major")))
}

pub(crate) fn kind_code(kind: ArrayKind) -> i32 {
    let code = match kind {
        ArrayKind::Scalar => KindCode::Scalar,
        ArrayKind::LocalScalar => KindCode::LocalScalar,
        ArrayKind::GlobalArray => KindCode::GlobalArray,
        ArrayKind::LocalArray => KindCode::LocalArray,
        ArrayKind::JoinedArray { .. } => KindCode::JoinedArray,
    };
    code as i32
}

/// Elements of these have no size.
pub(crate) fn unusable(dtype: Dtype) -> Failure {
    Failure::new(Status::WrongDtype, format!("elements of type {dtype} have no place in an array"))
}

/// Runs the same with `$T` as the Rust type of an element type that is known only at run time.
macro_rules! with_type {
    ($dtype:expr, $T:ident => $run:expr) => {
        with_type!(@ $dtype, $T => $run; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 half::f16, BF16 half::bf16, F32 f32, F64 f64,
            C32 num_complex::Complex32, C64 num_complex::Complex64, Bool u8)
    };
    (@ $dtype:expr, $T:ident => $run:expr; $($name:ident $rust:ty),*) => {
        match $dtype {
            $(fp_types::Dtype::$name => { type $T = $rust; $run })*
            other @ (fp_types::Dtype::String | fp_types::Dtype::Bytes) => Err($crate::elements::unusable(other)),
        }
    };
}
pub(crate) use with_type;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_types() {
        let codes = [DtypeCode::I8 as i32, DtypeCode::Bf16 as i32, DtypeCode::C64 as i32];
        let others = [DtypeCode::Bool as i32, DtypeCode::String as i32];
        assert_eq!(others.map(|code| dtype(code).map(Dtype::name).unwrap_or("none")), ["bool", "string"]);
        let names = codes.map(|code| dtype(code).map(Dtype::name).unwrap_or("none"));
        assert_eq!(names, ["i8", "bf16", "c64"]);
        assert!(dtype(0).is_err() && dtype(-1).is_err() && dtype(268).is_err());
    }
}
