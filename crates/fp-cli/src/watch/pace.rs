//! How often something is done at most, and how often it was not.

use std::time::{Duration, Instant};

use crate::arguments::{Action, WatchOptions};

/// Between two of what fills a disk or asks others: a condition may hold in every step of a fast simulation.
const LEAST: Duration = Duration::from_secs(1);

/// How much time lies between two times that something is done, and when it was done last.
#[derive(Debug)]
pub(super) struct Pace {
    least: Duration,
    done: Option<Instant>,
    /// Steps for which it was not done, and that were not told of.
    passed_over: u64,
}

impl Pace {
    /// So much time at least.
    pub(super) fn new(least: Duration) -> Self {
        Self { least, done: None, passed_over: 0 }
    }

    /// Whether enough time is over since it was done.
    pub(super) fn is_due(&self) -> bool {
        self.done.is_none_or(|done| done.elapsed() >= self.least)
    }

    /// It is done now.
    pub(super) fn is_done(&mut self) {
        self.done = Some(Instant::now());
    }

    /// It is not done for a step.
    pub(super) fn pass_over(&mut self) {
        self.passed_over += 1;
    }

    /// For how many steps it was not done since this was asked last, if for any.
    pub(super) fn passed_over(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.passed_over)).filter(|steps| *steps > 0)
    }
}

/// An action, and how often it is done where the user does not say it.
#[derive(Debug)]
pub(super) struct Paced {
    pub(super) action: Action,
    pub(super) pace: Pace,
}

impl Paced {
    pub(super) fn new(action: Action, options: &WatchOptions) -> Self {
        // Who names a time, or wants every step, has said how often. Commands have times of their own.
        let is_bounded = options.least.is_none() && !options.every_step;
        let is_costly = matches!(action, Action::Write(_) | Action::Render(_) | Action::Request(_));
        let least = if is_bounded && is_costly { LEAST } else { Duration::ZERO };
        Self { action, pace: Pace::new(least) }
    }

    /// How many steps it has passed over since the last time, in words, if any.
    pub(super) fn passed_over(&mut self) -> Option<String> {
        let (what, least) = (self.action.word(), self.pace.least.as_secs());
        self.pace.passed_over().map(|steps| {
            format!("{steps} such steps passed over by `{what}`, which is done every {least} s (--least 0: for each)")
        })
    }
}
