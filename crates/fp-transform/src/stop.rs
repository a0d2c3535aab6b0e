//! Asks work that goes from block to block to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks work that goes from block to block to stop before its next one. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
}

impl Stop {
    /// Asks whoever looks.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether somebody did.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }
}
