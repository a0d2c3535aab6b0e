//! Names of the streams, and what all parts do with them.

use std::time::Duration;

use flexpath::{
    Cohort, QueuePolicy, Region, StepReader, Subscriber, SubscriberOptions, TransportKind, TransportPolicy,
};

use super::error::GtsError;
use crate::shared::steps::next_step;

/// Particles that change domains, from the generator's ranks to one another.
pub const EXCHANGE: &str = "exchange";
/// What the generator publishes.
pub const PARTICLES: &str = "particles";
/// Histograms of all variables.
pub const HISTOGRAMS: &str = "histograms";
/// The data of parallel coordinates.
pub const COORDINATES: &str = "coordinates";

/// The scalar that says which steps of several streams belong together. It counts from 0.
pub const STEP: &str = "number";
/// Three numbers for each rank of the generator. They are its particles, how many of them came from other ranks in this
/// step, and the bytes it published.
pub const RANKS: &str = "ranks";
/// Numbers of a rank in [`RANKS`].
pub const RANK_NUMBERS: u64 = 3;
/// Bytes that each rank of an analysis took in a step.
pub const MOVED: &str = "moved";

/// The longest that anybody waits for anybody else.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A subscription of a part, called `part.stream`: no step is lost.
pub fn subscribing(name: &str, cohort: Cohort) -> SubscriberOptions {
    let policy = QueuePolicy::EveryStep { max_wait: PATIENCE };
    SubscriberOptions::default().with_cohort(cohort).with_name(name).with_policy(policy)
}

/// The same subscription, as if from another machine: what is taken goes through connections, as nothing is shared.
pub fn from_afar(name: &str, cohort: Cohort) -> SubscriberOptions {
    subscribing(name, cohort).with_transports(TransportPolicy::only(TransportKind::Tcp))
}

/// Counts what moves.
#[derive(Debug, Default)]
pub struct MovedBytes {
    before: u64,
}

impl MovedBytes {
    /// Bytes that were taken from other processes since this was asked for last. Small blocks ride with the messages
    /// that say where blocks are, and go only to the ranks that take them. So this is what crosses, but for headers.
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
    let step = next_step(subscriber, stream, PATIENCE)?;
    step.map(|step| Ok((step.scalar(STEP)?, step))).transpose()
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
