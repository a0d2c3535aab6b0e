//! With which options a rank of a relay subscribes, and publishes again.

use std::sync::Arc;
use std::time::Duration;

use fp_core::{
    Cohort, Interrupt as Asked, OnLoss, PublisherOptions, QueuePolicy, StartAt, StepId, SubscriberOptions,
};

use super::relay::Relay;
use crate::delegate::Delegate;
use crate::failure::Failure;

/// Steps that may be missing before one, so that numbers go on. Behind a longer gap the staged stream opens anew.
pub(super) const LIMIT_GAP: u64 = 100_000;

/// How long a subscriber may hold up a staged stream that has no room left: it is no simulation that waits.
pub(super) const LIMIT_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

impl Relay {
    /// Whether nothing more is to be done, for waits that ask.
    fn over(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let course = self.course.clone();
        move || course.is_over()
    }

    /// For a rank that takes the stream.
    pub(super) fn subscriber_options(
        &self,
        cohort: Cohort,
        start_at: StartAt,
    ) -> Result<SubscriberOptions, Failure> {
        let mut asked = SubscriberOptions::default()
            .with_rendezvous(self.rendezvous.clone())
            .with_cohort(cohort)
            .with_start_at(start_at)
            .with_on_loss(OnLoss::AwaitRestart(self.options.awaits))
            .with_interrupt(Asked::new(self.over()));
        if self.options.lossy {
            asked = asked.with_policy(QueuePolicy::DropOldest);
        }
        self.options.credentials.read()?.set(&mut asked.link);
        Ok(asked)
    }

    /// For a rank that publishes it again, from this step on. A run that begins anew does not say a first step: whoever had
    /// steps of the run before would pass over those of the same numbers.
    pub(super) fn publisher_options(
        &self,
        cohort: Cohort,
        (first, goes_on): (StepId, bool),
    ) -> Result<PublisherOptions, Failure> {
        let options = &self.options;
        let mut asked = PublisherOptions::default()
            .with_rendezvous(self.rendezvous.clone())
            .with_cohort(cohort)
            .with_limit_bytes(options.limit_bytes())
            .with_limit_wait(LIMIT_WAIT)
            .with_least_limit_steps(u32::MAX)
            .with_reserve_steps(options.reserve.steps)
            .with_reserve_bytes(options.reserve.bytes)
            .with_interrupt(Asked::new(self.over()));
        asked.first_step = (goes_on || first > StepId(0)).then_some(first.0);
        let credentials = options.credentials.read()?;
        credentials.set(&mut asked.link);
        let delegate = Delegate {
            stream: self.stream.clone(),
            rendezvous: self.rendezvous.clone(),
            credentials,
            is_over: Arc::new(self.over()),
        };
        if !options.no_requests {
            let course = self.course.clone();
            asked = asked.with_request_delegate(delegate.of_publisher(move || course.epoch()));
        }
        // Unlike a lone subscriber's, its ranks are dialled.
        asked.link.tcp = options.listen;
        Ok(asked)
    }
}
