//! A mesh of cells of one size.

use crate::mesh::association::Association;
use crate::mesh::field::MeshField;
use crate::mesh::grid::Grid;

/// A mesh of cells of one size along each axis.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageMesh {
    /// Its name: that of its first field, or of its topology.
    pub name: String,
    /// Where its places are.
    pub grid: Grid,
    /// What the shape of the grid counts: points, between which the elements are, one less along each axis; or elements.
    pub counted: Association,
    /// Its values.
    pub fields: Vec<MeshField>,
}
