//! The simulation's part: each rank publishes its own atoms of each published step. Nothing is gathered.

use flexpath::{Cohort, ParameterKind, PublisherOptions, Real, Variable, VariableError};

use super::error::PartError;
use super::outlet::Outlet;
use super::part::Part;
use super::part_step::OutStep;
use super::report::{Asked, Owned, Report, say};
use super::settings::{Settings, SourceKind};
use super::streams::{ATOMS, SPEED, domain, time_step};
use crate::lammps::LammpsSource;
use crate::lammps::launch::Place;
use crate::lammps::md::MolecularDynamics;
use crate::lammps::source::{Control, Source, StepView};

/// An edge that is faster would break off, in sigma/tau.
const GREATEST_SPEED: f64 = 1.0;

/// Those that must not miss the first step: Helper, and Check and Energy where they run.
fn first_subscribers(settings: &Settings) -> u32 {
    1 + u32::from(!settings.measured) + u32::from(settings.python.is_some())
}

/// Who watches may ask for another speed of the held edges.
fn steerable() -> PublisherOptions {
    let range = ParameterKind::Real { least: Real(0.0), greatest: Real(GREATEST_SPEED) };
    PublisherOptions::default().with_parameter(SPEED, range)
}

/// What the stream carries.
struct Variables {
    time_step: Variable,
    domain: Variable,
    id: Variable,
    kind: Variable,
    position: Variable,
    velocity: Variable,
    reference: Variable,
}

impl Variables {
    fn new() -> Result<Self, VariableError> {
        Ok(Variables {
            time_step: time_step()?,
            domain: domain()?,
            id: Variable::joined::<i64>("id", &[])?,
            kind: Variable::joined::<i32>("type", &[])?,
            position: Variable::joined::<f64>("position", &[3])?.with_unit("sigma"),
            velocity: Variable::joined::<f64>("velocity", &[3])?.with_unit("sigma/tau"),
            reference: Variable::joined::<f64>("reference", &[])?,
        })
    }

    /// Put this rank's part of a step. The lead's word counts for what is the same on all ranks.
    fn put(&self, step: &mut OutStep<'_>, rank: u32, view: StepView) -> Result<(), PartError> {
        if rank == 0 {
            step.put_scalar(&self.time_step, view.step)?;
            step.put_whole(&self.domain, view.domain.to_numbers().to_vec())?;
        }
        step.put_joined(&self.id, view.atoms.ids)?;
        step.put_joined(&self.kind, view.atoms.types)?;
        step.put_joined(&self.position, view.atoms.positions.into_flattened())?;
        step.put_joined(&self.velocity, view.atoms.velocities.into_flattened())?;
        step.put_joined(&self.reference, view.reference.unwrap_or_default())
    }
}

/// Simulate and publish.
///
/// # Errors
/// What the simulation cannot do. Where it can go on but a stream cannot, it goes on to its end first.
pub fn run(settings: &Settings) -> Result<(), PartError> {
    match settings.source {
        SourceKind::Lammps => {
            let mut lammps = LammpsSource::new()?;
            let done = simulate(&mut lammps, settings);
            // MPI waits for all ranks here: a rank that failed ends without it, and mpirun ends the others.
            if done.is_ok() {
                lammps.finish();
            }
            done
        }
        SourceKind::BuiltIn => {
            let cohort = Cohort::from_environment()?;
            let place = Place { rank: cohort.rank().0 as usize, size: cohort.size() as usize };
            simulate(&mut MolecularDynamics::at(place), settings)
        }
    }
}

fn simulate(source: &mut dyn Source, settings: &Settings) -> Result<(), PartError> {
    let mut config = settings.run_config();
    config.log = Some(settings.lammps_log());
    let rank = Cohort::from_environment()?.rank().0;
    if rank == 0 {
        say(Part::Simulation, rank, Report::Source { name: source.name() });
    }
    let (part, first) = (Part::Simulation, first_subscribers(settings));
    let outlet = Outlet::open_with(steerable(), part, settings, ATOMS, first)?;
    let owned = Owned { fewest: usize::MAX, ..Owned::default() };
    let mut rank = RankOfAtoms { variables: Variables::new()?, outlet, rank, owned, failed: None };
    source.run(&config, &mut |view| rank.step(view))?;
    rank.finish()
}

/// One rank's side of the stream.
struct RankOfAtoms {
    variables: Variables,
    outlet: Outlet,
    rank: u32,
    owned: Owned,
    failed: Option<PartError>,
}

impl RankOfAtoms {
    fn step(&mut self, view: StepView) -> Control {
        match self.publish(view) {
            Ok(None) => Control::Continue,
            Ok(Some(speed)) => Control::Pull(speed),
            Err(error) => {
                // The simulation is worth more than those who watch it.
                self.failed = Some(error);
                Control::Quiet
            }
        }
    }

    /// Gives the speed that is asked for, if one is.
    fn publish(&mut self, view: StepView) -> Result<Option<f64>, PartError> {
        let RankOfAtoms { variables, outlet, rank, owned, .. } = self;
        let (atoms, references) = (view.atoms.len(), view.reference.as_ref().map_or(0, Vec::len));
        owned.fewest = owned.fewest.min(atoms);
        owned.most = owned.most.max(atoms);
        owned.put_bytes += 8 * references as u64 + (8 + 4 + 24 + 24) * atoms as u64;
        let (time_step, mut asked) = (view.step, None);
        outlet.publish(time_step, |step| {
            owned.velocity_steps += u64::from(step.wanted("velocity"));
            asked = step.asked(SPEED);
            variables.put(step, *rank, view)
        })?;
        if let Some(speed) = asked {
            say(Part::Simulation, *rank, Report::Asked(Asked { time_step, speed }));
        }
        Ok(asked)
    }

    fn finish(mut self) -> Result<(), PartError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.owned.kept_bytes = self.outlet.kept_bytes();
        say(Part::Simulation, self.rank, Report::Owned(self.owned));
        self.outlet.close()
    }
}
