//! A part's subscription: steps come in order, and what was taken is counted and told.

use flexpath::{EndReason, NextStep, QueuePolicy, StepReader, Subscriber, SubscriberOptions};

use super::error::PartError;
use super::part::Part;
use super::reach::subscribing;
use super::report::{Edges, Left, Report, Taken, say};
use super::settings::Settings;
use super::streams::time_step_of;

/// A subscription of one rank of a part.
pub struct Inlet {
    subscriber: Subscriber,
    part: Part,
    rank: u32,
    stream: &'static str,
    patience: std::time::Duration,
    links: Vec<(u32, String)>,
    left: Left,
}

/// Which steps of a stream a part takes. None is ever lost: the publisher waits, as long as its owner allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// All of them.
    Step,
    /// One in so many, from the first on.
    Nth(u64),
}

impl Inlet {
    /// Attach to a stream as this part, for these variables alone: others are not even kept for it. Waits for the stream
    /// to appear.
    ///
    /// # Errors
    /// As [`Subscriber::open`].
    pub fn open(
        part: Part,
        settings: &Settings,
        stream: &'static str,
        every: Every,
        variables: &[&str],
    ) -> Result<Self, PartError> {
        let options = SubscriberOptions::default();
        Inlet::open_with(options, part, settings, stream, every, variables)
    }

    /// As [`Inlet::open`], with other options than the usual ones.
    ///
    /// # Errors
    /// As [`Subscriber::open`].
    pub fn open_with(
        options: SubscriberOptions,
        part: Part,
        settings: &Settings,
        stream: &'static str,
        every: Every,
        variables: &[&str],
    ) -> Result<Self, PartError> {
        let cohort = flexpath::Cohort::from_environment()?;
        let max_wait_ms = settings.max_wait_ms;
        let policy = match every {
            Every::Step => QueuePolicy::EveryStep { max_wait_ms },
            Every::Nth(every) => QueuePolicy::EveryKth { every, max_wait_ms },
        };
        let options = subscribing(settings, None, options)?
            .with_cohort(cohort)
            .with_name(format!("{}.{stream}", part.name()))
            .with_variables(variables.iter().copied())
            .with_policy(policy);
        let subscriber = Subscriber::open(stream, options)?;
        let left = Left { stream: stream.to_owned(), steps: 0, skipped: 0, bytes: 0, between: None };
        let (rank, patience) = (cohort.rank().0, settings.step_patience());
        say(part, rank, Report::Attached { stream: stream.to_owned() });
        Ok(Inlet { subscriber, part, rank, stream, patience, links: Vec::new(), left })
    }

    /// The next step and its time step; `None` when the publisher has closed the stream.
    ///
    /// # Errors
    /// Any other end, no step in time.
    pub fn step(&mut self) -> Result<Option<(i64, StepReader)>, PartError> {
        match self.subscriber.next_step(self.patience)? {
            NextStep::Step(step) => {
                let time_step = time_step_of(&step)?;
                let first = self.left.between.map_or(time_step, |(first, _)| first);
                self.left.between = Some((first, time_step));
                Ok(Some((time_step, step)))
            }
            NextStep::Ended(ending) if ending.reason == EndReason::Closed => Ok(None),
            NextStep::Ended(ending) => Err(PartError::Ended { stream: self.stream, reason: ending.reason }),
            NextStep::NotYet => Err(PartError::NoStep { stream: self.stream, waited: self.patience }),
        }
    }

    /// The step of this time step, which must be the next one: streams that belong together go together.
    ///
    /// # Errors
    /// As [`Inlet::step`]; another time step, or the end of the stream.
    pub fn step_of(&mut self, expected: i64) -> Result<StepReader, PartError> {
        match self.step()? {
            Some((time_step, step)) if time_step == expected => Ok(step),
            other => {
                let found = other.map(|(time_step, _)| time_step);
                Err(PartError::OutOfStep { stream: self.stream, expected, found })
            }
        }
    }

    /// Done with a step: it is released, and what was taken of it is told.
    pub fn release(&mut self, time_step: i64, step: StepReader) {
        drop(step);
        self.count();
        let (stream, bytes) = (self.stream.to_owned(), self.left.bytes);
        say(self.part, self.rank, Report::Taken(Taken { stream, time_step, bytes }));
        let links: Vec<(u32, String)> =
            self.subscriber.transports().into_iter().map(|(owner, text)| (owner.0, text)).collect();
        if links != self.links {
            self.links.clone_from(&links);
            let stream = self.stream.to_owned();
            say(self.part, self.rank, Report::Edges(Edges { stream, links }));
        }
    }

    fn count(&mut self) {
        let counted = self.subscriber.statistics();
        (self.left.steps, self.left.skipped) = (counted.steps, counted.skipped_steps);
        self.left.bytes = counted.payload_bytes;
    }

    /// Leave the stream.
    ///
    /// # Errors
    /// As [`Subscriber::close`].
    pub fn close(mut self) -> Result<(), PartError> {
        self.count();
        self.subscriber.close()?;
        say(self.part, self.rank, Report::Left(self.left));
        Ok(())
    }
}
