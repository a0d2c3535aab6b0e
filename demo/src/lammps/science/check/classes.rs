//! Structure classes against LAMMPS's `compute cna/atom`.
//!
//! **Tolerance.** A class is a number, and must be equal. The one exception is a tie at the cutoff, which is two atoms
//! exactly as far apart as the cutoff (to one part in 10^10). Rounding decides whether they are bonded. It differs
//! where LAMMPS uses the image of an atom and we the nearest vector. An atom whose class differs *and* that has such a
//! pair among itself and its neighbours is counted as tied, not as wrong. No more than one atom in a thousand may be
//! tied.
//!
//! **Enough to see.** Equal classes prove little when nearly all atoms are of one class or nothing has happened yet. So
//! the check also wants two classes of 2 % of the atoms each, and 1 % of the atoms in another class than at the start.

use crate::lammps::science::atoms::{AtomTable, sorted_by_id};
use crate::lammps::science::bonds::{Atoms, Pair, pairs_within};
use crate::lammps::science::cna::{Structure, census};
use crate::lammps::science::geometry::Domain;

use super::{CheckError, refuse_others};

/// How near to the cutoff, relatively and squared, a pair is a tie.
const TIE: f64 = 1e-10;
/// Share of all atoms that may differ because of a tie.
const MOST_TIED: f64 = 0.001;
/// Share of all atoms that a class must hold to count.
const LEAST_CLASS: f64 = 0.02;
/// Share of all atoms that must have changed class since the start.
const LEAST_CHANGED: f64 = 0.01;

/// What the comparison found.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassReport {
    /// How many atoms were compared: all.
    pub atoms: usize,
    /// How many have the class that LAMMPS gives them.
    pub equal: usize,
    /// How many differ next to a tie at the cutoff.
    pub tied: usize,
    /// How many are wrong.
    pub wrong: usize,
    /// The first of them: id, our class, LAMMPS's class.
    pub first_wrong: Option<(i64, Structure, Structure)>,
    /// How many atoms are in each class by LAMMPS, in the order of [`Structure::ALL`].
    pub census: [usize; 5],
    /// How many atoms are in another class than at the start, by LAMMPS.
    pub changed: usize,
}

impl ClassReport {
    /// Whether no atom is wrong, and enough is to be seen (see the module's text).
    pub fn holds(&self) -> bool {
        self.atoms > 0 && self.wrong == 0 && self.share(self.tied) <= MOST_TIED && self.is_telling()
    }

    /// Whether the step has enough classes and changes for equality to mean something.
    pub fn is_telling(&self) -> bool {
        let large = self.census.iter().filter(|count| self.share(**count) >= LEAST_CLASS).count();
        large >= 2 && self.share(self.changed) >= LEAST_CHANGED
    }

    fn share(&self, count: usize) -> f64 {
        count as f64 / self.atoms.max(1) as f64
    }
}

/// Compare our classes with LAMMPS's, both as (ids, values) in any order. `positions` are the simulation's, row by row
/// with the reference's ids; `start` is the reference of the first step.
///
/// # Errors
/// Results of different atoms, a reference value that is no class, or positions that no pairs can be found for.
pub fn compare_classes(
    ours: (&[i64], &[Structure]),
    theirs: (&[i64], &[f64]),
    positions: &[[f64; 3]],
    start: (&[i64], &[f64]),
    domain: &Domain,
    cutoff: f64,
) -> Result<ClassReport, CheckError> {
    let (ids, our_classes) = sorted_by_id(ours.0, ours.1, "our classes")?;
    let their_classes = classes(theirs, &ids)?;
    let start_classes = classes(start, &ids)?;
    let differs = |index: &usize| our_classes[*index] != their_classes[*index];
    let differing: Vec<usize> = (0..ids.len()).filter(differs).collect();
    let unsure =
        if differing.is_empty() { Vec::new() } else { near_ties(theirs.0, positions, domain, cutoff)? };
    let (tied, wrong): (Vec<usize>, Vec<usize>) =
        differing.iter().partition(|&&index| unsure.binary_search(&ids[index]).is_ok());
    Ok(ClassReport {
        atoms: ids.len(),
        equal: ids.len() - differing.len(),
        tied: tied.len(),
        wrong: wrong.len(),
        first_wrong: wrong.first().map(|&index| (ids[index], our_classes[index], their_classes[index])),
        census: census(&their_classes),
        changed: their_classes.iter().zip(&start_classes).filter(|(now, then)| now != then).count(),
    })
}

