//! Our analytics held against LAMMPS's own, atom by atom, on the same step.

mod classes;
mod energy;
mod symmetry;

pub use classes::{ClassReport, compare_classes};
pub use energy::{ALLOWED as ENERGY_ALLOWED, EnergyReport, compare_energies, logged_energies};
pub use symmetry::{SymmetryReport, SymmetryStep, compare_symmetry};

use crate::lammps::science::atoms::AtomError;
use crate::lammps::science::bonds::BondsError;
use crate::lammps::science::csym::SymmetryError;

/// Why two results could not be compared at all.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// The two results are not about the same atoms.
    #[error(
        "{ours} atoms in our result, {theirs} in the reference, and the first id that differs is {first:?}"
    )]
    OtherAtoms {
        /// How many atoms our result has.
        ours: usize,
        /// How many the reference has.
        theirs: usize,
        /// The lowest id that only one of the two has.
        first: Option<i64>,
    },
    /// A reference value that is no class.
    #[error("the reference says {value} for atom {id}, which is no class")]
    NoClass {
        /// The atom.
        id: i64,
        /// What the reference says.
        value: f64,
    },
    /// The lists of atoms are no good.
    #[error(transparent)]
    Atoms(#[from] AtomError),
    /// No pairs could be found among the atoms.
    #[error(transparent)]
    Bonds(#[from] BondsError),
    /// No central symmetry could be computed.
    #[error(transparent)]
    Symmetry(#[from] SymmetryError),
    /// The pairs make no graph.
    #[error(transparent)]
    Adjacency(#[from] crate::lammps::science::adjacency::AdjacencyError),
}

/// The lists must be of the same atoms, both by rising id.
fn refuse_others(ours: &[i64], theirs: &[i64]) -> Result<(), CheckError> {
    if ours == theirs {
        return Ok(());
    }
    let only = |list: &[i64], other: &[i64]| list.iter().copied().find(|id| other.binary_search(id).is_err());
    let first = only(ours, theirs).into_iter().chain(only(theirs, ours)).min();
    Err(CheckError::OtherAtoms { ours: ours.len(), theirs: theirs.len(), first })
}
