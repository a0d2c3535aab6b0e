//! Coordinates' part: the data of a parallel-coordinates picture. It counts how many particles go from each bin of an
//! axis to each bin of the next. They are counted where the particles are. The method is that of Novotny and Hauser,
//! *Outlier-preserving focus+context visualization in parallel coordinates*, 2006. Beside the counts are single
//! particles, those of high weight. Their indices alone cross at first, and then a sample of them is taken quantity by
//! quantity.

use flexpath::{
    Cohort, Dims, Publisher, PublisherOptions, Selection, StepReader, StepWriter, Subscriber, Variable,
};

use super::axes::{Axis, PAIR_BINS, PAIRS, PARTICLE_AXES, pair_counts, pair_name};
use super::error::GtsError;
use super::particle::QUANTITIES;
use super::settings::Settings;
use super::streams::{COORDINATES, MOVED, MovedBytes, PARTICLES, STEP, from_afar, next, rows};

/// The variable of all pairs of axes: a row of [`PAIR_BINS`] counts for each, of the first axis's bins one after another.
pub const BETWEEN: &str = "between";
/// The variable of single particles: a row of [`PARTICLE_AXES`] numbers for each.
pub const LINES: &str = "lines";
/// How many particles were selected; of these [`LINES`] has a sample.
pub const SELECTED: &str = "selected";
/// Single particles that are taken at most.
pub const MOST_LINES: usize = 400;
/// The derivation that selects, and what it gives.
const HEAVY: &str = "heavy";
const HEAVY_INDEX: &str = "heavy.index";

/// Count and select until the generator ends.
///
/// # Errors
/// A stream that fails.
pub fn run(settings: &Settings) -> Result<(), GtsError> {
    let cohort = Cohort::from_environment()?;
    let axes = Axis::particle(settings.particles);
    let kept = axes.iter().map(|axis| axis.name).chain([STEP]);
    let mut options = from_afar("coordinates.particles", cohort).with_variables(kept);
    for (pair, two) in axes.windows(2).enumerate() {
        options = options.with_derivation(pair_name(pair), pair_counts(&two[0], &two[1]).as_str())?;
    }
    let heavy = format!("weight | points(> {:?})", settings.threshold);
    let mut subscriber = Subscriber::open(PARTICLES, options.with_derivation(HEAVY, heavy.as_str())?)?;
    let options = PublisherOptions::default().with_cohort(cohort).with_min_subscribers(1);
    let mut publisher = Publisher::open(COORDINATES, options)?;
    let own = Own { rank: cohort.rank().0 as usize, ranks: cohort.size() as usize, axes };
    let mut counter = MovedBytes::default();
    while let Some((number, step)) = next(&mut subscriber, PARTICLES)? {
        let taken = own.take(&step)?;
        let moved = counter.since_last(&subscriber);
        drop(step);
        let mut step = publisher.begin_step()?;
        own.put(&mut step, number, taken, moved)?;
        step.end()?;
    }
    subscriber.close()?;
    Ok(publisher.close()?)
}

/// The share of one rank: some pairs of axes. The last rank also has the lines.
struct Own {
    rank: usize,
    ranks: usize,
    axes: [Axis; PARTICLE_AXES],
}

/// What a rank takes of a step.
struct Taken {
    between: Vec<(usize, Vec<u64>)>,
    /// How many were selected, and the sample, particle by particle.
    lines: Option<(u64, Vec<f64>)>,
}

impl Own {
    fn take(&self, step: &StepReader) -> Result<Taken, GtsError> {
        let pairs = (self.rank..PAIRS).step_by(self.ranks);
        let between = pairs.map(|pair| Ok((pair, step.get(&pair_name(pair), Selection::All)?)));
        let between = between.collect::<Result<_, GtsError>>()?;
        let draws_lines = self.rank == self.ranks - 1;
        Ok(Taken { between, lines: draws_lines.then(|| self.lines(step)).transpose()? })
    }

    fn lines(&self, step: &StepReader) -> Result<(u64, Vec<f64>), GtsError> {
        let selected = step.get::<u64>(HEAVY_INDEX, Selection::All)?;
        let every = selected.len().div_ceil(MOST_LINES).max(1);
        let sample: Vec<Dims> = selected.iter().step_by(every).map(|&index| Dims::from([index])).collect();
        let mut lines = vec![0.0; sample.len() * PARTICLE_AXES];
        if sample.is_empty() {
            return Ok((0, lines));
        }
        let points = Selection::Points(sample);
        for (index, axis) in self.axes.iter().enumerate() {
            let column: Vec<f64> = match index {
                QUANTITIES => {
                    step.get::<u64>(axis.name, &points)?.into_iter().map(|label| label as f64).collect()
                }
                _ => step.get(axis.name, &points)?,
            };
            let places = lines.iter_mut().skip(index).step_by(PARTICLE_AXES);
            places.zip(column).for_each(|(place, number)| *place = number);
        }
        Ok((selected.len() as u64, lines))
    }

    fn put(&self, step: &mut StepWriter, number: u64, taken: Taken, moved: u64) -> Result<(), GtsError> {
        if self.rank == 0 {
            step.put_scalar(&Variable::scalar::<u64>(STEP)?, number)?;
        }
        let between = Variable::global::<u64>(BETWEEN, &[PAIRS as u64, PAIR_BINS as u64])?;
        for (pair, counts) in taken.between {
            step.put(&between, &rows(pair as u64, 1, &[PAIR_BINS as u64])?, counts[..PAIR_BINS].to_vec())?;
        }
        if let Some((selected, lines)) = taken.lines {
            step.put(&Variable::global::<u64>(SELECTED, &[1])?, &rows(0, 1, &[])?, vec![selected])?;
            step.put_joined(&Variable::joined::<f64>(LINES, &[PARTICLE_AXES as u64])?, lines)?;
        }
        let of_ranks = Variable::global::<u64>(MOVED, &[self.ranks as u64])?;
        Ok(step.put(&of_ranks, &rows(self.rank as u64, 1, &[])?, vec![moved])?)
    }
}
