//! Subscribers: open, wait for steps, close.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::cohort::or_decline;
use crate::descriptor::Descriptor;
use crate::failure::{Failure, Status, check_process, guard, remember};
use crate::handles::{Handle, find, hold, take};
use crate::keys::Role;
use crate::options::{OptionsHandle, placed, settings};
use crate::raw::{check_place, give, text, texts, wait};
use crate::statistics::{all_of, value_of};
use crate::step::StepHandle;
use fp_core::{EndReason, EventQueue, NextStep, Subscriber as Core, own_pid};
use std::ffi::c_char;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A rank's handle on the receiving side. Calls on one handle come one at a time: a second thread waits.
pub struct SubscriberHandle {
    core: Mutex<Option<Core>>,
    events: EventQueue,
    events_shown: Descriptor,
    steps_shown: Descriptor,
    process: u32,
    fetch_timeout: Duration,
    end: AtomicI32,
}

/// Why a stream is over.
#[repr(i32)]
#[derive(Clone, Copy, Debug)]
pub enum EndCode {
    /// it is not over
    NotEnded = 0,
    /// the publisher closed it
    Closed = 1,
    /// a publisher rank is lost
    Lost = 2,
    /// the publisher would wait no longer for this subscription
    Expelled = 3,
    /// the subscriber left
    Left = 4,
    /// a rank of the subscriber's own cohort is lost
    CohortLost = 5,
    /// it asked for more than the publisher's access list lets it
    Denied = 6,
}

impl Handle for SubscriberHandle {
    const NAME: &'static str = "subscriber";
}

fn closed() -> Failure {
    Failure::new(Status::BadHandle, "the subscriber was closed before")
}

pub(crate) fn with_core<T>(
    handle: *const SubscriberHandle,
    run: impl FnOnce(&mut Core, &SubscriberHandle) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let found = find(handle)?;
    check_process(found.process)?;
    let mut core = found.core.lock().unwrap_or_else(PoisonError::into_inner);
    run(core.as_mut().ok_or_else(closed)?, &found)
}

/// What happens on the stream, for who waits for it.
pub(crate) fn events(handle: *const SubscriberHandle) -> Result<EventQueue, Failure> {
    let found = find(handle)?;
    check_process(found.process)?;
    Ok(found.events.clone())
}

/// The descriptor that is readable while something has happened.
pub(crate) fn event_descriptor(handle: *const SubscriberHandle) -> Result<i32, Failure> {
    let found = find(handle)?;
    check_process(found.process)?;
    found.events_shown.number(|| found.events.signal())
}

fn end_code(reason: &EndReason) -> EndCode {
    match reason {
        EndReason::Closed => EndCode::Closed,
        EndReason::Lost { .. } => EndCode::Lost,
        EndReason::Expelled { .. } => EndCode::Expelled,
        EndReason::Left => EndCode::Left,
        EndReason::CohortLost { .. } => EndCode::CohortLost,
        EndReason::Denied(_) => EndCode::Denied,
    }
}

/// Attaches to a stream; `options` may be null. Waits for it to appear, at most `OpenTimeoutSecs`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_open(
    stream: *const c_char,
    options: *const OptionsHandle,
    subscriber: *mut *mut SubscriberHandle,
) -> Status {
    guard(|| {
        let placed = check_place(subscriber, "subscriber");
        let needed =
            placed.and_then(|()| Ok((text(stream, "stream")?, settings(options, Role::Subscriber)?)));
        let (name, settings) = or_decline(options, needed)?;
        let chosen = settings.subscriber;
        let fetch_timeout = chosen.fetch_timeout;
        let core = Core::open(name, chosen)?;
        let (events, core) = (core.event_queue(), Mutex::new(Some(core)));
        let (process, end) = (own_pid(), AtomicI32::new(0));
        let (events_shown, steps_shown) = (Descriptor::default(), Descriptor::default());
        let opened =
            SubscriberHandle { core, events, events_shown, steps_shown, process, fetch_timeout, end };
        give(subscriber, hold(opened), "subscriber")
    })
}

