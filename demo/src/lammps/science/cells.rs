//! A cell list: atoms sorted into cells no smaller than a cutoff. All near pairs are found in time linear in the number
//! of atoms, for two and three dimensions, periodic or free along each axis.

use crate::lammps::science::geometry::Domain;

/// Cells are at least this much wider than the cutoff, relatively. Rounding must not put two atoms a hair closer than
/// the cutoff two cells apart.
const MARGIN: f64 = 1e-9;

/// Why no cell list could be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CellError {
    /// The cutoff is no positive finite number.
    #[error("the cutoff {cutoff} is not a positive number")]
    BadCutoff {
        /// The cutoff asked for.
        cutoff: f64,
    },
    /// The domain has a corner that is not finite, or a periodic axis of no length.
    #[error("the domain {domain:?} has no usable extent")]
    BadDomain {
        /// The domain given.
        domain: Domain,
    },
    /// A periodic axis is so short that one pair of atoms could be near twice.
    #[error(
        "axis {axis} repeats after {extent}, less than twice the cutoff {cutoff}: a pair could be near twice"
    )]
    DomainTooSmall {
        /// 0, 1 or 2 for x, y, z.
        axis: usize,
        /// The length of that axis.
        extent: f64,
        /// The cutoff asked for.
        cutoff: f64,
    },
    /// An atom's position is not finite.
    #[error("atom number {index} of the list is at {position:?}")]
    BadPosition {
        /// The atom's place in the list given.
        index: usize,
        /// Its position.
        position: [f64; 3],
    },
}

/// One axis of the grid of cells.
#[derive(Clone, Copy, Debug)]
struct Axis {
    low: f64,
    per_length: f64,
    count: usize,
    periodic: bool,
}

impl Axis {
    /// Cut `low..high` into at most `limit` cells of at least `width`.
    fn cut(low: f64, high: f64, width: f64, limit: usize, periodic: bool) -> Self {
        let extent = high - low;
        let count = ((extent / width).floor() as usize).clamp(1, limit);
        let per_length = if extent > 0.0 { count as f64 / extent } else { 0.0 };
        Axis { low, per_length, count, periodic }
    }

    fn cell(&self, coordinate: f64) -> usize {
        (((coordinate - self.low) * self.per_length).floor().max(0.0) as usize).min(self.count - 1)
    }

    /// The cells next to `cell`, itself included, each once.
    fn around(&self, cell: usize) -> impl Iterator<Item = usize> + use<> {
        let (first, number) = if self.periodic && self.count > 2 {
            (cell + self.count - 1, 3)
        } else if self.periodic {
            (0, self.count)
        } else {
            let first = cell.saturating_sub(1);
            (first, (cell + 2).min(self.count) - first)
        };
        let count = self.count;
        (first..first + number).map(move |index| index % count)
    }
}

/// Atoms sorted into cells. The positions are those given, wrapped into the domain.
#[derive(Debug)]
pub struct CellList {
    axes: [Axis; 3],
    domain: Domain,
    cutoff_squared: f64,
    positions: Vec<[f64; 3]>,
    /// `members[starts[c]..starts[c + 1]]` are the atoms of cell c, by rising index.
    starts: Vec<usize>,
    members: Vec<usize>,
}

impl CellList {
    /// Sort `positions` for finding pairs closer than `cutoff`.
    ///
    /// # Errors
    /// A cutoff or position that is no number, or a periodic axis shorter than twice the cutoff.
    pub fn new(positions: &[[f64; 3]], domain: &Domain, cutoff: f64) -> Result<Self, CellError> {
        check(positions, domain, cutoff)?;
        let positions: Vec<[f64; 3]> = positions.iter().map(|position| domain.wrap(*position)).collect();
        let axes = axes(&positions, domain, cutoff);
        let mut list = CellList {
            axes,
            domain: *domain,
            cutoff_squared: cutoff * cutoff,
            starts: vec![0; axes.iter().map(|axis| axis.count).product::<usize>() + 1],
            members: vec![0; positions.len()],
            positions,
        };
        list.sort();
        Ok(list)
    }

