//! What a value belongs to.

/// What a value belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Association {
    /// A point.
    Vertex,
    /// An element or cell.
    Element,
}
