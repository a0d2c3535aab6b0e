//! A small molecular dynamics program: the source of the demonstration where LAMMPS cannot be installed.
//!
//! It simulates the same two problems with the same potential (Lennard-Jones, cut at 2.5 sigma), integrator (velocity
//! Verlet) and grips. It is **not** parallel: each of its M rank processes simulates the whole system, deterministically,
//! and hands over only the atoms that lie in its own share of the x axis. So the ranks agree without a word between them,
//! counts differ from rank to rank and atoms migrate, but four ranks do four times the work. It has no analysis
//! independent of ours, so its steps carry no reference values and nothing is checked against it.

mod forces;
mod sample;
mod simulation;
mod source;

pub use sample::Sample;
pub use simulation::Simulation;
pub use source::MolecularDynamics;

use crate::cells::CellError;

/// Why the molecular dynamics could not run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MdError {
    /// A size of zero, or more than ten million atoms.
    #[error("cannot simulate {columns} x {rows} x {layers} lattice cells")]
    BadScale {
        /// Lattice cells along x.
        columns: u32,
        /// Lattice cells along y.
        rows: u32,
        /// Lattice cells in depth.
        layers: u32,
    },
    /// A speed that is no number.
    #[error("the held edges cannot move at {speed}")]
    BadSpeed {
        /// The speed asked for.
        speed: f64,
    },
    /// The atoms cannot be sorted into cells: the space is too small, or an atom has left all bounds.
    #[error(transparent)]
    Cells(#[from] CellError),
    /// The atoms cannot be shared out over the ranks.
    #[error(transparent)]
    Share(#[from] crate::share::ShareError),
    /// The launcher's variables make no sense.
    #[error(transparent)]
    Launch(#[from] crate::launch::LaunchError),
}
