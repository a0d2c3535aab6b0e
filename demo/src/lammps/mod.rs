//! The first application: a material that tears, and analytics that see it.
//!
//! A [`source::Source`] is a running simulation: LAMMPS, or a small molecular dynamics program of our own ([`md`])
//! where LAMMPS cannot be installed. What it gives for each published step goes through four analytics, the pipeline of
//! the paper. They are [`science::share`] (Helper), [`science::bonds`] (Bonds), [`science::csym`] with
//! [`science::tear`] (CSym) and [`science::cna`] (CNA). Each is plain functions on slices. [`science::check`] holds
//! their results against LAMMPS's own, atom by atom, [`atom_picture`] draws the atoms coloured by class, and
//! [`pipeline`] is how the data travels.
//!
//! LAMMPS itself is a C library, opened at run time, so that nothing of LAMMPS or MPI is needed to build or start this
//! program. LAMMPS owns the loop. Its `fix external` calls back on every published step, on each rank, after the forces
//! of that step are known. Each rank then reads its own atoms from LAMMPS's memory. On compared steps it also asks
//! LAMMPS for its own per-atom analysis. Nothing is gathered.
//!
//! The library uses `MPI_COMM_WORLD` by itself. Where it was built without exceptions (Debian's is), an error in a
//! command makes LAMMPS write the reason to its log and end the process. Then `mpirun` ends the other ranks.

pub mod atom_picture;
mod error;
mod lammps_source;
pub mod launch;
mod library;
pub mod md;
pub mod pipeline;
pub mod problem;
pub mod science;
pub mod source;
mod symbols;

pub use error::LammpsError;
pub use lammps_source::LammpsSource;
pub use library::{Lammps, Snapshot, check_installed};
