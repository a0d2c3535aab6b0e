//! The part of a mesh that one block is.

use fp_types::BlockId;

/// The part of a mesh that one block of each of its variables is. Indices of points count within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Domain {
    /// The block, the same of all variables of the mesh.
    pub block: BlockId,
    /// How many points it has.
    pub points: u64,
    /// How many elements it has.
    pub elements: u64,
}
