//! The generator. Each rank follows the particles in its wedge of the torus, and publishes what they are and what they
//! add up to on the grid. The number of particles of a rank changes from step to step. So does the number of all
//! particles, as some meet the wall.

use flexpath::{Cohort, Publisher, PublisherOptions, StepWriter, Variable};

use super::axes::Axis;
use super::error::GtsError;
use super::exchange::{Exchange, Traded};
use super::grid::{Grid, SHAPE, owner, planes};
use super::motion::advance;
use super::particle::{Particle, QUANTITIES};
use super::settings::Settings;
use super::streams::{PARTICLES, RANK_NUMBERS, RANKS, STEP, rows};
use std::time::Duration;

/// What analyses have derived is part of every step, however many ranks share a core.
const DERIVE_BUDGET: Duration = Duration::from_secs(30);

/// Both analyses are there from the first step.
const FIRST_SUBSCRIBERS: u32 = 2;

/// Follow and publish particles as long as the settings say.
///
/// # Errors
/// A stream that fails.
pub fn run(settings: &Settings) -> Result<(), GtsError> {
    let cohort = Cohort::from_environment()?;
    let (rank, ranks) = (cohort.rank().0, cohort.size());
    let mut exchange = Exchange::open(cohort)?;
    let options = PublisherOptions::default()
        .with_cohort(cohort)
        .with_min_subscribers(FIRST_SUBSCRIBERS)
        .with_derive_budget(DERIVE_BUDGET);
    let mut publisher = Publisher::open(PARTICLES, options)?;
    let seeded = (0..settings.particles).map(|label| Particle::seeded(settings.seed, label));
    let mut particles: Vec<Particle> = seeded.filter(|particle| owner(particle, ranks) == rank).collect();
    for number in 0..settings.steps {
        if number > 0 {
            particles.retain_mut(advance);
        }
        let traded = exchange.trade(number, particles)?;
        let part = Part { rank, ranks, number, settings, traded: &traded };
        let mut step = publisher.begin_step()?;
        part.put(&mut step)?;
        step.end()?;
        particles = traded.particles;
    }
    publisher.close()?;
    exchange.close()
}

/// What a rank puts into a step.
struct Part<'a> {
    rank: u32,
    ranks: u32,
    number: u64,
    settings: &'a Settings,
    traded: &'a Traded,
}

impl Part<'_> {
    fn put(&self, step: &mut StepWriter) -> Result<(), GtsError> {
        if self.rank == 0 {
            step.put_scalar(&Variable::scalar::<u64>(STEP)?, self.number)?;
        }
        let bytes = self.put_particles(step)? + self.put_grid(step)?;
        let numbers = vec![self.traded.particles.len() as u64, self.traded.arrived, bytes];
        let variable = Variable::global::<u64>(RANKS, &[u64::from(self.ranks), RANK_NUMBERS])?;
        Ok(step.put(&variable, &rows(u64::from(self.rank), 1, &[RANK_NUMBERS])?, numbers)?)
    }

    /// Seven arrays over all ranks. Gives their bytes.
    fn put_particles(&self, step: &mut StepWriter) -> Result<u64, GtsError> {
        let Traded { particles, first, total, .. } = self.traded;
        let region = rows(*first, particles.len() as u64, &[])?;
        let quantities: Vec<_> = particles.iter().map(Particle::quantities).collect();
        let axes = Axis::particle(self.settings.particles);
        for (index, axis) in axes.iter().take(QUANTITIES).enumerate() {
            let column: Vec<f64> = quantities.iter().map(|of_particle| of_particle[index]).collect();
            step.put(&Variable::global::<f64>(axis.name, &[*total])?, &region, column)?;
        }
        let labels = particles.iter().map(|particle| particle.label).collect();
        step.put(&Variable::global::<u64>(axes[QUANTITIES].name, &[*total])?, &region, labels)?;
        Ok(axes.len() as u64 * 8 * particles.len() as u64)
    }

    /// Three arrays over the grid. Gives their bytes.
    fn put_grid(&self, step: &mut StepWriter) -> Result<u64, GtsError> {
        let planes = planes(self.rank, self.ranks);
        let grid = Grid::of(&self.traded.particles, &planes, self.settings.particles);
        let region = rows(planes.start, planes.end - planes.start, &SHAPE[1..])?;
        let mut bytes = 0;
        for (name, cells) in [("density", grid.density), ("flow", grid.flow), ("energy", grid.energy)] {
            bytes += size_of_val(cells.as_slice()) as u64;
            step.put(&Variable::global::<f64>(name, &SHAPE)?, &region, cells)?;
        }
        Ok(bytes)
    }
}
