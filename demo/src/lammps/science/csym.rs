//! Central symmetry: how far an atom's surroundings are from looking the same in opposite directions.
//!
//! For the N nearest neighbours of an atom, with vectors r towards them, all N(N-1)/2 sums of two vectors are formed.
//! The parameter is the sum of the N/2 smallest squared lengths among them. In a perfect lattice every neighbour has an
//! opposite one and the parameter is 0. At surfaces, cracks and stacking faults it is of the order of the squared
//! distance of neighbours. The measure is that of Kelchner, Plimpton and Hamilton, Phys. Rev. B 58 (1998) 11085, in the
//! form that LAMMPS's `compute centro/atom` gives it. That takes the pairs greedily: two of the N/2 smallest sums may
//! share a neighbour. An atom with fewer than N neighbours has the parameter 0.

use crate::lammps::science::adjacency::Adjacency;
use crate::lammps::science::atoms::AtomTable;
use crate::lammps::science::geometry::{Domain, squared};

/// Two squared distances closer than this, relatively, are a tie. Rounding then decides which of the two atoms is the
/// nearer one, and another program may decide otherwise.
const TIE: f64 = 1e-10;

/// With more ways than this to choose the tied neighbours, [`admissible`] gives up.
const MOST_CHOICES: usize = 2_000;

/// Why no central symmetry could be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SymmetryError {
    /// The number of neighbours is zero, odd, or above 64.
    #[error("{neighbours} neighbours: an even number from 2 to 64 is needed")]
    BadNeighbourCount {
        /// The number asked for.
        neighbours: usize,
    },
    /// The positions are not of the atoms that the graph is about.
    #[error("positions of {atoms} atoms, but bonds among {bonded}, or other ids")]
    OtherAtoms {
        /// How many atoms have a position.
        atoms: usize,
        /// How many the graph has.
        bonded: usize,
    },
}

/// The parameter of every atom, in the order of the ids. `graph` holds the pairs among which the `neighbours` nearest
/// are chosen. So its cutoff is the distance beyond which an atom is no neighbour at all.
///
/// # Errors
/// A number of neighbours that is odd or out of range; positions and graph of different atoms.
pub fn centro_symmetry(
    atoms: &AtomTable,
    graph: &Adjacency,
    domain: &Domain,
    neighbours: usize,
) -> Result<Vec<f64>, SymmetryError> {
    check(atoms, graph, neighbours)?;
    let value = |index| {
        let near = by_distance(atoms, graph, domain, index);
        near.get(..neighbours).map_or(0.0, symmetry_of)
    };
    Ok((0..atoms.ids().len()).map(value).collect())
}

/// Every value that the parameter of one atom may take when neighbours at the same distance are chosen one way or the
/// other. A perfect surface has such ties. Where there is no tie, it is a single value. `None` if there are too many
/// ways.
///
/// # Errors
/// As [`centro_symmetry`]; an index past the last atom.
pub fn admissible(
    atoms: &AtomTable,
    graph: &Adjacency,
    domain: &Domain,
    neighbours: usize,
    index: usize,
) -> Result<Option<Vec<f64>>, SymmetryError> {
    check(atoms, graph, neighbours)?;
    let near = by_distance(atoms, graph, domain, index);
    let Some(last) = near.get(neighbours - 1).map(|(distance, _)| *distance) else {
        return Ok(Some(vec![0.0]));
    };
    let is_tied = |(distance, _): &(f64, [f64; 3])| (distance - last).abs() <= TIE * last;
    let first_tied = near.iter().position(is_tied).unwrap_or(neighbours);
    let tied = near[first_tied..].iter().take_while(|entry| is_tied(entry)).count();
    let (sure, tied) = (&near[..first_tied], &near[first_tied..first_tied + tied]);
    let Some(choices) = choices(tied.len(), neighbours - first_tied) else { return Ok(None) };
    let with = |choice: Vec<usize>| {
        let chosen: Vec<_> = sure.iter().copied().chain(choice.into_iter().map(|at| tied[at])).collect();
        symmetry_of(&chosen)
    };
    Ok(Some(choices.into_iter().map(with).collect()))
}