/// A reference's classes, in the order of `ids`.
fn classes(reference: (&[i64], &[f64]), ids: &[i64]) -> Result<Vec<Structure>, CheckError> {
    let (their_ids, values) = sorted_by_id(reference.0, reference.1, "reference values")?;
    refuse_others(ids, &their_ids)?;
    let class = |(&id, &value): (&i64, &f64)| {
        let found = Structure::ALL.into_iter().find(|structure| f64::from(*structure as i32) == value);
        found.ok_or(CheckError::NoClass { id, value })
    };
    ids.iter().zip(&values).map(class).collect()
}

/// Ids, rising, of all atoms near a pair that is as far apart as the cutoff, to rounding.
fn near_ties(
    ids: &[i64],
    positions: &[[f64; 3]],
    domain: &Domain,
    cutoff: f64,
) -> Result<Vec<i64>, CheckError> {
    let table = AtomTable::new(ids, positions)?;
    let own = Atoms { ids: table.ids(), positions: table.positions() };
    let pairs = pairs_within(own, Atoms { ids: &[], positions: &[] }, domain, cutoff * (1.0 + TIE))?;
    let is_tie = |pair: &&Pair| (pair.distance_squared - cutoff * cutoff).abs() <= TIE * cutoff * cutoff;
    let mut ends: Vec<i64> = pairs.iter().filter(is_tie).flat_map(|pair| pair.ids).collect();
    ends.sort_unstable();
    let touches = |pair: &&Pair| pair.ids.iter().any(|id| ends.binary_search(id).is_ok());
    let mut near: Vec<i64> = pairs.iter().filter(touches).flat_map(|pair| pair.ids).collect();
    near.sort_unstable();
    near.dedup();
    Ok(near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Structure::{FaceCentredCubic as Fcc, HexagonalClosePacked as Hcp, Other};

    const DOMAIN: Domain = Domain { low: [0.0; 3], high: [1.0; 3], periodic: [false; 3] };
    const IDS: [i64; 4] = [1, 2, 3, 4];
    /// Atoms 3 and 4 are exactly one cutoff apart.
    const POSITIONS: [[f64; 3]; 4] = [[0.0; 3], [9.0, 0.0, 0.0], [20.0, 0.0, 0.0], [20.0, 1.5, 0.0]];

    fn report(ours: [Structure; 4], theirs: [f64; 4], start: [f64; 4]) -> ClassReport {
        compare_classes((&IDS, &ours), (&IDS, &theirs), &POSITIONS, (&IDS, &start), &DOMAIN, 1.5)
            .expect("good input")
    }

    #[test]
    fn equal_classes_hold_when_they_tell_something() {
        let good = report([Fcc, Fcc, Other, Other], [1.0, 1.0, 5.0, 5.0], [1.0, 1.0, 1.0, 5.0]);
        assert_eq!((good.equal, good.changed, good.census), (4, 1, [2, 0, 0, 0, 2]));
        assert!(good.holds());
        assert!(
            !report([Fcc, Fcc, Other, Other], [1.0, 1.0, 5.0, 5.0], [1.0, 1.0, 5.0, 5.0]).holds(),
            "no change"
        );
        assert!(!report([Fcc; 4], [1.0; 4], [5.0; 4]).holds(), "one class");
    }

    #[test]
    fn a_constant_answer_fails() {
        for constant in Structure::ALL {
            let answer = report([constant; 4], [1.0, 2.0, 5.0, 5.0], [1.0; 4]);
            assert!(!answer.holds() && answer.wrong > 0, "{constant:?}");
        }
    }

    #[test]
    fn only_atoms_near_a_tie_may_differ_and_only_few() {
        let tied = report([Fcc, Hcp, Other, Other], [1.0, 2.0, 1.0, 5.0], [1.0; 4]);
        assert_eq!(
            (tied.tied, tied.wrong, tied.holds()),
            (1, 0, false),
            "a quarter of the atoms is too many"
        );
        let wrong = report([Fcc, Fcc, Other, Other], [1.0, 2.0, 5.0, 5.0], [1.0; 4]);
        assert_eq!((wrong.tied, wrong.wrong, wrong.first_wrong), (0, 1, Some((2, Fcc, Hcp))));
    }

    #[test]
    fn no_class_and_other_atoms_are_refused() {
        let compare = |ids: &[i64], values: &[f64]| {
            compare_classes((&IDS, &[Fcc; 4]), (ids, values), &POSITIONS, (&IDS, &[1.0; 4]), &DOMAIN, 1.5)
        };
        assert_eq!(compare(&IDS, &[1.0, 2.5, 1.0, 1.0]), Err(CheckError::NoClass { id: 2, value: 2.5 }));
        assert!(matches!(
            compare(&[1, 2, 3, 9], &[1.0; 4]),
            Err(CheckError::OtherAtoms { first: Some(4), .. })
        ));
    }
}
