//! Every variable under its own name.

use fp_core::{ArrayKind, Dtype, Region};
use hdf5_metno::{Error, Location};

use crate::error::SinkError;
use crate::hdf5::compressed::Compressed;
use crate::hdf5::draft::Draft;
use crate::hdf5::placed_file::Place;
use crate::hdf5::shares::Shares;
use crate::hdf5::{attributes, types};
use crate::part::Part;
use crate::taken_step::{TakenStep, TakenVariable};
use crate::zarr::grid;

/// Which ranks the values of a local scalar are of.
const RANKS: &str = "ranks";

/// Makes everything that a step has.
pub(super) fn lay_out(step: &TakenStep, draft: &mut Draft, shares: &mut Shares) -> Result<(), SinkError> {
    for (number, variable) in step.variables.iter().enumerate() {
        let name = variable.def.name.as_str();
        lay_out_variable((number, variable), name, draft, shares)
            .and_then(|place| attributes::set_all(&place, &variable.def).map_err(|error| error.to_string()))
            .map_err(|why| refused(step, variable, &why))?;
    }
    Ok(())
}

/// For what HDF5 cannot hold.
pub(crate) fn refused(step: &TakenStep, variable: &TakenVariable, why: &str) -> SinkError {
    let why = format!("{why}; name the variables that are to be written with --variables to leave it out");
    step.refusal(variable, why)
}

/// Makes what a variable has under a path: its dataset, or the group of its blocks.
pub(super) fn lay_out_variable(
    of: (usize, &TakenVariable),
    path: &str,
    draft: &mut Draft,
    shares: &mut Shares,
) -> Result<Location, String> {
    let variable = of.1;
    match variable.def.kind {
        ArrayKind::Scalar => scalar(variable, path, draft),
        ArrayKind::GlobalArray | ArrayKind::JoinedArray { .. } => global(of, path, draft, shares),
        ArrayKind::LocalScalar => local_scalars(of, path, draft, shares),
        ArrayKind::LocalArray => local_arrays(of, path, draft, shares),
    }
}

fn scalar(variable: &TakenVariable, path: &str, draft: &mut Draft) -> Result<Location, String> {
    let bytes = variable.value.as_deref().unwrap_or_default();
    let dataset = if variable.def.dtype == Dtype::String {
        let text = std::str::from_utf8(bytes).map_err(|error| format!("it is no text: {error}"))?;
        draft.text(path, text)
    } else {
        draft.known(path, &types::of(variable)?.0, &[], bytes.to_vec())
    };
    let dataset = dataset.map_err(told)?;
    Ok(Location::clone(&dataset))
}

fn global(
    (number, variable): (usize, &TakenVariable),
    path: &str,
    draft: &mut Draft,
    shares: &mut Shares,
) -> Result<Location, String> {
    let (descriptor, size) = types::of(variable)?;
    let shape = variable.shape.ok_or("its publisher does not say its shape")?;
    if draft.compresses
        && let Some(array) = Compressed::of(variable, Region::whole(&shape), shares.ranks())
    {
        for (_, part) in grid::shards(&array.region, &array.shard).map_err(|error| error.to_string())? {
            shares.add(Part::region(number, part), size);
        }
        let dataset = draft.compressed(path, (number, None), array).map_err(told)?;
        attributes::set_dimensions(&dataset, &variable.def).map_err(told)?;
        return Ok(Location::clone(&dataset));
    }
    let (dataset, offset) = draft.dataset(path, &descriptor, shape.dims()).map_err(told)?;
    attributes::set_dimensions(&dataset, &variable.def).map_err(told)?;
    draft.place(number, None, Place { offset, region: Region::whole(&shape), size, component: None });
    shares.divide(number, &shape, size);
    Ok(Location::clone(&dataset))
}

fn local_scalars(
    (number, variable): (usize, &TakenVariable),
    path: &str,
    draft: &mut Draft,
    shares: &mut Shares,
) -> Result<Location, String> {
    let (descriptor, size) = types::of(variable)?;
    let len = variable.blocks.len() as u64;
    let (dataset, offset) = draft.dataset(path, &descriptor, &[len]).map_err(told)?;
    for (index, (block, region)) in (0..).zip(&variable.blocks) {
        let offset = offset + index * size as u64;
        draft.place(number, Some(*block), Place { offset, region: *region, size, component: None });
        shares.add(Part::block(number, *block, *region), size);
    }
    if !variable.def.attributes.contains_key(RANKS) {
        let ranks: Vec<u32> = variable.blocks.iter().map(|(block, _)| block.rank.0).collect();
        attributes::list(&dataset, RANKS, &ranks).map_err(told)?;
    }
    Ok(Location::clone(&dataset))
}

fn local_arrays(
    (number, variable): (usize, &TakenVariable),
    path: &str,
    draft: &mut Draft,
    shares: &mut Shares,
) -> Result<Location, String> {
    let (descriptor, size) = types::of(variable)?;
    let group = draft.group(path).map_err(told)?;
    for (block, region) in &variable.blocks {
        let path = format!("{path}/{}_{}", block.rank.0, block.index);
        if draft.compresses
            && let Some(array) = Compressed::of(variable, *region, 1)
        {
            let dataset = draft.compressed(&path, (number, Some(*block)), array).map_err(told)?;
            attributes::set_dimensions(&dataset, &variable.def).map_err(told)?;
            shares.add(Part::block(number, *block, *region), size);
            continue;
        }
        let (dataset, offset) = draft.dataset(&path, &descriptor, region.count()).map_err(told)?;
        attributes::set_dimensions(&dataset, &variable.def).map_err(told)?;
        draft.place(number, Some(*block), Place { offset, region: *region, size, component: None });
        if !region.is_empty() {
            shares.add(Part::block(number, *block, *region), size);
        }
    }
    Ok(Location::clone(&group))
}

fn told(error: Error) -> String {
    format!("HDF5 says: {error}")
}
