//! The verdict of central symmetry: has the material torn?
//!
//! The rule. CSym keeps the bonds of the first step it sees for the whole of its run. An atom is *torn* when it has
//! lost at least `lost_bonds` of those first bonds **and** its central symmetry parameter is above `symmetry_above`.
//! The material has torn when at least `fraction` of all atoms are torn. Neither half alone would do. Atoms of a free
//! surface are unsymmetric from the start but lose no bond. Heat makes single bonds flicker around the cutoff while the
//! surroundings stay symmetric.

use crate::lammps::science::adjacency::{Adjacency, AdjacencyError};

/// When material counts as torn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TearRule {
    /// An atom is torn only with a central symmetry parameter above this (squared lengths).
    pub symmetry_above: f64,
    /// ... and with at least this many of its first bonds lost.
    pub lost_bonds: usize,
    /// The material is torn with at least this share of all atoms torn, from 0 to 1.
    pub fraction: f64,
}

/// What the rule says of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// Whether the material has torn.
    pub torn: bool,
    /// How many atoms are torn.
    pub torn_atoms: usize,
    /// Of how many.
    pub atoms: usize,
}

/// Keeps the first bonds and judges later steps by them.
#[derive(Debug)]
pub struct TearWatch {
    first: Adjacency,
    rule: TearRule,
}

impl TearWatch {
    /// Start from the atoms and bonds of the first step.
    ///
    /// # Errors
    /// Pairs that make no graph.
    pub fn new(ids: &[i64], bonds: &[[i64; 2]], rule: TearRule) -> Result<Self, AdjacencyError> {
        Ok(TearWatch::of(Adjacency::from_pairs(ids, bonds)?, rule))
    }

    /// Start from the graph of the first step.
    pub fn of(first: Adjacency, rule: TearRule) -> Self {
        TearWatch { first, rule }
    }

    /// Judge one step: `bonds` of now, `symmetry` in the order of the graph's ids. An atom that was not there in the
    /// first step has lost nothing.
    pub fn judge(&self, bonds: &Adjacency, symmetry: &[f64]) -> Verdict {
        let is_torn = |(index, value): (usize, &f64)| {
            *value > self.rule.symmetry_above
                && bonds
                    .ids()
                    .get(index)
                    .is_some_and(|&id| self.lost(id, index, bonds) >= self.rule.lost_bonds)
        };
        let torn_atoms = symmetry.iter().enumerate().filter(|&entry| is_torn(entry)).count();
        let atoms = bonds.len();
        let torn = torn_atoms > 0 && torn_atoms as f64 >= self.rule.fraction * atoms as f64;
        Verdict { torn, torn_atoms, atoms }
    }

    /// How many of an atom's first bonds are gone.
    fn lost(&self, id: i64, index: usize, now: &Adjacency) -> usize {
        let Some(first_index) = self.first.index_of(id) else { return 0 };
        let still = |&&other: &&usize| {
            let other = now.index_of(self.first.ids()[other]);
            other.is_some_and(|other| now.are_bonded(index, other))
        };
        let before = self.first.neighbours(first_index);
        before.len() - before.iter().filter(still).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: TearRule = TearRule { symmetry_above: 1.0, lost_bonds: 1, fraction: 0.5 };
    const IDS: [i64; 4] = [1, 2, 3, 4];

    fn judged(bonds: &[[i64; 2]], symmetry: &[f64]) -> Verdict {
        let watch = TearWatch::new(&IDS, &[[1, 2], [2, 3], [3, 4]], RULE).expect("good");
        watch.judge(&Adjacency::from_pairs(&IDS, bonds).expect("good"), symmetry)
    }

    #[test]
    fn both_halves_of_the_rule_are_needed() {
        let torn = judged(&[[1, 2], [3, 4]], &[0.0, 2.0, 2.0, 2.0]);
        assert_eq!(torn, Verdict { torn: true, torn_atoms: 2, atoms: 4 });
        assert!(!judged(&[[1, 2], [2, 3], [3, 4]], &[2.0; 4]).torn, "unsymmetric, but nothing lost");
        assert!(!judged(&[[1, 2], [3, 4]], &[0.5; 4]).torn, "bonds lost, but symmetric");
        assert!(!judged(&[[1, 2], [3, 4]], &[2.0, 2.0, 0.0, 0.0]).torn, "too few atoms");
    }

    #[test]
    fn new_bonds_and_new_atoms_are_no_loss() {
        let watch = TearWatch::new(&IDS, &[[1, 2]], RULE).expect("good");
        let later = Adjacency::from_pairs(&[1, 2, 9], &[[1, 2], [2, 9]]).expect("good");
        assert_eq!(watch.judge(&later, &[5.0; 3]), Verdict { torn: false, torn_atoms: 0, atoms: 3 });
    }

    #[test]
    fn a_lost_atom_takes_its_bonds_with_it() {
        let watch = TearWatch::new(&IDS, &[[1, 2], [3, 4]], RULE).expect("good");
        let later = Adjacency::from_pairs(&[1, 3, 4], &[[3, 4]]).expect("good");
        assert_eq!(watch.judge(&later, &[5.0; 3]).torn_atoms, 1);
    }
}