fn check(atoms: &AtomTable, graph: &Adjacency, neighbours: usize) -> Result<(), SymmetryError> {
    if neighbours == 0 || neighbours > 64 || !neighbours.is_multiple_of(2) {
        return Err(SymmetryError::BadNeighbourCount { neighbours });
    }
    if atoms.ids() != graph.ids() {
        return Err(SymmetryError::OtherAtoms { atoms: atoms.ids().len(), bonded: graph.len() });
    }
    Ok(())
}

/// Squared distance and vector to each neighbour of an atom, the nearest first; at equal distance the lower id first.
fn by_distance(atoms: &AtomTable, graph: &Adjacency, domain: &Domain, index: usize) -> Vec<(f64, [f64; 3])> {
    let from = atoms.positions()[index];
    let towards = |&other: &usize| {
        let vector = domain.displacement(from, atoms.positions()[other]);
        (squared(vector), vector)
    };
    let mut near: Vec<_> = graph.neighbours(index).iter().map(towards).collect();
    near.sort_by(|one, other| one.0.total_cmp(&other.0));
    near
}

/// The sum of the N/2 smallest squared lengths of sums of two of the N vectors, added from the smallest up.
fn symmetry_of(near: &[(f64, [f64; 3])]) -> f64 {
    let mut sums = Vec::with_capacity(near.len() * near.len() / 2);
    for (place, (_, one)) in near.iter().enumerate() {
        for (_, other) in &near[place + 1..] {
            sums.push(squared([one[0] + other[0], one[1] + other[1], one[2] + other[2]]));
        }
    }
    sums.sort_unstable_by(f64::total_cmp);
    sums.iter().take(near.len() / 2).sum()
}

