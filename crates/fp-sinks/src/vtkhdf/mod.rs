//! A VTKHDF file for each step, which VTK and ParaView read.

mod amr;
mod axes;
mod described;
mod fields;
mod image;
mod mesh;
mod unstructured;

use fp_conventions::Mesh;
use fp_core::{ArrayKind, Dtype};
use hdf5_metno::Error;

use crate::error::SinkError;
use crate::hdf5::attributes;
use crate::hdf5::draft::Draft;
use crate::hdf5::shares::Shares;
use crate::hdf5::step_sink::Layout;
use crate::hdf5::types;
use crate::taken_step::TakenStep;

/// Everything is in this group.
const ROOT: &str = "VTKHDF";
/// The version of the format. Overlapping meshes came with 2.2.
const VERSION: [i64; 2] = [2, 2];

/// The mesh of a step, by the conventions of names and attributes.
pub(crate) struct MeshLayout;

impl Layout for MeshLayout {
    fn lay_out(&self, step: &TakenStep, draft: &mut Draft, shares: &mut Shares) -> Result<(), SinkError> {
        let mut levels = Vec::new();
        for mesh in mesh::of(step)? {
            match mesh {
                Mesh::Image(image) => image::lay_out(&image, step, draft, shares)?,
                Mesh::Unstructured(mesh) => unstructured::lay_out(&mesh, step, draft, shares)?,
                Mesh::OverlappingAmr(mesh) => levels.push(mesh),
            }
        }
        if !levels.is_empty() {
            amr::lay_out(&levels, step, draft, shares)?;
        }
        beside(step, draft).map_err(SinkError::format(draft.path()))
    }
}

/// Says what a file holds.
fn begin(draft: &Draft, kind: &str) -> Result<hdf5_metno::Group, Error> {
    let root = draft.group(ROOT)?;
    attributes::list(&root, "Version", &VERSION)?;
    attributes::ascii(&root, "Type", kind)?;
    Ok(root)
}

/// Numbers that are told of the whole step, such as its time, and its own number.
fn beside(step: &TakenStep, draft: &mut Draft) -> Result<(), Error> {
    let path = |name: &str| format!("{ROOT}/FieldData/{name}");
    let is_number =
        |dtype: Dtype| !matches!(dtype, Dtype::String | Dtype::F16 | Dtype::BF16 | Dtype::C32 | Dtype::C64);
    for variable in &step.variables {
        let def = &variable.def;
        if def.kind == ArrayKind::Scalar && is_number(def.dtype) && def.name != "step" {
            let Ok((descriptor, _)) = types::of(variable) else { continue };
            draft.known(&path(&def.name), &descriptor, &[1], variable.value.clone().unwrap_or_default())?;
        }
    }
    let descriptor = hdf5_metno::types::TypeDescriptor::Unsigned(hdf5_metno::types::IntSize::U8);
    draft.known(&path("step"), &descriptor, &[1], step.step.0.to_ne_bytes().to_vec())?;
    Ok(())
}
