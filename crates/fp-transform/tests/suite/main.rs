//! Derivations and registered transforms in one binary. What needs the feature `wasm` is the binary `deployed`.

mod called;
mod derivations;
mod operations;
mod registered;
mod rows;
mod support;
