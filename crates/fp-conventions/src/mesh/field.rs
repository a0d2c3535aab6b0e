//! Values on a mesh.

use crate::mesh::association::Association;

/// Values on a mesh: one number at each place, or a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshField {
    /// Its name.
    pub name: String,
    /// What the values belong to.
    pub association: Association,
    /// The variable of each component, in order.
    pub variables: Vec<String>,
    /// Whether the variable's first dimension counts components: they are no axis of the mesh.
    pub has_component_dimension: bool,
}
