//! A part's subscription: steps come in order. What was taken, and the time for it, is counted and told.

use std::time::{Duration, Instant};

use flexpath::{Cohort, QueuePolicy, Record, Subscriber, SubscriberOptions};

use super::error::PartError;
#[cfg(feature = "files")]
use super::files::FilesInlet;
use super::part::Part;
use super::part_step::{Content, Coupling, InStep};
use super::reach::subscribing;
use super::report::{Edges, Left, Report, Taken, say};
use super::settings::Settings;
use super::streams::TIME_STEP;
use crate::shared::steps::next_step;

/// A subscription of one rank of a part.
pub struct Inlet {
    way: Way,
    part: Part,
    rank: u32,
    stream: &'static str,
    patience: Duration,
    links: Vec<(u32, String)>,
    left: Left,
    waited: Duration,
    spent: Duration,
}

/// How steps come.
enum Way {
    Stream(Subscriber),
    #[cfg(feature = "files")]
    Files(FilesInlet),
}

/// Which steps of a stream a part takes. None is ever lost: the publisher waits, as long as its owner allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// All of them.
    Step,
    /// One in so many, from the first on. (Streams alone: nobody takes files so.)
    Nth(u64),
}

impl Way {
    fn open(options: SubscriberOptions, settings: &Settings, stream: &str) -> Result<Self, PartError> {
        match settings.coupling {
            Coupling::Streams => Ok(Way::Stream(Subscriber::open(stream, options)?)),
            #[cfg(feature = "files")]
            Coupling::Files => Ok(Way::Files(FilesInlet::open(&settings.exchange(stream))?)),
            #[cfg(not(feature = "files"))]
            Coupling::Files => Err(PartError::WithoutFiles),
        }
    }
}

impl Inlet {
    /// Attach to a stream as this part, for these variables alone: others are not even kept for it. Waits for the stream
    /// to appear.
    ///
    /// # Errors
    /// As [`Subscriber::open`]; a folder that cannot be watched.
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
    /// As [`Inlet::open`].
    pub fn open_with(
        options: SubscriberOptions,
        part: Part,
        settings: &Settings,
        stream: &'static str,
        every: Every,
        variables: &[&str],
    ) -> Result<Self, PartError> {
        let cohort = Cohort::from_environment()?;
        let max_wait = Duration::from_millis(settings.max_wait_ms);
        let policy = match every {
            Every::Step => QueuePolicy::EveryStep { max_wait },
            Every::Nth(every) => QueuePolicy::EveryKth { every, max_wait },
        };
        let options = subscribing(settings, None, options)?
            .with_cohort(cohort)
            .with_name(format!("{}.{stream}", part.name()))
            .with_variables(variables.iter().copied())
            .with_policy(policy);
        let way = Way::open(options, settings, stream)?;
        let left = Left { stream: stream.to_owned(), ..Left::default() };
        let (rank, patience) = (cohort.rank().0, settings.step_patience());
        let (links, waited, spent) = (Vec::new(), Duration::ZERO, Duration::ZERO);
        say(part, rank, Report::Attached { stream: stream.to_owned() });
        Ok(Inlet { way, part, rank, stream, patience, links, left, waited, spent })
    }

    /// The next step and its time step; `None` when the publisher has closed the stream.
    ///
    /// # Errors
    /// Any other end, no step in time.
    pub fn step(&mut self) -> Result<Option<(i64, InStep)>, PartError> {
        let began = Instant::now();
        let content = self.content();
        self.waited += began.elapsed();
        let Some(content) = content? else { return Ok(None) };
        let step = InStep::new(content);
        let time_step = step.scalar(TIME_STEP)?;
        let first = self.left.between.map_or(time_step, |(first, _)| first);
        self.left.between = Some((first, time_step));
        Ok(Some((time_step, step)))
    }

