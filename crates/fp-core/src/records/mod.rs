//! Record types of a stream, and blocks of records. This layer knows types and bytes, and not where these come from.
//!
//! | file | what |
//! |---|---|
//! | `variable` | variables whose elements are records |
//! | `block` | records on their way into a step |
//! | `types` | types that were put or heard of, and the conversions between them: each worked out once |
//! | `apply` | a registered transform on blocks, on either side |
//! | `made` | records that a subscriber made by itself of published ones |
//! | `fit` | how well the records of a variable fit the type that is wanted |
//! | `set` | records that were taken, with their type |
//!
//! The fixed parts of records are the elements of their variable. Their lists and texts are a block of bytes beside
//! each block. It belongs to a variable of its own that users do not see ([`fp_types::VariableDef::parts`]). Blocks
//! without an element size would touch every part of the data plane.

pub(crate) mod apply;
pub(crate) mod block;
pub(crate) mod fit;
pub(crate) mod made;
pub(crate) mod set;
pub(crate) mod types;
pub(crate) mod variable;
