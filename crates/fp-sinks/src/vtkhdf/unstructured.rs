//! Meshes of elements between points. Each block of the publisher is a piece of its own.

use fp_conventions::{Association, CellShape, UnstructuredMesh};
use fp_core::{BlockId, Dims, Region};
use hdf5_metno::Error;
use hdf5_metno::types::{IntSize, TypeDescriptor};

use crate::error::SinkError;
use crate::hdf5::draft::Draft;
use crate::hdf5::placed_file::Place;
use crate::hdf5::plain;
use crate::hdf5::shares::Shares;
use crate::part::Part;
use crate::taken_step::TakenStep;
use crate::vtkhdf::fields::{Field, find};
use crate::vtkhdf::{ROOT, begin};

const I64: TypeDescriptor = TypeDescriptor::Integer(IntSize::U8);

pub(super) fn lay_out(
    mesh: &UnstructuredMesh,
    step: &TakenStep,
    draft: &mut Draft,
    shares: &mut Shares,
) -> Result<(), SinkError> {
    topology(mesh, draft).map_err(SinkError::format(draft.path()))?;
    let points: Vec<u64> = mesh.domains.iter().map(|domain| domain.points).collect();
    let elements: Vec<u64> = mesh.domains.iter().map(|domain| domain.elements).collect();
    let of =
        |names: &[String]| names.iter().map(|name| Ok((find(step, name)?.0, None))).collect::<Result<_, _>>();
    let coordinates = Field::of_components(step, "Points".to_owned(), of(&mesh.coordinates)?)?;
    let connectivity =
        Field::of_components(step, "Connectivity".to_owned(), of(std::slice::from_ref(&mesh.connectivity))?)?;
    let indices = elements.iter().map(|count| count * mesh.cell_shape.vertex_count()).collect();
    let mut lists = vec![("", coordinates, points.clone(), Some(3)), ("", connectivity, indices, None)];
    for described in &mesh.fields {
        let (group, counts) = match described.association {
            Association::Vertex => ("PointData/", points.clone()),
            Association::Element => ("CellData/", elements.clone()),
        };
        lists.push((group, Field::of(step, described)?, counts, None));
    }
    let blocks: Vec<BlockId> = mesh.domains.iter().map(|domain| domain.block).collect();
    for (group, field, counts, width) in lists {
        let list = List { path: format!("{ROOT}/{group}{}", field.name), field, counts, width };
        list.lay_out(&blocks, draft, shares)
            .map_err(|why| plain::refused(step, &step.variables[list.field.components[0].0], &why))?;
    }
    Ok(())
}

/// What is known of the elements without data.
fn topology(mesh: &UnstructuredMesh, draft: &mut Draft) -> Result<(), Error> {
    drop(begin(draft, "UnstructuredGrid")?);
    let vertices = mesh.cell_shape.vertex_count();
    let pieces = mesh.domains.len() as u64;
    let counts =
        |of: &dyn Fn(usize) -> u64| (0..mesh.domains.len()).flat_map(|one| of(one).to_ne_bytes()).collect();
    let points = counts(&|one| mesh.domains[one].points);
    let elements = counts(&|one| mesh.domains[one].elements);
    let indices = counts(&|one| mesh.domains[one].elements * vertices);
    draft.known(&format!("{ROOT}/NumberOfPoints"), &I64, &[pieces], points)?;
    draft.known(&format!("{ROOT}/NumberOfCells"), &I64, &[pieces], elements)?;
    draft.known(&format!("{ROOT}/NumberOfConnectivityIds"), &I64, &[pieces], indices)?;
    let each = mesh.domains.iter().map(|domain| domain.elements);
    let offsets: Vec<u8> =
        each.clone().flat_map(|count| (0..=count).flat_map(|one| (one * vertices).to_ne_bytes())).collect();
    let count = each.sum::<u64>();
    draft.known(&format!("{ROOT}/Offsets"), &I64, &[count + pieces], offsets)?;
    let types = vec![cell_type(mesh.cell_shape); count as usize];
    draft.known(&format!("{ROOT}/Types"), &TypeDescriptor::Unsigned(IntSize::U1), &[count], types)?;
    Ok(())
}

/// The number that VTK has for a shape. From vtkCellType.h.
fn cell_type(shape: CellShape) -> u8 {
    match shape {
        CellShape::Point => 1,
        CellShape::Line => 3,
        CellShape::Triangle => 5,
        CellShape::Quad => 9,
        CellShape::Tetrahedron => 10,
        CellShape::Hexahedron => 12,
        CellShape::Wedge => 13,
        CellShape::Pyramid => 14,
    }
}

/// Lists of all blocks, one after another.
struct List {
    path: String,
    field: Field,
    /// How many places each block has.
    counts: Vec<u64>,
    /// How wide vectors are, where they are wider than there are components.
    width: Option<usize>,
}

impl List {
    fn lay_out(&self, blocks: &[BlockId], draft: &mut Draft, shares: &mut Shares) -> Result<(), String> {
        let field = &self.field;
        let width = self.width.unwrap_or(field.components.len());
        let all = self.counts.iter().sum::<u64>();
        let shape: Vec<u64> = std::iter::once(all).chain((width > 1).then_some(width as u64)).collect();
        let dataset = draft.dataset(&self.path, &field.descriptor, &shape);
        let (_, mut offset) = dataset.map_err(|error| format!("HDF5 says: {error}"))?;
        for (block, count) in blocks.iter().zip(&self.counts) {
            let region = Region::new([0], Dims::from([*count])).map_err(|error| error.to_string())?;
            let mut parts = Vec::new();
            for (variable, place) in field.places(offset, &region) {
                parts.push(Part::block(variable, *block, region));
                draft.place(variable, Some(*block), self.widened(place, width));
            }
            if *count > 0 {
                shares.add_together(parts, field.size);
            }
            offset += count * (width * field.size) as u64;
        }
        Ok(())
    }

    /// A place among vectors of that width.
    fn widened(&self, place: Place, width: usize) -> Place {
        let coming = self.field.components.len();
        let own =
            crate::hdf5::placed_file::Component { vectors: place.offset, number: 0, count: width, coming };
        let component = place.component.unwrap_or(own);
        let is_vector = width > 1;
        Place {
            component: is_vector.then_some(crate::hdf5::placed_file::Component { count: width, ..component }),
            ..place
        }
    }
}
