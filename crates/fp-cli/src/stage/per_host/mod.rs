//! `flexpath stage --per-host`: one stager on each host of the simulation. Each takes the blocks that ranks of its own
//! host put, out of shared memory. Together they publish one stream with few ranks, so that few links leave a host.
//! (Aggregators: GLEAN, section 4.2.)
//!
//! The stagers are the ranks of one subscriber cohort. So all have the same steps and the same tables, and need to agree
//! on nothing else.

mod division;
mod lane;
mod opening;

use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use fp_core::{Cohort, EndReason, NextStep, StartAt, StepReader, Subscriber};

use super::relay::Relay;
use super::run::report;
use crate::arguments::StagingRanks;
use crate::failure::Failure;
use crate::interrupt::NOTICE;
use opening::HostOpening;

/// How long it may take until it is known that another stager is gone, where publishing failed.
const PATIENCE: Duration = Duration::from_secs(15);

/// What came next.
enum Came {
    Step(StepReader),
    /// The stream that is taken has ended so.
    Ended(EndReason),
    /// The user has seen enough.
    Nothing,
}

/// Stages what is on this host until the stream has ended.
pub(super) fn run(relay: &Relay, asked: StagingRanks) -> Result<(), Failure> {
    let place = relay.options.per_host.position()?;
    let outcome = thread::scope(|scope| {
        let staging = scope.spawn(|| HostIntake { relay, place, asked }.run());
        report(relay, || staging.is_finished());
        staging.join()
    });
    eprintln!("flexpath: stream {:?}: {}", relay.stream, relay.told());
    outcome.unwrap_or_else(|_| {
        let ending = "what stages it panicked".to_owned();
        Err(Failure::Ended { stream: relay.stream.clone(), ending })
    })
}

/// The stager of one host.
struct HostIntake<'a> {
    relay: &'a Relay,
    place: Cohort,
    asked: StagingRanks,
}

