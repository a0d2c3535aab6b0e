//! Why deployed code is refused, or failed. Whatever it is, only that call is harmed.

use std::time::Duration;

use fp_types::{Dtype, Region};

use crate::error::DeriveError;

/// Why a module is refused, or a call of it failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeployError {
    /// More bytes than a module may have.
    #[error("a module of {len_bytes} bytes is larger than {limit_bytes}")]
    TooLarge {
        /// How many it has.
        len_bytes: usize,
        /// How many it may have.
        limit_bytes: usize,
    },
    /// More of something than is compiled: it could take long.
    #[error("the module has {found} {what}: at most {limit} are compiled")]
    TooComplex {
        /// Of what.
        what: &'static str,
        /// How many it has.
        found: u64,
        /// How many it may have.
        limit: u64,
    },
    /// A function has more of something than is compiled.
    #[error("function {index} of the module has {found} {what}: at most {limit} are compiled")]
    FunctionTooComplex {
        /// Which, from 0.
        index: u64,
        /// Of what.
        what: &'static str,
        /// How many it has.
        found: u64,
        /// How many it may have.
        limit: u64,
    },
    /// The most modules that may be loaded are loaded already.
    #[error("{limit} modules are loaded already")]
    TooMany {
        /// How many.
        limit: usize,
    },
    /// Not WebAssembly, or of a kind that is not run here.
    #[error("not a module: {reason}")]
    Invalid {
        /// What is wrong with it.
        reason: String,
    },
    /// It imports something: there is nothing that a module is given.
    #[error("the module imports {module:?} {name:?}, but nothing can be imported")]
    Import {
        /// From where.
        module: String,
        /// What.
        name: String,
    },
    /// It does not export what it has to.
    #[error("the module does not export {name:?}, {wanted}")]
    Export {
        /// What it has to export.
        name: &'static str,
        /// What that has to be.
        wanted: &'static str,
    },
    /// The runtime cannot be started, or the system gives it no memory.
    #[error("no WebAssembly here: {reason}")]
    Runtime {
        /// Why.
        reason: String,
    },
    /// Blocks that it cannot be given.
    #[error(transparent)]
    Input(#[from] DeriveError),
    /// It used up what work it may do: it loops, or has more to do than was thought.
    #[error("the module did more than {limit} units of work")]
    Fuel {
        /// How much it may do; about an instruction each.
        limit: u64,
    },
    /// It ran too long.
    #[error("the module ran for longer than {limit:?}")]
    TimedOut {
        /// How long it may.
        limit: Duration,
    },
    /// It wanted more memory than it may have.
    #[error("the module wanted more memory than {limit_bytes} bytes")]
    Memory {
        /// How much it may have.
        limit_bytes: usize,
    },
    /// It wanted a larger table than it may have.
    #[error("the module wanted a table of more than {limit_elements} elements")]
    Table {
        /// How many it may have.
        limit_elements: usize,
    },
    /// It did what cannot be done: an access out of bounds, a division by zero, `unreachable`.
    #[error("the module trapped: {what}")]
    Trapped {
        /// What it did.
        what: String,
    },
    /// It has no room for its input.
    #[error("the module made no room for {len_bytes} bytes of input")]
    NoRoom {
        /// How many there are.
        len_bytes: usize,
    },
    /// It says itself that it failed.
    #[error("the module failed with number {number}")]
    Failed {
        /// What it returned.
        number: u32,
    },
    /// Its output makes no sense.
    #[error("the module's output: {0}")]
    Output(OutputFault),
}

impl From<OutputFault> for DeployError {
    fn from(error: OutputFault) -> Self {
        Self::Output(error)
    }
}

/// What can be wrong with the output of a module.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OutputFault {
    /// The number of bytes is not that of the region.
    #[error("{len_bytes} bytes are not the {wanted_bytes} of {dtype} {region}")]
    Size {
        /// The region.
        region: Box<Region>,
        /// The element type.
        dtype: Dtype,
        /// How many bytes it says.
        len_bytes: usize,
        /// How many there have to be.
        wanted_bytes: u128,
    },
    /// Elements past the end of its memory.
    #[error("{len_bytes} bytes at {data} lie outside its memory")]
    Outside {
        /// Where.
        data: u32,
        /// How many.
        len_bytes: u32,
    },
    /// A number that stands for no element type, memory order or number of dimensions.
    #[error("no {what} has the number {number}")]
    Unknown {
        /// Of what.
        what: &'static str,
        /// The number.
        number: u32,
    },
    /// A region that cannot be.
    #[error("no region: {reason}")]
    Region {
        /// Why.
        reason: String,
    },
}
