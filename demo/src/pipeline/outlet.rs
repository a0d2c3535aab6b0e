//! A part's own stream: steps go out, the waits for subscribers are measured, and who is attached is told.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use flexpath::{Cohort, Event, Publisher, PublisherOptions, PutError, StepWriter, SubscriptionId};

use super::error::PartError;
use super::part::Part;
use super::reach::publishing;
use super::report::{Closed, Published, Report, say};
use super::settings::Settings;

/// A stream that one rank of a part publishes.
pub struct Outlet {
    publisher: Publisher,
    part: Part,
    rank: u32,
    opened: Instant,
    /// The names of those attached.
    attached: BTreeMap<SubscriptionId, String>,
    longest_wait: Duration,
    waited: Duration,
}

impl Outlet {
    /// Open a stream and wait for its first subscribers, so that they miss nothing.
    ///
    /// # Errors
    /// As [`Publisher::open`].
    pub fn open(
        part: Part,
        settings: &Settings,
        stream: &str,
        first_subscribers: u32,
    ) -> Result<Self, PartError> {
        let cohort = Cohort::from_environment()?;
        let options = publishing(settings, PublisherOptions::default())?;
        let options = options.with_cohort(cohort).with_min_subscribers(first_subscribers);
        let publisher = Publisher::open(stream, options)?;
        let (attached, longest_wait, waited) = (BTreeMap::new(), Duration::ZERO, Duration::ZERO);
        let (rank, opened) = (cohort.rank().0, Instant::now());
        Ok(Outlet { publisher, part, rank, opened, attached, longest_wait, waited })
    }

    /// Publish a step. Only to begin it can take time: while a subscriber holds as many steps as it may, and while
    /// another rank lags.
    ///
    /// # Errors
    /// As [`Publisher::begin_step`] and [`StepWriter::end`]; what `put` fails with.
    pub fn publish(
        &mut self,
        time_step: i64,
        put: impl FnOnce(&mut StepWriter) -> Result<(), PutError>,
    ) -> Result<(), PartError> {
        let asked = Instant::now();
        let mut step = self.publisher.begin_step()?;
        let waited = asked.elapsed();
        self.longest_wait = self.longest_wait.max(waited);
        self.waited += waited;
        put(&mut step)?;
        step.end()?;
        self.tell(time_step);
        Ok(())
    }

    /// Bytes kept for subscribers so far.
    pub fn kept_bytes(&self) -> u64 {
        self.publisher.statistics().payload_bytes
    }

    fn tell(&mut self, time_step: i64) {
        for event in self.publisher.events() {
            match event {
                Event::MemberJoined { subscription, label, .. } => {
                    self.attached.insert(subscription, label);
                }
                Event::MemberLeft { subscription, .. } => {
                    self.attached.remove(&subscription);
                }
                _ => {}
            }
        }
        if self.rank != 0 {
            return;
        }
        let depths: BTreeMap<SubscriptionId, usize> = self.publisher.queue_depth().into_iter().collect();
        let depth = |id: &SubscriptionId| depths.get(id).copied().unwrap_or(0);
        let attached = self.attached.iter().map(|(id, label)| (label.clone(), depth(id))).collect();
        let stream = self.publisher.stream().to_owned();
        say(self.part, self.rank, Report::Published(Published { stream, time_step, attached }));
    }

    /// Close the stream: everything published is still delivered.
    ///
    /// # Errors
    /// As [`Publisher::close`].
    pub fn close(self) -> Result<(), PartError> {
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let closed = Closed {
            stream: self.publisher.stream().to_owned(),
            steps: self.publisher.statistics().steps,
            longest_wait_ms: millis(self.longest_wait),
            waited_ms: millis(self.waited),
            ran_ms: millis(self.opened.elapsed()),
        };
        self.publisher.close()?;
        say(self.part, self.rank, Report::Closed(closed));
        Ok(())
    }
}