/// Waits at most `timeout_ms` milliseconds (0: only looks) for the next step and writes its handle to `step`, to be
/// released by `flexpath_step_release`. Returns `FLEXPATH_STATUS_NOT_YET` where none came, and
/// `FLEXPATH_STATUS_END_OF_STREAM` where none will come. Then `flexpath_last_error` says why in words, and
/// `flexpath_subscriber_end` by number. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_next_step(
    subscriber: *mut SubscriberHandle,
    timeout_ms: u64,
    step: *mut *mut StepHandle,
) -> Status {
    guard(|| {
        check_place(step, "step")?;
        with_core(subscriber, |core, found| match core.next_step(wait(timeout_ms))? {
            NextStep::Step(reader) => give(step, hold(StepHandle::new(reader, found.fetch_timeout)), "step"),
            NextStep::NotYet => Ok(Status::NotYet),
            NextStep::Ended(ending) => {
                found.end.store(end_code(&ending.reason) as i32, Ordering::Relaxed);
                Ok(remember(Failure::new(Status::EndOfStream, ending.reason.to_string())))
            }
        })
    })
}

/// Writes a descriptor for `poll`, `epoll` and the like to `descriptor`. It is readable as long as
/// `flexpath_subscriber_next_step` would return at once: with a step, the end of the stream or a failure. Otherwise it
/// is not (level-triggered). Flexpath sets and clears it: it is not to be read, written or closed. It is the same each
/// time, and valid until the subscriber is closed. A program that waits by it calls `flexpath_subscriber_next_step` with
/// a time of 0. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_step_descriptor(
    subscriber: *mut SubscriberHandle,
    descriptor: *mut i32,
) -> Status {
    guard(|| {
        check_place(descriptor, "descriptor")?;
        let number = with_core(subscriber, |core, found| found.steps_shown.number(|| core.step_signal()))?;
        give(descriptor, number, "descriptor")
    })
}

/// Asks for other variables, `count` of them, for the whole cohort: only what rank 0 asks for is sent. Steps that were
/// under way come as they were. `FLEXPATH_EVENT_KIND_RESELECTED` says which step is the first with the other variables.
/// Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_select_variables(
    subscriber: *mut SubscriberHandle,
    variables: *const *const c_char,
    count: u64,
) -> Status {
    guard(|| {
        let names = texts(variables, count, "variables")?;
        with_core(subscriber, |core, _| Ok(core.select_variables(names)?))?;
        Ok(Status::Ok)
    })
}

/// Moves what was derived (`flexpath_options_add_derivation`) or transformed (`flexpath_options_add_transformed`) by
/// that name to another side, one of `flexpath_placement`. It holds for the whole cohort, and only what rank 0 asks for
/// is sent. Steps that were under way are read as they were asked for. `FLEXPATH_EVENT_KIND_RESELECTED` says which step
/// is the first that the other side makes. No step is lost by it. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_place(
    subscriber: *mut SubscriberHandle,
    variable: *const c_char,
    placement: i32,
) -> Status {
    guard(|| {
        let (variable, placement) = (text(variable, "variable")?, placed(placement)?);
        with_core(subscriber, |core, _| Ok(core.place(variable, placement)?))?;
        Ok(Status::Ok)
    })
}

/// Writes why the stream is over (one of `flexpath_end`) to `end`; 0 before `flexpath_subscriber_next_step` said that
/// it is. Any thread, without waiting.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_end(subscriber: *mut SubscriberHandle, end: *mut i32) -> Status {
    guard(|| give(end, find(subscriber)?.end.load(Ordering::Relaxed), "end"))
}

/// Writes a counter, by its name, to `value`. An unknown name fails, and the text lists all names. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_statistic(
    subscriber: *mut SubscriberHandle,
    name: *const c_char,
    value: *mut u64,
) -> Status {
    guard(|| {
        let counted = with_core(subscriber, |core, _| Ok(all_of(&core.statistics())))?;
        give(value, value_of(&counted, text(name, "name")?)?, "value")
    })
}

/// Leaves the stream. Views that are still held stay valid until they are released, and hold up nobody. Steps that are
/// still held can be read no more. The handle is closed, whatever this returns. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_close(subscriber: *mut SubscriberHandle) -> Status {
    guard(|| {
        let found = take(subscriber)?;
        check_process(found.process)?;
        let core = found.core.lock().unwrap_or_else(PoisonError::into_inner).take();
        core.ok_or_else(closed)?.close()?;
        Ok(Status::Ok)
    })
}