    /// Count, sum, place: each cell's atoms end up together, by rising index.
    fn sort(&mut self) {
        let cells: Vec<usize> = self.positions.iter().map(|position| self.cell(*position)).collect();
        for cell in &cells {
            self.starts[cell + 1] += 1;
        }
        for cell in 1..self.starts.len() {
            self.starts[cell] += self.starts[cell - 1];
        }
        let mut next = self.starts.clone();
        for (atom, cell) in cells.into_iter().enumerate() {
            self.members[next[cell]] = atom;
            next[cell] += 1;
        }
    }

    fn cell(&self, position: [f64; 3]) -> usize {
        let [x, y, z] = std::array::from_fn(|axis| self.axes[axis].cell(position[axis]));
        (z * self.axes[1].count + y) * self.axes[0].count + x
    }

    /// Call `found(other, displacement to it, its squared length)` for every other atom closer to `atom` than the
    /// cutoff, each once. The order is that of the cells, the same whenever the list is made from the same positions.
    pub fn for_each_near(&self, atom: usize, mut found: impl FnMut(usize, [f64; 3], f64)) {
        let position = self.positions[atom];
        let [x, y, z] = std::array::from_fn(|axis| self.axes[axis].cell(position[axis]));
        for cell_z in self.axes[2].around(z) {
            for cell_y in self.axes[1].around(y) {
                let row = (cell_z * self.axes[1].count + cell_y) * self.axes[0].count;
                for cell_x in self.axes[0].around(x) {
                    let cell = row + cell_x;
                    self.visit(atom, &self.members[self.starts[cell]..self.starts[cell + 1]], &mut found);
                }
            }
        }
    }

    fn visit(&self, atom: usize, others: &[usize], found: &mut impl FnMut(usize, [f64; 3], f64)) {
        for &other in others {
            let apart = self.domain.displacement(self.positions[atom], self.positions[other]);
            let distance_squared = crate::lammps::science::geometry::squared(apart);
            if distance_squared < self.cutoff_squared && other != atom {
                found(other, apart, distance_squared);
            }
        }
    }
}

fn check(positions: &[[f64; 3]], domain: &Domain, cutoff: f64) -> Result<(), CellError> {
    if !(cutoff.is_finite() && cutoff > 0.0) {
        return Err(CellError::BadCutoff { cutoff });
    }
    if !domain.is_usable() {
        return Err(CellError::BadDomain { domain: *domain });
    }
    if let Some(axis) = (0..3).find(|&axis| domain.periodic[axis] && domain.extent(axis) < 2.0 * cutoff) {
        return Err(CellError::DomainTooSmall { axis, extent: domain.extent(axis), cutoff });
    }
    match positions.iter().position(|position| position.iter().any(|part| !part.is_finite())) {
        Some(index) => Err(CellError::BadPosition { index, position: positions[index] }),
        None => Ok(()),
    }
}

/// Along a free axis the atoms themselves say where the grid begins and ends. The grid has no more than a few cells for
/// each atom: one stray atom far away must cost no memory.
fn axes(positions: &[[f64; 3]], domain: &Domain, cutoff: f64) -> [Axis; 3] {
    let bounds: [(f64, f64); 3] = std::array::from_fn(|axis| bounds(positions, domain, axis));
    let width = cutoff * (1.0 + MARGIN);
    let most = 64 + 8 * positions.len();
    let mut limit = most;
    loop {
        let cut =
            |axis: usize| Axis::cut(bounds[axis].0, bounds[axis].1, width, limit, domain.periodic[axis]);
        let axes: [Axis; 3] = std::array::from_fn(cut);
        if axes.iter().map(|axis| axis.count).fold(1, usize::saturating_mul) <= most {
            return axes;
        }
        limit /= 2;
    }
}

