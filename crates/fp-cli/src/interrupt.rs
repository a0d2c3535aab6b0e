//! Ctrl-c: the first one ends the command in order, a second one ends it at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

/// How soon an interrupt is noticed in a wait.
pub const NOTICE: std::time::Duration = std::time::Duration::from_millis(200);

/// Whether the user wants to stop.
#[derive(Debug)]
pub struct Interrupt {
    requested: Arc<AtomicBool>,
}

impl Interrupt {
    /// Watches for ctrl-c and for a request to terminate.
    ///
    /// # Errors
    /// The system lets nobody watch.
    pub fn watch() -> io::Result<Self> {
        let requested = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The second signal finds the flag set, and ends the process as if nobody had watched.
            flag::register_conditional_default(signal, Arc::clone(&requested))?;
            flag::register(signal, Arc::clone(&requested))?;
        }
        Ok(Self { requested })
    }

    /// Whether the user wants to stop.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    /// The same, for waits that ask.
    pub fn asked(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let requested = Arc::clone(&self.requested);
        move || requested.load(Ordering::Relaxed)
    }

    /// Ends the process the way an interrupt would have, so that a shell's loop around it stops too.
    ///
    /// # Errors
    /// The system does not let it.
    pub fn finish(&self) -> io::Result<()> {
        if self.is_requested() { low_level::emulate_default_handler(SIGINT) } else { Ok(()) }
    }
}
