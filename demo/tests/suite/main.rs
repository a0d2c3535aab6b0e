//! The demonstrations that need neither MPI nor LAMMPS, in one binary: what they start are processes of their own.

#[path = "../common/mod.rs"]
mod common;

mod coupling;
mod fallback_science;
mod gts;
mod pipeline;
mod running;
