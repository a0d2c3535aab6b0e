//! The molecular dynamics as a [`Source`].

use super::error::MdError;
use super::sample::Sample;
use super::simulation::Simulation;
use crate::lammps::launch::Place;
use crate::lammps::science::atoms::AtomBlock;
use crate::lammps::science::share::SharePlan;
use crate::lammps::source::{Control, Ending, RunConfig, Source, SourceError, StepView};

/// One rank of the built-in molecular dynamics. See the module's text for what a rank is here.
#[derive(Clone, Copy, Debug)]
pub struct MolecularDynamics {
    place: Place,
}

impl MolecularDynamics {
    /// The rank that the environment says.
    ///
    /// # Errors
    /// The launcher's variables make no sense.
    pub fn new() -> Result<Self, MdError> {
        Ok(MolecularDynamics { place: Place::from_environment()? })
    }

    /// A rank named by the caller, where no launcher sets variables.
    pub fn at(place: Place) -> Self {
        MolecularDynamics { place }
    }

    fn view(&self, simulation: &Simulation) -> Result<StepView, MdError> {
        let (domain, sample) = (simulation.domain(), simulation.sample());
        let plan = SharePlan::even(&domain, 0, self.place.size)?;
        let mut atoms = AtomBlock::default();
        for (index, position) in sample.positions.iter().enumerate() {
            if plan.owner(*position) == self.place.rank {
                atoms.ids.push(index as i64 + 1);
                atoms.types.push(sample.types[index]);
                atoms.positions.push(*position);
                atoms.velocities.push(sample.velocities[index]);
            }
        }
        Ok(StepView { step: simulation.step(), domain, atoms, reference: None })
    }
}

impl Source for MolecularDynamics {
    fn name(&self) -> String {
        "built-in molecular dynamics (not LAMMPS; nothing is checked against it)".to_owned()
    }

    fn place(&self) -> Place {
        self.place
    }

    fn run(
        &mut self,
        config: &RunConfig,
        on_step: &mut dyn FnMut(StepView) -> Control,
    ) -> Result<Ending, SourceError> {
        config.check()?;
        let sample = Sample::new(config.problem, &config.scale)?;
        let mut simulation = Simulation::new(sample).map_err(MdError::from)?;
        let mut ending = Ending { published: 0, last_step: None };
        let mut control = Control::Continue;
        for step in 0..=config.steps {
            if step > 0 {
                simulation.advance().map_err(MdError::from)?;
            }
            if control == Control::Continue && step.is_multiple_of(config.publish_every) {
                ending = Ending { published: ending.published + 1, last_step: Some(simulation.step()) };
                control = on_step(self.view(&simulation)?);
            }
            if let Control::Pull(speed) = control {
                simulation.pull(speed);
                control = Control::Continue;
            }
            if control == Control::Stop {
                break;
            }
        }
        Ok(ending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lammps::problem::Problem;
    use std::collections::BTreeMap;

    fn config() -> RunConfig {
        let mut config = RunConfig::new(Problem::Crack);
        (config.steps, config.publish_every, config.compare_every) = (40, 20, 20);
        (config.scale.columns, config.scale.rows) = (Some(12), Some(8));
        config
    }

    #[test]
    fn the_ranks_together_publish_every_atom_once() {
        let mut seen: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        let mut domains: BTreeMap<i64, Vec<crate::lammps::science::geometry::Domain>> = BTreeMap::new();
        for rank in 0..3 {
            let mut source = MolecularDynamics::at(Place { rank, size: 3 });
            let ending = source.run(&config(), &mut |view| {
                assert!(!view.atoms.is_empty() && view.reference.is_none());
                seen.entry(view.step).or_default().extend(view.atoms.ids);
                domains.entry(view.step).or_default().push(view.domain);
                Control::Continue
            });
            assert_eq!(ending.expect("runs"), Ending { published: 3, last_step: Some(40) });
        }
        assert_eq!(seen.keys().copied().collect::<Vec<_>>(), [0, 20, 40]);
        for (step, mut ids) in seen {
            ids.sort_unstable();
            assert_eq!(ids, (1..=ids.len() as i64).collect::<Vec<_>>());
            assert!(domains[&step].windows(2).all(|two| two[0] == two[1]), "ranks agree on the space");
        }
    }

    #[test]
    fn stop_ends_the_run_and_quiet_only_the_publishing() {
        for (answer, published) in [(Control::Stop, 1), (Control::Quiet, 1), (Control::Continue, 3)] {
            let mut source = MolecularDynamics::at(Place { rank: 0, size: 1 });
            let mut calls = 0;
            let ending = source.run(&config(), &mut |_| {
                calls += 1;
                answer
            });
            assert_eq!((ending.expect("runs").published, calls), (published, published));
        }
    }
}
