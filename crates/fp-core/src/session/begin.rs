//! Beginning a step: what it waits for, and for how long.

use crate::coordinator::{Look, State};
use crate::data::owner::room::Allowance;
use crate::error::BeginError;
use crate::error::misuse::Misuse;
use crate::session::publisher::{BACKSTOP, PublisherRole, PublisherSession};
use crate::value::stopwatch;
use fp_proto::commands::{Begin, BeginWait, BegunStep, CommandError};
use fp_proto::time::Moment;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A step that is to begin.
pub(crate) struct Beginning<'a> {
    shared: &'a PublisherSession,
    pub(crate) started: Instant,
    waits_for: Option<BeginWait>,
    /// Since when it waits for others of its cohort.
    skew_since: Option<Instant>,
    /// Until when the wait was counted, under the reason that it had.
    counted: Instant,
    /// What other streams of the process hold.
    elsewhere_bytes: u64,
    /// Whether its blocks take no memory, so that no room for them is waited for.
    is_stored: bool,
}

impl Drop for Beginning<'_> {
    fn drop(&mut self) {
        self.shared.server.room.set_waits(false);
        self.count();
        if self.waits_for.is_some() {
            self.shared.endpoint.inspect(|state| state.machine.wait_no_more());
        }
    }
}

impl<'a> Beginning<'a> {
    pub(crate) fn new(shared: &'a PublisherSession) -> Self {
        let started = Instant::now();
        Self {
            shared,
            started,
            waits_for: None,
            skew_since: None,
            counted: started,
            elsewhere_bytes: 0,
            is_stored: false,
        }
    }

    /// Counts the wait since the last time, for what was waited for since.
    fn count(&mut self) {
        let Some(reason) = &self.waits_for else { return };
        let counters = &self.shared.counters;
        let counter = match reason {
            BeginWait::Opening => &counters.begin_opening_ns,
            BeginWait::Skew { .. } | BeginWait::Request { .. } => &counters.begin_skew_ns,
            BeginWait::Paused { .. } => &counters.begin_paused_ns,
            BeginWait::Subscription { .. } => &counters.begin_subscription_ns,
        };
        let now = Instant::now();
        stopwatch::add(counter, now - std::mem::replace(&mut self.counted, now));
    }

    /// Begins the step, or says when to look again.
    pub(crate) fn look(
        &mut self,
        state: &mut State<PublisherRole>,
        now: Moment,
    ) -> Look<Result<BegunStep, BeginError>> {
        let stream = || self.shared.stream.clone();
        if let Some(what) = &state.role.life.failure {
            return Ok(Err(BeginError::Coordinator { stream: stream(), what: what.clone() }));
        }
        let allowance = make_room(self.shared, self.is_stored, state);
        match state.machine.begin_step(now) {
            Ok(Begin::Started(begun)) => Ok(Ok(begun)),
            Ok(Begin::Wait { reason, until }) => self.still_waiting(reason, until, allowance),
            Err(error) => Ok(Err(begin_error(stream(), error))),
        }
    }

    fn still_waiting(
        &mut self,
        reason: BeginWait,
        until: Option<Moment>,
        allowance: Allowance,
    ) -> Look<Result<BegunStep, BeginError>> {
        if self.shared.server.room.set_waits(true) {
            // What another stream let go of before it could know is seen by looking once more.
            return Err(Some(Moment::ZERO));
        }
        self.elsewhere_bytes = allowance.elsewhere_bytes;
        let skew = matches!(reason, BeginWait::Skew { .. } | BeginWait::Request { .. });
        self.count();
        self.waits_for = Some(reason);
        // How long a subscription or a pause held it up before is no matter of the cohort's.
        self.skew_since = if skew { self.skew_since.or_else(|| Some(Instant::now())) } else { None };
        let patience = self.shared.options.skew_timeout;
        let waited = self.skew_since.map_or(Duration::ZERO, |since| since.elapsed());
        if skew && waited >= patience {
            return Ok(Err(self.timed_out()));
        }
        let skew_end = self.shared.endpoint.clock.now().after(patience.saturating_sub(waited));
        Err(if skew { Some(skew_end) } else { until })
    }

