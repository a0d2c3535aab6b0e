//! Deployed code: what guests do, and what memory they have of it.
//!
//! A binary of its own: it needs the feature `wasm`, and the shard of that name builds nothing else of this crate's tests.

mod guests;
mod memory;
