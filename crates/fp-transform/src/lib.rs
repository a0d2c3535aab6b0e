//! From published arrays to what was asked for: derivations, registered transforms, deployed code.
#![forbid(unsafe_code)]

mod block;
mod compression;
#[cfg(feature = "wasm")]
mod deployed;
mod derivation;
mod error;
mod exact;
mod expression;
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
pub use deployed::{DeployError, DeployLimits, Deployed, OutputFault, Runtime};
pub use derivation::{
    Derivation, DerivationDecodeError, DerivationId, Derived, MAX_DERIVATION_BYTES, MAX_INPUTS,
    MAX_OPERATIONS, ParseDerivationError, ParseFault, Partial, PartialError, Plan,
};
pub use error::DeriveError;
pub use expression::{
    Expression, ExpressionError, ExpressionFault, Function, MAX_EXPRESSION_BYTES, MAX_EXPRESSION_DEPTH,
};
pub use native::{
    CallError, Cost, DataType, Decision, MAX_OVERRUNS, MAX_PATH, MAX_TRANSFORMS, Measured, Native, NativeError,
    NativeFunction, PathError, Place, Placement, Reason, RegisterError, TransformOptions, TransformPath,
    Transforms,
};
pub use operation::{Comparison, MAX_BINS, Operation, OutputType, Reduction};
pub use policy::{DeployPolicy, ModuleHash, ParseModuleHashError, PolicyRefusal};
pub use pool::{Pool, PoolError};
pub use shared::{ShareError, Shared, SharedCounts};
