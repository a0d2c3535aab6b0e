//! Central symmetry against LAMMPS's `compute centro/atom`.
//!
//! **Tolerance.** Both work in double precision on the same positions. But LAMMPS sums coordinates (x_j + x_k - 2 x_i)
//! of up to a few hundred sigma where we sum vectors to the nearest image. It also adds the smallest squares in another
//! order. A coordinate of 200 carries a rounding error of about 3e-14; a squared sum of length up to 5 then one of
//! about 1e-12. [`ABSOLUTE`] and [`RELATIVE`] allow a thousand times that. It is still a million times less than what
//! heat alone puts into the parameter of a free atom.
//!
//! **Ties.** The N-th and a further neighbour may be equally far, as along the held edges, which keep their perfect
//! lattice. Then rounding decides which of them counts, and the parameter jumps with it. There LAMMPS's value must be
//! one of the values that some choice among the tied neighbours gives. Such atoms are counted, and none is left out.

use crate::lammps::science::adjacency::Adjacency;
use crate::lammps::science::atoms::{AtomTable, sorted_by_id};
use crate::lammps::science::bonds::{Atoms, pairs_within};
use crate::lammps::science::csym::admissible;
use crate::lammps::science::geometry::Domain;

use super::{CheckError, refuse_others};

/// Difference allowed whatever the value, in squared lengths.
const ABSOLUTE: f64 = 1e-9;
/// Difference allowed as a share of the value.
const RELATIVE: f64 = 1e-9;

/// The step that is checked, as the simulation has it: needed to tell ties from errors.
#[derive(Clone, Copy, Debug)]
pub struct SymmetryStep<'a> {
    /// Ids of all atoms.
    pub ids: &'a [i64],
    /// Their positions.
    pub positions: &'a [[f64; 3]],
    /// The simulated space.
    pub domain: &'a Domain,
    /// Atoms as far as this are no neighbours: LAMMPS's force cutoff.
    pub reach: f64,
    /// How many nearest neighbours are taken.
    pub neighbours: usize,
}

/// What the comparison found.
#[derive(Clone, Debug, PartialEq)]
pub struct SymmetryReport {
    /// How many atoms were compared: all.
    pub atoms: usize,
    /// The largest difference of an atom counted as right without a tie.
    pub worst_difference: f64,
    /// Atoms whose value differs, but is one that a tie among their neighbours admits.
    pub tied: usize,
    /// Atoms whose value is wrong.
    pub wrong: usize,
    /// The first of them: id, our value, LAMMPS's value.
    pub first_wrong: Option<(i64, f64, f64)>,
}

impl SymmetryReport {
    /// Whether every single atom is right.
    pub fn holds(&self) -> bool {
        self.atoms > 0 && self.wrong == 0
    }
}

/// Compare our values with LAMMPS's, both as (ids, values) in any order.
///
/// # Errors
/// Results of different atoms, or a step that no neighbours can be found for.
pub fn compare_symmetry(
    step: &SymmetryStep<'_>,
    ours: (&[i64], &[f64]),
    theirs: (&[i64], &[f64]),
) -> Result<SymmetryReport, CheckError> {
    let table = AtomTable::new(step.ids, step.positions)?;
    let (our_ids, our_values) = sorted_by_id(ours.0, ours.1, "our values")?;
    let (their_ids, their_values) = sorted_by_id(theirs.0, theirs.1, "reference values")?;
    refuse_others(&our_ids, &their_ids)?;
    refuse_others(table.ids(), &their_ids)?;
    let graph = graph(&table, step)?;
    let mut report =
        SymmetryReport { atoms: our_ids.len(), worst_difference: 0.0, tied: 0, wrong: 0, first_wrong: None };
    for (index, (&our_value, &their_value)) in our_values.iter().zip(&their_values).enumerate() {
        if agree(our_value, their_value) {
            report.worst_difference = report.worst_difference.max((our_value - their_value).abs());
        } else if both_admissible(&table, &graph, step, index, [our_value, their_value])? {
            report.tied += 1;
        } else {
            report.wrong += 1;
            report.first_wrong.get_or_insert((our_ids[index], our_value, their_value));
        }
    }
    Ok(report)
}

