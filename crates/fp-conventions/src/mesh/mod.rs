//! What a step is to a tool that draws or stores it.

pub(crate) mod amr;
pub(crate) mod association;
pub(crate) mod cell_shape;
pub(crate) mod domain;
pub(crate) mod field;
pub(crate) mod grid;
pub(crate) mod image;
pub(crate) mod unstructured;

use amr::AmrMesh;
use image::ImageMesh;
use unstructured::UnstructuredMesh;

/// A mesh of a step, with its fields. Variables are told by their names.
#[derive(Clone, Debug, PartialEq)]
pub enum Mesh {
    /// Cells of one size along each axis.
    Image(ImageMesh),
    /// Elements of one shape between points, in one domain or several.
    Unstructured(UnstructuredMesh),
    /// Levels of cells of one size each, where blocks of finer levels lie over coarser ones.
    OverlappingAmr(AmrMesh),
}
