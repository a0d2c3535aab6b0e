//! What must be true of everything that reads bytes or texts from outside, whatever they are.
//!
//! Nothing panics. What is believed can be said again, and means the same. What has one canonical form is taken in no
//! other. No single allocation is longer than the longest message: `scripts/fuzz.sh` tells that to the fuzzer.
//!
//! Each module has `check`, which a target in `fuzz_targets` calls. It says how many readers believed the bytes, so
//! that seeds which nobody believes any more are found.

mod again;
pub mod control;
pub mod data;
pub mod links;
pub mod seeds;
pub mod tables;
pub mod texts;
pub mod values;
