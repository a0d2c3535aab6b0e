//! Variables as a publisher defines them.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::elements::{dtype, order, unusable};
use crate::failure::{Failure, Outcome, Status, guard};
use crate::handles::{Handle, find, hold, take};
use crate::raw::{check_place, give, text};
use crate::selection::{check_ndims, dims};
use crate::struct_layout::Layout;
use fp_core::{AttributeValue, Variable as Core};
use std::ffi::c_char;
use std::sync::{Arc, Mutex, PoisonError};

/// A variable: name, element type, kind, shape, and what is to be known of it.
pub struct VariableHandle {
    core: Mutex<Core>,
    /// How structs lie that are its records.
    layout: Option<Arc<Layout>>,
}

impl VariableHandle {
    /// A handle on a variable. Its records are structs where they have a layout.
    pub(crate) fn of(core: Core, layout: Option<Arc<Layout>>) -> *mut Self {
        hold(Self { core: Mutex::new(core), layout })
    }
}

impl Handle for VariableHandle {
    const NAME: &'static str = "variable";
}

/// The variable behind a handle, as it is now.
pub(crate) fn variable(handle: *const VariableHandle) -> Result<Core, Failure> {
    Ok(find(handle)?.core.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// The same, and how structs lie that are its records.
pub(crate) fn with_layout(handle: *const VariableHandle) -> Result<(Core, Option<Arc<Layout>>), Failure> {
    let found = find(handle)?;
    let core = found.core.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok((core, found.layout.clone()))
}

fn define(
    place: *mut *mut VariableHandle,
    code: i32,
    make: impl FnOnce() -> Result<Core, Failure>,
) -> Status {
    guard(|| {
        check_place(place, "variable")?;
        let dtype = dtype(code)?;
        let core = make()?.with_dtype(dtype).map_err(|_| unusable(dtype))?;
        give(place, VariableHandle::of(core, None), "variable")
    })
}

pub(crate) fn change(
    handle: *const VariableHandle,
    run: impl FnOnce(Core) -> Result<Core, Failure>,
) -> Outcome {
    let found = find(handle)?;
    let mut core = found.core.lock().unwrap_or_else(PoisonError::into_inner);
    *core = run(core.clone())?;
    Ok(Status::Ok)
}

/// Defines one value for all ranks. Where several ranks put it in a step, the highest rank's counts. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_scalar(
    name: *const c_char,
    code: i32,
    variable: *mut *mut VariableHandle,
) -> Status {
    define(variable, code, || Ok(Core::scalar::<u8>(text(name, "name")?)?))
}

/// Defines one value of each rank. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_local_scalar(
    name: *const c_char,
    code: i32,
    variable: *mut *mut VariableHandle,
) -> Status {
    define(variable, code, || Ok(Core::local_scalar::<u8>(text(name, "name")?)?))
}

/// Defines one array of `ndims` dimensions with these extents. Each rank puts regions of it. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_global(
    name: *const c_char,
    code: i32,
    ndims: u32,
    shape: *const u64,
    variable: *mut *mut VariableHandle,
) -> Status {
    define(variable, code, || Ok(Core::global::<u8>(text(name, "name")?, &dims(shape, ndims, "shape")?)?))
}

/// Defines an array for each put, of `ndims` dimensions and any extent. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_local(
    name: *const c_char,
    code: i32,
    ndims: u32,
    variable: *mut *mut VariableHandle,
) -> Status {
    define(variable, code, || Ok(Core::local::<u8>(text(name, "name")?, check_ndims(ndims)?)?))
}

/// Defines one array that is the rows of all ranks, one after another along dimension 0. `row` are the `row_ndims`
/// extents of the other dimensions; 0 of them for a plain list. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_joined(
    name: *const c_char,
    code: i32,
    row_ndims: u32,
    row: *const u64,
    variable: *mut *mut VariableHandle,
) -> Status {
    define(variable, code, || Ok(Core::joined::<u8>(text(name, "name")?, &dims(row, row_ndims, "row")?)?))
}

/// Sets the order in which elements lie in the blocks that are put (one of `flexpath_order`; row-major unless set). Any
/// thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_order(variable: *mut VariableHandle, code: i32) -> Status {
    guard(|| {
        let order = order(code)?;
        change(variable, |core| Ok(core.with_order(order)))
    })
}

/// Sets the unit of the values. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_unit(variable: *mut VariableHandle, unit: *const c_char) -> Status {
    guard(|| {
        let unit = text(unit, "unit")?;
        change(variable, |core| Ok(core.with_unit(unit)))
    })
}

/// Sets what the variable is, for people. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_description(
    variable: *mut VariableHandle,
    description: *const c_char,
) -> Status {
    guard(|| {
        let description = text(description, "description")?;
        change(variable, |core| Ok(core.with_description(description)))
    })
}

pub(crate) fn attribute(
    variable: *mut VariableHandle,
    name: *const c_char,
    value: impl Into<AttributeValue>,
) -> Outcome {
    let name = text(name, "name")?;
    change(variable, |core| Ok(core.with_attribute(name, value)))
}

/// Adds or changes an attribute: a text. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_text(
    variable: *mut VariableHandle,
    name: *const c_char,
    value: *const c_char,
) -> Status {
    guard(|| attribute(variable, name, text(value, "value")?))
}

/// Adds or changes an attribute: a real number. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_real(
    variable: *mut VariableHandle,
    name: *const c_char,
    value: f64,
) -> Status {
    guard(|| attribute(variable, name, value))
}

/// Adds or changes an attribute: a signed number. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_integer(
    variable: *mut VariableHandle,
    name: *const c_char,
    value: i64,
) -> Status {
    guard(|| attribute(variable, name, value))
}

/// Frees a variable. Steps that hold it stay. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_free(variable: *mut VariableHandle) -> Status {
    guard(|| take(variable).map(|_| Status::Ok))
}