fn graph(table: &AtomTable, step: &SymmetryStep<'_>) -> Result<Adjacency, CheckError> {
    let own = Atoms { ids: table.ids(), positions: table.positions() };
    let pairs = pairs_within(own, Atoms { ids: &[], positions: &[] }, step.domain, step.reach)?;
    let pairs: Vec<[i64; 2]> = pairs.iter().map(|pair| pair.ids).collect();
    Ok(Adjacency::from_pairs(table.ids(), &pairs)?)
}

/// Whether a tie explains that the two values of one atom differ. It does if each is one that the tie admits, and if
/// there is more than one such value.
fn both_admissible(
    table: &AtomTable,
    graph: &Adjacency,
    step: &SymmetryStep<'_>,
    index: usize,
    values: [f64; 2],
) -> Result<bool, CheckError> {
    let admitted = admissible(table, graph, step.domain, step.neighbours, index)?.unwrap_or_default();
    let is_admitted = |value: &f64| admitted.iter().any(|other| agree(*value, *other));
    Ok(admitted.len() > 1 && values.iter().all(is_admitted))
}

fn agree(one: f64, other: f64) -> bool {
    (one - other).abs() <= ABSOLUTE + RELATIVE * one.abs().max(other.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOMAIN: Domain = Domain { low: [0.0; 3], high: [1.0; 3], periodic: [false; 3] };

    /// A row with unit spacing: inner atoms are symmetric, and the last one has a single nearest neighbour. With two
    /// neighbours each, atom 2 (at 1.0) has its tie at no distance; the atom in a square corner has one.
    fn step<'a>(ids: &'a [i64], positions: &'a [[f64; 3]]) -> SymmetryStep<'a> {
        SymmetryStep { ids, positions, domain: &DOMAIN, reach: 2.5, neighbours: 2 }
    }

    #[test]
    fn equal_values_hold_and_a_changed_one_does_not() {
        let (ids, positions) = ([1, 2, 3], [[0.0; 3], [1.0, 0.0, 0.0], [2.1, 0.0, 0.0]]);
        let values = [9.61, 0.01, 10.24];
        let report = |ours: &[f64]| {
            compare_symmetry(&step(&ids, &positions), (&ids, ours), (&[3, 2, 1], &[10.24, 0.01, 9.61]))
                .expect("same")
        };
        assert!(report(&values).holds());
        assert!(report(&[9.61 + 1e-10, 0.01, 10.24]).holds(), "rounding");
        let wrong = report(&[9.61, 0.011, 10.24]);
        assert_eq!((wrong.wrong, wrong.first_wrong, wrong.holds()), (1, Some((2, 0.011, 0.01)), false));
        assert!(!report(&[0.0; 3]).holds(), "a constant answer");
        assert!(!report(&[f64::NAN, 0.01, 10.24]).holds(), "no number");
    }

    #[test]
    fn a_tie_admits_either_choice_and_nothing_else() {
        // From the origin: one atom at distance 1 and two at distance 2. One of the two counts. With (2, 0) the sum of
        // the two vectors is (3, 0): 9; with (0, 2) it is (1, 2): 5.
        let (ids, positions) = ([1, 2, 3, 4], [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]);
        let others = [0.0, 0.0, 0.0];
        let report = |ours: f64, theirs: f64| {
            let (mut our_values, mut their_values) = (vec![ours], vec![theirs]);
            our_values.extend(others);
            their_values.extend(others);
            compare_symmetry(&step(&ids, &positions), (&ids, &our_values), (&ids, &their_values))
                .expect("same atoms")
        };
        assert_eq!((report(9.0, 5.0).tied, report(9.0, 5.0).wrong), (1, 0));
        assert_eq!((report(9.0, 6.0).tied, report(9.0, 6.0).wrong), (0, 1));
        assert_eq!((report(0.0, 5.0).tied, report(0.0, 5.0).wrong), (0, 1));
    }

    #[test]
    fn results_of_other_atoms_are_refused() {
        let (ids, positions) = ([1, 2], [[0.0; 3], [1.0, 0.0, 0.0]]);
        let refused = compare_symmetry(&step(&ids, &positions), (&[1, 2], &[0.0; 2]), (&[1, 5], &[0.0; 2]));
        assert_eq!(refused, Err(CheckError::OtherAtoms { ours: 2, theirs: 2, first: Some(2) }));
    }
}
