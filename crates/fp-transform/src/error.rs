//! Why a derivation is refused or fails, or a call of a registered transform, with the values that caused it.
//!
//! It knows the values that fail below it (expressions, compression, threads), and nothing that fails with it.

use fp_types::record::ElementConversionError;
use fp_types::{CopyError, Dtype, Region, RegionError, Shape, ShapeTooLarge, StrideError};

use crate::compression::CompressionError;
use crate::expression::ExpressionError;
use crate::limits::{MAX_INPUTS, MAX_OPERATIONS};
use crate::policy::ModuleHash;
use crate::pool::PoolError;

/// Why a derivation is refused (when it is made or planned), or fails (when it runs).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeriveError {
    /// No inputs, or more than [`MAX_INPUTS`].
    #[error("a derivation takes 1 to {} variables, not {count}", MAX_INPUTS)]
    InputCount {
        /// How many were given.
        count: usize,
    },
    /// An operation that takes another number of arrays.
    #[error("{operation} takes {wanted}, not {count} arrays")]
    Arity {
        /// The operation.
        operation: String,
        /// How many it takes, in words.
        wanted: &'static str,
        /// How many there are.
        count: usize,
    },
    /// More operations than [`MAX_OPERATIONS`].
    #[error("{count} operations are more than {}", MAX_OPERATIONS)]
    TooManyOperations {
        /// How many were given.
        count: usize,
    },
    /// An operation that gathers from all ranks stands before another one.
    #[error("{operation} brings together what all ranks have, so nothing can follow it")]
    NotLast {
        /// The operation.
        operation: String,
    },
    /// An operation whose own numbers make no sense.
    #[error("{operation}: {what}")]
    Setting {
        /// The operation.
        operation: String,
        /// What is wrong.
        what: &'static str,
    },
    /// An expression that cannot be read, or names what is not there.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// A name that no variable can have.
    #[error(transparent)]
    Name(#[from] fp_types::NameError),
    /// An operation on elements that it cannot take.
    #[error("{operation} cannot take elements of type {dtype}")]
    Elements {
        /// The operation.
        operation: String,
        /// The element type.
        dtype: Dtype,
    },
    /// Elements without a size, where numbers are wanted.
    #[error("elements of type {dtype} are no numbers")]
    NotNumbers {
        /// The element type.
        dtype: Dtype,
    },
    /// Arrays of several shapes where one is wanted.
    #[error(
        "{operation}: arrays of shapes {first} and {other} are not brought together element by element; `slice` takes parts of one shape"
    )]
    Shapes {
        /// The operation.
        operation: String,
        /// The first.
        first: Shape,
        /// One that differs.
        other: Shape,
    },
    /// A slice of what an array does not have.
    #[error(
        "{operation} of an array of shape {shape}: {source}; `:` is all of a dimension, and -1 its last element"
    )]
    Slice {
        /// The operation.
        operation: String,
        /// The array's shape.
        shape: Shape,
        /// What does not fit.
        r#source: Box<fp_types::SelectionError>,
    },
    /// Strides for another number of dimensions.
    #[error("{operation} is for {given} dimensions, but the array has {ndims}")]
    DimensionCount {
        /// The operation.
        operation: String,
        /// For how many it is.
        given: usize,
        /// How many the array has.
        ndims: usize,
    },
    /// Bytes that are not those of so many elements.
    #[error("{len_bytes} bytes are not the {wanted_bytes} of {dtype} {region}")]
    Len {
        /// The region.
        region: Box<Region>,
        /// The element type.
        dtype: Dtype,
        /// How many bytes there are.
        len_bytes: usize,
        /// How many there have to be.
        wanted_bytes: u128,
    },
    /// More than this machine can address.
    #[error("{elements} elements of {element_bytes} bytes are more than this machine can address")]
    TooLarge {
        /// How many elements.
        elements: u64,
        /// Their size.
        element_bytes: usize,
    },
    /// More than is left of what the run may use.
    #[error(
        "no room for {len_bytes} bytes: derivations of a step may use {limit_bytes} beside live steps (limit_bytes)"
    )]
    NoRoom {
        /// How many bytes were wanted.
        len_bytes: u64,
        /// How many all that runs together may use.
        limit_bytes: u64,
    },
    /// It was asked to stop, and did so between two blocks.
    #[error("it was stopped between two blocks")]
    Stopped,
    /// A block of another type than its array.
    #[error("a block of {block} in an array of {array}")]
    BlockType {
        /// The array's element type.
        array: Dtype,
        /// The block's.
        block: Dtype,
    },
    /// A block past the end of its array.
    #[error("the block {region} is not inside an array of shape {shape}")]
    Outside {
        /// The block's region.
        region: Box<Region>,
        /// The array's shape.
        shape: Shape,
    },
    /// Elements that are needed and not there.
    #[error("not all elements of {region} are there")]
    Uncovered {
        /// The region.
        region: Box<Region>,
    },
    /// A statistic of nothing.
    #[error("{operation} of no elements")]
    Empty {
        /// The operation.
        operation: String,
    },
    /// A sum of integers past 64 bits.
    #[error("the sum {sum} does not fit into {dtype}")]
    SumTooLarge {
        /// The sum, to 53 bits.
        sum: f64,
        /// The type of the result.
        dtype: Dtype,
    },
    /// Parts of two different derivations.
    #[error("results of two different derivations are not merged")]
    Unlike,
    /// A module that is known by its name alone, or is not here.
    #[error("no module is called {name:?}")]
    NoModule {
        /// Its name.
        name: String,
    },
    /// Deployed code that is refused or failed.
    #[error("{what}")]
    Module {
        /// Which.
        module: ModuleHash,
        /// Why, in words.
        what: String,
        /// Whether it used up its work or its time: the next call would as well.
        overran: bool,
    },
    /// A function that is called by its name, and is not there.
    #[error("no function is registered as {name:?}")]
    NoFunction {
        /// Its name.
        name: String,
    },
    /// A registered function that failed, or was not let run.
    #[error(transparent)]
    Call(#[from] CallError),
    /// A module or a function gave something else than was said of it.
    #[error("{by} gave {given}, where {wanted} was asked for")]
    ModuleOutput {
        /// What did.
        by: String,
        /// What it gave.
        given: String,
        /// What it was to give.
        wanted: String,
    },
    /// Deployed code in a program that cannot run any.
    #[error("deployed code is not run here: this program was built without the feature `wasm`")]
    NoWebAssembly,
    /// Of the conversion of elements.
    #[error(transparent)]
    Conversion(#[from] ElementConversionError),
    /// Of moving elements.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// Of a region.
    #[error(transparent)]
    Region(#[from] RegionError),
    /// Of a stride.
    #[error(transparent)]
    Stride(#[from] StrideError),
    /// Of a shape.
    #[error(transparent)]
    Shape(#[from] ShapeTooLarge),
    /// Of compression.
    #[error(transparent)]
    Compression(#[from] CompressionError),
}

/// Why a call failed. Nothing but the call is harmed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// There is no such transform.
    #[error("no transform is called {name:?}")]
    Unknown {
        /// The name.
        name: String,
    },
    /// It said so itself.
    #[error("transform {name:?}: {reason}")]
    Failed {
        /// The transform.
        name: String,
        /// What it said.
        reason: String,
    },
    /// It panicked, ran too long, or found no thread.
    #[error("transform {name:?}: {source}")]
    Pool {
        /// The transform.
        name: String,
        /// What happened.
        r#source: PoolError,
    },
    /// It ran too long too often.
    #[error(
        "transform {name:?} ran too long {overruns} times and is refused until this process starts again"
    )]
    Refused {
        /// The transform.
        name: String,
        /// How often.
        overruns: u32,
    },
}