/// All ways to choose `take` of `from` things, or `None` above [`MOST_CHOICES`].
fn choices(from: usize, take: usize) -> Option<Vec<Vec<usize>>> {
    let mut all = vec![Vec::new()];
    for _ in 0..take {
        let longer = |choice: &Vec<usize>| {
            let next = choice.last().map_or(0, |last| last + 1);
            (next..from).map(|added| [choice.as_slice(), &[added]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
        if all.len() > MOST_CHOICES {
            return None;
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lammps::science::bonds::{Atoms, pairs_within};
    use proptest::prelude::*;

    const FREE: Domain = Domain { low: [0.0; 3], high: [1.0; 3], periodic: [false; 3] };

    fn graph_of(table: &AtomTable, domain: &Domain, cutoff: f64) -> Adjacency {
        let own = Atoms { ids: table.ids(), positions: table.positions() };
        let pairs = pairs_within(own, Atoms { ids: &[], positions: &[] }, domain, cutoff).expect("good");
        let pairs: Vec<[i64; 2]> = pairs.iter().map(|pair| pair.ids).collect();
        Adjacency::from_pairs(table.ids(), &pairs).expect("good")
    }

    /// Straight from the definition: all atoms, all subsets avoided by taking minima one at a time.
    fn brute_force(
        positions: &[[f64; 3]],
        domain: &Domain,
        cutoff: f64,
        neighbours: usize,
        atom: usize,
    ) -> f64 {
        let others = (0..positions.len()).filter(|&other| other != atom);
        let mut vectors: Vec<[f64; 3]> =
            others.map(|other| domain.displacement(positions[atom], positions[other])).collect();
        vectors.retain(|vector| squared(*vector) < cutoff * cutoff);
        let mut nearest = Vec::new();
        while nearest.len() < neighbours {
            let Some(at) =
                (0..vectors.len()).min_by(|&a, &b| squared(vectors[a]).total_cmp(&squared(vectors[b])))
            else {
                return 0.0;
            };
            nearest.push(vectors.remove(at));
        }
        let mut sums: Vec<f64> = Vec::new();
        for a in 0..neighbours {
            for b in 0..a {
                sums.push(squared(std::array::from_fn(|axis| nearest[a][axis] + nearest[b][axis])));
            }
        }
        let mut total = 0.0;
        for _ in 0..neighbours / 2 {
            let at = (0..sums.len()).min_by(|&a, &b| sums[a].total_cmp(&sums[b])).expect("enough sums");
            total += sums.swap_remove(at);
        }
        total
    }

    proptest! {
        #[test]
        fn the_parameter_is_that_of_the_definition(
            positions in prop::collection::vec(proptest::array::uniform3(0.0..4.0f64), 1..60),
            periodic in any::<bool>(), half in 1usize..7,
        ) {
            let domain = Domain { low: [0.0; 3], high: [4.0; 3], periodic: [periodic; 3] };
            let ids: Vec<i64> = (1..=positions.len() as i64).collect();
            let table = AtomTable::new(&ids, &positions).expect("good");
            let graph = graph_of(&table, &domain, 1.9);
            let values = centro_symmetry(&table, &graph, &domain, 2 * half).expect("good");
            for (atom, value) in values.iter().enumerate() {
                let expected = brute_force(&positions, &domain, 1.9, 2 * half, atom);
                prop_assert!((value - expected).abs() < 1e-12, "{value} {expected}");
                let admissible = admissible(&table, &graph, &domain, 2 * half, atom).expect("good").expect("few");
                prop_assert!(admissible.iter().any(|other| (other - value).abs() < 1e-12));
            }
        }
    }

    /// A hexagonal sheet with unit spacing, 7 rows of 8.
    fn sheet() -> AtomTable {
        let height = 0.75f64.sqrt();
        let site = |k: usize| [(k % 8) as f64 + 0.5 * ((k / 8) % 2) as f64, (k / 8) as f64 * height, 0.0];
        let positions: Vec<[f64; 3]> = (0..56).map(site).collect();
        AtomTable::new(&(0..56).collect::<Vec<i64>>(), &positions).expect("good")
    }

    #[test]
    fn a_perfect_lattice_has_none_and_a_surface_much() {
        let table = sheet();
        let values = centro_symmetry(&table, &graph_of(&table, &FREE, 2.2), &FREE, 6).expect("good");
        assert!(values[27] < 1e-12, "inside: {}", values[27]);
        assert!(values[3] > 0.5, "at the edge: {}", values[3]);
    }

    #[test]
    fn a_tie_admits_several_values_and_ours_is_one() {
        let table = sheet();
        let graph = graph_of(&table, &FREE, 2.2);
        let values = centro_symmetry(&table, &graph, &FREE, 6).expect("good");
        let several = admissible(&table, &graph, &FREE, 6, 3).expect("good").expect("few");
        assert!(several.len() > 1 && several.iter().any(|value| (value - values[3]).abs() < 1e-9));
        let one = admissible(&table, &graph, &FREE, 6, 27).expect("good").expect("few");
        assert_eq!(one.len(), 1);
    }

    #[test]
    fn too_few_neighbours_is_zero() {
        let table = AtomTable::new(&[1, 2], &[[0.0; 3], [1.0, 0.0, 0.0]]).expect("good");
        assert_eq!(centro_symmetry(&table, &graph_of(&table, &FREE, 2.0), &FREE, 2), Ok(vec![0.0, 0.0]));
    }

    #[test]
    fn bad_requests_are_refused() {
        let table = sheet();
        let graph = graph_of(&table, &FREE, 1.5);
        let odd = centro_symmetry(&table, &graph, &FREE, 5);
        assert_eq!(odd, Err(SymmetryError::BadNeighbourCount { neighbours: 5 }));
        let other = Adjacency::from_pairs(&[1], &[]).expect("good");
        let refused = centro_symmetry(&table, &other, &FREE, 6);
        assert_eq!(refused, Err(SymmetryError::OtherAtoms { atoms: 56, bonded: 1 }));
    }

    #[test]
    fn choices_are_all_and_bounded() {
        assert_eq!(choices(3, 2), Some(vec![vec![0, 1], vec![0, 2], vec![1, 2]]));
        assert_eq!(choices(4, 0), Some(vec![vec![]]));
        assert_eq!(choices(40, 20), None);
    }
}
