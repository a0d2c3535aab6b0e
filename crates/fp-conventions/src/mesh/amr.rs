//! A mesh of levels.

use crate::mesh::field::MeshField;
use crate::mesh::grid::Grid;

/// A mesh of levels, where blocks of finer levels lie over coarser ones. Level 0 is the first.
#[derive(Clone, Debug, PartialEq)]
pub struct AmrMesh {
    /// Its name: that of the record.
    pub name: String,
    /// Its levels, the coarsest first.
    pub levels: Vec<AmrLevel>,
}

/// A level of a mesh of levels.
#[derive(Clone, Debug, PartialEq)]
pub struct AmrLevel {
    /// The cells of the level, as if it covered everything. Which are there the blocks of the field's variables say.
    pub grid: Grid,
    /// How many cells one of the level below is along each axis; 1 at level 0.
    pub ratio: Vec<u64>,
    /// How many layers at each side of a block are copies of others.
    pub ghosts: u64,
    /// Its values.
    pub field: MeshField,
}
