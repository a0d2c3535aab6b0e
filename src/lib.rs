//! Flexpath: typed publish/subscribe for parallel science.
#![forbid(unsafe_code)]
pub use fp_core::*;
