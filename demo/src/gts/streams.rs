//! Names of the streams, and what all parts do with them.

use std::time::Duration;

use flexpath::{
    Cohort, EndReason, NextStep, QueuePolicy, Region, StepReader, Subscriber, SubscriberOptions,
    TransportKind, TransportPolicy,
};

use super::error::GtsError;

/// Particles that change domains, from the generator's ranks to one another.
pub const EXCHANGE: &str = "exchange";
/// What the generator publishes.
pub const PARTICLES: &str = "particles";
/// Histograms of all variables.
pub const HISTOGRAMS: &str = "histograms";
/// The data of parallel coordinates.
pub const COORDINATES: &str = "coordinates";

/// The scalar by which steps of several streams are known to belong together, from 0.
pub const STEP: &str = "number";
/// Of each rank of the generator: particles that it has, how many of them came from other ranks in this step, and
/// bytes that it published.
pub const RANKS: &str = "ranks";
/// Numbers of a rank in [`RANKS`].
pub const RANK_NUMBERS: u64 = 3;
/// Bytes that each rank of an analysis took in a step.
pub const MOVED: &str = "moved";

/// The longest that anybody waits for anybody else.
pub const PATIENCE: Duration = Duration::from_secs(60);
const PATIENCE_MS: u64 = 60_000;

/// A subscription of a part, called `part.stream`: no step is lost.
pub fn subscribing(name: &str, cohort: Cohort) -> SubscriberOptions {
    let policy = QueuePolicy::EveryStep { max_wait_ms: PATIENCE_MS };
    SubscriberOptions::default().with_cohort(cohort).with_name(name).with_policy(policy)
}

/// The same as from another machine: what is taken goes through connections, as nothing is shared.
pub fn from_afar(name: &str, cohort: Cohort) -> SubscriberOptions {
    subscribing(name, cohort).with_transports(TransportPolicy::only(TransportKind::Tcp))
}

/// Counts what moves.
#[derive(Debug, Default)]
pub struct MovedBytes {
    before: u64,
}

impl MovedBytes {
    /// Bytes that were taken from other processes since this was asked for last. Small blocks ride with the messages that
    /// say where blocks are, and go to those ranks alone that take them: so this is what crosses, but for headers.
    pub fn since_last(&mut self, subscriber: &Subscriber) -> u64 {
        let now = subscriber.statistics().payload_bytes;
        now - std::mem::replace(&mut self.before, now)
    }
}

/// The next step and its number; none when the publisher has closed the stream.
///
/// # Errors
/// Any other end, no step in time.
pub fn next(
    subscriber: &mut Subscriber,
    stream: &'static str,
) -> Result<Option<(u64, StepReader)>, GtsError> {
    match subscriber.next_step(PATIENCE)? {
        NextStep::Step(step) => Ok(Some((step.scalar(STEP)?, step))),
        NextStep::Ended(ending) if ending.reason == EndReason::Closed => Ok(None),
        NextStep::Ended(ending) => Err(GtsError::Ended { stream, reason: ending.reason }),
        NextStep::NotYet => Err(GtsError::NoStep { stream, waited: PATIENCE }),
    }
}

/// A part of an array along its first dimension, all of the others.
///
/// # Errors
/// More than there are numbers for.
pub fn rows(first: u64, count: u64, others: &[u64]) -> Result<Region, GtsError> {
    let no_part = || GtsError::NoPart { first, count };
    let start = [&[first][..], &vec![0; others.len()]].concat();
    let counts = [&[count][..], others].concat();
    let dims = |of: &[u64]| flexpath::Dims::from_slice(of).map_err(|_| no_part());
    Region::new(dims(&start)?, dims(&counts)?).map_err(|_| no_part())
}
