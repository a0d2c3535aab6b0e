//! The variables, as axes of histograms and of parallel coordinates. Derivations count them where the particles are.

use std::f64::consts::{PI, TAU};

/// Bins of a histogram.
pub const BINS: usize = 64;
/// Numbers of a histogram: the bins, then how many lie below, above, and are NaN.
pub const COUNTS: usize = BINS + 3;
/// Bins of an axis of parallel coordinates.
pub const AXIS_BINS: usize = 32;
/// Bins between two neighbouring axes.
pub const PAIR_BINS: usize = AXIS_BINS * AXIS_BINS;
/// Axes of parallel coordinates: the quantities of a particle.
pub const PARTICLE_AXES: usize = 7;
/// Pairs of neighbouring axes.
pub const PAIRS: usize = PARTICLE_AXES - 1;
/// All variables that have histograms.
pub const AXES: usize = PARTICLE_AXES + 3;

/// A variable and the range in which it is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// The variable.
    pub name: &'static str,
    /// Where the first bin begins.
    pub low: f64,
    /// Where the last bin ends.
    pub high: f64,
}

impl Axis {
    /// All of them: what particles have, then what the grid carries.
    pub fn all(particles: u64) -> [Axis; AXES] {
        let axis = |name, low, high| Axis { name, low, high };
        [
            axis("radius", 0.0, 1.0),
            axis("poloidal", -PI, PI),
            axis("toroidal", 0.0, TAU),
            axis("parallel", -4.0, 4.0),
            axis("across", 0.0, 5.0),
            axis("weight", -1.0, 1.0),
            axis("label", 0.0, particles as f64),
            axis("density", 0.0, 3.0),
            axis("flow", -2.0, 2.0),
            axis("energy", 0.0, 5.0),
        ]
    }

    /// The variables of a particle, in the order in which they stand side by side.
    pub fn particle(particles: u64) -> [Axis; PARTICLE_AXES] {
        let all = Axis::all(particles);
        std::array::from_fn(|index| all[index])
    }

    /// As it is drawn.
    pub fn drawn(&self) -> fp_pictures::Axis {
        fp_pictures::Axis { name: self.name.to_owned(), low: self.low, high: self.high }
    }

    /// What its histogram is called.
    pub fn histogram_name(&self) -> String {
        format!("{}.histogram", self.name)
    }

    /// How its histogram is derived.
    pub fn histogram(&self) -> String {
        format!("{} | histogram({:?}, {:?}, {BINS})", self.name, self.low, self.high)
    }

    /// The bin of an axis of parallel coordinates, as an expression. Values outside the range are in the last bin on
    /// their side.
    fn bin(&self) -> String {
        let (name, offset, scale) = (self.name, 0.0 - self.low, AXIS_BINS as f64 / (self.high - self.low));
        format!("min(max(floor(({name} + {offset:?}) * {scale:?}), 0), {})", AXIS_BINS - 1)
    }
}

/// What the counts between an axis and the next one are called.
pub fn pair_name(pair: usize) -> String {
    format!("between.{pair}")
}

/// How many particles go from each bin of an axis to each bin of the next one. Both bins become one number, which is
/// counted. The half keeps the number off the edges.
pub fn pair_counts(one: &Axis, next: &Axis) -> String {
    let number = format!("{} * {AXIS_BINS} + {} + 0.5", one.bin(), next.bin());
    format!("{}, {} | compute({number}) | histogram(0, {PAIR_BINS}, {PAIR_BINS})", one.name, next.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_a_derivation() {
        let axes = Axis::all(120_000);
        for axis in &axes {
            let derivation: flexpath::Derivation = axis.histogram().parse().expect("it can be read");
            assert_eq!(derivation.inputs().len(), 1);
        }
        for two in axes.windows(2) {
            let derivation: flexpath::Derivation =
                pair_counts(&two[0], &two[1]).parse().expect("it can be read");
            assert_eq!(derivation.inputs().len(), 2);
        }
    }
}
