//! Publishers: open, steps, close.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::asked::Asked;
use crate::cohort::or_decline;
use crate::descriptor::Descriptor;
use crate::failure::{Failure, Outcome, Status, check_process, guard};
use crate::handles::{Handle, find, hold, take};
use crate::keys::Role;
use crate::options::{OptionsHandle, settings};
use crate::raw::{check_place, give, text, texts, wait};
use crate::statistics::{all_of, of_pool, of_queues, value_of};
use fp_core::{EventQueue, Publisher as Core, StepId, StepWriter, own_pid};
use std::ffi::c_char;
use std::sync::{Mutex, PoisonError};

/// A rank's handle on the sending side. Calls on one handle come one at a time: a second thread waits.
pub struct PublisherHandle {
    state: Mutex<State>,
    events: EventQueue,
    events_shown: Descriptor,
    process: u32,
}

struct State {
    // The step first: an open one is abandoned before the stream closes.
    step: Option<StepWriter>,
    core: Option<Core>,
    /// What is asked of the simulation at a step, since somebody looked at it there.
    asked: Option<(StepId, Vec<Asked>)>,
}

impl Handle for PublisherHandle {
    const NAME: &'static str = "publisher";
}

fn closed() -> Failure {
    Failure::new(Status::BadHandle, "the publisher was closed before")
}

pub(crate) fn with_core<T>(
    handle: *const PublisherHandle,
    run: impl FnOnce(&mut Core, &mut Option<StepWriter>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let found = find(handle)?;
    check_process(found.process)?;
    let mut state = found.state.lock().unwrap_or_else(PoisonError::into_inner);
    let State { step, core, .. } = &mut *state;
    run(core.as_mut().ok_or_else(closed)?, step)
}

/// Runs something with the step that is open, and what is asked of the simulation at it.
pub(crate) fn with_requests<T>(
    handle: *const PublisherHandle,
    run: impl FnOnce(&mut StepWriter, &[Asked]) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let found = find(handle)?;
    check_process(found.process)?;
    let mut state = found.state.lock().unwrap_or_else(PoisonError::into_inner);
    let State { step, asked, .. } = &mut *state;
    let step = step.as_mut().ok_or_else(no_step)?;
    let read = |step: &StepWriter| (step.step(), step.requests().iter().map(Asked::new).collect());
    let known = asked.take().filter(|(of, _)| *of == step.step());
    let (_, all) = asked.insert(known.unwrap_or_else(|| read(step)));
    run(step, all)
}

/// Puts something into the step that is open. Whatever fails in it is a put that failed, also before the step sees it.
pub(crate) fn putting<T>(
    handle: *const PublisherHandle,
    put: impl FnOnce(&mut StepWriter) -> Result<T, Failure>,
) -> Outcome {
    with_step(handle, |step| put(step).inspect_err(|failure| step.note_failure(failure.to_string())))
}

/// What happens on the stream, for who waits for it.
pub(crate) fn events(handle: *const PublisherHandle) -> Result<EventQueue, Failure> {
    let found = find(handle)?;
    check_process(found.process)?;
    Ok(found.events.clone())
}

/// The descriptor that is readable while something has happened.
pub(crate) fn event_descriptor(handle: *const PublisherHandle) -> Result<i32, Failure> {
    let found = find(handle)?;
    check_process(found.process)?;
    found.events_shown.number(|| found.events.signal())
}

/// Runs something with the step that is open.
pub(crate) fn with_step<T>(
    handle: *const PublisherHandle,
    run: impl FnOnce(&mut StepWriter) -> Result<T, Failure>,
) -> Outcome {
    with_core(handle, |_, step| run(step.as_mut().ok_or_else(no_step)?))?;
    Ok(Status::Ok)
}

fn no_step() -> Failure {
    Failure::misuse("no step is open: call flexpath_publisher_begin_step first")
}

/// Opens a stream for publishing; `options` may be null. Waits for the other ranks of the cohort and for as many
/// subscribers as the options say, at most `OpenTimeoutSecs`. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_open(
    stream: *const c_char,
    options: *const OptionsHandle,
    publisher: *mut *mut PublisherHandle,
) -> Status {
    guard(|| {
        let placed = check_place(publisher, "publisher");
        let needed = placed.and_then(|()| Ok((text(stream, "stream")?, settings(options, Role::Publisher)?)));
        let (name, settings) = or_decline(options, needed)?;
        let core = Core::open(name, settings.publisher)?;
        let events = core.event_queue();
        let state = Mutex::new(State { step: None, core: Some(core), asked: None });
        let opened =
            PublisherHandle { state, events, events_shown: Descriptor::default(), process: own_pid() };
        give(publisher, hold(opened), "publisher")
    })
}

