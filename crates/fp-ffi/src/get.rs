//! Gets in other words: by a text, with a value for gaps, of a text.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::elements::{dtype, with_type};
use crate::failure::{Failure, Outcome, Status, guard};
use crate::handles::find;
use crate::raw::{as_len, check_place, give, patience, room, text, values};
use crate::selection::{ConversionCode, converted, select};
use crate::step::{GetStruct, StepHandle};
use crate::view::{ViewHandle, give_view};
use fp_core::{Element, Fetch, Select};
use std::ffi::{c_char, c_void};

/// What is got, and where it goes.
struct Wanted<'a> {
    step: &'a StepHandle,
    variable: &'a str,
    select: Select,
    dtype: i32,
    destination: *mut c_void,
    len: u64,
}

impl<'a> Wanted<'a> {
    fn add<T: Element>(&self, fill: *const c_void) -> Result<Fetch<'a>, Failure> {
        let len = as_len(self.len);
        let destination = room(self.destination.cast::<T>(), len, "destination")?;
        let fetch = self.step.reader.fetch();
        match values(fill.cast::<T>(), usize::from(!fill.is_null()), "fill")? {
            [fill] => Ok(fetch.get_or_fill(self.variable, &self.select, *fill, destination)),
            _ => Ok(fetch.get(self.variable, &self.select, destination)),
        }
    }

    fn fetch(&self, fill: *const c_void, timeout_ms: i64) -> Outcome {
        let fetch = with_type!(dtype(self.dtype)?, T => self.add::<T>(fill))?;
        fetch.wait(patience(timeout_ms, self.step.fetch_timeout))?;
        Ok(Status::Ok)
    }
}

/// As `flexpath_step_get`, with the selection in words: `[0:10, ::2]`, `[3, :]`, `[points (1, 2), (3, 4)]`,
/// `[block 3.1]`, `[rank 3]`. Slices are resolved against the variable's shape in this step; there is one for each
/// dimension. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_get_by_text(
    step: *mut StepHandle,
    variable: *const c_char,
    selected: *const c_char,
    dtype: i32,
    destination: *mut c_void,
    len: u64,
    timeout_ms: i64,
) -> Status {
    let none = ConversionCode::None as i32;
    flexpath_step_get_converted_by_text(step, variable, selected, none, dtype, destination, len, timeout_ms)
}

/// As `flexpath_step_get_by_text`, of elements that may become another number type as they are got. `conversion` is one
/// of `flexpath_conversion`. A selection that is no text names it itself. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_get_converted_by_text(
    step: *mut StepHandle,
    variable: *const c_char,
    selected: *const c_char,
    conversion: i32,
    dtype: i32,
    destination: *mut c_void,
    len: u64,
    timeout_ms: i64,
) -> Status {
    guard(|| {
        let (step, variable) = (&*find(step)?, text(variable, "variable")?);
        let select = converted(text(selected, "selection")?.into(), conversion)?;
        Wanted { step, variable, select, dtype, destination, len }.fetch(std::ptr::null(), timeout_ms)
    })
}

/// Does a get that fills gaps: elements that no rank put become copies of the one at `fill`, and the call does not
/// fail. The elements are of the variable's own type: a selection with a conversion is refused. Otherwise as
/// `flexpath_step_get`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_get_or_fill(
    step: *mut StepHandle,
    get: *const GetStruct,
    fill: *const c_void,
    timeout_ms: i64,
) -> Status {
    guard(|| {
        let step = &*find(step)?;
        let ([get], false) = (values(get, 1, "get")?, fill.is_null()) else {
            return Err(Failure::new(Status::BadPointer, "fill is null"));
        };
        let (variable, select) = (text(get.variable, "variable")?, select(get.selection)?);
        if values(get.selection, usize::from(!get.selection.is_null()), "selection")?
            .iter()
            .any(|of| of.conversion != 0)
        {
            return Err(Failure::misuse(
                "a get that fills gaps converts nothing: name the variable's own type",
            ));
        }
        let (dtype, destination, len) = (get.dtype, get.destination, get.len);
        Wanted { step, variable, select, dtype, destination, len }.fetch(fill, timeout_ms)
    })
}

/// As `flexpath_step_view`, with the selection in words. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_view_by_text(
    step: *mut StepHandle,
    variable: *const c_char,
    selected: *const c_char,
    code: i32,
    view: *mut *mut ViewHandle,
    elements: *mut *const c_void,
    len: *mut u64,
) -> Status {
    guard(|| {
        let select = text(selected, "selection")?.into();
        give_view((step, variable, select), code, (view, elements, len))
    })
}

/// Writes the value of a scalar that is a text (`FLEXPATH_DTYPE_STRING`) to `value`: valid until the step is released.
/// It came with the step, so nothing is fetched. A variable of numbers or records is `FLEXPATH_STATUS_WRONG_DTYPE`.
/// Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_text(
    step: *mut StepHandle,
    variable: *const c_char,
    value: *mut *const c_char,
) -> Status {
    guard(|| {
        check_place(value, "value")?;
        give(value, find(step)?.text(text(variable, "variable")?)?, "value")
    })
}
