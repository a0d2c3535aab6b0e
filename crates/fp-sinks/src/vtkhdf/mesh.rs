//! The one mesh that a step has.

use std::collections::BTreeSet;

use fp_conventions::{
    AmrMesh, Association, DescribedStep, DescribedVariable, Finding, Grid, ImageMesh, Mesh, MeshField,
};
use fp_core::{ArrayKind, AttributeValue};

use crate::error::SinkError;
use crate::hdf5::plain::refused;
use crate::taken_step::TakenStep;
use crate::vtkhdf::described::describe;

/// The mesh of a step: as many meshes of levels as there are arrays with levels, or one of another kind.
pub(super) fn of(step: &TakenStep) -> Result<Vec<Mesh>, SinkError> {
    let described = describe(step);
    let meshes = if fp_conventions::recognized(&described).is_empty() {
        vec![Mesh::Image(image(step, &described)?)]
    } else {
        fp_conventions::meshes(&described).map_err(|findings| broken(step, &findings))?
    };
    let are_levels = |mesh: &Mesh| matches!(mesh, Mesh::OverlappingAmr(_));
    if meshes.is_empty() || meshes.len() > 1 && !meshes.iter().all(are_levels) {
        let names: Vec<&str> = meshes.iter().map(name).collect();
        return Err(wrong(step, format!("a file of VTKHDF has one mesh, and here are {names:?}")));
    }
    // Scalars are told beside the mesh, or they describe it.
    let used: BTreeSet<String> = meshes.iter().flat_map(variables).collect();
    let is_left = |of: &&DescribedVariable| !used.contains(of.name()) && of.def.kind != ArrayKind::Scalar;
    if let Some(left) = described.variables.iter().find(is_left) {
        let own = step.variables.iter().find(|variable| variable.def.name == left.def.name);
        return own.map_or(Ok(meshes), |own| Err(refused(step, own, "it belongs to no mesh")));
    }
    Ok(meshes)
}

/// For a step that is no mesh.
pub(super) fn wrong(step: &TakenStep, why: String) -> SinkError {
    SinkError::Step {
        step: step.step,
        why: format!("{why}; name the variables of one mesh with --variables"),
    }
}

fn broken(step: &TakenStep, findings: &[Finding]) -> SinkError {
    let first = findings.first().map_or_else(String::new, ToString::to_string);
    let (stream, count) = (&step.stream, findings.len());
    let why = format!("it breaks a convention, {count} times: {first}; flexpath check {stream} says more");
    SinkError::Step { step: step.step, why }
}

fn name(mesh: &Mesh) -> &str {
    match mesh {
        Mesh::Image(mesh) => &mesh.name,
        Mesh::Unstructured(mesh) => &mesh.name,
        Mesh::OverlappingAmr(mesh) => &mesh.name,
    }
}

/// The variables that a mesh is made of, and those of its fields.
fn variables(mesh: &Mesh) -> Vec<String> {
    let of_fields = |fields: &[MeshField]| fields.iter().flat_map(|field| field.variables.clone()).collect();
    match mesh {
        Mesh::Image(mesh) => of_fields(&mesh.fields),
        Mesh::Unstructured(mesh) => {
            let mut all: Vec<String> = of_fields(&mesh.fields);
            all.extend(mesh.coordinates.iter().chain([&mesh.connectivity]).cloned());
            all
        }
        Mesh::OverlappingAmr(AmrMesh { levels, .. }) => {
            levels.iter().flat_map(|level| level.field.variables.clone()).collect()
        }
    }
}

/// Arrays of one shape without any convention: a grid of points.
fn image(step: &TakenStep, described: &DescribedStep) -> Result<ImageMesh, SinkError> {
    let is_array = |of: &&DescribedVariable| of.def.kind.is_global() && !of.def.kind.is_scalar();
    let arrays: Vec<&DescribedVariable> = described.variables.iter().filter(is_array).collect();
    let Some(first) = arrays.first() else {
        return Err(wrong(step, "there is no array, and no mesh by any convention".to_owned()));
    };
    if let Some(other) = arrays.iter().find(|of| of.shape != first.shape) {
        let why =
            format!("{:?} and {:?} have different shapes, so they are no image", first.name(), other.name());
        return Err(wrong(step, why));
    }
    let shape = first.shape.map(|shape| shape.dims().to_vec()).unwrap_or_default();
    let numbers = |name: &str, default: f64| match first.def.attributes.get(name) {
        Some(AttributeValue::Reals(numbers)) if numbers.len() == shape.len() => {
            numbers.iter().map(|number| number.0).collect()
        }
        Some(_) | None => vec![default; shape.len()],
    };
    let axes = match first.def.attributes.get("axisLabels") {
        Some(AttributeValue::Texts(labels)) => labels.clone(),
        Some(_) | None => first.def.dimensions.clone(),
    };
    let field = |of: &&DescribedVariable| MeshField {
        name: of.def.name.clone(),
        association: Association::Vertex,
        variables: vec![of.def.name.clone()],
        has_component_dimension: false,
    };
    Ok(ImageMesh {
        name: first.def.name.clone(),
        counted: Association::Vertex,
        fields: arrays.iter().map(field).collect(),
        grid: Grid {
            axes,
            origin: numbers("gridGlobalOffset", 0.0),
            spacing: numbers("gridSpacing", 1.0),
            shape,
        },
    })
}
