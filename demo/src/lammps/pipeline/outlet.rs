//! A part's own stream: steps go out, what that takes is measured, and who is attached is told.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use flexpath::{Cohort, Event, Publisher, PublisherOptions, SubscriptionId};

use super::error::PartError;
#[cfg(feature = "files")]
use super::files::FilesOutlet;
use super::part::Part;
use super::part_step::{Coupling, OutStep, Target};
use super::reach::publishing;
use super::report::{Closed, Published, Report, say};
use super::settings::Settings;

/// A stream that one rank of a part publishes.
pub struct Outlet {
    way: Way,
    stream: &'static str,
    part: Part,
    rank: u32,
    opened: Instant,
    /// The names of those attached.
    attached: BTreeMap<SubscriptionId, String>,
    longest_wait: Duration,
    waited: Duration,
    spent: Duration,
    put_bytes: u64,
}

/// How steps go out.
enum Way {
    Stream(Publisher),
    #[cfg(feature = "files")]
    Files(FilesOutlet),
}

impl Way {
    fn open(
        options: PublisherOptions,
        settings: &Settings,
        stream: &str,
        cohort: Cohort,
        first_subscribers: u32,
    ) -> Result<Self, PartError> {
        let options = publishing(settings, options)?;
        let options = options.with_cohort(cohort).with_min_subscribers(first_subscribers);
        match settings.coupling {
            Coupling::Streams => Ok(Way::Stream(Publisher::open(stream, options)?)),
            #[cfg(feature = "files")]
            Coupling::Files => {
                let folder = settings.exchange(stream);
                Ok(Way::Files(FilesOutlet::open(&folder, cohort.rank().0, cohort.size())?))
            }
            #[cfg(not(feature = "files"))]
            Coupling::Files => Err(PartError::WithoutFiles),
        }
    }

    fn steps(&self) -> u64 {
        match self {
            Way::Stream(publisher) => publisher.statistics().steps,
            #[cfg(feature = "files")]
            Way::Files(files) => files.steps(),
        }
    }

    fn close(self) -> Result<(), PartError> {
        match self {
            Way::Stream(publisher) => Ok(publisher.close()?),
            #[cfg(feature = "files")]
            Way::Files(files) => Ok(files.close()?),
        }
    }
}

impl Outlet {
    /// Open a stream and wait for its first subscribers, so that they miss nothing. (Files are never missed.)
    ///
    /// # Errors
    /// As [`Publisher::open`]; a folder that cannot be made.
    pub fn open(
        part: Part,
        settings: &Settings,
        stream: &'static str,
        first_subscribers: u32,
    ) -> Result<Self, PartError> {
        Outlet::open_with(PublisherOptions::default(), part, settings, stream, first_subscribers)
    }

    /// As [`Outlet::open`], with other options than the usual ones.
    ///
    /// # Errors
    /// As [`Outlet::open`].
    pub fn open_with(
        options: PublisherOptions,
        part: Part,
        settings: &Settings,
        stream: &'static str,
        first_subscribers: u32,
    ) -> Result<Self, PartError> {
        let cohort = Cohort::from_environment()?;
        Ok(Outlet {
            way: Way::open(options, settings, stream, cohort, first_subscribers)?,
            stream,
            part,
            rank: cohort.rank().0,
            opened: Instant::now(),
            attached: BTreeMap::new(),
            longest_wait: Duration::ZERO,
            waited: Duration::ZERO,
            spent: Duration::ZERO,
            put_bytes: 0,
        })
    }

    /// Publish a step. For a stream only the beginning of a step can take time. It waits while a subscriber holds as
    /// many steps as it may, and while another rank lags.
    ///
    /// # Errors
    /// As [`Publisher::begin_step`] and [`flexpath::StepWriter::end`]; what `put` fails with; a file that cannot be
    /// written.
    pub fn publish(
        &mut self,
        time_step: i64,
        put: impl FnOnce(&mut OutStep<'_>) -> Result<(), PartError>,
    ) -> Result<(), PartError> {
        let asked = Instant::now();
        let (bytes, waited) = match &mut self.way {
            Way::Stream(publisher) => {
                let mut step = publisher.begin_step()?;
                let waited = asked.elapsed();
                let mut target = OutStep::new(Target::Stream(&mut step));
                put(&mut target)?;
                let bytes = target.put_bytes();
                step.end()?;
                (bytes, waited)
            }
            #[cfg(feature = "files")]
            Way::Files(files) => {
                let mut step = files.begin()?;
                let mut target = OutStep::new(Target::Files(&mut step));
                put(&mut target)?;
                let bytes = target.put_bytes();
                files.end(step)?;
                (bytes, Duration::ZERO)
            }
        };
        self.put_bytes += bytes;
        self.longest_wait = self.longest_wait.max(waited);
        self.waited += waited;
        self.spent += asked.elapsed() - waited;
        self.tell(time_step);
        Ok(())
    }

    /// Bytes kept for subscribers so far. In files everything is kept.
    pub fn kept_bytes(&self) -> u64 {
        match &self.way {
            Way::Stream(publisher) => publisher.statistics().payload_bytes,
            #[cfg(feature = "files")]
            Way::Files(_) => self.put_bytes,
        }
    }

    fn tell(&mut self, time_step: i64) {
        let attached = match &mut self.way {
            Way::Stream(publisher) => {
                follow(publisher, &mut self.attached);
                let depths: BTreeMap<SubscriptionId, usize> = publisher.queue_depth().into_iter().collect();
                let depth = |id: &SubscriptionId| depths.get(id).copied().unwrap_or(0);
                self.attached.iter().map(|(id, label)| (label.clone(), depth(id))).collect()
            }
            #[cfg(feature = "files")]
            Way::Files(_) => Vec::new(),
        };
        if self.rank == 0 {
            let stream = self.stream.to_owned();
            say(self.part, self.rank, Report::Published(Published { stream, time_step, attached }));
        }
    }

    /// Close the stream: everything published is still delivered.
    ///
    /// # Errors
    /// As [`Publisher::close`]; a file that cannot be written.
    pub fn close(self) -> Result<(), PartError> {
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let closed = Closed {
            stream: self.stream.to_owned(),
            steps: self.way.steps(),
            longest_wait_ms: millis(self.longest_wait),
            waited_ms: millis(self.waited),
            ran_ms: millis(self.opened.elapsed()),
            io_ms: millis(self.spent),
            put_bytes: self.put_bytes,
            kept_bytes: self.kept_bytes(),
        };
        self.way.close()?;
        say(self.part, self.rank, Report::Closed(closed));
        Ok(())
    }
}

/// Who came and who went.
fn follow(publisher: &mut Publisher, attached: &mut BTreeMap<SubscriptionId, String>) {
    for event in publisher.events() {
        match event {
            Event::MemberJoined { subscription, label, .. } => {
                attached.insert(subscription, label);
            }
            Event::MemberLeft { subscription, .. } => {
                attached.remove(&subscription);
            }
            Event::Opened { .. }
            | Event::OpenFailed { .. }
            | Event::SubscriptionStarted { .. }
            | Event::SubscriptionEnded { .. }
            | Event::Denied(_)
            | Event::StepDropped { .. }
            | Event::StepRejected { .. }
            | Event::RankLagging { .. }
            | Event::RankLost { .. }
            | Event::Reselected { .. }
            | Event::AwaitingRestart { .. }
            | Event::Restarted { .. }
            | Event::Ended(_)
            | Event::Closed(_)
            | _ => {}
        }
    }
}
