//! What is told with a step of why its subscriber gets it: the numbers that its condition looks at.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::c_text::clean;
use crate::failure::{Failure, Status, guard};
use crate::handles::find;
use crate::raw::{as_len, give};
use crate::selection::padded;
use crate::step::StepHandle;
use fp_core::{Judgement, Measured, MeasuredNumber};
use std::ffi::{CString, c_char};

/// A number that a condition looks at. The text is valid until the step is released.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MeasuredStruct {
    /// what was measured, as the condition writes it: `max(T[0:64, :])`
    pub measure: *const c_char,
    /// the number, rounded to 53 bits; counts are numbers, truth values 0 and 1. Not a number where there is none
    pub number: f64,
    /// 1 if there is a number, 0 if no rank put an element of it
    pub is_there: u32,
    /// number of dimensions of the place; 0 where there is no place
    pub ndims: u32,
    /// of a least or a greatest element of a global array: where it is, from 0. Of several the first in row-major order
    pub place: [u64; 8],
}

/// What is told of a step, with its texts as C reads them.
pub(crate) struct Told {
    measured: Vec<(CString, Measured)>,
    unjudged: CString,
}

impl Told {
    /// What is told of a step; nothing where no number was looked at.
    pub(crate) fn new(judgement: Option<&Judgement>) -> Self {
        let Judgement { unjudged, measured } = judgement.cloned().unwrap_or_default();
        let unjudged = unjudged.map(|why| clean(&why.to_string())).unwrap_or_default();
        let named = |measured: Measured| (clean(&measured.measure), measured);
        Self { measured: measured.into_iter().map(named).collect(), unjudged }
    }
}

fn for_c((measure, measured): &(CString, Measured)) -> MeasuredStruct {
    let place = measured.place.as_deref().unwrap_or_default();
    MeasuredStruct {
        measure: measure.as_ptr(),
        number: measured.number.map_or(f64::NAN, MeasuredNumber::as_f64),
        is_there: u32::from(measured.number.is_some()),
        ndims: u32::try_from(place.len()).unwrap_or(u32::MAX),
        place: padded(place),
    }
}

/// Writes how many numbers the subscription's `Condition` looked at in this step to `count`. It is 0 without a
/// condition, and of one that looks at variables alone. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_measured_count(step: *mut StepHandle, count: *mut u64) -> Status {
    guard(|| give(count, find(step)?.told().measured.len() as u64, "count"))
}

/// Writes the number at `index` (from 0, in the order of the condition's text) to `info`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_measured_at(
    step: *mut StepHandle,
    index: u64,
    info: *mut MeasuredStruct,
) -> Status {
    guard(|| {
        let found = find(step)?;
        let measured = &found.told().measured;
        let none = || Failure::beyond("measured number", index, measured.len());
        give(info, for_c(measured.get(as_len(index)).ok_or_else(none)?), "info")
    })
}

/// Writes why the step could not be judged by the subscription's `Condition` to `reason`: it comes all the same. It is
/// empty if the step was judged, or there is no condition, and valid until the step is released. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_unjudged(step: *mut StepHandle, reason: *mut *const c_char) -> Status {
    guard(|| give(reason, find(step)?.told().unjudged.as_ptr(), "reason"))
}
