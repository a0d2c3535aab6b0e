//! Ending a call that waits, from the thread that waits.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How often a call that waits asks whether it is to end.
pub(crate) const ASK: Duration = Duration::from_millis(50);

/// A question that a call asks while it waits.
#[derive(Clone)]
pub struct Interrupt(Arc<dyn Fn() -> bool + Send + Sync>);

impl Interrupt {
    /// The question.
    pub fn new(is_asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_asked))
    }

    /// Whether the call is to end. No lock is held meanwhile.
    pub fn is_asked(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Interrupt").finish_non_exhaustive()
    }
}
