//! The two problems of the demonstration, and the numbers with which each is analysed.
//!
//! All lengths are in sigma, times in tau, of the Lennard-Jones potential.

use crate::lammps::science::tear::TearRule;

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A two-dimensional hexagonal sheet with a notch, pulled until it tears. Central symmetry is checked on it.
    Crack,
    /// A three-dimensional notched fcc body, pulled until dislocations run. Common neighbour analysis is checked on it
    /// (there is no two-dimensional pattern that it knows).
    Notch,
}

/// With what numbers the analytics run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Analysis {
    /// Atoms closer than this are bonded: between the first and the second neighbours of the lattice.
    pub bond_cutoff: f64,
    /// Atoms closer than this are candidates for the nearest neighbours of central symmetry.
    pub reach: f64,
    /// How many nearest neighbours central symmetry takes.
    pub neighbours: usize,
    /// When the material counts as torn.
    pub tear: TearRule,
}

/// How long a run is and how often it publishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Time steps in all.
    pub steps: u64,
    /// Time steps from one published step to the next.
    pub publish_every: u64,
    /// Time steps from one step with reference values to the next.
    pub compare_every: u64,
}

impl Problem {
    /// Both.
    pub const ALL: [Problem; 2] = [Problem::Crack, Problem::Notch];

    /// `crack` or `notch`.
    pub fn name(self) -> &'static str {
        match self {
            Problem::Crack => "crack",
            Problem::Notch => "notch",
        }
    }

    /// The problem of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Problem::ALL.into_iter().find(|problem| problem.name() == name)
    }

    /// The LAMMPS input file, inside the folder of inputs.
    pub fn input_name(self) -> &'static str {
        match self {
            Problem::Crack => "crack.lmp",
            Problem::Notch => "notch.lmp",
        }
    }

    /// The LAMMPS compute that gives the reference values.
    pub fn reference_name(self) -> &'static str {
        match self {
            Problem::Crack => "centro/atom 6",
            Problem::Notch => "cna/atom 1.32",
        }
    }

    /// How fast each held edge moves unless another speed is set, as the input file has it: in sigma/tau.
    pub fn speed(self) -> f64 {
        match self {
            Problem::Crack => 0.115,
            Problem::Notch => 0.23,
        }
    }

    /// The length of a time step, as the input file has it: in tau.
    pub fn time_step(self) -> f64 {
        match self {
            Problem::Crack => 0.004,
            Problem::Notch => 0.005,
        }
    }

    /// With what numbers the analytics run on this problem.
    pub fn analysis(self) -> Analysis {
        match self {
            // Neighbours at 1.11 and 1.93. The reach is the force cutoff, as centro/atom has it.
            Problem::Crack => Analysis {
                bond_cutoff: 1.5,
                reach: 2.5,
                neighbours: 6,
                tear: TearRule { symmetry_above: 1.0, lost_bonds: 1, fraction: 0.01 },
            },
            // Neighbours at 1.09, 1.54 and 1.89. The reach takes in the first two shells.
            Problem::Notch => Analysis {
                bond_cutoff: 1.32,
                reach: 1.7,
                neighbours: 12,
                tear: TearRule { symmetry_above: 1.0, lost_bonds: 1, fraction: 0.01 },
            },
        }
    }

    /// How long the demonstration runs and how often it publishes.
    pub fn pace(self) -> Pace {
        match self {
            Problem::Crack => Pace { steps: 12_000, publish_every: 100, compare_every: 500 },
            Problem::Notch => Pace { steps: 4_000, publish_every: 50, compare_every: 250 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_find_their_problem() {
        for problem in Problem::ALL {
            assert_eq!(Problem::from_name(problem.name()), Some(problem));
            assert!(problem.analysis().bond_cutoff < problem.analysis().reach);
            assert_eq!(problem.pace().compare_every % problem.pace().publish_every, 0);
        }
        assert_eq!(Problem::from_name("melt"), None);
    }
}
