//! Subscribers: open, wait for steps, close.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::cohort::or_decline;
use crate::failure::{Failure, Status, guard, remember};
use crate::handles::{Handle, find, hold, take};
use crate::keys::Role;
use crate::options::{Options, settings};
use crate::raw::{check_place, give, text};
use crate::statistics::value_of;
use crate::step::Step;
use fp_core::{EndReason, NextStep, Subscriber as Core};
use std::ffi::c_char;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A rank's handle on the receiving side. Calls on one handle come one at a time: a second thread waits.
pub struct Subscriber {
    core: Mutex<Option<Core>>,
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
}

impl Handle for Subscriber {
    const NAME: &'static str = "subscriber";
}

fn closed() -> Failure {
    Failure::new(Status::BadHandle, "the subscriber was closed before")
}

fn with_core<T>(
    handle: *const Subscriber,
    run: impl FnOnce(&mut Core, &Subscriber) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let found = find(handle)?;
    let mut core = found.core.lock().unwrap_or_else(PoisonError::into_inner);
    run(core.as_mut().ok_or_else(closed)?, &found)
}

fn end_code(reason: &EndReason) -> EndCode {
    match reason {
        EndReason::Closed => EndCode::Closed,
        EndReason::Lost { .. } => EndCode::Lost,
        EndReason::Expelled { .. } => EndCode::Expelled,
        EndReason::Left => EndCode::Left,
        EndReason::CohortLost { .. } => EndCode::CohortLost,
    }
}

/// Attaches to a stream; `options` may be null. Waits for it to appear, at most `OpenTimeoutSecs`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_open(
    stream: *const c_char,
    options: *const Options,
    subscriber: *mut *mut Subscriber,
) -> Status {
    guard(|| {
        let placed = check_place(subscriber, "subscriber");
        let needed =
            placed.and_then(|()| Ok((text(stream, "stream")?, settings(options, Role::Subscriber)?)));
        let (name, settings) = or_decline(options, needed)?;
        let chosen = settings.subscriber;
        let fetch_timeout = chosen.fetch_timeout;
        let core = Mutex::new(Some(Core::open(name, chosen)?));
        let opened = Subscriber { core, fetch_timeout, end: AtomicI32::new(0) };
        give(subscriber, hold(opened), "subscriber")?;
        Ok(Status::Ok)
    })
}

/// Waits at most `timeout_ms` milliseconds (0: only looks) for the next step and writes its handle to `step`, to be
/// released by `flexpath_step_release`. `FLEXPATH_STATUS_NOT_YET` where none came; `FLEXPATH_STATUS_END_OF_STREAM`
/// where none will come: then `flexpath_last_error` says why in words, `flexpath_subscriber_end` by number. Any
/// thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_next_step(
    subscriber: *mut Subscriber,
    timeout_ms: u64,
    step: *mut *mut Step,
) -> Status {
    guard(|| {
        check_place(step, "step")?;
        with_core(subscriber, |core, found| {
            // A century is no time that a clock could not count.
            let timeout = Duration::from_millis(timeout_ms.min(100 * 366 * 24 * 3_600_000));
            match core.next_step(timeout)? {
                NextStep::Step(reader) => {
                    give(step, hold(Step::new(reader, found.fetch_timeout)), "step")?;
                    Ok(Status::Ok)
                }
                NextStep::NotYet => Ok(Status::NotYet),
                NextStep::Ended(ending) => {
                    found.end.store(end_code(&ending.reason) as i32, Ordering::Relaxed);
                    Ok(remember(Failure::new(Status::EndOfStream, ending.reason.to_string())))
                }
            }
        })
    })
}

/// Writes why the stream is over (one of `flexpath_end`) to `end`; 0 before `flexpath_subscriber_next_step` said that
/// it is. Any thread, without waiting.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_end(subscriber: *mut Subscriber, end: *mut i32) -> Status {
    guard(|| {
        give(end, find(subscriber)?.end.load(Ordering::Relaxed), "end")?;
        Ok(Status::Ok)
    })
}

/// Writes a counter, by its name, to `value`. A name that is none fails, and the text lists all. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_statistic(
    subscriber: *mut Subscriber,
    name: *const c_char,
    value: *mut u64,
) -> Status {
    guard(|| {
        let counted = with_core(subscriber, |core, _| Ok(core.statistics()))?;
        give(value, value_of(&counted, text(name, "name")?)?, "value")?;
        Ok(Status::Ok)
    })
}

/// Leaves the stream. Steps and views that are still there stay valid until they are released. The handle is no more,
/// whatever this returns. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_close(subscriber: *mut Subscriber) -> Status {
    guard(|| {
        let found = take(subscriber)?;
        let core = found.core.lock().unwrap_or_else(PoisonError::into_inner).take();
        core.ok_or_else(closed)?.close()?;
        Ok(Status::Ok)
    })
}
