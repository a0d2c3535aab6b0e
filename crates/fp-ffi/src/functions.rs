//! Functions over plain arrays that are C functions: what a derivation runs by `call(name)`.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::elements::{dtype, unusable};
use crate::external::Owed;
use crate::failure::{Failure, Status, guard, returned};
use crate::handles::find;
use crate::raw::{as_len, text};
use crate::transforms::TransformsHandle;
use fp_core::{Array, Dtype, MemoryOrder, Native, NativeElement, NativeError, Shape};
use half::{bf16, f16};
use std::ffi::{c_char, c_void};

/// Runs the same with `$T` as the Rust type of the elements of a function.
macro_rules! with_number {
    ($dtype:expr, $T:ident => $run:expr) => {
        with_number!(@ $dtype, $T => $run; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 f16, BF16 bf16, F32 f32, F64 f64, C32 [f32; 2], C64 [f64; 2])
    };
    (@ $dtype:expr, $T:ident => $run:expr; $($name:ident $rust:ty),*) => {
        match $dtype {
            $(Dtype::$name => { type $T = $rust; $run })*
            other @ (Dtype::Bool | Dtype::String | Dtype::Bytes) => Err(unusable(other)),
        }
    };
}

struct OfC {
    name: String,
    run: extern "C" fn(*mut c_void, *const *const c_void, u64, u64, *mut c_void, u64) -> i32,
    context: Owed,
    /// How many elements it makes of each block; 0: as many as it is given.
    made_count: usize,
    gives: Dtype,
    made_bytes: usize,
}

/// Elements that C makes, in memory that is aligned for all types.
struct Made {
    words: Vec<u64>,
    len_bytes: usize,
}

impl Made {
    fn of(count: usize, size: usize) -> Result<Self, NativeError> {
        let len_bytes = count.checked_mul(size).ok_or("more elements than any memory holds")?;
        let (len, mut words) = (len_bytes.div_ceil(size_of::<u64>()), Vec::new());
        words.try_reserve_exact(len)?;
        words.resize(len, 0);
        Ok(Self { words, len_bytes })
    }
}

impl AsRef<[u8]> for Made {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words).get(..self.len_bytes).unwrap_or_default()
    }
}

impl OfC {
    /// Runs it on arrays of so many elements each.
    fn call(&self, inputs: &[*const c_void], count: usize) -> Result<Array, NativeError> {
        let made_count = if self.made_count == 0 { count } else { self.made_count };
        let mut made = Made::of(made_count, self.made_bytes)?;
        let (given, place) = (inputs.as_ptr(), made.words.as_mut_ptr().cast());
        let (input_count, len) = (inputs.len() as u64, made_count as u64);
        match (self.run)(self.context.context(), given, input_count, count as u64, place, len) {
            0 => Ok(Array::whole(self.gives, Shape::new([len])?, MemoryOrder::RowMajor, made)?),
            number => Err(returned(number).into()),
        }
    }

    fn native<A: NativeElement>(self) -> Native {
        Native::from_elements(self.name.clone(), move |inputs: &[&[A]]| {
            let given: Vec<*const c_void> = inputs.iter().map(|input| input.as_ptr().cast()).collect();
            self.call(&given, inputs.first().map_or(0, |first| first.len()))
        })
    }
}

/// The size of elements that a function can make.
fn made_bytes(gives: Dtype) -> Result<usize, Failure> {
    let size = gives.size_bytes().filter(|_| gives != Dtype::Bool);
    size.ok_or_else(|| unusable(gives))
}

/// Adds a function over plain arrays, for derivations that call it: `x, y | call(name)` (docs/derived.md). It takes
/// elements of the type `takes`, and makes those of `gives`, each one of `flexpath_dtype`. Of each block it makes as
/// many as it is given, or `made_count` unless that is 0: a row, for `call(name, f64, 3)`. `run` gets `input_count` arrays
/// of `count` elements each, one for each variable. It writes all `made_count` elements to `made`, and returns 0, or a
/// number of its own for the text of the failure. It is called with `context`, on threads of Flexpath, on several at one
/// time. `release(context)` is called once, whatever this returns,
/// when the function will not be called any more; it may be null. Neither may throw or longjmp. A call that takes too
/// long is not waited for, and after two such calls the function is refused. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_transforms_add_function(
    transforms: *mut TransformsHandle,
    name: *const c_char,
    takes: i32,
    gives: i32,
    made_count: u64,
    run: Option<
        extern "C" fn(
            context: *mut c_void,
            inputs: *const *const c_void,
            input_count: u64,
            count: u64,
            made: *mut c_void,
            made_count: u64,
        ) -> i32,
    >,
    release: Option<extern "C" fn(context: *mut c_void)>,
    context: *mut c_void,
) -> Status {
    let context = Owed::new(release, context);
    guard(move || {
        let (found, name) = (find(transforms)?, text(name, "name")?.to_owned());
        let run = run.ok_or_else(|| Failure::new(Status::BadPointer, "run is null"))?;
        let (takes, gives) = (dtype(takes)?, dtype(gives)?);
        let (made_count, made_bytes) = (as_len(made_count), made_bytes(gives)?);
        let function = OfC { name, run, context, made_count, gives, made_bytes };
        let native = with_number!(takes, A => Ok(function.native::<A>()))?;
        found.core.register(native).map_err(Failure::misused)?;
        Ok(Status::Ok)
    })
}
