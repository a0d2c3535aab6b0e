//! Records on a mesh.

use fp_types::MemoryOrder;

use crate::attributes::Attributes;
use crate::finding::Finding;
use crate::mesh::association::Association;
use crate::mesh::field::MeshField;
use crate::mesh::grid::Grid;
use crate::mesh::image::ImageMesh;
use crate::openpmd::record::{self, Record};
use crate::rule::Rule;

/// The geometries. From openPMD 1.1.0, Mesh Based Records.
const GEOMETRIES: [&str; 5] = ["cartesian", "thetaMode", "cylindrical", "spherical", "other"];
/// What belongs to a mesh record and not to one component.
const OF_RECORD: [&str; 6] =
    ["geometry", "dataOrder", "axisLabels", "gridSpacing", "gridGlobalOffset", "gridUnitSI"];

/// Looks at a record, and adds its field to the image of the same grid.
pub(super) fn read(record: &Record<'_>, images: &mut Vec<ImageMesh>, findings: &mut Vec<Finding>) {
    record::check(record, &OF_RECORD, findings);
    let first = record.first();
    let Some(shape) = record::extent(first) else { return };
    let mut attributes = Attributes { of: first, findings };
    let geometry = geometry(&mut attributes);
    // The first axis of that geometry counts modes, and has no place.
    let is_modes = geometry.as_deref() == Some("thetaMode");
    let ndims = shape.len() - usize::from(is_modes && !shape.is_empty());
    data_order(&mut attributes, ndims);
    let axes = attributes.texts("axisLabels", Rule::OpenPmdAxisLabels, ndims);
    let spacing = attributes.sizes("gridSpacing", Rule::OpenPmdGridSpacing, ndims);
    let origin = attributes.reals("gridGlobalOffset", Rule::OpenPmdGridOffset, ndims);
    attributes.real("gridUnitSI", Rule::OpenPmdGridUnit);
    let mut association = None;
    for (_, variable) in &record.components {
        let of_component = position(&mut Attributes { of: variable, findings: &mut *findings }, ndims);
        association = association.or(of_component);
    }
    let is_drawn = geometry.as_deref() == Some("cartesian");
    if let (Some(axes), Some(spacing), Some(origin), Some(association), true) =
        (axes, spacing, origin, association, is_drawn)
    {
        let variables = record.components.iter().map(|(_, variable)| variable.name().to_owned()).collect();
        let name = record.name.to_owned();
        let field = MeshField { name, association, variables, has_component_dimension: false };
        add(images, Grid { axes, origin, spacing, shape }, field);
    }
}

/// Adds a field to the image of its grid. Values in the middle of cells and those on points are not of one image, as there
/// are as many of both.
fn add(images: &mut Vec<ImageMesh>, grid: Grid, field: MeshField) {
    match images.iter_mut().find(|image| image.grid == grid && image.counted == field.association) {
        Some(image) => image.fields.push(field),
        None => images.push(ImageMesh {
            name: field.name.clone(),
            grid,
            counted: field.association,
            fields: vec![field],
        }),
    }
}

fn geometry(attributes: &mut Attributes<'_>) -> Option<String> {
    let rule = Rule::OpenPmdGeometry;
    let geometry = attributes.text("geometry", rule)?;
    if !GEOMETRIES.contains(&geometry.as_str()) {
        let advice = format!("Use one of {}", GEOMETRIES.join(", "));
        attributes.wrong("geometry", rule, format!("is {geometry:?}"), advice);
        return None;
    }
    if geometry == "thetaMode" && !attributes.has("geometryParameters") {
        let advice = "Set it to a text such as m=3;imag=+, which thetaMode needs";
        attributes.wrong("geometryParameters", rule, "is missing", advice);
    }
    Some(geometry)
}

/// May be left out where there is one axis. From openPMD 1.1.0, Mesh Based Records.
fn data_order(attributes: &mut Attributes<'_>, ndims: usize) {
    if ndims == 1 && !attributes.has("dataOrder") {
        return;
    }
    let rule = Rule::OpenPmdDataOrder;
    let Some(order) = attributes.text("dataOrder", rule) else { return };
    let expected = match attributes.of.def.order {
        MemoryOrder::RowMajor => "C",
        MemoryOrder::ColumnMajor => "F",
    };
    if order != expected {
        let what = format!("is {order:?}, but elements lie {}", attributes.of.def.order);
        attributes.wrong("dataOrder", rule, what, format!("Set it to {expected}"));
    }
}

/// Where values are on a cell: an element's are in its middle.
fn position(attributes: &mut Attributes<'_>, ndims: usize) -> Option<Association> {
    let rule = Rule::OpenPmdPosition;
    let position = attributes.reals("position", rule, ndims)?;
    if !position.iter().all(|place| (0.0..1.0).contains(place)) {
        let what = format!("is {position:?}, which reaches out of the cell");
        attributes.wrong("position", rule, what, "Use numbers from 0 to below 1");
        return None;
    }
    let is_middle = position.iter().all(|place| *place == 0.5);
    Some(if is_middle { Association::Element } else { Association::Vertex })
}
