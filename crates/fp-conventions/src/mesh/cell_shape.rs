//! The shape of the elements of a mesh.

/// The shape of the elements of a mesh. Their vertices are in the order of VTK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellShape {
    /// One point.
    Point,
    /// Two points.
    Line,
    /// A triangle.
    Triangle,
    /// A quadrilateral.
    Quad,
    /// A tetrahedron.
    Tetrahedron,
    /// Five points: a base and a tip.
    Pyramid,
    /// Six points: two triangles.
    Wedge,
    /// Eight points.
    Hexahedron,
}

impl CellShape {
    /// Every shape.
    pub const ALL: [CellShape; 8] = [
        Self::Point,
        Self::Line,
        Self::Triangle,
        Self::Quad,
        Self::Tetrahedron,
        Self::Pyramid,
        Self::Wedge,
        Self::Hexahedron,
    ];

    /// What Blueprint calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Point => "point",
            Self::Line => "line",
            Self::Triangle => "tri",
            Self::Quad => "quad",
            Self::Tetrahedron => "tet",
            Self::Pyramid => "pyramid",
            Self::Wedge => "wedge",
            Self::Hexahedron => "hex",
        }
    }

    /// How many points each element has.
    pub fn vertex_count(self) -> u64 {
        match self {
            Self::Point => 1,
            Self::Line => 2,
            Self::Triangle => 3,
            Self::Quad | Self::Tetrahedron => 4,
            Self::Pyramid => 5,
            Self::Wedge => 6,
            Self::Hexahedron => 8,
        }
    }
}
