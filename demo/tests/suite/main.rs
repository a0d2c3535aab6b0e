//! The demonstrations that need neither MPI nor LAMMPS, in one binary: what they start are processes of their own.

#[path = "../common/mod.rs"]
mod common;

mod demo_run;
mod fallback_science;
mod file_exchange;
mod gts;
mod pipeline;
mod staging;