/// Begins the next step and writes its number to `step` unless that is null. Waits while a subscription holds as much
/// as it may, as long as its policy allows. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_begin_step(publisher: *mut PublisherHandle, step: *mut u64) -> Status {
    guard(|| {
        let number = with_core(publisher, |core, open| {
            let begun = core.begin_step()?;
            let number = begun.step().0;
            *open = Some(begun);
            Ok(number)
        })?;
        if !step.is_null() {
            give(step, number, "step")?;
        }
        Ok(Status::Ok)
    })
}

/// Ends the step that is open: it is announced when every rank has ended it. Returns at once. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_end_step(publisher: *mut PublisherHandle) -> Status {
    guard(|| {
        with_core(publisher, |_, step| Ok(step.take().ok_or_else(no_step)?.end()?))?;
        Ok(Status::Ok)
    })
}

/// Gives up the step that is open, for the whole cohort: nobody gets it. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_abandon_step(publisher: *mut PublisherHandle) -> Status {
    guard(|| {
        with_core(publisher, |_, step| step.take().map(drop).ok_or_else(no_step))?;
        Ok(Status::Ok)
    })
}

/// Writes 1 to `wanted` if somebody subscribed to this variable in the step that is open: otherwise there is no need
/// to compute it. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_is_wanted(
    publisher: *mut PublisherHandle,
    variable: *const c_char,
    wanted: *mut i32,
) -> Status {
    guard(|| {
        let name = text(variable, "variable")?;
        with_step(publisher, |step| give(wanted, i32::from(step.wanted(name)), "wanted"))
    })
}

/// Writes 1 to `present` if there is a subscription. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_has_subscribers(
    publisher: *mut PublisherHandle,
    present: *mut i32,
) -> Status {
    guard(|| {
        let found = with_core(publisher, |core, _| Ok(core.has_subscribers()))?;
        give(present, i32::from(found), "present")
    })
}

/// Writes a counter, by its name, to `value`. An unknown name fails, and the text lists all names. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_statistic(
    publisher: *mut PublisherHandle,
    name: *const c_char,
    value: *mut u64,
) -> Status {
    guard(|| {
        let counted = with_core(publisher, |core, _| {
            let mut all = all_of(&core.statistics());
            all.extend(of_pool(&core.pool_statistics()));
            all.extend(of_queues(&core.queue_depth()));
            Ok(all)
        })?;
        give(value, value_of(&counted, text(name, "name")?)?, "value")
    })
}

/// Promises that these `count` variables will be put in the step that is open: ending it fails without them, and nobody
/// gets it. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_promise(
    publisher: *mut PublisherHandle,
    variables: *const *const c_char,
    count: u64,
) -> Status {
    guard(|| {
        let names = texts(variables, count, "variables")?;
        with_step(publisher, |step| {
            step.promise(names);
            Ok(())
        })
    })
}

/// Waits at most `timeout_ms` milliseconds (0: only looks) until every subscription that drops nothing has released all
/// steps that this rank has ended. `FLEXPATH_STATUS_TIMED_OUT`: some are held; the text says by whom. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_sync(publisher: *mut PublisherHandle, timeout_ms: u64) -> Status {
    guard(|| {
        with_core(publisher, |core, _| Ok(core.sync(wait(timeout_ms))?))?;
        Ok(Status::Ok)
    })
}

/// Closes the stream: what was published is still delivered, at most as long as `CloseTimeoutSecs`. A step that is open
/// is abandoned. The handle is closed, whatever this returns. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_publisher_close(publisher: *mut PublisherHandle) -> Status {
    guard(|| {
        let found = take(publisher)?;
        check_process(found.process)?;
        let mut state = found.state.lock().unwrap_or_else(PoisonError::into_inner);
        drop(state.step.take());
        state.core.take().ok_or_else(closed)?.close()?;
        Ok(Status::Ok)
    })
}
