//! Common neighbour analysis: which crystal structure an atom's surroundings have, told from the graph of bonds alone.
//!
//! For each bond of an atom three numbers are taken. The first is how many atoms are bonded to both ends. The second is
//! how many bonds there are among those common neighbours. The third says how these bonds are spread over them. The
//! signatures of all bonds together name the structure. The method is that of Honeycutt and Andersen, J. Phys. Chem. 91
//! (1987) 4950, and Faken and Jonsson, Comput. Mater. Sci. 2 (1994) 279, with one fixed cutoff and the classes of
//! LAMMPS's `compute cna/atom`.
//!
//! The bonds must be those of a domain at least three cutoffs long along every periodic axis. So two atoms are bonded
//! directly or not at all. LAMMPS looks at no more than 16 neighbours of an atom (and warns); here all count. An atom
//! of a lattice has 12 or 14, so the two differ only next to atoms crowded beyond any lattice.

use crate::lammps::science::adjacency::Adjacency;

/// The structure around an atom. The numbers are those of LAMMPS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Structure {
    /// Face-centred cubic: 12 bonds, all of cubic stacking.
    FaceCentredCubic = 1,
    /// Hexagonal close packing: 12 bonds, half of them of hexagonal stacking (a stacking fault, where rare).
    HexagonalClosePacked = 2,
    /// Body-centred cubic: 14 bonds.
    BodyCentredCubic = 3,
    /// Icosahedral: 12 bonds, each with a five-ring around it.
    Icosahedral = 4,
    /// None of these: surfaces, dislocation cores, molten matter.
    Other = 5,
}

impl Structure {
    /// All of them, by rising number.
    pub const ALL: [Structure; 5] = [
        Structure::FaceCentredCubic,
        Structure::HexagonalClosePacked,
        Structure::BodyCentredCubic,
        Structure::Icosahedral,
        Structure::Other,
    ];

    /// The structure of this number, 1 to 5.
    pub fn from_number(number: i32) -> Option<Self> {
        Structure::ALL.into_iter().find(|structure| *structure as i32 == number)
    }

    /// A short name for tables.
    pub fn name(self) -> &'static str {
        match self {
            Structure::FaceCentredCubic => "fcc",
            Structure::HexagonalClosePacked => "hcp",
            Structure::BodyCentredCubic => "bcc",
            Structure::Icosahedral => "icosahedral",
            Structure::Other => "other",
        }
    }
}

/// What one bond looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signature {
    Cubic,
    Hexagonal,
    FiveRing,
    FourRing,
    SixRing,
    None,
}

/// The structure around each atom, in the order of the graph's ids.
pub fn classify(graph: &Adjacency) -> Vec<Structure> {
    (0..graph.len()).map(|atom| structure_of(graph, atom)).collect()
}

fn structure_of(graph: &Adjacency, atom: usize) -> Structure {
    let neighbours = graph.neighbours(atom);
    if neighbours.len() != 12 && neighbours.len() != 14 {
        return Structure::Other;
    }
    let signatures: Vec<Signature> = neighbours.iter().map(|&other| signature(graph, atom, other)).collect();
    let count = |wanted| signatures.iter().filter(|signature| **signature == wanted).count();
    match (neighbours.len(), count(Signature::Cubic), count(Signature::Hexagonal)) {
        (12, 12, _) => Structure::FaceCentredCubic,
        (12, 6, 6) => Structure::HexagonalClosePacked,
        (12, ..) if count(Signature::FiveRing) == 12 => Structure::Icosahedral,
        (14, ..) if count(Signature::FourRing) == 6 && count(Signature::SixRing) == 8 => {
            Structure::BodyCentredCubic
        }
        _ => Structure::Other,
    }
}

fn signature(graph: &Adjacency, one: usize, other: usize) -> Signature {
    let common = common(graph.neighbours(one), graph.neighbours(other));
    let among = |&atom: &usize| common.iter().filter(|&&third| graph.are_bonded(atom, third)).count();
    let degrees: Vec<usize> = common.iter().map(among).collect();
    let bonds = degrees.iter().sum::<usize>() / 2;
    let most = degrees.iter().copied().max().unwrap_or(0);
    let least = degrees.iter().copied().min().unwrap_or(0);
    match (common.len(), bonds, most, least) {
        (4, 2, 1, 1) => Signature::Cubic,
        (4, 2, 2, 0) => Signature::Hexagonal,
        (5, 5, 2, 2) => Signature::FiveRing,
        (4, 4, 2, 2) => Signature::FourRing,
        (6, 6, 2, 2) => Signature::SixRing,
        _ => Signature::None,
    }
}

/// What two rising lists share.
fn common(one: &[usize], other: &[usize]) -> Vec<usize> {
    one.iter().copied().filter(|atom| other.binary_search(atom).is_ok()).collect()
}

