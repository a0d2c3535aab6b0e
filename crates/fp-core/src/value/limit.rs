//! How long a call may wait, and whether its caller has given up.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// That much later; for times too long to be counted a few decades.
pub(crate) fn after(start: Instant, timeout: Duration) -> Instant {
    start.checked_add(timeout).unwrap_or_else(|| start + Duration::from_secs(1 << 30))
}

/// How long a fetch may take.
#[derive(Clone, Copy)]
pub(crate) struct Limit<'s> {
    pub(crate) deadline: Instant,
    /// Set when nobody wants the outcome any more. Bytes that keep coming are still taken, so that the link can be used
    /// again, but none are waited for.
    pub(crate) given_up: Option<&'s AtomicBool>,
}

impl Limit<'_> {
    /// Whether nobody wants the outcome any more.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.is_some_and(|given_up| given_up.load(Ordering::Relaxed))
    }
}

impl From<Instant> for Limit<'_> {
    fn from(deadline: Instant) -> Self {
        Self { deadline, given_up: None }
    }
}
