//! Ctrl-C: the interpreter's signal handlers run on its main thread, and only when it is asked.

use flexpath::Interrupt;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::OnceLock;
use std::thread::ThreadId;

/// The interpreter's main thread: handlers of signals run there and nowhere else.
static MAIN: OnceLock<ThreadId> = OnceLock::new();

thread_local! {
    /// What a handler raised while a call of this thread waited.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Notes the main thread, whichever thread imports the module.
pub(crate) fn note_main_thread(py: Python<'_>) -> PyResult<()> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    if threading.call_method0("get_ident")?.eq(main)? {
        let _ = MAIN.set(std::thread::current().id());
    }
    Ok(())
}

fn is_main() -> bool {
    MAIN.get().is_some_and(|main| *main == std::thread::current().id())
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
    let outcome = py.detach(call);
    match RAISED.take() {
        Some(error) => Err(error),
        None => Ok(outcome),
    }
}
