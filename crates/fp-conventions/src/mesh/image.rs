//! A mesh of cells of one size.

use crate::mesh::field::MeshField;
use crate::mesh::grid::Grid;

/// A mesh of cells of one size along each axis.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageMesh {
    /// Its name: that of its first field, or of its topology.
    pub name: String,
    /// Where its values lie; fields with elements have as many values as the grid has, as have those with vertices.
    pub grid: Grid,
    /// Its values.
    pub fields: Vec<MeshField>,
}
