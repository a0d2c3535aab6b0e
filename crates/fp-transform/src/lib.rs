//! From published arrays to what was asked for: derivations, registered transforms, deployed code.
//!
//! Pure computing on blocks that somebody holds, and a few threads for foreign code. Nothing here knows streams, links or
//! which side it runs on: blocks come in with region, type, order and bytes, and arrays of blocks go out.
//!
//! | module | what |
//! |---|---|
//! | `block` | a region with its bytes; arrays as blocks |
//! | `derivation` | what is derived of which variables, as a value; its plan for known types; partial results of ranks |
//! | `operation` | the built-in operations, each with its output's type and shape |
//! | `expression` | reading and computing `sqrt(x*x + y*y)` |
//! | `exact` | sums that no order and no cut changes |
//! | `memory` | memory of results, used again |
//! | `compression` | shorter blocks for the way |
//! | `native`, `pool`, `shared` | registered functions, the threads that they run on, results that several ask for |
//! | `policy`, `modules`, `deployed` | whose WebAssembly is run; which there is; running it (feature `wasm`) |
//!
//! docs/transforms.md teaches all of it.
#![forbid(unsafe_code)]

mod block;
mod compression;
#[cfg(feature = "wasm")]
mod deployed;
mod derivation;
mod error;
mod exact;
mod expression;
mod memory;
mod modules;
mod native;
mod numbers;
mod operation;
mod policy;
mod pool;
mod shared;
mod walk;

pub use block::{Array, ArrayType, Block, Payload};
pub use compression::{Compression, CompressionError, decompress};
#[cfg(feature = "wasm")]
pub use deployed::{DeployError, Deployed, OutputFault, Runtime};
pub use derivation::{
    Derivation, DerivationDecodeError, DerivationId, Derived, MAX_DERIVATION_BYTES, MAX_INPUTS,
    MAX_OPERATIONS, ParseDerivationError, ParseFault, Partial, PartialError, Plan,
};
pub use error::DeriveError;
pub use expression::{
    Expression, ExpressionError, ExpressionFault, Function, MAX_EXPRESSION_BYTES, MAX_EXPRESSION_DEPTH,
};
pub use modules::{Modules, RunModule};
pub use native::{
    CallError, Cost, DataType, Decision, MAX_PATH, MAX_TRANSFORMS, Measured, Native, NativeElement,
    NativeError, NativeFunction, Offer, Offers, PathError, Place, Placement, Reason, RegisterError,
    TransformOptions, TransformPath, Transforms, made_id, record_array,
};
pub use operation::{Comparison, MAX_BINS, ModuleCall, Operation, OutputType, Reduction};
pub use policy::{DeployLimits, DeployPolicy, ModuleHash, ParseModuleHashError, PolicyRefusal};
pub use pool::{MAX_OVERRUNS, Overruns, Pool, PoolError};
pub use shared::{ShareError, Shared, SharedCounts};

/// The programs of docs/transforms.md, which the tests run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/transforms.md")]
struct Guide;
