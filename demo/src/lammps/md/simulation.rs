//! Velocity Verlet, with held atoms that move on at a steady speed.

use super::forces::PairList;
use super::sample::{FREE, HELD, Sample};
use crate::lammps::science::cells::CellError;
use crate::lammps::science::geometry::Domain;

/// A running simulation.
#[derive(Clone, Debug)]
pub struct Simulation {
    sample: Sample,
    pairs: PairList,
    forces: Vec<[f64; 3]>,
    energy: f64,
    step: i64,
}

impl Simulation {
    /// Start at step 0: the forces are known, nothing has moved.
    ///
    /// # Errors
    /// The space is too small for the forces' reach.
    pub fn new(mut sample: Sample) -> Result<Self, CellError> {
        let mut pairs = PairList::default();
        pairs.refresh(&mut sample.positions, &sample.domain)?;
        let mut forces = vec![[0.0; 3]; sample.positions.len()];
        let energy = pairs.forces(&sample.positions, &sample.domain, &mut forces);
        Ok(Simulation { sample, pairs, forces, energy, step: 0 })
    }

    /// One time step on. Afterwards positions and forces are those of the new step, and velocities those of half a step
    /// before. LAMMPS has them so too when it hands a step over.
    ///
    /// # Errors
    /// An atom has left all bounds.
    pub fn advance(&mut self) -> Result<(), CellError> {
        let time = self.sample.time_step;
        // The second half of the last step's push and the first half of this one's, at once.
        let push = if self.step == 0 { time / 2.0 } else { time };
        for (index, velocity) in self.sample.velocities.iter_mut().enumerate() {
            if self.sample.types[index] == FREE {
                *velocity = std::array::from_fn(|axis| velocity[axis] + push * self.forces[index][axis]);
            }
            let position = &mut self.sample.positions[index];
            *position = std::array::from_fn(|axis| position[axis] + time * velocity[axis]);
        }
        self.pairs.refresh(&mut self.sample.positions, &self.sample.domain)?;
        self.energy = self.pairs.forces(&self.sample.positions, &self.sample.domain, &mut self.forces);
        self.step += 1;
        Ok(())
    }

    /// From now on each held edge moves this fast.
    pub fn pull(&mut self, speed: f64) {
        let atoms = self.sample.velocities.iter_mut().zip(&self.sample.types);
        for (velocity, _) in atoms.filter(|(_, kind)| **kind == HELD) {
            velocity[1] = velocity[1].signum() * speed;
        }
    }

    /// Number of the current step.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// The atoms now.
    pub fn sample(&self) -> &Sample {
        &self.sample
    }

    /// The space now: along free axes from the first to the last atom.
    pub fn domain(&self) -> Domain {
        let mut domain = self.sample.domain;
        for axis in 0..2 {
            let along = || self.sample.positions.iter().map(|position| position[axis]);
            domain.low[axis] = along().fold(f64::INFINITY, f64::min);
            domain.high[axis] = along().fold(f64::NEG_INFINITY, f64::max);
        }
        domain
    }

    /// Potential energy, and kinetic energy at the same time (the velocities being half a push behind), in epsilon.
    pub fn energies(&self) -> (f64, f64) {
        let behind = if self.step == 0 { 0.0 } else { self.sample.time_step / 2.0 };
        let now = |index: usize, axis: usize| {
            self.sample.velocities[index][axis] + behind * self.forces[index][axis]
        };
        let kinetic = |index: usize| (0..3).map(|axis| now(index, axis).powi(2)).sum::<f64>() / 2.0;
        let free = (0..self.forces.len()).filter(|&index| self.sample.types[index] == FREE);
        (self.energy, free.map(kinetic).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lammps::problem::Problem;
    use crate::lammps::source::Scale;

    fn small(problem: Problem, speed: f64) -> Simulation {
        let scale = Scale { columns: Some(8), rows: Some(8), layers: Some(4), speed: Some(speed) };
        Simulation::new(Sample::new(problem, &scale).expect("good")).expect("good")
    }

    #[test]
    fn energy_is_kept_when_nothing_pulls() {
        for problem in Problem::ALL {
            let mut simulation = small(problem, 0.0);
            let (potential, kinetic) = simulation.energies();
            for _ in 0..300 {
                simulation.advance().expect("bound");
            }
            let (later_potential, later_kinetic) = simulation.energies();
            assert!(
                (later_potential - potential).abs() > 0.01 * kinetic,
                "{}: something moved",
                problem.name()
            );
            let drift = (later_potential + later_kinetic - potential - kinetic).abs();
            // The force is cut, not shifted: a pair that crosses the cutoff changes the sum by 0.016.
            assert!(drift < 0.1 * kinetic, "{}: drift {drift}, kinetic {kinetic}", problem.name());
        }
    }

    #[test]
    fn held_atoms_move_as_they_are_pulled_and_all_runs_are_alike() {
        let (mut one, mut other) = (small(Problem::Notch, 0.4), small(Problem::Notch, 0.4));
        let before = one.sample().positions.clone();
        for _ in 0..50 {
            one.advance().expect("bound");
            other.advance().expect("bound");
        }
        assert_eq!(one.sample(), other.sample(), "to the last bit");
        let moved = one.sample().positions[0][1] - before[0][1];
        assert!((moved + 50.0 * 0.005 * 0.4).abs() < 1e-12, "{moved}");
        assert!(one.domain().extent(1) > before[before.len() - 1][1]);
        one.pull(0.1);
        (0..10).for_each(|_| one.advance().expect("bound"));
        let moved = one.sample().positions[0][1] - other.sample().positions[0][1];
        assert!((moved + 10.0 * 0.005 * 0.1).abs() < 1e-12, "{moved}");
    }
}
