//! Subscribers: open, wait for steps, close.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::callback::Callback;
use crate::cohort::or_decline;
use crate::descriptor::Descriptor;
use crate::failure::{Failure, Status, check_process, guard, remember};
use crate::handles::{Handle, find, hold, take};
use crate::keys::Role;
use crate::options::{OptionsHandle, placed, settings};
use crate::raw::{check_place, give, text, texts, wait};
use crate::statistics::{all_of, value_of};
use crate::step::StepHandle;
use fp_core::{EndReason, EventQueue, NextStep, Signal, Subscriber as Core, own_pid};
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
    callback: Mutex<Option<Callback>>,
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
    found.with_core(|core| run(core, &found))
}

impl SubscriberHandle {
    fn with_core<T>(&self, run: impl FnOnce(&mut Core) -> Result<T, Failure>) -> Result<T, Failure> {
        check_process(self.process)?;
        let mut core = self.core.lock().unwrap_or_else(PoisonError::into_inner);
        run(core.as_mut().ok_or_else(closed)?)
    }

    /// Steps go to what `start` starts from now on.
    pub(crate) fn call_back(&self, start: impl FnOnce() -> Result<Callback, Failure>) -> Result<(), Failure> {
        check_process(self.process)?;
        let mut callback = self.callback.lock().unwrap_or_else(PoisonError::into_inner);
        if callback.is_some() {
            return Err(Failure::misuse("the subscriber has a function for its steps already"));
        }
        *callback = Some(start()?);
        Ok(())
    }

    /// Nothing takes steps but the caller.
    fn check_steps_are_free(&self) -> Result<(), Failure> {
        match *self.callback.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(_) => Err(Failure::misuse("steps go to the function of flexpath_subscriber_on_step")),
            None => Ok(()),
        }
    }

    /// Stops what takes steps, unless it is that which asks.
    fn stop_callback(&self) -> Result<(), Failure> {
        let callback = self.callback.lock().unwrap_or_else(PoisonError::into_inner).take();
        callback.map_or(Ok(()), Callback::stop)
    }

    fn is_in_callback(&self) -> bool {
        let callback = self.callback.lock().unwrap_or_else(PoisonError::into_inner);
        callback.as_ref().is_some_and(Callback::is_here)
    }
}

/// What is set as long as `next` would return at once.
pub(crate) fn signal(found: &SubscriberHandle) -> Result<Signal, Failure> {
    let system = |error| Failure::new(Status::System, format!("no descriptor: {error}"));
    found.with_core(|core| core.step_signal().map_err(system))
}

/// The next step of a subscriber, as a handle.
pub(crate) fn next(
    found: &SubscriberHandle,
    timeout: Duration,
    step: *mut *mut StepHandle,
) -> Result<Status, Failure> {
    found.with_core(|core| match core.next_step(timeout)? {
        NextStep::Step(reader) => give(step, hold(StepHandle::new(reader, found.fetch_timeout)), "step"),
        NextStep::NotYet => Ok(Status::NotYet),
        NextStep::Ended(ending) => {
            found.end.store(end_code(&ending.reason) as i32, Ordering::Relaxed);
            Ok(remember(Failure::new(Status::EndOfStream, ending.reason.to_string())))
        }
    })
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
        let callback = Mutex::default();
        let opened = SubscriberHandle {
            core,
            events,
            events_shown,
            steps_shown,
            process,
            fetch_timeout,
            end,
            callback,
        };
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
        let found = find(subscriber)?;
        found.check_steps_are_free()?;
        next(&found, wait(timeout_ms), step)
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

/// Wants other steps than until now, for the whole cohort: `condition` takes the place of the option `Condition`, with which
/// the subscriber was opened. Waits at most `timeout_ms` milliseconds until the publisher has said from which step on, and
/// writes that to `first` unless it is null. Steps before are judged by the condition that was. Only rank 0 of a cohort
/// asks. `FLEXPATH_STATUS_NOT_TAKEN`: the publisher cannot judge by it, and the one before holds on.
/// `FLEXPATH_STATUS_TIMED_OUT`: it may still. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_set_condition(
    subscriber: *mut SubscriberHandle,
    condition: *const c_char,
    timeout_ms: u64,
    first: *mut u64,
) -> Status {
    guard(|| {
        let condition = text(condition, "condition")?;
        if !first.is_null() {
            check_place(first, "first")?;
        }
        let from = with_core(subscriber, |core, _| Ok(core.set_condition(condition, wait(timeout_ms))?))?;
        if first.is_null() { Ok(Status::Ok) } else { give(first, from.0, "first") }
    })
}

/// Writes to `step` the first step that the subscription holds for, in the epoch that it is attached to. A condition is
/// looked at from there on. `FLEXPATH_STATUS_NOT_YET`: it is not attached. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_first_step(
    subscriber: *mut SubscriberHandle,
    step: *mut u64,
) -> Status {
    guard(|| {
        check_place(step, "step")?;
        match with_core(subscriber, |core, _| Ok(core.first_step()))? {
            Some(first) => give(step, first.0, "step"),
            None => Ok(Status::NotYet),
        }
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
/// still held can be read no more. The handle is closed, whatever this returns but `FLEXPATH_STATUS_MISUSE`: that is for
/// the function of `flexpath_subscriber_on_step`, for whose return this waits. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_close(subscriber: *mut SubscriberHandle) -> Status {
    guard(|| {
        if find(subscriber)?.is_in_callback() {
            return Err(Failure::misuse(
                "a function that is called with steps cannot close their subscriber",
            ));
        }
        let found = take(subscriber)?;
        check_process(found.process)?;
        found.stop_callback()?;
        let core = found.core.lock().unwrap_or_else(PoisonError::into_inner).take();
        core.ok_or_else(closed)?.close()?;
        Ok(Status::Ok)
    })
}
