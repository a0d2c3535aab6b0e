//! The demonstration: its science, and in [`pipeline`] how its data travels.
//!
//! A [`source::Source`] is a running simulation: LAMMPS, or a small molecular dynamics program of our own where LAMMPS
//! cannot be installed. What it gives for each published step goes through four analytics, the pipeline of the Flexpath
//! paper (section II): [`share`] (Helper), [`bonds`] (Bonds), [`csym`] with [`tear`] (CSym) and [`cna`] (CNA). Each is
//! plain functions on slices. [`check`] holds their results against LAMMPS's own, atom by atom, and [`picture`] draws
//! the atoms coloured by class.
//!
//! [`gts`] is the paper's other application, by itself: particles of a plasma, and analytics that count them.

pub mod adjacency;
pub mod atoms;
pub mod bonds;
pub mod cells;
pub mod check;
pub mod cna;
pub mod csym;
pub mod geometry;
pub mod gts;
pub mod lammps;
pub mod launch;
pub mod md;
pub mod picture;
pub mod pipeline;
pub mod problem;
mod processes;
pub mod share;
pub mod source;
pub mod tear;
