//! The blocks of a variable in a step, and the shape of a selection of it.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::failure::{Failure, Outcome, Status, guard};
use crate::handles::find;
use crate::raw::{as_len, check_place, give, room, text};
use crate::selection::{SelectionStruct, padded, select};
use crate::step::StepHandle;
use fp_core::{BlockId, Region, Select};
use std::ffi::c_char;

/// A block: what one rank put of one variable in one step.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BlockStruct {
    /// the rank that put it
    pub rank: u32,
    /// its place among that rank's puts of the variable, from 0
    pub block: u32,
    /// number of dimensions
    pub ndims: u32,
    /// 0
    pub reserved: u32,
    /// where it begins in each dimension: in the global array, or in the joined one; 0 in a local array
    pub start: [u64; 8],
    /// its extent in each dimension
    pub count: [u64; 8],
}

fn for_c((id, region): &(BlockId, Region)) -> BlockStruct {
    BlockStruct {
        rank: id.rank.0,
        block: id.index,
        ndims: u32::try_from(region.ndims()).unwrap_or(u32::MAX),
        reserved: 0,
        start: padded(region.start()),
        count: padded(region.count()),
    }
}

/// Writes the first `capacity` blocks of a variable to `blocks`, by rank and then in the order of its puts. Writes how
/// many there are in all to `count`. Call it with 0 and null first, or with room for as many as there may be. The
/// publisher is asked once for each step and variable, for at most `FetchTimeoutSecs`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_blocks(
    step: *mut StepHandle,
    variable: *const c_char,
    blocks: *mut BlockStruct,
    capacity: u64,
    count: *mut u64,
) -> Status {
    guard(|| {
        check_place(count, "count")?;
        let found = find(step)?;
        let known = found.blocks(text(variable, "variable")?)?;
        let len = as_len(capacity).min(known.len());
        let to = room(blocks, len, "blocks")?;
        to.iter_mut().zip(known.iter()).for_each(|(to, block)| *to = for_c(block));
        give(count, known.len() as u64, "count")
    })
}

fn tell_shape(
    (step, variable, select): (*mut StepHandle, *const c_char, Select),
    ndims: *mut u32,
    shape: *mut u64,
) -> Outcome {
    let found = find(step)?;
    let selected = found.reader.selected_shape(text(variable, "variable")?, select)?;
    room(shape, 8, "shape")?.copy_from_slice(&padded(selected.dims()));
    give(ndims, u32::try_from(selected.ndims()).unwrap_or(u32::MAX), "ndims")?;
    Ok::<_, Failure>(Status::Ok)
}

/// Writes the shape of the array that a get of this selection (null: everything) gives. The number of its dimensions
/// goes to `ndims`, the extent in each to `shape`, which has room for 8 numbers. The publisher may be asked, for at
/// most `FetchTimeoutSecs`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_selected_shape(
    step: *mut StepHandle,
    variable: *const c_char,
    selected: *const SelectionStruct,
    ndims: *mut u32,
    shape: *mut u64,
) -> Status {
    guard(|| tell_shape((step, variable, select(selected)?), ndims, shape))
}

/// As `flexpath_step_selected_shape`, of a selection in words such as `[0:10, ::2]`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_selected_shape_by_text(
    step: *mut StepHandle,
    variable: *const c_char,
    selected: *const c_char,
    ndims: *mut u32,
    shape: *mut u64,
) -> Status {
    guard(|| tell_shape((step, variable, text(selected, "selection")?.into()), ndims, shape))
}
