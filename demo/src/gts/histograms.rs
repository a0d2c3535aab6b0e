//! Histograms' part: histograms of all variables, each rank some of them. The generator's ranks count what they have, so
//! that bins alone cross, and what arrives is merged exactly. They are published in turn.

use flexpath::{Cohort, Publisher, PublisherOptions, Selection, StepReader, Subscriber, Variable};

use super::axes::{AXES, Axis, COUNTS};
use super::error::GtsError;
use super::settings::Settings;
use super::streams::{
    HISTOGRAMS, MOVED, MovedBytes, PARTICLES, RANK_NUMBERS, RANKS, STEP, from_afar, next, rows,
};

/// The variable of all histograms: a row of [`COUNTS`] numbers for each axis.
pub const COUNTED: &str = "counts";

/// Count until the generator ends.
///
/// # Errors
/// A stream that fails.
pub fn run(settings: &Settings) -> Result<(), GtsError> {
    let cohort = Cohort::from_environment()?;
    let axes = Axis::all(settings.particles);
    let mut options = from_afar("histograms.particles", cohort).with_variables([STEP, RANKS]);
    for axis in &axes {
        options = options.with_derivation(axis.histogram_name(), axis.histogram().as_str())?;
    }
    let mut subscriber = Subscriber::open(PARTICLES, options)?;
    let options = PublisherOptions::default().with_cohort(cohort).with_min_subscribers(1);
    let mut publisher = Publisher::open(HISTOGRAMS, options)?;
    let own = Own { rank: cohort.rank().0 as usize, ranks: cohort.size() as usize, axes };
    let mut counter = MovedBytes::default();
    while let Some((number, step)) = next(&mut subscriber, PARTICLES)? {
        let histograms = own.take(&step)?;
        let moved = counter.since_last(&subscriber);
        let ranks = own.is_first().then(|| step.get::<u64>(RANKS, Selection::All)).transpose()?;
        drop(step);
        let mut step = publisher.begin_step()?;
        if let Some(ranks) = ranks {
            step.put_scalar(&Variable::scalar::<u64>(STEP)?, number)?;
            let shape = [ranks.len() as u64 / RANK_NUMBERS, RANK_NUMBERS];
            step.put(&Variable::global::<u64>(RANKS, &shape)?, &rows(0, shape[0], &shape[1..])?, ranks)?;
        }
        let counts = Variable::global::<u64>(COUNTED, &[AXES as u64, COUNTS as u64])?;
        for (index, histogram) in histograms {
            step.put(&counts, &rows(index as u64, 1, &[COUNTS as u64])?, histogram)?;
        }
        let of_ranks = Variable::global::<u64>(MOVED, &[own.ranks as u64])?;
        step.put(&of_ranks, &rows(own.rank as u64, 1, &[])?, vec![moved])?;
        step.end()?;
    }
    subscriber.close()?;
    Ok(publisher.close()?)
}

/// The histograms of one rank.
struct Own {
    rank: usize,
    ranks: usize,
    axes: [Axis; AXES],
}

impl Own {
    fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Every so many histograms, with their numbers.
    fn take(&self, step: &StepReader) -> Result<Vec<(usize, Vec<u64>)>, GtsError> {
        let own = self.axes.iter().enumerate().skip(self.rank).step_by(self.ranks);
        own.map(|(index, axis)| Ok((index, step.get(&axis.histogram_name(), Selection::All)?))).collect()
    }
}
