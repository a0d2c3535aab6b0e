//! Between processes: a stream of which rank 0 is the subscriber.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use fp_core::{
    Cohort, LinkOptions, NextStep, OpenError, Publisher, PublisherOptions, Rank, Region, Subscriber,
    SubscriberOptions, Variable,
};

use super::{Gather, GatherFailure, Missing, NOTICE};
use crate::error::AnalysisError;

/// The variable of the stream.
const MESSAGE: &str = "message";

/// Brings together what processes have, over a stream of their own.
pub struct StreamGather {
    publisher: Publisher,
    message: Variable,
    /// Of rank 0.
    subscriber: Option<Subscriber>,
    ranks: u32,
    patience: Duration,
}

impl fmt::Debug for StreamGather {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamGather").field("stream", &self.publisher.stream()).finish_non_exhaustive()
    }
}

impl StreamGather {
    /// Opens the stream of that name with all ranks of the cohort: this returns when they are there. `patience` is the
    /// longest that a message of theirs is awaited.
    ///
    /// # Errors
    /// A stream that cannot be opened, or ranks that do not come.
    pub fn open(
        stream: &str,
        link: &LinkOptions,
        cohort: Cohort,
        patience: Duration,
    ) -> Result<Self, AnalysisError> {
        let mut asked = PublisherOptions::default().with_min_subscribers(1).with_limit_wait(patience);
        asked.link = link.clone();
        asked.link.cohort = cohort;
        let open = || Publisher::open(stream, asked);
        let (publisher, subscriber) = match cohort.rank() {
            Rank(0) => {
                let (publisher, subscriber) = open_both(open, || subscribe(stream, link));
                (publisher?, Some(subscriber?))
            }
            _ => (open()?, None),
        };
        let message = Variable::local::<u8>(MESSAGE, 1)?;
        Ok(Self { publisher, message, subscriber, ranks: cohort.size(), patience })
    }

    /// Those of all ranks, on rank 0.
    fn taken(&mut self) -> Result<Option<Vec<Vec<u8>>>, GatherFailure> {
        let stream = self.publisher.stream().to_owned();
        let Some(subscriber) = &mut self.subscriber else { return Ok(None) };
        let (started, waited) = (Instant::now(), self.patience);
        while started.elapsed() < self.patience {
            match subscriber.next_step(NOTICE)? {
                NextStep::Step(step) => {
                    let one = |rank: u32| match step.get::<u8>(MESSAGE, Rank(rank)) {
                        Ok(message) if message.is_empty() => {
                            Err(Missing::Empty { rank: rank as usize }.into())
                        }
                        Ok(message) => Ok(message),
                        Err(error) => Err(GatherFailure::from(error)),
                    };
                    return Ok(Some((0..self.ranks).map(one).collect::<Result<_, _>>()?));
                }
                NextStep::NotYet => {}
                NextStep::Ended(ending) => {
                    return Err(Missing::Ended { stream, ending: ending.reason.to_string() }.into());
                }
            }
        }
        Err(Missing::Nothing { stream, waited }.into())
    }
}

/// A lone subscriber, whatever the rank.
fn subscribe(stream: &str, link: &LinkOptions) -> Result<Subscriber, OpenError> {
    let mut asked = SubscriberOptions::default();
    asked.link = link.clone();
    asked.link.cohort = Cohort::alone();
    Subscriber::open(stream, asked)
}

/// Opens both ends at once: each waits for the other.
fn open_both<P: Send, S>(publisher: impl FnOnce() -> P + Send, subscriber: impl FnOnce() -> S) -> (P, S) {
    thread::scope(|scope| {
        let publisher = scope.spawn(publisher);
        let subscriber = subscriber();
        let publisher = publisher.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (publisher, subscriber)
    })
}

impl Gather for StreamGather {
    fn gather(&mut self, message: Vec<u8>) -> Result<Option<Vec<Vec<u8>>>, GatherFailure> {
        let mut writer = self.publisher.begin_step()?;
        let region = Region::new([0], [message.len() as u64])?;
        writer.put(&self.message, &region, message)?;
        writer.end()?;
        self.taken()
    }

    fn close(self: Box<Self>) -> Result<(), GatherFailure> {
        // The own subscription has taken all that it was to take.
        let left = self.subscriber.map(Subscriber::close);
        self.publisher.close()?;
        Ok(left.unwrap_or(Ok(()))?)
    }
}
