//! A particle: as ranks hand it over, as it begins, and the seven quantities that are published of it.

use std::f64::consts::TAU;

use flexpath::bytemuck::{Pod, Zeroable};

use super::field::field;

/// A particle, as one rank hands it to another.
#[derive(flexpath::Record, Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[bytemuck(crate = "flexpath::bytemuck")]
#[record(description = "a guiding centre; lengths in minor radii, speeds in thermal speeds")]
#[repr(C)]
pub struct Particle {
    /// From the axis outwards.
    pub x: f64,
    /// From the axis upwards.
    pub y: f64,
    /// Angle the long way round, 0 to 2 pi.
    pub toroidal: f64,
    /// Velocity along the field.
    pub parallel: f64,
    /// Magnetic moment, of unit mass: `v^2 / 2B` of the velocity across the field.
    pub moment: f64,
    /// The share by which the plasma differs from the plasma at rest.
    pub weight: f64,
    /// Its number, for life.
    pub label: u64,
}

/// The quantities of a particle that are published, the label besides.
pub const QUANTITIES: usize = 6;

impl Particle {
    /// A particle at the beginning: anywhere in the torus, with the velocities of a plasma in equilibrium. It depends on
    /// the two numbers alone.
    pub fn seeded(seed: u64, label: u64) -> Self {
        let chance = |which: u64| chance(seed, label, which);
        let (radius, poloidal) = (chance(0).sqrt(), TAU * chance(1));
        let (x, y) = (radius * poloidal.cos(), radius * poloidal.sin());
        // Box and Muller: a normal number, of variance one; and the square of two of them.
        let parallel = (-2.0 * (1.0 - chance(3)).ln()).sqrt() * (TAU * chance(4)).cos();
        let across = -2.0 * (1.0 - chance(5)).ln();
        Particle {
            x,
            y,
            toroidal: TAU * chance(2),
            parallel,
            moment: across / (2.0 * field(x)),
            weight: 0.02 * (chance(6) - 0.5),
            label,
        }
    }

    /// What is published, in the order of [`super::axes::Axis::particle`]: radius, poloidal angle, toroidal angle,
    /// velocity along the field and across it, weight.
    pub fn quantities(&self) -> [f64; QUANTITIES] {
        let across = (2.0 * self.moment * field(self.x)).sqrt();
        [self.x.hypot(self.y), self.y.atan2(self.x), self.toroidal, self.parallel, across, self.weight]
    }
}

/// An even number from 0 to below 1, for these three.
fn chance(seed: u64, label: u64, which: u64) -> f64 {
    let drawn = mixed(mixed(mixed(seed).wrapping_add(label)).wrapping_add(which));
    (drawn >> 11) as f64 * (-53f64).exp2()
}

/// Steele, Lea and Flood, *Fast splittable pseudorandom number generators* (2014): the mixing function of SplitMix64.
fn mixed(state: u64) -> u64 {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn particles_begin_as_a_plasma_does() {
        let count = 20_000;
        let particles: Vec<Particle> = (0..count).map(|label| Particle::seeded(3, label)).collect();
        let mean = |of: &dyn Fn(&Particle) -> f64| particles.iter().map(of).sum::<f64>() / count as f64;
        for (found, expected) in [
            (mean(&|particle| particle.parallel), 0.0),
            (mean(&|particle| particle.parallel.powi(2)), 1.0),
            (mean(&|particle| particle.quantities()[4].powi(2)), 2.0),
            (mean(&|particle| particle.x.powi(2) + particle.y.powi(2)), 0.5),
            (mean(&|particle| particle.toroidal / TAU), 0.5),
            (mean(&|particle| particle.weight), 0.0),
        ] {
            assert!((found - expected).abs() < 0.05, "{found} is far from {expected}");
        }
        assert_eq!(Particle::seeded(3, 17), particles[17]);
        assert_ne!(Particle::seeded(4, 17), particles[17]);
    }
}
