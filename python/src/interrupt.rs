//! Ctrl-C: the interpreter's signal handlers run on its main thread, and only when it is asked.

use crate::error::{Guilt, raise};
use flexpath::Interrupt;
use parking_lot::{Mutex, MutexGuard};
use pyo3::prelude::*;
use std::cell::{Cell, RefCell};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::Builder;
use std::time::Duration;

/// How often it is asked for a call that does not ask by itself.
const ASK: Duration = Duration::from_millis(50);

thread_local! {
    /// What a handler raised while a call of this thread waited.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
    /// Whether this is the interpreter's main thread, on which handlers of signals run, and nowhere else. Not known
    /// before the thread waits. Whichever thread imports the module may be another one.
    static IS_MAIN: Cell<Option<bool>> = const { Cell::new(None) };
}

fn note_thread(py: Python<'_>) -> PyResult<()> {
    if IS_MAIN.get().is_none() {
        let threading = py.import("threading")?;
        let main = threading.call_method0("main_thread")?.getattr("ident")?;
        IS_MAIN.set(Some(threading.call_method0("get_ident")?.eq(main)?));
    }
    Ok(())
}

fn is_main() -> bool {
    IS_MAIN.get() == Some(true)
}

/// For the options of a handle: a call that waits on the main thread ends when a handler raises.
pub(crate) fn interrupt() -> Interrupt {
    Interrupt::new(|| is_main() && (raised() || ask()))
}

fn raised() -> bool {
    RAISED.with_borrow(Option::is_some)
}

/// Has the interpreter run handlers of signals that came. It may be shutting down: then nobody answers.
fn ask() -> bool {
    let asked = Python::try_attach(|py| py.check_signals().err());
    let Some(Some(error)) = asked else { return false };
    RAISED.set(Some(error));
    true
}

/// Makes a call that may wait, without the interpreter's lock. What a handler raised meanwhile goes before its outcome.
pub(crate) fn waiting<T: Send>(py: Python<'_>, call: impl FnOnce() -> T + Send) -> PyResult<T> {
    note_thread(py)?;
    let outcome = py.detach(call);
    match RAISED.take() {
        Some(error) => Err(error),
        None => Ok(outcome),
    }
}

/// Locks what another thread may hold for as long as its call waits. None if a handler raised meanwhile.
pub(crate) fn locked<T>(place: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    loop {
        match place.try_lock_for(ASK) {
            Some(guard) => return Some(guard),
            None if is_main() && ask() => return None,
            None => {}
        }
    }
}

/// As `waiting`, for a call that does not ask while it waits: it is made on a thread of its own. If a handler raises,
/// the call is left to that thread.
pub(crate) fn waiting_beside<T: Send + 'static>(
    py: Python<'_>,
    call: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (tell, told) = sync_channel(1);
    let thread = Builder::new().name("flexpath-ask".to_owned());
    let started = thread.spawn(move || tell.send(call()));
    started.map_err(|error| raise(Guilt::Io, format!("no thread for a question can be started: {error}")))?;
    let outcome = waiting(py, move || {
        loop {
            match told.recv_timeout(ASK) {
                Ok(outcome) => return Some(outcome),
                Err(RecvTimeoutError::Timeout) if !(is_main() && ask()) => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    })?;
    outcome.ok_or_else(|| raise(Guilt::Io, "a question ended without an answer"))
}
