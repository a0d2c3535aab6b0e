//! What is told with a step of why its subscriber gets it: the numbers that its condition looks at.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::failure::{Status, guard};
use crate::handles::find;
use crate::measured::MeasuredStruct;
use crate::raw::give;
use crate::step::StepHandle;
use std::ffi::c_char;

/// Writes how many numbers the subscription's `Condition` looked at in this step to `count`. It is 0 without a
/// condition, and of one that looks at variables alone. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_measured_count(step: *mut StepHandle, count: *mut u64) -> Status {
    guard(|| give(count, find(step)?.told().count(), "count"))
}

/// Writes the number at `index` (from 0, in the order of the condition's text) to `info`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_measured_at(
    step: *mut StepHandle,
    index: u64,
    info: *mut MeasuredStruct,
) -> Status {
    guard(|| give(info, find(step)?.told().at(index)?, "info"))
}

/// Writes when the publisher decided the step to `micros`: microseconds since 1970-01-01 00:00 UTC, by the clock of the
/// publisher's rank 0. It is 0 without a `Condition`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_decided_at(step: *mut StepHandle, micros: *mut u64) -> Status {
    guard(|| give(micros, find(step)?.told().decided_at_micros, "micros"))
}

/// Writes why the step could not be judged by the subscription's `Condition` to `reason`: it comes all the same. It is
/// empty if the step was judged, or there is no condition, and valid until the step is released. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_step_unjudged(step: *mut StepHandle, reason: *mut *const c_char) -> Status {
    guard(|| give(reason, find(step)?.told().unjudged.as_ptr(), "reason"))
}
