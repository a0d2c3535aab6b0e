//! How often an action is done, where the user does not say it.

use std::time::{Duration, Instant};

use crate::arguments::{Action, WatchOptions};

/// Between two of what fills a disk or asks others: a condition may hold in every step of a fast simulation.
const LEAST: Duration = Duration::from_secs(1);

/// An action, and when it was done last.
#[derive(Debug)]
pub(super) struct Paced {
    action: Action,
    least: Duration,
    done: Option<Instant>,
    /// Steps that came too soon after another one, and were not told of.
    passed_over: u64,
}

impl Paced {
    pub(super) fn new(action: Action, options: &WatchOptions) -> Self {
        // Who names a time, or wants every step, has said how often. Commands have times of their own.
        let is_bounded = options.least.is_none() && !options.every_step;
        let is_costly = matches!(action, Action::Write(_) | Action::Render(_) | Action::Request(_));
        let least = if is_bounded && is_costly { LEAST } else { Duration::ZERO };
        Self { action, least, done: None, passed_over: 0 }
    }

    pub(super) fn action(&self) -> &Action {
        &self.action
    }

    /// Whether enough time is over since it was done. If it is not, that is counted.
    pub(super) fn is_due(&mut self) -> bool {
        let is_due = self.done.is_none_or(|done| done.elapsed() >= self.least);
        self.passed_over += u64::from(!is_due);
        is_due
    }

    /// It is done now.
    pub(super) fn is_done(&mut self) {
        self.done = Some(Instant::now());
    }

    /// How many steps it has passed over since the last time, if any.
    pub(super) fn passed_over(&mut self) -> Option<String> {
        let steps = std::mem::take(&mut self.passed_over);
        let (what, least) = (self.action.word(), self.least.as_secs());
        (steps > 0).then(|| {
            format!("{steps} such steps passed over by `{what}`, which is done every {least} s (--least 0: for each)")
        })
    }
}
