//! Ctrl-C: the first one ends the demonstration in order, a second one at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether the user wants to stop.
pub struct Interrupt {
    requested: Arc<AtomicBool>,
}

impl Interrupt {
    /// Watch for Ctrl-C and for a request to terminate.
    ///
    /// # Errors
    /// The system refuses a handler.
    pub fn watch() -> io::Result<Self> {
        let requested = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // The second signal finds the flag set and ends the process; the parts notice that by themselves.
            flag::register_conditional_default(signal, Arc::clone(&requested))?;
            flag::register(signal, Arc::clone(&requested))?;
        }
        Ok(Interrupt { requested })
    }

    /// Whether the user wants to stop.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }
}
