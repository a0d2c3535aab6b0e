//! Lennard-Jones forces, cut at 2.5 sigma, over a list of near pairs that is kept until an atom has moved half its skin.

use crate::lammps::science::cells::{CellError, CellList};
use crate::lammps::science::geometry::{Domain, squared};

/// Where the force ends, in sigma.
pub(super) const CUTOFF: f64 = 2.5;
/// How much farther the list of pairs reaches.
const SKIN: f64 = 0.3;

/// Near pairs, each once, and where the atoms were when the list was made.
#[derive(Clone, Debug, Default)]
pub(super) struct PairList {
    /// Partners of atom k are `partners[starts[k]..starts[k + 1]]`, all with a higher index.
    starts: Vec<usize>,
    partners: Vec<u32>,
    made_at: Vec<[f64; 3]>,
}

impl PairList {
    /// Make the list anew if an atom has moved so far that a pair may be missing. The positions are then wrapped.
    pub(super) fn refresh(&mut self, positions: &mut [[f64; 3]], domain: &Domain) -> Result<(), CellError> {
        let far = |(now, then): (&[f64; 3], &[f64; 3])| {
            let moved = std::array::from_fn(|axis| now[axis] - then[axis]);
            let moved_squared = squared(moved);
            // A position that is no number counts as far, and is found by the cell list.
            moved_squared.is_nan() || moved_squared >= (SKIN / 2.0) * (SKIN / 2.0)
        };
        if self.made_at.len() == positions.len() && !positions.iter().zip(&self.made_at).any(far) {
            return Ok(());
        }
        let cells = CellList::new(positions, domain, CUTOFF + SKIN)?;
        positions.iter_mut().for_each(|position| *position = domain.wrap(*position));
        self.starts.clear();
        self.partners.clear();
        self.starts.push(0);
        for atom in 0..positions.len() {
            cells.for_each_near(atom, |other, _, _| {
                if other > atom {
                    self.partners.push(other as u32);
                }
            });
            self.starts.push(self.partners.len());
        }
        self.made_at = positions.to_vec();
        Ok(())
    }

    /// The force on every atom, in epsilon/sigma, and the potential energy in epsilon.
    pub(super) fn forces(&self, positions: &[[f64; 3]], domain: &Domain, forces: &mut [[f64; 3]]) -> f64 {
        forces.fill([0.0; 3]);
        let mut energy = 0.0;
        for atom in 0..positions.len() {
            let mut total = [0.0; 3];
            for &other in &self.partners[self.starts[atom]..self.starts[atom + 1]] {
                let other = other as usize;
                let apart = nearest_image(domain, positions[atom], positions[other]);
                let distance_squared = squared(apart);
                if distance_squared >= CUTOFF * CUTOFF {
                    continue;
                }
                let sixth = (1.0 / distance_squared).powi(3);
                energy += 4.0 * sixth * (sixth - 1.0);
                let strength = 24.0 * sixth * (2.0 * sixth - 1.0) / distance_squared;
                for axis in 0..3 {
                    total[axis] -= strength * apart[axis];
                    forces[other][axis] += strength * apart[axis];
                }
            }
            for axis in 0..3 {
                forces[atom][axis] += total[axis];
            }
        }
        energy
    }
}

/// As [`Domain::displacement`], for positions that are at most one and a half periods apart: quicker.
fn nearest_image(domain: &Domain, from: [f64; 3], to: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| {
        let difference = to[axis] - from[axis];
        let extent = domain.high[axis] - domain.low[axis];
        if !domain.periodic[axis] || difference.abs() <= extent / 2.0 {
            difference
        } else {
            difference - extent.copysign(difference)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DOMAIN: Domain = Domain { low: [0.0; 3], high: [7.0, 8.0, 6.0], periodic: [false, false, true] };

    /// The potential energy of all pairs, with no list.
    fn energy(positions: &[[f64; 3]]) -> f64 {
        let mut total = 0.0;
        for (index, one) in positions.iter().enumerate() {
            for other in &positions[..index] {
                let distance_squared = squared(DOMAIN.displacement(*one, *other));
                if distance_squared < CUTOFF * CUTOFF {
                    total += 4.0 * (distance_squared.powi(-6) - distance_squared.powi(-3));
                }
            }
        }
        total
    }

    fn scattered(jitter: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let site = |k: usize| [(k % 5) as f64, (k / 5 % 5) as f64, (k / 25) as f64];
        (0..125).map(|k| std::array::from_fn(|axis| 1.2 * site(k)[axis] + jitter[k][axis])).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn forces_are_the_slope_of_the_energy(
            jitter in prop::collection::vec(proptest::array::uniform3(-0.1..0.1f64), 125), atom in 0usize..125, axis in 0usize..3,
        ) {
            let mut positions = scattered(&jitter);
            let mut list = PairList::default();
            list.refresh(&mut positions, &DOMAIN).expect("good");
            let mut forces = vec![[0.0; 3]; positions.len()];
            let found = list.forces(&positions, &DOMAIN, &mut forces);
            prop_assert!((found - energy(&positions)).abs() < 1e-9 * found.abs().max(1.0));
            let moved = |by: f64| {
                let mut moved = positions.clone();
                moved[atom][axis] += by;
                energy(&moved)
            };
            // A pair that crosses the cutoff within the small step would make the slope jump; such cases are left out.
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            let wide = (moved(2e-6) - moved(-2e-6)) / 4e-6;
            prop_assume!((slope - wide).abs() < 1e-3);
            prop_assert!((forces[atom][axis] + slope).abs() < 1e-3 * (1.0 + slope.abs()), "{} {slope}", forces[atom][axis]);
        }

        #[test]
        fn a_list_is_good_until_it_is_made_anew(
            jitter in prop::collection::vec(proptest::array::uniform3(-0.1..0.1f64), 125),
            drift in prop::collection::vec(proptest::array::uniform3(-0.08..0.08f64), 125),
        ) {
            let mut positions = scattered(&jitter);
            let mut list = PairList::default();
            list.refresh(&mut positions, &DOMAIN).expect("good");
            let made_at = list.made_at.clone();
            for (position, drift) in positions.iter_mut().zip(&drift) {
                *position = std::array::from_fn(|axis| position[axis] + drift[axis]);
            }
            list.refresh(&mut positions, &DOMAIN).expect("good");
            prop_assert_eq!(&list.made_at, &made_at, "no atom moved far enough");
            let found = list.forces(&positions, &DOMAIN, &mut vec![[0.0; 3]; positions.len()]);
            prop_assert!((found - energy(&positions)).abs() < 1e-9 * found.abs().max(1.0));
            positions[3][0] += 0.4;
            list.refresh(&mut positions, &DOMAIN).expect("good");
            prop_assert!(list.made_at != made_at);
        }
    }
}
