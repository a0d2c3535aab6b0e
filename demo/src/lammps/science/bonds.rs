//! Bonds: all pairs of atoms closer than a cutoff, found by a cell list and shared out over ranks.
//!
//! Each rank is given its own atoms and, as ghosts, all others within reach of them. A pair belongs to the rank that
//! owns the atom with the lower id, so that every pair is found once, whoever holds which atoms. The pairs of all ranks
//! together are the same set for every way of sharing atoms out.

use crate::lammps::science::atoms::AtomError;
use crate::lammps::science::cells::{CellError, CellList};
use crate::lammps::science::geometry::Domain;

/// Ids and positions of some atoms, row by row.
#[derive(Clone, Copy, Debug)]
pub struct Atoms<'a> {
    /// The atoms' ids.
    pub ids: &'a [i64],
    /// Their positions, in the order of the ids.
    pub positions: &'a [[f64; 3]],
}

/// Two atoms closer than the cutoff.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The two ids, the lower one first.
    pub ids: [i64; 2],
    /// Their squared distance, to the nearest image.
    pub distance_squared: f64,
}

/// Why no pairs could be found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BondsError {
    /// The lists of atoms disagree, or an atom is owned and a ghost at once.
    #[error(transparent)]
    Atoms(#[from] AtomError),
    /// No cell list can be made of these atoms.
    #[error(transparent)]
    Cells(#[from] CellError),
}

/// All pairs closer than `cutoff` whose lower id is one of `own`, by rising (lower id, higher id).
///
/// # Errors
/// Lists of unequal length, or an id that is there twice. A position or cutoff that is no number, or a periodic axis
/// shorter than twice the cutoff.
pub fn pairs_within(
    own: Atoms<'_>,
    ghosts: Atoms<'_>,
    domain: &Domain,
    cutoff: f64,
) -> Result<Vec<Pair>, BondsError> {
    let ids = [own.ids, ghosts.ids].concat();
    let positions = [own.positions, ghosts.positions].concat();
    refuse_unequal(own)?;
    refuse_unequal(ghosts)?;
    refuse_twice(&ids)?;
    let cells = CellList::new(&positions, domain, cutoff)?;
    let mut pairs = Vec::new();
    for (atom, &id) in own.ids.iter().enumerate() {
        cells.for_each_near(atom, |other, _, distance_squared| {
            if ids[other] > id {
                pairs.push(Pair { ids: [id, ids[other]], distance_squared });
            }
        });
    }
    pairs.sort_unstable_by_key(|pair| pair.ids);
    Ok(pairs)
}

/// The ids of those pairs that are closer than `cutoff` (and not as close), in the order given.
pub fn closer_than(pairs: &[Pair], cutoff: f64) -> Vec<[i64; 2]> {
    let near = |pair: &&Pair| pair.distance_squared < cutoff * cutoff;
    pairs.iter().filter(near).map(|pair| pair.ids).collect()
}

fn refuse_unequal(atoms: Atoms<'_>) -> Result<(), AtomError> {
    let (ids, rows) = (atoms.ids.len(), atoms.positions.len());
    if ids == rows { Ok(()) } else { Err(AtomError::UnequalLengths { ids, rows, what: "positions" }) }
}

fn refuse_twice(ids: &[i64]) -> Result<(), AtomError> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    match ids.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(AtomError::Twice { id: pair[0] }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lammps::science::geometry::squared;
    use crate::lammps::science::share::{SharePlan, divide};
    use proptest::prelude::*;

    fn brute_force(ids: &[i64], positions: &[[f64; 3]], domain: &Domain, cutoff: f64) -> Vec<[i64; 2]> {
        let mut pairs = Vec::new();
        for first in 0..ids.len() {
            for second in 0..ids.len() {
                let apart =
                    domain.displacement(domain.wrap(positions[first]), domain.wrap(positions[second]));
                if ids[first] < ids[second] && squared(apart) < cutoff * cutoff {
                    pairs.push([ids[first], ids[second]]);
                }
            }
        }
        pairs.sort_unstable();
        pairs
    }

    proptest! {
        #[test]
        fn ranks_together_find_every_pair_once(
            positions in prop::collection::vec(proptest::array::uniform3(-2.0..8.0f64), 0..150),
            periodic in proptest::array::uniform3(any::<bool>()),
            flat in any::<bool>(),
            shares in 1usize..5, axis in 0usize..2, cutoff in 0.3..1.2f64,
        ) {
            let mut positions = positions;
            let mut domain = Domain { low: [0.0; 3], high: [6.0, 5.0, 2.5], periodic };
            if flat {
                positions.iter_mut().for_each(|position| position[2] = 0.0);
                domain.periodic[2] = false;
            }
            let ids: Vec<i64> = (0..positions.len() as i64).map(|k| (k * 7919) % 10_007).collect();
            let plan = SharePlan::even(&domain, axis, shares).expect("good plan");
            let parts = divide(&ids, &positions, &domain, &plan, cutoff).expect("good input");
            let mut pairs = Vec::new();
            for part in &parts {
                let found = pairs_within(part.own(), part.ghosts(), &domain, cutoff).expect("good input");
                prop_assert!(found.is_sorted_by_key(|pair| pair.ids));
                pairs.extend(found.into_iter().map(|pair| pair.ids));
            }
            pairs.sort_unstable();
            prop_assert_eq!(pairs, brute_force(&ids, &positions, &domain, cutoff));
        }
    }

    #[test]
    fn a_smaller_cutoff_is_a_subset_and_strict() {
        let positions = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.5, 0.0]];
        let atoms = Atoms { ids: &[10, 20, 30], positions: &positions };
        let nobody = Atoms { ids: &[], positions: &[] };
        let domain = Domain { low: [0.0; 3], high: [2.0; 3], periodic: [false; 3] };
        let pairs = pairs_within(atoms, nobody, &domain, 2.0).expect("good");
        assert_eq!(pairs.iter().map(|pair| pair.ids).collect::<Vec<_>>(), [[10, 20], [10, 30], [20, 30]]);
        assert_eq!(closer_than(&pairs, 1.6), [[10, 20], [10, 30]]);
        assert_eq!(closer_than(&pairs, 1.0), Vec::<[i64; 2]>::new());
    }

    #[test]
    fn an_atom_both_owned_and_a_ghost_is_refused() {
        let atoms = Atoms { ids: &[10], positions: &[[0.0; 3]] };
        let domain = Domain { low: [0.0; 3], high: [2.0; 3], periodic: [false; 3] };
        let refused = pairs_within(atoms, atoms, &domain, 1.0);
        assert_eq!(refused, Err(BondsError::Atoms(AtomError::Twice { id: 10 })));
        let short = Atoms { ids: &[10], positions: &[] };
        assert!(matches!(pairs_within(short, atoms, &domain, 1.0), Err(BondsError::Atoms(_))));
    }
}
