//! A function of C that is called with each step, on a thread of the library's own.
#![allow(unsafe_code, unreachable_pub)] // exported names

use crate::callback::Callback;
use crate::external::Owed;
use crate::failure::{Failure, Outcome, Status, guard};
use crate::handles::{find, take};
use crate::step::StepHandle;
use crate::subscriber::{SubscriberHandle, next, signal};
use fp_core::Signal;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;
use std::ffi::c_void;
use std::os::fd::{AsFd as _, OwnedFd};
use std::ptr::null_mut;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;
use std::time::Duration;

type Run = extern "C" fn(context: *mut c_void, step: *mut StepHandle);

/// The function, until it is called no more.
struct Called {
    run: Run,
    context: Owed,
    subscriber: Arc<SubscriberHandle>,
    steps: Signal,
    stop: Arc<OwnedFd>,
    /// Dropped with the rest of it: that is what a close waits for.
    _over: Sender<()>,
}

impl Called {
    /// Whether there may be a step. Otherwise it is to stop.
    fn is_ready(&self) -> Result<bool, Failure> {
        loop {
            let [steps, stop] = [self.steps.as_fd(), self.stop.as_fd()];
            let mut watched = [steps, stop].map(|shown| PollFd::from_borrowed_fd(shown, PollFlags::IN));
            match poll(&mut watched, None) {
                Ok(_) => return Ok(watched[1].revents().is_empty()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(Failure::new(Status::System, format!("poll: {error}"))),
            }
        }
    }

    fn serve_steps(&self) -> Outcome {
        while self.is_ready()? {
            let mut step = null_mut();
            let came = next(&self.subscriber, Duration::ZERO, &mut step)?;
            if came == Status::Ok {
                (self.run)(self.context.context(), step);
                // The function may have released it.
                drop(take(step));
            } else if came != Status::NotYet {
                return Ok(came);
            }
        }
        Ok(Status::Ok)
    }

    /// Calls it with each step, and without one when no more will come.
    fn serve(self) {
        if guard(|| self.serve_steps()) != Status::Ok {
            (self.run)(self.context.context(), null_mut());
        }
    }
}

fn start(subscriber: Arc<SubscriberHandle>, run: Run, context: Owed) -> Result<Callback, Failure> {
    let system = |error: std::io::Error| Failure::new(Status::System, format!("no thread: {error}"));
    let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC).map_err(|error| system(error.into()))?);
    let (over_here, over) = channel();
    let steps = signal(&subscriber)?;
    let called = Called { run, context, subscriber, steps, stop: stop.clone(), _over: over_here };
    let started = Builder::new().name("fp-callback".to_owned()).spawn(|| called.serve()).map_err(system)?;
    Ok(Callback { stop, thread: started.thread().id(), over })
}

/// Has `run` called with `context` and each step, on a thread of Flexpath, one after the other. A step is released when
/// `run` returns, unless `run` did so. When no more will come, `run` is called once with null. There `flexpath_last_error`
/// says why in words, and `flexpath_subscriber_end` by number. `run` may ask, select and count by this subscriber. To take
/// steps (`flexpath_subscriber_next_step`) is `FLEXPATH_STATUS_MISUSE` from now on, and so it is for `run` to close the
/// subscriber. The next step is taken when `run` has returned: a slow one holds up what the subscription holds up. It may
/// neither throw nor longjmp. `release(context)` is called once, whatever this returns, when `run` will not be called any
/// more. It may be null. Any thread.
#[unsafe(no_mangle)]
pub extern "C" fn flexpath_subscriber_on_step(
    subscriber: *mut SubscriberHandle,
    run: Option<extern "C" fn(context: *mut c_void, step: *mut StepHandle)>,
    release: Option<extern "C" fn(context: *mut c_void)>,
    context: *mut c_void,
) -> Status {
    let context = Owed::new(release, context);
    guard(move || {
        let found = find(subscriber)?;
        let run = run.ok_or_else(|| Failure::new(Status::BadPointer, "run is null"))?;
        found.clone().call_back(|| start(found, run, context))?;
        Ok(Status::Ok)
    })
}
