//! Meshes of levels: blocks are boxes of cells.

use fp_conventions::{AmrLevel, AmrMesh};
use fp_core::{Dims, Region};
use hdf5_metno::Error;
use hdf5_metno::types::{IntSize, TypeDescriptor};

use crate::error::SinkError;
use crate::hdf5::draft::Draft;
use crate::hdf5::shares::Shares;
use crate::hdf5::{attributes, plain};
use crate::part::Part;
use crate::taken_step::TakenStep;
use crate::vtkhdf::fields::{self, Field};
use crate::vtkhdf::{ROOT, axes, begin, mesh};

/// Arrays with the same levels and boxes are fields of one mesh.
pub(super) fn lay_out(
    meshes: &[AmrMesh],
    step: &TakenStep,
    draft: &mut Draft,
    shares: &mut Shares,
) -> Result<(), SinkError> {
    let Some(first) = meshes.first() else { return Ok(()) };
    check(first, step)?;
    let origin = first.levels.first().map_or([0.0; 3], |level| of_space(&level.grid.origin, 0.0));
    root(origin, draft).map_err(SinkError::format(draft.path()))?;
    for (number, level) in first.levels.iter().enumerate() {
        let boxes = boxes(level, step)?;
        level_of(number, level, &boxes, draft).map_err(SinkError::format(draft.path()))?;
        for mesh in meshes {
            let Some(own) = mesh.levels.get(number).filter(|_| mesh.levels.len() == first.levels.len())
            else {
                return Err(mesh::wrong(
                    step,
                    format!("{:?} and {:?} differ in their levels", first.name, mesh.name),
                ));
            };
            if own.grid != level.grid || self::boxes(own, step)? != boxes {
                let why = format!("{:?} and {:?} differ at level {number}", first.name, mesh.name);
                return Err(mesh::wrong(step, why));
            }
            let field = Field::of(step, &own.field)?;
            let path = format!("{ROOT}/Level{number}/CellData/{}", own.field.name);
            one(&field, &path, &boxes, draft, shares)
                .map_err(|why| plain::refused(step, &step.variables[field.components[0].0], &why))?;
        }
    }
    Ok(())
}

/// The last dimension must be x, as VTK wants it.
fn check(mesh: &AmrMesh, step: &TakenStep) -> Result<(), SinkError> {
    let Some(grid) = mesh.levels.first().map(|level| &level.grid) else { return Ok(()) };
    let ndims = grid.shape.len();
    if !(2..=3).contains(&ndims) {
        let why = format!("{:?} has {ndims} dimensions, and VTK has levels of 2 or 3", mesh.name);
        return Err(mesh::wrong(step, why));
    }
    if axes::of(&grid.axes) != (0..ndims).rev().collect::<Vec<_>>() {
        let why = format!(
            "the axes of {:?} are {:?}: VTK has levels with z, y, x in this order alone",
            mesh.name, grid.axes
        );
        return Err(mesh::wrong(step, why));
    }
    Ok(())
}

/// Numbers of dimensions, the slowest first, as those of x, y and z.
fn of_space(numbers: &[f64], rest: f64) -> [f64; 3] {
    let mut space = [rest; 3];
    numbers.iter().rev().zip(&mut space).for_each(|(number, place)| *place = *number);
    space
}

fn root(origin: [f64; 3], draft: &Draft) -> Result<(), Error> {
    let root = begin(draft, "OverlappingAMR")?;
    attributes::list(&root, "Origin", &origin)?;
    attributes::ascii(&root, "GridDescription", "XYZ")
}

/// The boxes of a level, without the cells that copy others.
fn boxes(level: &AmrLevel, step: &TakenStep) -> Result<Vec<Region>, SinkError> {
    let name = level.field.variables.first().map_or("", String::as_str);
    let (_, variable) = fields::find(step, name)?;
    let skipped = usize::from(level.field.has_component_dimension);
    let own = |region: &Region| {
        let (ends, shape) = (region.end(), &level.grid.shape);
        let (mut start, mut count) = (Vec::new(), Vec::new());
        for dim in skipped..region.ndims() {
            let low = if region.start()[dim] > 0 { level.ghosts } else { 0 };
            let high = if ends[dim] < shape[dim - skipped] { level.ghosts } else { 0 };
            start.push(region.start()[dim] + low);
            count.push(region.count()[dim].saturating_sub(low + high));
        }
        let region = Region::new(Dims::from_slice(&start).ok()?, Dims::from_slice(&count).ok()?).ok()?;
        (!region.is_empty()).then_some(region)
    };
    let mut boxes: Vec<Region> = variable.blocks.iter().filter_map(|(_, region)| own(region)).collect();
    // Blocks of several components lie over one another.
    boxes.sort();
    boxes.dedup();
    Ok(boxes)
}

fn level_of(number: usize, level: &AmrLevel, boxes: &[Region], draft: &mut Draft) -> Result<(), Error> {
    // A flat mesh is one cell thick at every level, and cells are as thick as they are wide.
    let thickness = level.grid.spacing.last().copied().unwrap_or(1.0);
    let group = draft.group(&format!("{ROOT}/Level{number}"))?;
    attributes::list(&group, "Spacing", &of_space(&level.grid.spacing, thickness))?;
    let corners = |region: &Region| {
        let mut corners = [0_i32; 6];
        for (axis, dim) in (0..region.ndims()).rev().enumerate() {
            corners[2 * axis] = region.start()[dim] as i32;
            corners[2 * axis + 1] = region.end()[dim] as i32 - 1;
        }
        corners
    };
    let bytes = boxes.iter().flat_map(corners).flat_map(i32::to_ne_bytes).collect();
    let path = format!("{ROOT}/Level{number}/AMRBox");
    draft.known(&path, &TypeDescriptor::Integer(IntSize::U4), &[boxes.len() as u64, 6], bytes)?;
    Ok(())
}

/// The cells of all boxes, one box after another.
fn one(
    field: &Field,
    path: &str,
    boxes: &[Region],
    draft: &mut Draft,
    shares: &mut Shares,
) -> Result<(), String> {
    let cells = boxes.iter().map(Region::element_count).sum::<u64>();
    let dataset = draft.dataset(path, &field.descriptor, &field.shape(&[cells]));
    let (_, mut offset) = dataset.map_err(|error| format!("HDF5 says: {error}"))?;
    for region in boxes {
        let mut parts = Vec::new();
        for (variable, place) in field.places(offset, region) {
            parts.push(Part::region(variable, place.region));
            draft.place(variable, None, place);
        }
        shares.add_together(parts, field.size);
        offset += region.element_count() * (field.size * field.components.len()) as u64;
    }
    Ok(())
}
