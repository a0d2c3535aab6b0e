//! The demonstration: two applications of the Flexpath paper (section II), and what both have.
//!
//! [`lammps`] is a simulation of materials with the four analytics that attach to it while it runs. [`gts`] is particles of
//! a plasma, and analytics that count them. [`shared`] is what a supervisor of either needs.

pub mod gts;
pub mod lammps;
pub mod shared;
pub mod staging;
