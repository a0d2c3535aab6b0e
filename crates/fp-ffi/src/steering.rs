//! Steering: parameters that a simulation declares, and values of them that subscribers ask for.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::asked::{Asked, RequestStruct};
use crate::failure::{Failure, Status, guard};
use crate::options::{OptionsHandle, change};
use crate::publisher::{PublisherHandle, with_requests};
use crate::raw::{check_place, give, text, values, wait};
use crate::subscriber::{SubscriberHandle, with_core};
use fp_core::{AttributeValue, ParameterKind, Real};
use std::ffi::{c_char, c_void};

/// What values a parameter takes.
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum ParameterCode {
    /// numbers from `least` to `greatest`
    Real = 1,
    /// whole numbers from `least` to `greatest`
    Integer = 2,
    /// truth values
    Bool = 3,
    /// texts of at most 1,024 bytes
    Text = 4,
    /// none: it is only asked for, such as `checkpoint` or `stop`
    Signal = 5,
}

fn parameter_kind(code: i32, least: f64, greatest: f64) -> Result<ParameterKind, Failure> {
    match code {
        1 | 2 if least.is_nan() || greatest.is_nan() || least > greatest => {
            Err(Failure::misuse(format!("no number lies between {least} and {greatest}")))
        }
        1 => Ok(ParameterKind::Real { least: Real(least), greatest: Real(greatest) }),
        2 if least.ceil() > greatest.floor() => {
            Err(Failure::misuse(format!("no whole number lies between {least} and {greatest}")))
        }
        // A bound that is no whole number is cut inwards. One beyond 64 bits is the last of these.
        2 => Ok(ParameterKind::Integer { least: least.ceil() as i64, greatest: greatest.floor() as i64 }),
        3 => Ok(ParameterKind::Bool),
        4 => Ok(ParameterKind::Text),
        5 => Ok(ParameterKind::Signal),
        _ => Err(Failure::misuse(format!(
            "{code} is no kind of parameter: 1 real, 2 integer, 3 bool, 4 text, 5 signal"
        ))),
    }
}

/// Lets subscribers ask the simulation for values of a parameter. `kind` is one of `flexpath_parameter_kind`. `least` and
/// `greatest` count for real and integer alone, ends included. All ranks see at the same step what was asked for, by
/// `flexpath_publisher_request_at`. Rank 0's parameters count. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_add_parameter(
    options: *mut OptionsHandle,
    name: *const c_char,
    kind: i32,
    least: f64,
    greatest: f64,
) -> Status {
    guard(|| {
        let (name, kind) = (text(name, "name")?, parameter_kind(kind, least, greatest)?);
        change(options, |state| {
            Ok(state.publisher("a parameter", |publisher| publisher.with_parameter(name, kind)))
        })
    })
}

/// Says what a parameter is that was added to these options before: its unit, and what it changes. At most 255 bytes. Who
/// looks at what can be asked for reads it, as by `flexpath request STREAM`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_options_describe_parameter(
    options: *mut OptionsHandle,
    name: *const c_char,
    description: *const c_char,
) -> Status {
    guard(|| {
        let (name, description) = (text(name, "name")?, text(description, "description")?);
        change(options, |state| {
            let known = state.parameters().iter().find(|known| known.name == name);
            let kind = known.map(|known| known.kind.clone()).ok_or_else(|| {
                Failure::misuse(format!("parameter {name:?} is not there: add it before it is described"))
            })?;
            state.publisher("a parameter", |publisher| {
                publisher.with_described_parameter(name, kind, description)
            });
            Ok(())
        })
    })
}

/// Writes how many requests the step that is open has to `count`. They come in the order in which they were asked for. All
/// ranks have the same. One that is not declined by the end of the step counts as taken. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_request_count(
    publisher: *mut PublisherHandle,
    count: *mut u64,
) -> Status {
    guard(|| with_requests(publisher, |_, asked| give(count, asked.len() as u64, "count")))
}

/// Writes the request at `index`, from 0, to `request`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_request_at(
    publisher: *mut PublisherHandle,
    index: u64,
    request: *mut RequestStruct,
) -> Status {
    guard(|| with_requests(publisher, |_, asked| give(request, Asked::at(asked, index)?.for_c(), "request")))
}

/// Writes 1 to `asked` if the step that is open has a request for that parameter, whatever the value. It is for those
/// without one, such as `stop`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_is_asked(
    publisher: *mut PublisherHandle,
    parameter: *const c_char,
    asked: *mut i32,
) -> Status {
    guard(|| {
        let parameter = text(parameter, "parameter")?;
        with_requests(publisher, |step, _| give(asked, i32::from(step.is_asked(parameter)), "asked"))
    })
}

/// Does not take the request at `index`, from 0, of the step that is open. Who asked is told `reason`. The ranks of one
/// simulation are to decline the same. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_decline(
    publisher: *mut PublisherHandle,
    index: u64,
    reason: *const c_char,
) -> Status {
    guard(|| {
        let reason = text(reason, "reason")?;
        with_requests(publisher, |step, asked| {
            step.decline(&Asked::at(asked, index)?.request, reason)?;
            Ok(Status::Ok)
        })
    })
}

/// A value as C has it.
fn value_of(kind: i32, value: *const c_void) -> Result<AttributeValue, Failure> {
    fn first<T: Copy>(value: *const c_void) -> Result<T, Failure> {
        Ok(values(value.cast::<T>(), 1, "value")?[0])
    }
    match kind {
        0 => Ok(true.into()),
        1 => Ok((first::<u8>(value)? != 0).into()),
        2 => Ok(first::<i64>(value)?.into()),
        3 => Ok(first::<u64>(value)?.into()),
        4 => Ok(first::<f64>(value)?.into()),
        5 => Ok(text(value.cast(), "value")?.into()),
        _ => Err(Failure::misuse(format!(
            "{kind} is no kind of value: 0 none, or bool, integer, unsigned, real or text of flexpath_attribute_kind"
        ))),
    }
}

/// Asks the simulation for a value of a parameter, and waits at most `timeout_ms` milliseconds for the answer. All its ranks
/// see it at the same step. The answer comes when all have left that one. Its number is written to `step` unless that is
/// null. `kind` is one of `flexpath_attribute_kind`. `value` points to an element of that type, and of a text to its
/// characters. A `kind` of 0 is for a parameter without a value, such as `checkpoint` or `resume`. `urgent` 1 has the ranks
/// wait for one another: they see it at the next step that none has begun. Only rank 0 of a cohort asks, and only under a
/// policy that may drop steps. It reads none while it waits. `FLEXPATH_STATUS_NOT_TAKEN`: the simulation does not take it,
/// and the text says who and why. `FLEXPATH_STATUS_TIMED_OUT`: it may still. `FLEXPATH_STATUS_LOST`: it may have. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_request(
    subscriber: *mut SubscriberHandle,
    parameter: *const c_char,
    kind: i32,
    value: *const c_void,
    urgent: i32,
    timeout_ms: u64,
    step: *mut u64,
) -> Status {
    guard(|| {
        let (parameter, value, patience) =
            (text(parameter, "parameter")?, value_of(kind, value)?, wait(timeout_ms));
        if !step.is_null() {
            check_place(step, "step")?;
        }
        let seen = with_core(subscriber, |core, _| {
            let answer = match urgent {
                0 => core.request(parameter, value, patience),
                _ => core.request_now(parameter, value, patience),
            };
            Ok(answer?)
        })?;
        if step.is_null() { Ok(Status::Ok) } else { give(step, seen.0, "step") }
    })
}