    fn content(&mut self) -> Result<Option<Content>, PartError> {
        let (stream, waited) = (self.stream, self.patience);
        match &mut self.way {
            Way::Stream(subscriber) => Ok(next_step(subscriber, stream, waited)?.map(Content::Stream)),
            #[cfg(feature = "files")]
            Way::Files(files) => Ok(files.step(waited)?.map(Content::Files)),
        }
    }

    /// The step of this time step, which must be the next one: streams that belong together go together.
    ///
    /// # Errors
    /// As [`Inlet::step`]; another time step, or the end of the stream.
    pub fn step_of(&mut self, expected: i64) -> Result<InStep, PartError> {
        match self.step()? {
            Some((time_step, step)) if time_step == expected => Ok(step),
            other => {
                let found = other.map(|(time_step, _)| time_step);
                Err(PartError::OutOfStep { stream: self.stream, expected, found })
            }
        }
    }

    /// Bytes that were taken of a stream so far; of files 0.
    pub fn taken_bytes(&self) -> u64 {
        match &self.way {
            Way::Stream(subscriber) => subscriber.statistics().payload_bytes,
            #[cfg(feature = "files")]
            Way::Files(_) => 0,
        }
    }

    /// The variables that provide this type, the best first, and how, in words. Waits for a step, which is still the next
    /// one.
    ///
    /// # Errors
    /// As [`Subscriber::of`]; files.
    pub fn providers<T: Record>(&mut self) -> Result<Vec<(String, String)>, PartError> {
        match &mut self.way {
            Way::Stream(subscriber) => {
                let provided = subscriber.of::<T>()?.into_iter();
                Ok(provided.map(|one| (one.variable, one.fit.to_string())).collect())
            }
            #[cfg(feature = "files")]
            Way::Files(_) => Err(PartError::NoRecords { variable: self.stream.to_owned() }),
        }
    }

    /// Done with a step: it is released, and what was taken of it is told.
    pub fn release(&mut self, time_step: i64, step: InStep) {
        let (began, taking, file_bytes) = (Instant::now(), step.spent(), step.file_bytes());
        drop(step);
        self.spent += taking + began.elapsed();
        if let Some(bytes) = file_bytes {
            self.left.steps += 1;
            self.left.bytes += bytes;
        }
        self.count();
        let (stream, bytes) = (self.stream.to_owned(), self.left.bytes);
        say(self.part, self.rank, Report::Taken(Taken { stream, time_step, bytes }));
        self.tell_links();
    }

    fn tell_links(&mut self) {
        let links: Vec<(u32, String)> = match &self.way {
            Way::Stream(subscriber) => {
                subscriber.transports().into_iter().map(|(owner, text)| (owner.0, text)).collect()
            }
            #[cfg(feature = "files")]
            Way::Files(_) => Vec::new(),
        };
        if links != self.links {
            self.links.clone_from(&links);
            let stream = self.stream.to_owned();
            say(self.part, self.rank, Report::Edges(Edges { stream, links }));
        }
    }

    /// For a stream the library counts. Files are counted as they are released.
    fn count(&mut self) {
        match &self.way {
            Way::Stream(subscriber) => {
                let counted = subscriber.statistics();
                (self.left.steps, self.left.skipped) = (counted.steps, counted.skipped_steps);
                self.left.bytes = counted.payload_bytes;
            }
            #[cfg(feature = "files")]
            Way::Files(_) => {}
        }
    }

    /// Leave the stream.
    ///
    /// # Errors
    /// As [`Subscriber::close`].
    pub fn close(mut self) -> Result<(), PartError> {
        self.count();
        self.left.io_ms = self.spent.as_secs_f64() * 1e3;
        self.left.waited_ms = self.waited.as_secs_f64() * 1e3;
        match self.way {
            Way::Stream(subscriber) => subscriber.close()?,
            #[cfg(feature = "files")]
            Way::Files(_) => {}
        }
        say(self.part, self.rank, Report::Left(self.left));
        Ok(())
    }
}
