//! Attributes and names of dimensions: set on a variable, read of a step's.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::attribute_value::AttributeStruct;
use crate::failure::{Failure, Status, guard};
use crate::handles::find;
use crate::raw::{as_len, give, text, texts, values};
use crate::step::StepHandle;
use crate::variable::{VariableHandle, attribute, change};
use std::ffi::c_char;

/// Writes how many attributes a variable of the step has to `count`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_attribute_count(
    step: *mut StepHandle,
    variable: *const c_char,
    count: *mut u64,
) -> Status {
    guard(|| {
        let found = find(step)?;
        let described = found.described(text(variable, "variable")?)?;
        give(count, described.attributes.len() as u64, "count")
    })
}

/// Writes the attribute at `index` (from 0, by name) of a variable of the step to `attribute`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_attribute_at(
    step: *mut StepHandle,
    variable: *const c_char,
    index: u64,
    attribute: *mut AttributeStruct,
) -> Status {
    guard(|| {
        let found = find(step)?;
        let all = &found.described(text(variable, "variable")?)?.attributes;
        let at = all.get(as_len(index)).ok_or_else(|| Failure::beyond("attribute", index, all.len()))?;
        give(attribute, at.for_c(), "attribute")
    })
}

/// Writes the attribute of that name of a variable of the step to `attribute`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_attribute(
    step: *mut StepHandle,
    variable: *const c_char,
    name: *const c_char,
    attribute: *mut AttributeStruct,
) -> Status {
    guard(|| {
        let (found, variable, name) = (find(step)?, text(variable, "variable")?, text(name, "name")?);
        let all = &found.described(variable)?.attributes;
        let of_name = all.iter().find(|known| known.name.as_bytes() == name.as_bytes());
        let none = || Failure::misuse(format!("variable {variable:?} has no attribute {name:?}"));
        give(attribute, of_name.ok_or_else(none)?.for_c(), "attribute")
    })
}

/// Writes the name of a dimension (from 0) of a variable of the step to `name`. It is empty if the dimension has none,
/// and valid until the step is released. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_dimension(
    step: *mut StepHandle,
    variable: *const c_char,
    dimension: u32,
    name: *mut *const c_char,
) -> Status {
    guard(|| {
        let found = find(step)?;
        let all = &found.described(text(variable, "variable")?)?.dimensions;
        let none = || Failure::beyond("dimension", dimension.into(), all.len());
        give(name, all.get(dimension as usize).ok_or_else(none)?.as_ptr(), "name")
    })
}

/// Names the dimensions: `count` names, as many as the variable has dimensions, in the order of its shape; an empty one
/// is none. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_dimensions(
    variable: *mut VariableHandle,
    names: *const *const c_char,
    count: u64,
) -> Status {
    guard(|| {
        let names = texts(names, count, "names")?;
        change(variable, |core| {
            let ndims = core.definition().ndims();
            if names.len() != ndims {
                return Err(Failure::misuse(format!("{} names for {ndims} dimensions", names.len())));
            }
            Ok(core.with_dimensions(&names))
        })
    })
}

/// Adds or changes an attribute: a truth value, 0 or another number. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_bool(
    variable: *mut VariableHandle,
    name: *const c_char,
    value: i32,
) -> Status {
    guard(|| attribute(variable, name, value != 0))
}

/// Adds or changes an attribute: an unsigned number. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_unsigned(
    variable: *mut VariableHandle,
    name: *const c_char,
    value: u64,
) -> Status {
    guard(|| attribute(variable, name, value))
}

/// As many values as C says.
fn list<T: Clone>(pointer: *const T, count: u64) -> Result<Vec<T>, Failure> {
    Ok(values(pointer, as_len(count), "values")?.to_vec())
}

/// Adds or changes an attribute: `count` signed numbers. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_integers(
    variable: *mut VariableHandle,
    name: *const c_char,
    values: *const i64,
    count: u64,
) -> Status {
    guard(|| attribute(variable, name, list(values, count)?))
}

/// Adds or changes an attribute: `count` real numbers. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_reals(
    variable: *mut VariableHandle,
    name: *const c_char,
    values: *const f64,
    count: u64,
) -> Status {
    guard(|| attribute(variable, name, list(values, count)?))
}

/// Adds or changes an attribute: `count` texts, such as the names of an enumeration. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_texts(
    variable: *mut VariableHandle,
    name: *const c_char,
    values: *const *const c_char,
    count: u64,
) -> Status {
    guard(|| {
        let values: Vec<String> = texts(values, count, "values")?.into_iter().map(str::to_owned).collect();
        attribute(variable, name, values)
    })
}

/// Adds or changes an attribute: `count` opaque bytes. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_variable_set_attribute_bytes(
    variable: *mut VariableHandle,
    name: *const c_char,
    values: *const u8,
    count: u64,
) -> Status {
    guard(|| attribute(variable, name, list(values, count)?))
}
