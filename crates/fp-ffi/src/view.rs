//! Views: elements where they lie.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::elements::{dtype, with_type};
use crate::failure::{Failure, Outcome, Status, guard};
use crate::handles::{Handle, find, hold, take};
use crate::raw::{check_place, give, text};
use crate::selection::{SelectionStruct, select};
use crate::step::StepHandle;
use fp_core::{Element, Select};
use std::any::Any;
use std::ffi::{c_char, c_void};

/// Elements of a step that are held. Any number of threads may read them.
pub struct ViewHandle {
    is_zero_copy: bool,
    _held: Box<dyn Any + Send + Sync>,
}

impl Handle for ViewHandle {
    const NAME: &'static str = "view";
}

fn of<T: Element>(
    step: &StepHandle,
    variable: &str,
    part: &Select,
) -> Result<(ViewHandle, *const c_void, u64), Failure> {
    let view = step.reader.view::<T>(variable, part)?;
    let (elements, len) = (view.as_ptr().cast(), view.len() as u64);
    Ok((ViewHandle { is_zero_copy: view.is_zero_copy(), _held: Box::new(view) }, elements, len))
}

/// Gives the selected elements where they lie: writes their address to `elements` and how many there are to `len`, both
/// valid until `flexpath_view_release`. Nothing is copied if the selection is a contiguous part of one block that is
/// shared or in this process. The part must lie there in the selection's `order`. Null `selection`: everything. Any
/// thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_view(
    step: *mut StepHandle,
    variable: *const c_char,
    selected: *const SelectionStruct,
    code: i32,
    view: *mut *mut ViewHandle,
    elements: *mut *const c_void,
    len: *mut u64,
) -> Status {
    guard(|| {
        let select = select(selected)?;
        give_view((step, variable, select), code, (view, elements, len))
    })
}

/// Makes a view and writes it where C wants it.
pub(crate) fn give_view(
    (step, variable, select): (*mut StepHandle, *const c_char, Select),
    code: i32,
    (view, elements, len): (*mut *mut ViewHandle, *mut *const c_void, *mut u64),
) -> Outcome {
    check_place(view, "view")?;
    check_place(elements, "elements")?;
    check_place(len, "len")?;
    let (found, name) = (find(step)?, text(variable, "variable")?);
    let (made, address, count) = with_type!(dtype(code)?, T => of::<T>(&found, name, &select))?;
    give(elements, address, "elements")?;
    give(len, count, "len")?;
    give(view, hold(made), "view")
}

/// Writes 1 to `is_zero_copy` if the elements were not copied. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_view_is_zero_copy(view: *mut ViewHandle, is_zero_copy: *mut i32) -> Status {
    guard(|| give(is_zero_copy, i32::from(find(view)?.is_zero_copy), "is_zero_copy"))
}

/// Releases a view; its elements are not to be read any more. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_view_release(view: *mut ViewHandle) -> Status {
    guard(|| take(view).map(|_| Status::Ok))
}
