//! Whether a stream that others wait for is late: the only clock of a join, to which the time is told.

use std::time::{Duration, Instant};

/// Since when others wait for a stream, and whether that was too long.
#[derive(Debug, Default)]
pub(crate) struct Lateness {
    awaited: Option<Instant>,
    is_late: bool,
}

impl Lateness {
    /// Whether nothing is expected of it.
    pub(crate) fn is_late(&self) -> bool {
        self.is_late
    }

    /// Others wait for it now: since when.
    pub(crate) fn await_from(&mut self, now: Instant) -> Instant {
        *self.awaited.get_or_insert(now)
    }

    /// Nobody waits for it. Late it is all the same, if it was.
    pub(crate) fn await_no_more(&mut self) {
        self.awaited = None;
    }

    /// It was looked at and has given nothing: whether it is late from now on.
    pub(crate) fn judge(&mut self, now: Instant, patience: Duration) -> bool {
        let is_over = |since: Instant| now.saturating_duration_since(since) >= patience;
        let is_late = self.awaited.is_some_and(is_over);
        self.is_late |= is_late;
        is_late
    }

    /// It has given a step.
    pub(crate) fn came(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    #[test]
    fn who_was_waited_for_too_long_is_late_until_it_gives_a_step() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let mut lateness = Lateness::default();
        assert!(!lateness.judge(start + 100 * second, PATIENCE), "nobody waits for it");
        assert_eq!(lateness.await_from(start), start);
        assert!(!lateness.judge(start + 9 * second, PATIENCE));
        assert_eq!(lateness.await_from(start + 9 * second), start, "the same wait goes on");
        assert!(lateness.judge(start + PATIENCE, PATIENCE) && lateness.is_late());
        lateness.await_no_more();
        assert!(lateness.is_late(), "it has given nothing");
        lateness.came();
        assert!(!lateness.is_late() && !lateness.judge(start + 100 * second, PATIENCE));
        // Another wait is counted anew.
        lateness.await_from(start + 100 * second);
        assert!(!lateness.judge(start + 109 * second, PATIENCE));
        lateness.await_no_more();
        assert_eq!(lateness.await_from(start + 111 * second), start + 111 * second);
    }
}
