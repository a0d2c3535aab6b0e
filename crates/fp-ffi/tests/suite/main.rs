//! Programs in C, C++ and Fortran, and their interface, in one binary: it stages the library once for all of them.
//!
//! A test that needs the process for itself, or a feature, is a binary beside this one, which says why.

#[path = "../support/mod.rs"]
mod support;

mod conventions;
mod fortran;
mod guides;
mod installation;
mod interface;
mod lammps;
mod mpi;
mod programs;
mod refined;
