//! What the names, attributes and shapes of a step mean to other tools, and what is wrong with them.
//!
//! A [`DescribedStep`] is what a publisher tells of a step. [`check`] holds it against a [`Convention`] and gives a
//! [`Report`] of findings. [`meshes`] gives what a tool needs that draws or stores the step: a list of [`Mesh`]es.
//! Everything here is a value: there is no file, no stream and no clock. `docs/conventions.md` has the names.
#![forbid(unsafe_code)]

mod amr;
mod attributes;
mod blueprint;
mod check;
mod convention;
mod finding;
mod mesh;
mod openpmd;
mod path;
mod report;
mod rule;
#[cfg(test)]
mod samples;
mod step;
mod value;
mod variable;

pub use check::{check, meshes, recognized};
pub use convention::{Convention, ParseConventionError};
pub use finding::{Finding, Severity};
pub use mesh::Mesh;
pub use mesh::amr::{AmrLevel, AmrMesh};
pub use mesh::association::Association;
pub use mesh::cell_shape::CellShape;
pub use mesh::domain::Domain;
pub use mesh::field::MeshField;
pub use mesh::grid::Grid;
pub use mesh::image::ImageMesh;
pub use mesh::unstructured::UnstructuredMesh;
pub use report::Report;
pub use rule::Rule;
pub use step::DescribedStep;
pub use value::ScalarValue;
pub use variable::DescribedVariable;