fn bounds(positions: &[[f64; 3]], domain: &Domain, axis: usize) -> (f64, f64) {
    if domain.periodic[axis] {
        return (domain.low[axis], domain.high[axis]);
    }
    let along = || positions.iter().map(|position| position[axis]);
    (along().fold(f64::INFINITY, f64::min), along().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lammps::science::geometry::squared;
    use proptest::prelude::*;

    /// Every near pair by trying all pairs, with its displacement.
    fn all_pairs(positions: &[[f64; 3]], domain: &Domain, cutoff: f64) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (first, from) in positions.iter().enumerate() {
            for (second, to) in positions.iter().enumerate() {
                let apart = domain.displacement(domain.wrap(*from), domain.wrap(*to));
                if first != second && squared(apart) < cutoff * cutoff {
                    pairs.push((first, second));
                }
            }
        }
        pairs
    }

    fn listed_pairs(positions: &[[f64; 3]], domain: &Domain, cutoff: f64) -> Vec<(usize, usize)> {
        let list = CellList::new(positions, domain, cutoff).expect("good input");
        let mut pairs = Vec::new();
        for atom in 0..positions.len() {
            list.for_each_near(atom, |other, _, _| pairs.push((atom, other)));
        }
        pairs.sort_unstable();
        pairs
    }

    proptest! {
        #[test]
        fn the_list_finds_what_all_pairs_find(
            positions in prop::collection::vec(proptest::array::uniform3(-3.0..9.0f64), 0..120),
            extent in proptest::array::uniform3(2.0..8.0f64),
            periodic in proptest::array::uniform3(any::<bool>()),
            flat in any::<bool>(),
            cutoff in 0.2..1.0f64,
        ) {
            let mut positions = positions;
            let mut domain = Domain { low: [-1.0, 0.5, 0.0], high: [0.0; 3], periodic };
            domain.high = std::array::from_fn(|axis| domain.low[axis] + extent[axis]);
            if flat {
                positions.iter_mut().for_each(|position| position[2] = 0.0);
                domain.periodic[2] = false;
            }
            let expected = all_pairs(&positions, &domain, cutoff);
            prop_assert_eq!(listed_pairs(&positions, &domain, cutoff), expected);
        }
    }

    #[test]
    fn a_lattice_with_spacing_equal_to_the_cell_width_loses_no_pair() {
        let domain = Domain { low: [0.0; 3], high: [7.0; 3], periodic: [true; 3] };
        let grid: Vec<[f64; 3]> =
            (0..343).map(|k| [f64::from(k % 7), f64::from(k / 7 % 7), f64::from(k / 49)]).collect();
        let cutoff = 1.0 + 1e-12;
        assert_eq!(listed_pairs(&grid, &domain, cutoff).len(), 343 * 6);
        assert_eq!(listed_pairs(&grid, &domain, 1.0).len(), 0, "nearer than the cutoff, not as near");
    }

    #[test]
    fn a_stray_atom_costs_no_memory() {
        let domain = Domain { low: [0.0; 3], high: [1.0; 3], periodic: [false; 3] };
        let list =
            CellList::new(&[[0.0; 3], [0.5, 0.0, 0.0], [1e300, -1e300, 0.0]], &domain, 1.0).expect("finite");
        assert!(list.starts.len() < 200);
        let mut near = Vec::new();
        list.for_each_near(0, |other, apart, _| near.push((other, apart)));
        assert_eq!(near, [(1, [0.5, 0.0, 0.0])]);
    }

    #[test]
    fn bad_input_is_named() {
        let domain = Domain { low: [0.0; 3], high: [1.0; 3], periodic: [true; 3] };
        let refused =
            |positions: &[[f64; 3]], domain: &Domain, cutoff| CellList::new(positions, domain, cutoff).err();
        assert!(matches!(refused(&[], &domain, -1.0), Some(CellError::BadCutoff { cutoff: -1.0 })));
        assert!(matches!(refused(&[], &domain, 0.6), Some(CellError::DomainTooSmall { axis: 0, .. })));
        assert!(matches!(
            refused(&[[0.0, f64::NAN, 0.0]], &domain, 0.3),
            Some(CellError::BadPosition { index: 0, .. })
        ));
        let empty = Domain { high: [0.0; 3], ..domain };
        assert!(matches!(refused(&[], &empty, 0.3), Some(CellError::BadDomain { .. })));
    }
}
