//! A mesh of elements between points.

use fp_types::BlockId;

use crate::finding::Finding;
use crate::mesh::cell_shape::CellShape;
use crate::mesh::domain::Domain;
use crate::mesh::field::MeshField;
use crate::rule::Rule;

/// A mesh of elements of one shape between points.
#[derive(Clone, Debug, PartialEq)]
pub struct UnstructuredMesh {
    /// Its name: that of the topology.
    pub name: String,
    /// The variables of coordinates, one for each axis.
    pub coordinates: Vec<String>,
    /// The variable of the points of all elements, one after another.
    pub connectivity: String,
    /// The shape of all elements.
    pub cell_shape: CellShape,
    /// Its parts, one for each block.
    pub domains: Vec<Domain>,
    /// Its values.
    pub fields: Vec<MeshField>,
}

impl UnstructuredMesh {
    /// Looks at the indices of one domain: the first that names no point of it, and how many do so.
    ///
    /// A domain that the mesh does not have is not looked at. From Conduit Mesh Blueprint, Topologies.
    pub fn check_indices(&self, block: BlockId, indices: &[i64]) -> Option<Finding> {
        let domain = self.domains.iter().find(|domain| domain.block == block)?;
        let is_wrong = |index: &i64| u64::try_from(*index).map_or(true, |index| index >= domain.points);
        let first = indices.iter().position(is_wrong)?;
        let count = indices.iter().filter(|index| is_wrong(index)).count();
        let element = first as u64 / self.cell_shape.vertex_count();
        let what = format!(
            "element {element} has the index {}, but the domain has {} points; {count} of {} indices are so",
            indices[first],
            domain.points,
            indices.len(),
        );
        let advice = "Count points from 0 within each rank's own coordinates";
        Some(Finding::violation(Rule::BlueprintIndex, what, advice).of(&self.connectivity).at(block))
    }
}
