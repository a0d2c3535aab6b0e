//! Variables of records as a publisher defines them.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::failure::{Failure, Status, guard};
use crate::raw::{check_place, give, text};
use crate::schema::{Built, SchemaHandle, built};
use crate::selection::{check_ndims, dims};
use crate::variable::VariableHandle;
use fp_core::Variable as Core;
use std::ffi::c_char;

fn define(
    place: *mut *mut VariableHandle,
    schema: *const SchemaHandle,
    make: impl FnOnce(&Built) -> Result<Core, Failure>,
) -> Status {
    guard(|| {
        check_place(place, "variable")?;
        let built = built(schema)?;
        let core = make(&built)?;
        give(place, VariableHandle::of(core, built.layout), "variable")
    })
}

/// Defines one record for all ranks. Otherwise as `flexpath_variable_scalar`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_record(
    name: *const c_char,
    schema: *const SchemaHandle,
    variable: *mut *mut VariableHandle,
) -> Status {
    define(variable, schema, |of| Ok(Core::record(text(name, "name")?, &of.schema)?))
}

/// Defines one record of each rank. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_local_record(
    name: *const c_char,
    schema: *const SchemaHandle,
    variable: *mut *mut VariableHandle,
) -> Status {
    define(variable, schema, |of| Ok(Core::local_record(text(name, "name")?, &of.schema)?))
}

/// Defines one array of records, as `flexpath_variable_global` does of numbers. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_global_records(
    name: *const c_char,
    schema: *const SchemaHandle,
    ndims: u32,
    shape: *const u64,
    variable: *mut *mut VariableHandle,
) -> Status {
    define(variable, schema, |of| {
        let (name, shape) = (text(name, "name")?, dims(shape, ndims, "shape")?);
        Ok(Core::global_records(name, &of.schema, &shape)?)
    })
}

/// Defines an array of records for each put, as `flexpath_variable_local` does of numbers. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_local_records(
    name: *const c_char,
    schema: *const SchemaHandle,
    ndims: u32,
    variable: *mut *mut VariableHandle,
) -> Status {
    define(variable, schema, |of| {
        let name = text(name, "name")?;
        Ok(Core::local_records(name, &of.schema, check_ndims(ndims)?)?)
    })
}

/// Defines one array that is the records of all ranks, as `flexpath_variable_joined` does of numbers. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_joined_records(
    name: *const c_char,
    schema: *const SchemaHandle,
    row_ndims: u32,
    row: *const u64,
    variable: *mut *mut VariableHandle,
) -> Status {
    define(variable, schema, |of| {
        let (name, row) = (text(name, "name")?, dims(row, row_ndims, "row")?);
        Ok(Core::joined_records(name, &of.schema, &row)?)
    })
}
