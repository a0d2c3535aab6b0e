//! The grid: which rank has which wedge of the torus, and what particles add up to in each cell.

use std::f64::consts::{PI, TAU};
use std::ops::Range;

use super::particle::Particle;

/// Cells the long way round, in rings of equal area, and the short way round.
pub const SHAPE: [u64; 3] = [32, 12, 24];
/// Planes of cells, the long way round: there can be as many ranks.
pub const PLANES: u64 = SHAPE[0];
/// Cells of one plane.
const PLANE_CELLS: usize = (SHAPE[1] * SHAPE[2]) as usize;
/// All cells.
pub const CELLS: u64 = SHAPE[0] * SHAPE[1] * SHAPE[2];

/// The planes of a rank.
pub fn planes(rank: u32, ranks: u32) -> Range<u64> {
    let first = |rank: u32| u64::from(rank) * PLANES / u64::from(ranks);
    first(rank)..first(rank + 1)
}

/// Which of so many even parts this share of the whole is in.
fn part(share: f64, parts: u64) -> u64 {
    ((share * parts as f64) as u64).min(parts - 1)
}

/// The plane that a particle is in.
pub fn plane(particle: &Particle) -> u64 {
    part(particle.toroidal / TAU, PLANES)
}

/// The rank that has it.
pub fn owner(particle: &Particle, ranks: u32) -> u32 {
    let plane = plane(particle);
    (0..ranks).find(|&rank| planes(rank, ranks).contains(&plane)).unwrap_or(0)
}

/// The cell of a particle, counted from that of the first of `planes`.
fn cell(particle: &Particle, planes: &Range<u64>) -> usize {
    let ring = part(particle.x * particle.x + particle.y * particle.y, SHAPE[1]);
    let sector = part((particle.y.atan2(particle.x) + PI) / TAU, SHAPE[2]);
    (((plane(particle) - planes.start) * SHAPE[1] + ring) * SHAPE[2] + sector) as usize
}

/// What is carried by the grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grid {
    /// Particles in each cell, in their mean number at the start.
    pub density: Vec<f64>,
    /// Mean velocity along the field; NaN where there is no particle.
    pub flow: Vec<f64>,
    /// Mean kinetic energy; NaN where there is no particle.
    pub energy: Vec<f64>,
}

impl Grid {
    /// The cells of these planes. Particles are all in there, and are added in their order.
    pub fn of(particles: &[Particle], planes: &Range<u64>, at_start: u64) -> Self {
        let cells = (planes.end - planes.start) as usize * PLANE_CELLS;
        let mut sums = vec![[0.0; 3]; cells];
        for particle in particles {
            let [.., parallel, across, _] = particle.quantities();
            let sum = &mut sums[cell(particle, planes)];
            sum[0] += 1.0;
            sum[1] += parallel;
            sum[2] += (parallel * parallel + across * across) / 2.0;
        }
        let mean_count = at_start as f64 / CELLS as f64;
        Grid {
            density: sums.iter().map(|sum| sum[0] / mean_count).collect(),
            flow: sums.iter().map(|sum| sum[1] / sum[0]).collect(),
            energy: sums.iter().map(|sum| sum[2] / sum[0]).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plane_has_one_owner() {
        for ranks in 1..=PLANES as u32 {
            let all: Vec<u64> = (0..ranks).flat_map(|rank| planes(rank, ranks)).collect();
            assert_eq!(all, (0..PLANES).collect::<Vec<_>>());
            assert!((0..ranks).all(|rank| !planes(rank, ranks).is_empty()));
        }
    }

    #[test]
    fn every_particle_is_in_one_cell_of_its_owner() {
        let particles: Vec<Particle> = (0..5_000).map(|label| Particle::seeded(1, label)).collect();
        let whole = Grid::of(&particles, &(0..PLANES), 5_000);
        let mut joined = Grid::default();
        for rank in 0..5 {
            let own: Vec<Particle> =
                particles.iter().filter(|particle| owner(particle, 5) == rank).copied().collect();
            let part = Grid::of(&own, &planes(rank, 5), 5_000);
            joined.density.extend(part.density);
            joined.flow.extend(part.flow);
            joined.energy.extend(part.energy);
        }
        assert_eq!(joined.density, whole.density);
        let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&joined.flow), bits(&whole.flow));
        assert_eq!(bits(&joined.energy), bits(&whole.energy));
        let count: f64 = whole.density.iter().sum::<f64>() * 5_000.0 / CELLS as f64;
        assert!((count - 5_000.0).abs() < 1e-6);
        assert!(
            whole.flow.iter().zip(&whole.density).all(|(flow, density)| flow.is_nan() == (*density == 0.0))
        );
    }

    #[test]
    fn the_last_place_of_the_torus_is_in_the_last_plane() {
        let particle = Particle { toroidal: TAU, ..Particle::seeded(1, 1) };
        assert_eq!((plane(&particle), owner(&particle, 4)), (PLANES - 1, 3));
    }
}
