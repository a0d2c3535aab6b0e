//! Waiting until what was published has been released (`sync` of the SAVIME staging paper, section 3.1).

use crate::coordinator::{Look, State};
use crate::error::misuse::Misuse;
use crate::error::sync::SyncError;
use crate::session::publisher::{PublisherRole, PublisherSession, held};
use crate::value::limit::after;
use crate::value::stopwatch::Stopwatch;
use fp_proto::commands::CommandError;
use fp_types::{StepId, SubscriptionId};
use std::time::{Duration, Instant};

/// Subscriptions, each with the steps that it holds.
type Holders = Vec<(SubscriptionId, Vec<StepId>)>;

/// A wait until nothing is held.
pub(crate) struct Syncing<'a> {
    shared: &'a PublisherSession,
    watch: Stopwatch<'a>,
    pub(crate) deadline: Instant,
    held: Holders,
}

impl<'a> Syncing<'a> {
    pub(crate) fn begin(shared: &'a PublisherSession, timeout: Duration) -> Result<Self, SyncError> {
        if shared.endpoint.is_forked() {
            return Err(SyncError::Misuse { stream: shared.stream.clone(), source: Misuse::Forked });
        }
        let watch = Stopwatch::start(&shared.counters.sync_ns);
        Ok(Self { shared, deadline: after(watch.started, timeout), watch, held: Holders::new() })
    }

    /// Whether nothing is held, or never will be released.
    pub(crate) fn look(&mut self, state: &mut State<PublisherRole>) -> Look<Result<(), SyncError>> {
        let stream = || self.shared.stream.clone();
        if let Some(what) = &state.role.life.failure {
            return Ok(Err(SyncError::Coordinator { stream: stream(), what: what.clone() }));
        }
        match state.machine.unreleased() {
            Ok(none) if none.is_empty() => Ok(Ok(())),
            Ok(held) => {
                self.held = held;
                Err(None)
            }
            Err(CommandError::Lost { rank, reason }) => {
                Ok(Err(SyncError::Lost { stream: stream(), rank, reason }))
            }
            Err(error) => Ok(Err(SyncError::Misuse { stream: stream(), source: Misuse::Command(error) })),
        }
    }

    /// What came of it; `None` if the time was up.
    pub(crate) fn outcome(self, looked: Option<Result<(), SyncError>>) -> Result<(), SyncError> {
        let (stream, waited) = (self.shared.stream.clone(), self.watch.started.elapsed());
        looked.unwrap_or_else(|| Err(SyncError::Held { stream, waited, held: held(&self.held) }))
    }
}