impl HostIntake<'_> {
    fn run(self) -> Result<(), Failure> {
        let mut source = self.subscribe()?;
        let came = self.take_all(&mut source);
        // Where it fails too: the others may be about to find out the same, and ask for that along the cohort.
        let closed = source.close();
        match came? {
            Came::Ended(reason @ EndReason::CohortLost { .. }) => {
                self.repeat(&reason);
                Ok(())
            }
            Came::Ended(_) | Came::Nothing | Came::Step(_) => Ok(closed?),
        }
    }

    /// Takes all that comes, in as many openings as it takes.
    fn take_all(&self, source: &mut Subscriber) -> Result<Came, Failure> {
        let mut came = self.next(source)?;
        while let Came::Step(first) = came {
            came = self.stage_from(first, source)?;
        }
        Ok(came)
    }

    fn subscribe(&self) -> Result<Subscriber, Failure> {
        let options = &self.relay.options;
        let mut asked = self.relay.subscriber_options(self.place, StartAt::OldestReserved)?;
        asked = asked.with_name(options.hosts_name(&self.relay.stream)).with_open_timeout(options.awaits);
        // The stagers of other hosts dial it.
        asked.link.tcp = options.listen;
        Subscriber::open(&self.relay.stream, asked).map_err(|error| {
            let (index, hosts) = (self.place.rank().0, self.place.size());
            let what = format!("host {index} of {hosts}: {error}. One stager is awaited on each host");
            Failure::Publish(what.into())
        })
    }

    fn next(&self, source: &mut Subscriber) -> Result<Came, Failure> {
        while !self.relay.course.is_over() {
            match source.next_step(NOTICE)? {
                NextStep::Step(step) => return Ok(Came::Step(step)),
                NextStep::NotYet => {}
                NextStep::Ended(ended) => {
                    self.relay.counts.skipped.fetch_add(ended.skipped, Ordering::Relaxed);
                    return Ok(Came::Ended(ended.reason));
                }
            }
        }
        Ok(Came::Nothing)
    }

    /// Publishes from this step on, in one opening. Gives the step with which the next one begins, or the end.
    fn stage_from(&self, first: StepReader, source: &mut Subscriber) -> Result<Came, Failure> {
        let opened = HostOpening::of(self.relay, (self.place, self.asked), &first);
        let mut opening = match opened {
            Ok(opening) => opening,
            Err(failure) => return self.lost_another(failure, source),
        };
        match self.follow(first, source, &mut opening) {
            Ok(came) => self.leave(opening, came),
            Err(failure) => self.lost_another(failure, source),
        }
    }

    fn follow(
        &self,
        first: StepReader,
        source: &mut Subscriber,
        opening: &mut HostOpening<'_>,
    ) -> Result<Came, Failure> {
        let mut came = Came::Step(first);
        while let Came::Step(step) = came {
            if !opening.takes(&step)? {
                return Ok(Came::Step(step));
            }
            self.pass_on(&step, opening)?;
            drop(step);
            came = self.next(source)?;
        }
        Ok(came)
    }

    /// Publishes a step. Nobody gets one that cannot be read, as its publisher was lost.
    fn pass_on(&self, step: &StepReader, opening: &mut HostOpening<'_>) -> Result<(), Failure> {
        let (course, counts) = (&self.relay.course, &self.relay.counts);
        if course.epoch() != step.epoch()
            && let Some(epoch) = step.epoch()
        {
            course.set_epoch(epoch);
        }
        counts.skipped.fetch_add(step.skipped(), Ordering::Relaxed);
        match opening.pass_on(step) {
            Ok(len_bytes) => {
                counts.len_bytes.fetch_add(len_bytes, Ordering::Relaxed);
                counts.steps.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(Failure::Read(error)) if !course.is_over() => {
                eprintln!("flexpath: {error}; the step is left out");
                counts.skipped.fetch_add(1, Ordering::Relaxed);
                opening.give_up()
            }
            Err(failure) => Err(failure),
        }
    }

    /// What failed may have failed because the stager of another host is gone: then that is the end.
    fn lost_another(&self, failure: Failure, source: &mut Subscriber) -> Result<Came, Failure> {
        if self.relay.course.is_over() {
            return Ok(Came::Nothing);
        }
        let is_shared = matches!(failure, Failure::Publish(_) | Failure::Read(_) | Failure::Close(_));
        let until = Instant::now() + if is_shared { PATIENCE } else { Duration::ZERO };
        while Instant::now() < until {
            match self.next(source)? {
                Came::Step(_) => {}
                Came::Ended(reason @ EndReason::CohortLost { .. }) => return Ok(Came::Ended(reason)),
                Came::Ended(_) | Came::Nothing => break,
            }
        }
        Err(failure)
    }

    /// Closes the staged stream when its time has come.
    fn leave(&self, opening: HostOpening<'_>, came: Came) -> Result<Came, Failure> {
        let course = &self.relay.course;
        let is_taken = match &came {
            // With the others gone it cannot be closed in order.
            Came::Ended(EndReason::CohortLost { .. }) => return Ok(came),
            Came::Ended(reason) => {
                if !matches!(reason, EndReason::Closed) {
                    eprintln!("flexpath: stream {:?}: {reason}", self.relay.stream);
                }
                opening.outlive(self.relay.options.reserve.keeps_any(), || course.is_succeeded())
            }
            Came::Step(_) => opening.outlive(false, || true),
            Came::Nothing => false,
        };
        match opening.close() {
            // Who is asked to end, or to make way for another run, does not wait for all to have read.
            Err(failure) if is_taken && !course.is_over() => Err(failure),
            Ok(()) | Err(_) => Ok(came),
        }
    }

    /// The stager of another host is gone: all of them begin once more.
    fn repeat(&self, reason: &EndReason) {
        let (stream, waited) = (&self.relay.stream, self.relay.options.awaits);
        eprintln!(
            "flexpath: stream {stream:?}: the stager of another host is gone ({reason}). One on each host is awaited for \
             {waited:?}, and then the staged stream opens anew"
        );
        self.relay.course.repeat();
    }
}
