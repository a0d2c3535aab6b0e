//! How much a derivation may be of: bounds of what a peer may ask for.

/// The most variables that a derivation takes.
pub const MAX_INPUTS: usize = 64;
/// The most operations that a derivation consists of.
pub const MAX_OPERATIONS: usize = 16;
