//! Deployed code: what guests do, and what memory they have of it.
//!
//! A binary of its own: it needs the feature `wasm`, and `make test` builds nothing else of this crate's tests with
//! that.

mod guests;
mod memory;