/// How many atoms are in each class, in the order of [`Structure::ALL`].
pub fn census(structures: &[Structure]) -> [usize; 5] {
    Structure::ALL.map(|wanted| structures.iter().filter(|structure| **structure == wanted).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lammps::science::bonds::{Atoms, pairs_within};
    use crate::lammps::science::geometry::{Domain, squared};
    use proptest::prelude::*;

    fn graph_of(positions: &[[f64; 3]], domain: &Domain, cutoff: f64) -> Adjacency {
        let ids: Vec<i64> = (0..positions.len() as i64).collect();
        let nobody = Atoms { ids: &[], positions: &[] };
        let pairs = pairs_within(Atoms { ids: &ids, positions }, nobody, domain, cutoff).expect("good");
        let pairs: Vec<[i64; 2]> = pairs.iter().map(|pair| pair.ids).collect();
        Adjacency::from_pairs(&ids, &pairs).expect("good")
    }

    fn lattice(basis: &[[f64; 3]], cell: [f64; 3], cells: [usize; 3]) -> (Vec<[f64; 3]>, Domain) {
        let mut positions = Vec::new();
        for k in 0..cells.iter().product() {
            let corner = [k % cells[0], k / cells[0] % cells[1], k / cells[0] / cells[1]];
            for site in basis {
                positions.push(std::array::from_fn(|axis| (corner[axis] as f64 + site[axis]) * cell[axis]));
            }
        }
        let high = std::array::from_fn(|axis| cell[axis] * cells[axis] as f64);
        (positions, Domain { low: [0.0; 3], high, periodic: [true; 3] })
    }

    fn only_class(positions: &[[f64; 3]], domain: &Domain, cutoff: f64) -> Structure {
        let classes = classify(&graph_of(positions, domain, cutoff));
        assert!(classes.iter().all(|class| *class == classes[0]), "{classes:?}");
        classes[0]
    }

    #[test]
    fn the_perfect_lattices_are_told_apart() {
        let fcc = [[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]];
        let (positions, domain) = lattice(&fcc, [1.0; 3], [4; 3]);
        assert_eq!(only_class(&positions, &domain, 0.854), Structure::FaceCentredCubic);
        let bcc = [[0.0; 3], [0.5; 3]];
        let (positions, domain) = lattice(&bcc, [1.0; 3], [5; 3]);
        assert_eq!(only_class(&positions, &domain, 1.207), Structure::BodyCentredCubic);
        let third = 1.0 / 3.0;
        let hcp = [[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5 + third, 0.5], [0.0, third, 0.5]];
        let (positions, domain) = lattice(&hcp, [1.0, 3f64.sqrt(), (8f64 / 3.0).sqrt()], [5, 3, 3]);
        assert_eq!(only_class(&positions, &domain, 1.207), Structure::HexagonalClosePacked);
        let (positions, domain) = lattice(&[[0.0; 3]], [1.0; 3], [5; 3]);
        assert_eq!(only_class(&positions, &domain, 1.207), Structure::Other);
    }

    #[test]
    fn the_middle_of_an_icosahedron_is_icosahedral() {
        let golden = (1.0 + 5f64.sqrt()) / 2.0;
        let mut positions = vec![[0.0; 3]];
        for (one, long) in [(1.0, golden), (1.0, -golden), (-1.0, golden), (-1.0, -golden)] {
            positions.extend([[0.0, one, long], [one, long, 0.0], [long, 0.0, one]]);
        }
        let domain = Domain { low: [-3.0; 3], high: [3.0; 3], periodic: [false; 3] };
        let classes = classify(&graph_of(&positions, &domain, 2.4));
        assert_eq!(classes[0], Structure::Icosahedral);
        assert!(classes[1..].iter().all(|class| *class == Structure::Other));
    }

    /// Straight from positions: counts over all atoms, with no graph at all.
    fn brute_force(positions: &[[f64; 3]], domain: &Domain, cutoff: f64, atom: usize) -> Structure {
        let bonded = |a: usize, b: usize| {
            a != b && squared(domain.displacement(positions[a], positions[b])) < cutoff * cutoff
        };
        let all = 0..positions.len();
        let near: Vec<usize> = all.clone().filter(|&other| bonded(atom, other)).collect();
        let mut signs: Vec<(usize, usize, usize, usize)> = Vec::new();
        for &other in &near {
            let common: Vec<usize> = all.clone().filter(|&c| bonded(atom, c) && bonded(other, c)).collect();
            let degrees: Vec<usize> =
                common.iter().map(|&a| common.iter().filter(|&&b| bonded(a, b)).count()).collect();
            let (most, least) = (degrees.iter().max().copied(), degrees.iter().min().copied());
            signs.push((common.len(), degrees.iter().sum(), most.unwrap_or(0), least.unwrap_or(0)));
        }
        let count = |wanted| signs.iter().filter(|sign| **sign == wanted).count();
        match near.len() {
            12 if count((4, 4, 1, 1)) == 12 => Structure::FaceCentredCubic,
            12 if count((4, 4, 1, 1)) == 6 && count((4, 4, 2, 0)) == 6 => Structure::HexagonalClosePacked,
            12 if count((5, 10, 2, 2)) == 12 => Structure::Icosahedral,
            14 if count((4, 8, 2, 2)) == 6 && count((6, 12, 2, 2)) == 8 => Structure::BodyCentredCubic,
            _ => Structure::Other,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn shaken_lattices_are_classed_as_from_positions(
            shake in prop::collection::vec(proptest::array::uniform3(-1.0..1.0f64), 256), strength in 0.0..0.16f64,
        ) {
            let fcc = [[0.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]];
            let (mut positions, domain) = lattice(&fcc, [1.0; 3], [4; 3]);
            for (position, shift) in positions.iter_mut().zip(&shake) {
                *position = domain.wrap(std::array::from_fn(|axis| position[axis] + strength * shift[axis]));
            }
            let classes = classify(&graph_of(&positions, &domain, 0.854));
            for (atom, class) in classes.iter().enumerate() {
                prop_assert_eq!(*class, brute_force(&positions, &domain, 0.854, atom));
            }
        }
    }

    #[test]
    fn numbers_and_census_agree() {
        for structure in Structure::ALL {
            assert_eq!(Structure::from_number(structure as i32), Some(structure));
        }
        assert_eq!(Structure::from_number(0), None);
        assert_eq!(
            census(&[Structure::Other, Structure::FaceCentredCubic, Structure::Other]),
            [1, 0, 0, 0, 2]
        );
    }
}
