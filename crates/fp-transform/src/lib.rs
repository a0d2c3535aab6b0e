//! From published arrays to what was asked for: derivations, registered transforms, deployed code.
//!
//! Pure computing on blocks that somebody holds, and a few threads for foreign code. Nothing here knows streams, links
//! or which side it runs on. Blocks come in with region, type, order and bytes, and arrays of blocks go out.
//!
//! In the order in which things build on one another:
//!
//! | module | what |
//! |---|---|
//! | `limits`, `policy` | how much a derivation may be of; whose WebAssembly is run, and how much it may use |
//! | `numbers`, `exact` | elements as numbers; sums that no order and no cut changes |
//! | `pool`, `calls` | the threads that foreign code runs on; calls that are waited for |
//! | `expression`, `compression` | reading and computing `sqrt(x*x + y*y)`; shorter blocks for the way |
//! | `error` | why a derivation is refused or fails |
//! | `stop`, `memory`, `block` | whether a run goes on; memory of results, used again and bounded; a region with its bytes, and arrays as blocks |
//! | `placing`, `walk`, `alignment`, `foreign_code` | where rows of a rank lie; through a block row by row; blocks cut alike; code that a plan runs |
//! | `operation`, `native`, `deployed` | what is built in; registered functions; WebAssembly (feature `wasm`) |
//! | `derivation`, `modules` | what is derived of which variables, planned and run; the modules of a process |
//! | `measure`, `field` | numbers that conditions of subscriptions are judged by; fields of records |
//! | `shared` | results that several ask for |
//!
//! docs/transforms.md teaches all of it.
#![forbid(unsafe_code)]

mod alignment;
mod block;
mod calls;
mod compression;
#[cfg(feature = "wasm")]
mod deployed;
mod derivation;
mod error;
mod exact;
mod expression;
mod field;
mod foreign_code;
mod limits;
mod measure;
mod memory;
mod modules;
mod native;
mod numbers;
mod operation;
mod placing;
mod policy;
mod pool;
mod shared;
mod stop;
mod walk;

pub use block::{Array, ArrayType, Block, SharedBytes};
pub use calls::{Calls, Next};
pub use compression::{Compression, CompressionError, claimed_bytes, decompress};
#[cfg(feature = "wasm")]
pub use deployed::{DeployError, Deployed, OutputFault, Runtime};
pub use derivation::{
    Derivation, DerivationDecodeError, DerivationId, DerivationPlan, Derived, MAX_DERIVATION_BYTES,
    ParseDerivationError, ParseFault, Partial, PartialError,
};
pub use error::{CallError, DeriveError};
pub use exact::moments::ExactMoments;
pub use expression::{
    Expression, ExpressionError, ExpressionFault, Function, MAX_EXPRESSION_BYTES, MAX_EXPRESSION_DEPTH,
};
pub use field::{FieldArray, FieldBlock, measure_field};
pub use foreign_code::RunModule;
pub use fp_types::Comparison;
pub use limits::{MAX_INPUTS, MAX_OPERATIONS};
pub use measure::{ExactMeasures, measure, measure_planned, measuring};
pub use memory::Memory;
pub use modules::Modules;
pub use native::{
    CohortSide, Cost, DataType, DecidedSide, MAX_PATH, MAX_TRANSFORMS, MeasuredCalls, Native, NativeElement,
    NativeError, NativeFunction, Offer, Offers, PathError, RegisterError, SideDecision, SideReason,
    TransformOptions, TransformPath, Transforms, record_array,
};
pub use operation::{Bins, Extreme, MAX_BINS, ModuleCall, Operation, OutputType, Reduction, Relation};
pub use policy::{DeployLimits, DeployPolicy, ModuleHash, ParseModuleHashError, PolicyRefusal};
pub use pool::{CallPool, MAX_OVERRUNS, Overruns, PoolError};
pub use shared::{ShareError, Shared, SharedCounts};
pub use stop::Stop;
