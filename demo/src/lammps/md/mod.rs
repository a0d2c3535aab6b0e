//! A small molecular dynamics program: the source of the demonstration where LAMMPS cannot be installed.
//!
//! It simulates the same two problems with the same potential (Lennard-Jones, cut at 2.5 sigma), integrator (velocity
//! Verlet) and grips. It is **not** parallel. Each of its M rank processes simulates the whole system,
//! deterministically. It hands over only the atoms that lie in its own share of the x axis. So the ranks agree without
//! a word between them, counts differ from rank to rank and atoms migrate. But four ranks do four times the work. It
//! has no analysis independent of ours, so its steps carry no reference values and nothing is checked against it.

mod error;
mod forces;
mod sample;
mod simulation;
mod source;

pub use error::MdError;
pub use sample::Sample;
pub use simulation::Simulation;
pub use source::MolecularDynamics;
