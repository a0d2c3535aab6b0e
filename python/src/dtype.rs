//! Element types by name, and calls that have one as a type parameter.

use crate::error::misuse;
use flexpath::Dtype;
use pyo3::prelude::*;

/// Makes a call with the Rust type of an element type that is known at run time; truth values are bytes.
macro_rules! with_element {
    ($dtype:expr, $T:ident => $call:expr) => {
        match $dtype {
            flexpath::Dtype::I8 => {
                type $T = i8;
                $call
            }
            flexpath::Dtype::I16 => {
                type $T = i16;
                $call
            }
            flexpath::Dtype::I32 => {
                type $T = i32;
                $call
            }
            flexpath::Dtype::I64 => {
                type $T = i64;
                $call
            }
            flexpath::Dtype::U8 | flexpath::Dtype::Bool => {
                type $T = u8;
                $call
            }
            flexpath::Dtype::U16 => {
                type $T = u16;
                $call
            }
            flexpath::Dtype::U32 => {
                type $T = u32;
                $call
            }
            flexpath::Dtype::U64 => {
                type $T = u64;
                $call
            }
            flexpath::Dtype::F16 => {
                type $T = half::f16;
                $call
            }
            flexpath::Dtype::BF16 => {
                type $T = half::bf16;
                $call
            }
            flexpath::Dtype::F32 => {
                type $T = f32;
                $call
            }
            flexpath::Dtype::F64 => {
                type $T = f64;
                $call
            }
            flexpath::Dtype::C32 => {
                type $T = num_complex::Complex32;
                $call
            }
            flexpath::Dtype::C64 => {
                type $T = num_complex::Complex64;
                $call
            }
            other @ (flexpath::Dtype::String | flexpath::Dtype::Bytes) => {
                Err($crate::dtype::no_element(other))
            }
        }
    };
}
pub(crate) use with_element;

pub(crate) fn no_element(dtype: Dtype) -> PyErr {
    misuse(format!(
        "elements of type {dtype} are no array of numbers: records are taken by `.records()`, texts by str()"
    ))
}

/// The element type of that name.
pub(crate) fn named(name: &str) -> PyResult<Dtype> {
    name.parse().map_err(|error| misuse(format!("element type {name:?}: {error}")))
}
