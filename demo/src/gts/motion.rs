//! How a guiding centre moves. It moves along the magnetic field of a torus with circular cross-section, is mirrored
//! where the field is stronger, and drifts slowly across it. The source is White, *The theory of toroidally confined
//! plasmas*, chapter 3, at lowest order.
//!
//! Lengths are in minor radii, speeds in thermal speeds, the field in its value on the axis. `x` and `y` are measured
//! from the axis across the torus, `x` outwards and `y` upwards, so that there is no singular place; `r^2 = x^2 + y^2`.
//! The field is `B = R0 / R` with `R = R0 + x`. A field line turns once the short way round while it turns `q(r)` times
//! the long way. As the field depends on `R` alone, the drift is upright.
//!
//! Three things never change on the way, whatever the orbit: the energy `v^2 / 2 + mu B`, the toroidal momentum
//! `psi(r) / rho - R v` with `psi' = r / q`, and `(1 - w) exp(kappa r^2 / 2)`.

use std::f64::consts::TAU;

use super::field::{MAJOR_RADIUS, field};
use super::particle::Particle;

/// Gyroradius of a thermal ion on the axis: how fast guiding centres drift.
pub const GYRORADIUS: f64 = 0.02;
/// Safety factor on the axis, and how much it grows with `r^2`.
pub const SAFETY: [f64; 2] = [1.1, 1.9];
/// How steeply the density falls: `-d ln n / dr = kappa r`.
pub const GRADIENT: f64 = 2.0;
/// Time of one small step, in minor radii over thermal speeds. Going round takes 19 of them at thermal speed.
pub const SMALL_STEP: f64 = 0.05;
/// Small steps between two published ones.
pub const SMALL_STEPS: u32 = 10;

/// What changes on the way: x, y, toroidal angle, parallel velocity, weight.
type State = [f64; 5];

fn safety(square: f64) -> f64 {
    SAFETY[0] + SAFETY[1] * square
}

fn rate([x, y, _, v, w]: State, moment: f64) -> State {
    let (major, strength) = (MAJOR_RADIUS + x, field(x));
    let round = v / (safety(x * x + y * y) * MAJOR_RADIUS);
    let drift = GYRORADIUS * (v * v + moment * strength) / MAJOR_RADIUS;
    let mirror = moment * strength * y / (safety(x * x + y * y) * MAJOR_RADIUS * major);
    // The perturbation grows as particles go down the gradient.
    let growth = (1.0 - w) * GRADIENT * (-drift * y);
    [-y * round, x * round - drift, v / major, -mirror, growth]
}

fn along(state: State, rate: State, time: f64) -> State {
    std::array::from_fn(|part| state[part] + time * rate[part])
}

/// One small step, by the classical Runge-Kutta method of fourth order.
fn small_step(state: State, moment: f64, time: f64) -> State {
    let first = rate(state, moment);
    let second = rate(along(state, first, time / 2.0), moment);
    let third = rate(along(state, second, time / 2.0), moment);
    let fourth = rate(along(state, third, time), moment);
    let mean = |part: usize| (first[part] + 2.0 * (second[part] + third[part]) + fourth[part]) / 6.0;
    along(state, std::array::from_fn(mean), time)
}

/// From one published step to the next. False if it met the wall, at `r = 1`: then it is lost.
pub fn advance(particle: &mut Particle) -> bool {
    let Particle { x, y, toroidal, parallel, weight, moment, .. } = *particle;
    let mut state = [x, y, toroidal, parallel, weight];
    for _ in 0..SMALL_STEPS {
        state = small_step(state, moment, SMALL_STEP);
        if state[0] * state[0] + state[1] * state[1] >= 1.0 {
            return false;
        }
    }
    [particle.x, particle.y, particle.toroidal, particle.parallel, particle.weight] = state;
    particle.toroidal = particle.toroidal.rem_euclid(TAU);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Energy, toroidal momentum, and what ties the weight to the place.
    fn constants(particle: &Particle) -> [f64; 3] {
        let Particle { x, y, parallel, moment, weight, .. } = *particle;
        let square = x * x + y * y;
        let flux = safety(square).ln() / (2.0 * SAFETY[1]);
        [
            parallel * parallel / 2.0 + moment * field(x),
            flux / GYRORADIUS - (MAJOR_RADIUS + x) * parallel,
            (1.0 - weight) * (GRADIENT * square / 2.0).exp(),
        ]
    }

    #[test]
    fn what_must_not_change_does_not_on_any_orbit() {
        let (mut trapped, mut lost) = (0, 0);
        for label in 0..300 {
            let mut particle = Particle::seeded(7, label);
            let (before, start) = (constants(&particle), particle);
            let alive = (0..40).all(|_| advance(&mut particle));
            lost += usize::from(!alive);
            trapped += usize::from(particle.parallel * start.parallel < 0.0);
            for (now, then) in constants(&particle).iter().zip(before) {
                assert!((now - then).abs() < 2e-6 * then.abs().max(1.0), "{label}: {now} was {then}");
            }
            assert!((0.0..=TAU).contains(&particle.toroidal));
        }
        assert!(trapped > 10 && lost > 3 && lost < 150, "{trapped} turned back, {lost} lost");
    }

    #[test]
    fn a_larger_moment_turns_back_where_the_field_is_stronger() {
        let start =
            Particle { x: 0.5, y: 0.0, toroidal: 0.0, parallel: 0.5, moment: 2.0, weight: 0.0, label: 0 };
        let mut turning = start;
        let turned = (0..60).any(|_| advance(&mut turning) && turning.parallel < 0.0);
        let mut passing = Particle { parallel: 2.0, moment: 0.1, ..start };
        let passed = (0..60).all(|_| advance(&mut passing) && passing.parallel > 0.0);
        assert!(turned && passed);
    }
}
