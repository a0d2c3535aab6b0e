//! The parts of the pipeline: their names, how many ranks each has, and how one is entered.

use clap::ValueEnum;

use super::error::PartError;
use super::report::{Report, say};
use super::settings::{Settings, SourceKind};
use super::{bonds, check, cna, csym, guest, helper, simulation, tally};
use crate::processes::end_with_supervisor;

/// A part of the pipeline: one program, of one or several ranks, each a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum)]
pub enum Part {
    /// LAMMPS, or the built-in molecular dynamics.
    Simulation,
    /// Takes atoms from all ranks of the simulation and shares them out by place.
    Helper,
    /// Finds near neighbours.
    Bonds,
    /// Central symmetry, and the verdict whether the material has torn.
    Csym,
    /// Common neighbours. It does not run before the verdict.
    Cna,
    /// Holds the results against LAMMPS's own. No part of the science.
    Check,
    /// Adds up what a measured run has found, in place of Check.
    Tally,
    /// Takes atoms and releases none: it is soon detached. No part of the science either.
    Guest,
}

impl Part {
    /// Those that are started together; CNA and Guest come later.
    pub const FROM_THE_START: [Part; 5] =
        [Part::Simulation, Part::Helper, Part::Bonds, Part::Csym, Part::Check];
    /// Those of a measured run: all are started together.
    pub const MEASURED: [Part; 6] =
        [Part::Simulation, Part::Helper, Part::Bonds, Part::Csym, Part::Cna, Part::Tally];

    /// Its name, also that of its subscriptions.
    pub fn name(self) -> &'static str {
        match self {
            Part::Simulation => "simulation",
            Part::Helper => "helper",
            Part::Bonds => "bonds",
            Part::Csym => "csym",
            Part::Cna => "cna",
            Part::Check => "check",
            Part::Tally => "tally",
            Part::Guest => "guest",
        }
    }

    /// The part of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Part::value_variants().iter().copied().find(|part| part.name() == name)
    }

    /// How many ranks it has.
    pub fn ranks(self, settings: &Settings) -> u32 {
        match self {
            Part::Simulation => settings.ranks,
            Part::Helper | Part::Bonds => 2,
            Part::Csym | Part::Cna | Part::Check | Part::Tally | Part::Guest => 1,
        }
    }

    /// Be this part until its work is done.
    ///
    /// # Errors
    /// What it could not do; the supervisor was told already.
    pub fn run(self, settings: &Settings) -> Result<(), PartError> {
        let rank = flexpath::Cohort::from_environment()?.rank().0;
        self.end_with_supervisor(rank, settings);
        let done = match self {
            Part::Simulation => simulation::run(settings),
            Part::Helper => helper::run(settings),
            Part::Bonds => bonds::run(settings),
            Part::Csym => csym::run(settings),
            Part::Cna => cna::run(settings),
            Part::Check => check::run(settings),
            Part::Tally => tally::run(settings),
            Part::Guest => guest::run(settings),
        };
        if let Err(error) = &done {
            say(self, rank, Report::Failed { what: error.to_string() });
        }
        done
    }

    /// The supervisor holds the other end of standard input: when that closes, it is gone, and so is the work's purpose.
    /// Under `mpirun` rank 0 alone has that input, and when it ends `mpirun` ends the others.
    fn end_with_supervisor(self, rank: u32, settings: &Settings) {
        let under_mpirun = self == Part::Simulation && settings.source == SourceKind::Lammps;
        if under_mpirun && rank != 0 {
            return;
        }
        end_with_supervisor();
    }
}
