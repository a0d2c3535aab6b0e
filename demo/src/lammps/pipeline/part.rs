//! The parts of the pipeline: their names, and how many ranks each has.

use clap::ValueEnum;

use super::settings::Settings;

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
    /// Potential energy: a program in Python. It runs where an interpreter was named.
    Energy,
    /// The command `flexpath watch`: it waits for the verdict, calls CNA and has the pull slowed down.
    Watch,
    /// Holds the results against LAMMPS's own. No part of the science.
    Check,
    /// Adds up what a measured run has found, in place of Check.
    Tally,
    /// Takes atoms and releases none: it is soon detached. No part of the science either.
    Guest,
}

impl Part {
    /// Those that are started together, Energy besides where it runs. Guest comes later, and Watch starts CNA.
    pub const FROM_THE_START: [Part; 6] =
        [Part::Simulation, Part::Helper, Part::Bonds, Part::Csym, Part::Check, Part::Watch];
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
            Part::Energy => "energy",
            Part::Watch => "watch",
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
            Part::Csym | Part::Cna | Part::Energy | Part::Watch | Part::Check | Part::Tally | Part::Guest => {
                1
            }
        }
    }
}
