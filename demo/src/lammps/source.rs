//! Where the data comes from: a simulation that runs by itself and hands over each published step.

use std::path::PathBuf;

use crate::lammps::launch::Place;
use crate::lammps::problem::Problem;
use crate::lammps::science::atoms::AtomBlock;
use crate::lammps::science::geometry::Domain;

/// What to simulate, for how long, and what to hand over.
#[derive(Clone, Debug)]
pub struct RunConfig {
    /// Which of the two problems.
    pub problem: Problem,
    /// Length of the run in time steps.
    pub steps: u64,
    /// Every so many time steps one is handed over, step 0 included.
    pub publish_every: u64,
    /// Every so many time steps one is handed over with reference values, step 0 included. A multiple of
    /// `publish_every`.
    pub compare_every: u64,
    /// Sizes other than the problem's own.
    pub scale: Scale,
    /// The folder of the LAMMPS input files.
    pub inputs: PathBuf,
    /// Where LAMMPS writes its log (rank 0 alone); none if absent.
    pub log: Option<PathBuf>,
}

impl RunConfig {
    /// The run of the demonstration, with LAMMPS's inputs where they are in the source tree.
    pub fn new(problem: Problem) -> Self {
        let pace = problem.pace();
        RunConfig {
            problem,
            steps: pace.steps,
            publish_every: pace.publish_every,
            compare_every: pace.compare_every,
            scale: Scale::default(),
            inputs: PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/inputs")),
            log: None,
        }
    }

    /// # Errors
    /// Intervals of zero, or compared steps that are not published.
    pub fn check(&self) -> Result<(), SourceError> {
        let (publish_every, compare_every) = (self.publish_every, self.compare_every);
        if publish_every == 0 || compare_every == 0 || !compare_every.is_multiple_of(publish_every) {
            return Err(SourceError::BadPace { publish_every, compare_every });
        }
        Ok(())
    }

    /// Whether this time step is handed over with reference values.
    pub fn is_compared(&self, step: i64) -> bool {
        i64::try_from(self.compare_every).is_ok_and(|every| every > 0 && step % every == 0)
    }
}

/// Sizes of a problem; what is absent is as in the problem's input file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scale {
    /// Lattice cells along x.
    pub columns: Option<u32>,
    /// Lattice cells along y, the direction of the pull.
    pub rows: Option<u32>,
    /// Lattice cells in depth (three-dimensional problem only).
    pub layers: Option<u32>,
    /// How fast each held edge moves, in sigma/tau.
    pub speed: Option<f64>,
}

/// One published step, as one rank has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StepView {
    /// Number of the time step.
    pub step: i64,
    /// The simulated space at this step, the same on all ranks.
    pub domain: Domain,
    /// The rank's own atoms. How many there are changes from step to step.
    pub atoms: AtomBlock,
    /// On a compared step the simulation's own analysis of each of these atoms, row by row. It is the central symmetry
    /// parameter or the number of the structure, as the problem has it. `None` on other steps, and always where the
    /// source has no independent analysis.
    pub reference: Option<Vec<f64>>,
}

/// What the simulation should do after a step was handed over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// Go on, and hand over the next one too.
    Continue,
    /// The same, and from now on each held edge moves this fast, in sigma/tau. All ranks must answer so on the same step.
    Pull(f64),
    /// Go on to the end, and hand over nothing more on this rank: its trouble is not the simulation's.
    Quiet,
    /// End the run after this step. All ranks must answer so on the same step, as they step together; so none of them may
    /// have gone quiet before.
    Stop,
}

/// How a run went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// How many steps this rank handed over.
    pub published: u64,
    /// The last of them.
    pub last_step: Option<i64>,
}

/// A simulation that can be run.
pub trait Source {
    /// What runs, for people: `LAMMPS 29 Sep 2021`.
    fn name(&self) -> String;

    /// This process's rank, and how many ranks the simulation has.
    fn place(&self) -> Place;

    /// Run the simulation. It owns the loop: `on_step` is called within, for every published step, on every rank.
    ///
    /// # Errors
    /// What the simulation itself cannot do. (Whether `on_step` could publish is its own business: see [`Control`].)
    fn run(
        &mut self,
        config: &RunConfig,
        on_step: &mut dyn FnMut(StepView) -> Control,
    ) -> Result<Ending, SourceError>;
}

/// Why a simulation could not run.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Steps to compare must be steps that are published.
    #[error("every {compare_every} steps to compare, every {publish_every} to publish: no multiple")]
    BadPace {
        /// Interval of published steps.
        publish_every: u64,
        /// Interval of compared steps.
        compare_every: u64,
    },
    /// LAMMPS refused something.
    #[error(transparent)]
    Lammps(#[from] super::error::LammpsError),
    /// The built-in molecular dynamics refused something.
    #[error(transparent)]
    MolecularDynamics(#[from] super::md::MdError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compared_steps_are_published_steps() {
        let mut config = RunConfig::new(Problem::Crack);
        assert!(config.check().is_ok());
        assert!(config.is_compared(0) && !config.is_compared(1));
        config.compare_every = config.publish_every + 1;
        assert!(matches!(config.check(), Err(SourceError::BadPace { .. })));
        config.publish_every = 0;
        assert!(config.check().is_err());
    }
}