    fn timed_out(&self) -> BeginError {
        let mut waits_for = self.waits_for.as_ref().map(describe_wait).unwrap_or_default();
        if self.elsewhere_bytes > 0 {
            let elsewhere =
                format!(", and other streams of this process hold {} bytes", self.elsewhere_bytes);
            waits_for.push_str(&elsewhere);
        }
        BeginError::TimedOut { stream: self.shared.stream.clone(), waited: self.started.elapsed(), waits_for }
    }

    /// What became of it.
    pub(crate) fn outcome(
        &self,
        begun: Option<Result<BegunStep, BeginError>>,
    ) -> Result<BegunStep, BeginError> {
        begun.unwrap_or_else(|| Err(self.timed_out()))
    }
}

/// Says to the machine how many bytes may live.
fn make_room(shared: &PublisherSession, is_stored: bool, state: &mut State<PublisherRole>) -> Allowance {
    let allowance = shared.server.room.allowance();
    state.machine.set_room_bytes(if is_stored { u64::MAX } else { allowance.room_bytes });
    allowance
}

/// Begins a step, if nothing may be waited for.
fn begin_freely(shared: &PublisherSession, is_stored: bool) -> Option<BegunStep> {
    shared.endpoint.drive_briefly(|state, now| {
        if state.role.life.failure.is_some() {
            return None;
        }
        make_room(shared, is_stored, state);
        state.machine.begin_freely(now)
    })
}

/// Begins a step, waiting as long as it may.
pub(crate) fn begin(shared: &PublisherSession, is_stored: bool) -> Result<BegunStep, BeginError> {
    check_fork(shared)?;
    // After a small step `end` has heard what came already. Where the next one may not begin at once, the news is heard
    // first: no policy may drop a step for room that is there.
    let caught_up = shared.caught_up.swap(false, Ordering::Relaxed) || shared.endpoint.is_crowded();
    if caught_up && let Some(begun) = begin_freely(shared, is_stored) {
        return Ok(begun);
    }
    let mut beginning = Beginning::new(shared);
    beginning.is_stored = is_stored;
    shared.endpoint.catch_up();
    let begun =
        shared.endpoint.wait_briefly(beginning.started + BACKSTOP, |state, now| beginning.look(state, now));
    beginning.outcome(begun)
}

/// A step that is to begin, unless the handle belongs to another process.
pub(crate) fn beginning(shared: &PublisherSession) -> Result<Beginning<'_>, BeginError> {
    check_fork(shared).map(|()| Beginning::new(shared))
}

fn check_fork(shared: &PublisherSession) -> Result<(), BeginError> {
    match shared.endpoint.is_forked() {
        true => Err(BeginError::Misuse { stream: shared.stream.clone(), source: Misuse::Forked }),
        false => Ok(()),
    }
}

pub(crate) fn begin_error(stream: String, error: CommandError) -> BeginError {
    match error {
        CommandError::Lost { rank, reason } => BeginError::Lost { stream, rank, reason },
        CommandError::StepOpen(step) => BeginError::Misuse { stream, source: Misuse::StepOpen(step) },
        CommandError::Closed => BeginError::Closed { stream },
        CommandError::StepNotOpen(_)
        | CommandError::NotHeld(_)
        | CommandError::ScalarsTooLarge { .. }
        | CommandError::TooManyBlocks { .. }
        | CommandError::Contribution { .. }
        | CommandError::NotAttached
        | CommandError::InvalidRanks { .. }
        | CommandError::NotRedelivered
        | CommandError::ConditionUnanswered
        | CommandError::InvalidValue
        | CommandError::InvalidSpec => BeginError::Misuse { stream, source: Misuse::Command(error) },
    }
}

fn describe_wait(reason: &BeginWait) -> String {
    match reason {
        BeginWait::Opening => "the cohort to be complete".to_owned(),
        BeginWait::Skew { step, lagging: Some(rank) } => format!("rank {rank}, which lags with step {step}"),
        BeginWait::Skew { step, lagging: None } => format!("step {step} to be decided"),
        BeginWait::Paused { by } => format!("the end of the pause that {by:?} asked for"),
        BeginWait::Request { parameter, by } => {
            format!("all ranks to agree at which step they see that {by:?} asks for {parameter:?}")
        }
        BeginWait::Subscription { subscription, live_steps, live_bytes } => {
            format!(
                "subscription {subscription} to release one of {live_steps} steps ({live_bytes} bytes are live)"
            )
        }
    }
}
