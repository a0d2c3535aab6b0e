//! Images: cells of one size.

use fp_conventions::{Association, ImageMesh};
use fp_core::{Dims, Region, Shape};
use hdf5_metno::Error;

use crate::error::SinkError;
use crate::hdf5::draft::Draft;
use crate::hdf5::shares::Shares;
use crate::hdf5::{attributes, plain};
use crate::part::Part;
use crate::taken_step::TakenStep;
use crate::vtkhdf::fields::{self, Field};
use crate::vtkhdf::{ROOT, axes, begin, mesh};

pub(super) fn lay_out(
    image: &ImageMesh,
    step: &TakenStep,
    draft: &mut Draft,
    shares: &mut Shares,
) -> Result<(), SinkError> {
    let grid = &image.grid;
    if !(2..=3).contains(&grid.shape.len()) || grid.shape.contains(&0) {
        let why = format!(
            "{:?} has the shape {:?}: an image has 2 or 3 dimensions, none empty",
            image.name, grid.shape
        );
        return Err(mesh::wrong(step, why));
    }
    told(image, draft).map_err(SinkError::format(draft.path()))?;
    for described in &image.fields {
        let field = Field::of(step, described)?;
        let shape = extent(image, described.association);
        if field.components.iter().any(|(variable, component)| {
            let dims = step.variables[*variable].shape.map(|shape| shape.dims().to_vec()).unwrap_or_default();
            dims[usize::from(component.is_some()).min(dims.len())..] != shape
        }) {
            return Err(mesh::wrong(step, format!("{:?} has another shape than its grid", field.name)));
        }
        one(&field, described.association, &shape, draft, shares)
            .map_err(|why| plain::refused(step, &step.variables[field.components[0].0], &why))?;
    }
    Ok(())
}

/// How many values there are along each dimension.
fn extent(image: &ImageMesh, association: Association) -> Vec<u64> {
    let count = |count: &u64| match (image.counted, association) {
        (Association::Vertex, Association::Element) => count.saturating_sub(1),
        (Association::Element, Association::Vertex) => count + 1,
        (Association::Vertex, Association::Vertex) | (Association::Element, Association::Element) => *count,
    };
    image.grid.shape.iter().map(count).collect()
}

/// Where an image lies, and how large it is. The first axis of VTK is the last dimension.
fn told(image: &ImageMesh, draft: &Draft) -> Result<(), Error> {
    let (grid, points) = (&image.grid, extent(image, Association::Vertex));
    let axes = axes::of(&grid.axes.iter().take(points.len()).cloned().collect::<Vec<_>>());
    let axes = if axes.len() == points.len() { axes } else { (0..points.len()).rev().collect() };
    let (mut whole, mut origin, mut spacing, mut direction) = ([0_i64; 6], [0.0; 3], [1.0; 3], [0.0; 9]);
    let free = (0..3).find(|axis| !axes.contains(axis));
    for (number, dim) in (0..3).zip((0..points.len()).rev().map(Some).chain([None])) {
        // A flat image has one axis more, which is as long as a point.
        let axis = dim.map_or(free, |dim| Some(axes[dim])).unwrap_or(number);
        direction[3 * axis + number] = 1.0;
        if let Some(dim) = dim {
            whole[2 * number + 1] = points[dim] as i64 - 1;
            (origin[axis], spacing[number]) = (grid.origin[dim], grid.spacing[dim]);
        }
    }
    let root = begin(draft, "ImageData")?;
    attributes::list(&root, "WholeExtent", &whole)?;
    attributes::list(&root, "Origin", &origin)?;
    attributes::list(&root, "Spacing", &spacing)?;
    attributes::list(&root, "Direction", &direction)
}

fn one(
    field: &Field,
    association: Association,
    shape: &[u64],
    draft: &mut Draft,
    shares: &mut Shares,
) -> Result<(), String> {
    let told = |error: Error| format!("HDF5 says: {error}");
    let group = match association {
        Association::Vertex => "PointData",
        Association::Element => "CellData",
    };
    // VTK leaves out dimensions along which the image is flat.
    let thick = |extent: &u64| association == Association::Element || *extent > 1;
    let places: Vec<u64> = shape.iter().copied().filter(thick).collect();
    let path = format!("{ROOT}/{group}/{}", field.name);
    let (_, offset) = draft.dataset(&path, &field.descriptor, &field.shape(&places)).map_err(told)?;
    let shape =
        Dims::from_slice(shape).ok().and_then(|dims| Shape::new(dims).ok()).ok_or("it is too large")?;
    for (variable, place) in field.places(offset, &Region::whole(&shape)) {
        draft.place(variable, None, place);
    }
    for slab in shares.slabs(&shape, field.size * field.components.len()) {
        let part = |(variable, component): &(usize, Option<u64>)| {
            let region = component.map_or(Some(slab), |component| fields::of_component(&slab, component));
            Some(Part::region(*variable, region?))
        };
        shares.add_together(field.components.iter().filter_map(part).collect(), field.size);
    }
    Ok(())
}
