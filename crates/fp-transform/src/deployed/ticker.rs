//! The clock of deployed code: while any runs, the engines' epochs move on once a millisecond.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The length of an epoch.
pub(super) const TICK: Duration = Duration::from_millis(1);

/// A thread that ticks while it has to. It ends with its last handle.
pub(super) struct Ticker {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    engines: Vec<wasmtime::Engine>,
}

#[derive(Default)]
struct State {
    /// How many calls run.
    running: usize,
    /// The process that the thread belongs to, if there is one: a forked child has none.
    process: Option<u32>,
    ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tick(&self) {
        let mut state = self.lock();
        while !state.ended {
            let waited = match state.running {
                0 => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
                _ => self.changed.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0,
            };
            state = waited;
            self.engines.iter().for_each(wasmtime::Engine::increment_epoch);
        }
    }
}

impl Ticker {
    pub(super) fn new(engines: Vec<wasmtime::Engine>) -> Self {
        let (state, changed) = (Mutex::default(), Condvar::new());
        Self { shared: Arc::new(Shared { state, changed, engines }) }
    }

    /// Ticks until what comes back is dropped.
    pub(super) fn run(&self) -> std::io::Result<Running<'_>> {
        let mut state = self.shared.lock();
        let process = std::process::id();
        if state.process != Some(process) {
            let shared = Arc::clone(&self.shared);
            let thread = std::thread::Builder::new().name("flexpath-ticker".to_owned());
            thread.spawn(move || shared.tick())?;
            (state.process, state.running) = (Some(process), 0);
        }
        state.running += 1;
        if state.running == 1 {
            self.shared.changed.notify_all();
        }
        Ok(Running(self))
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
    }
}

/// A call that runs.
pub(super) struct Running<'a>(&'a Ticker);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut state = self.0.shared.lock();
        state.running = state.running.saturating_sub(1);
    }
}
