//! Why the molecular dynamics could not run.

use crate::lammps::science::cells::CellError;

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
    Share(#[from] crate::lammps::science::share::ShareError),
    /// The launcher's variables make no sense.
    #[error(transparent)]
    Launch(#[from] crate::lammps::launch::LaunchError),
}
