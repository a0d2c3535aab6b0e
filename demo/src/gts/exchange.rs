//! How particles change domains. The ranks of the generator publish to one another, as records, what left their wedges.
//! Each takes what comes to it straight from the ranks that it left.

use flexpath::{
    Cohort, Publisher, PublisherOptions, Record as _, RecordBlock, Selection, StepReader, Subscriber,
    Variable,
};

use super::error::GtsError;
use super::grid::owner;
use super::particle::Particle;
use super::streams::{EXCHANGE, STEP, next, rows, subscribing};

/// How many particles each rank had for each rank, itself included: a row for each rank that had them.
const COUNTS: &str = "counts";

/// One rank's end of the exchange.
pub struct Exchange {
    publisher: Publisher,
    subscriber: Subscriber,
    rank: u32,
    ranks: u32,
}

/// The particles of a rank after an exchange, and what it knows of the others'.
pub struct Traded {
    /// Its own, by rising label.
    pub particles: Vec<Particle>,
    /// How many particles there are on lower ranks.
    pub first: u64,
    /// How many there are on all ranks.
    pub total: u64,
    /// How many of its own came from other ranks.
    pub arrived: u64,
}

/// Particles that go to a rank.
fn name_to(rank: u32) -> String {
    format!("to.{rank}")
}

impl Exchange {
    /// Open it, together with all ranks of the cohort.
    ///
    /// # Errors
    /// As [`Publisher::open`] and [`Subscriber::open`].
    pub fn open(cohort: Cohort) -> Result<Self, GtsError> {
        let (rank, ranks) = (cohort.rank().0, cohort.size());
        let publisher = Publisher::open(EXCHANGE, PublisherOptions::default().with_cohort(cohort))?;
        let wanted = (0..ranks).map(name_to).chain([COUNTS.to_owned(), STEP.to_owned()]);
        let options = subscribing("generator.exchange", cohort).with_variables(wanted);
        // Nobody publishes before its own subscription stands, so the first step is everybody's.
        let subscriber = Subscriber::open(EXCHANGE, options)?;
        Ok(Exchange { publisher, subscriber, rank, ranks })
    }

    /// Give away what belongs to other ranks, and take what belongs to this one.
    ///
    /// # Errors
    /// A stream that fails, ranks that are not in step.
    pub fn trade(&mut self, number: u64, particles: Vec<Particle>) -> Result<Traded, GtsError> {
        let mut sorted: Vec<Vec<Particle>> = vec![Vec::new(); self.ranks as usize];
        for particle in particles {
            sorted[owner(&particle, self.ranks) as usize].push(particle);
        }
        let kept = self.publish(number, sorted)?;
        match next(&mut self.subscriber, EXCHANGE)? {
            Some((found, step)) if found == number => self.take(&step, kept),
            other => {
                let found = other.map(|(found, _)| found);
                Err(GtsError::OutOfStep { stream: EXCHANGE, expected: Some(number), found })
            }
        }
    }

    /// Gives back what stays.
    fn publish(&mut self, number: u64, sorted: Vec<Vec<Particle>>) -> Result<Vec<Particle>, GtsError> {
        let ranks = u64::from(self.ranks);
        let mut step = self.publisher.begin_step()?;
        if self.rank == 0 {
            step.put_scalar(&Variable::scalar::<u64>(STEP)?, number)?;
        }
        let counts = sorted.iter().map(|particles| particles.len() as u64).collect();
        let variable = Variable::global::<u64>(COUNTS, &[ranks, ranks])?;
        step.put(&variable, &rows(u64::from(self.rank), 1, &[ranks])?, counts)?;
        let mut kept = Vec::new();
        for (rank, particles) in (0..).zip(sorted) {
            if rank == self.rank {
                kept = particles;
                continue;
            }
            let variable = Variable::joined_records(name_to(rank), &Particle::schema()?, &[])?;
            step.put_joined_records(&variable, RecordBlock::plain(particles)?)?;
        }
        step.end()?;
        Ok(kept)
    }

    fn take(&self, step: &StepReader, mut particles: Vec<Particle>) -> Result<Traded, GtsError> {
        let counts = step.get::<u64>(COUNTS, Selection::All)?;
        // Alone there is nobody to hear from, and no such variable.
        if self.ranks > 1 {
            particles.extend_from_slice(&step.view_records::<Particle>(&name_to(self.rank), Selection::All)?);
        }
        particles.sort_unstable_by_key(|particle| particle.label);
        let (own, size) = (self.rank as usize, self.ranks as usize);
        let to = |rank: usize| counts.iter().skip(rank).step_by(size).sum::<u64>();
        let arrived = to(own) - counts[own * size + own];
        let traded = Traded { first: (0..own).map(to).sum(), total: counts.iter().sum(), arrived, particles };
        let (found, expected) = (traded.particles.len(), to(own) as usize);
        match found == expected {
            true => Ok(traded),
            false => Err(GtsError::WrongCount { variable: name_to(self.rank), found, expected }),
        }
    }

    /// Leave the exchange: nothing comes any more, and what was given away is still delivered.
    ///
    /// # Errors
    /// As [`Publisher::close`] and [`Subscriber::close`].
    pub fn close(self) -> Result<(), GtsError> {
        self.subscriber.close()?;
        Ok(self.publisher.close()?)
    }
}
