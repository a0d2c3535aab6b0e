//! The data plane: the rank that owns blocks, and the rank that takes them.
//!
//! Neither side knows the other, nor a handle. They share the messages on their link (fp-proto) and what stands in this
//! folder.

pub(crate) mod link_status;
pub(crate) mod owner;
pub(crate) mod segment;
pub(crate) mod taker;
