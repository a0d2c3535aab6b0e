//! The space a simulation lives in: an axis-aligned domain, periodic or free in each dimension.

/// Where the simulated space begins and ends, and along which axes it repeats.
///
/// Lengths are in the simulation's own unit (sigma for Lennard-Jones). A two-dimensional problem is one whose third
/// coordinate is zero throughout, with `periodic[2]` false.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Domain {
    /// Lowest corner.
    pub low: [f64; 3],
    /// Highest corner. Along a free axis atoms may lie outside; along a periodic one `high` is the image of `low`.
    pub high: [f64; 3],
    /// Whether the space repeats along each axis.
    pub periodic: [bool; 3],
}

/// How many numbers [`Domain::to_numbers`] makes: low corner, high corner, a flag for each axis.
pub const DOMAIN_NUMBERS: usize = 9;

impl Domain {
    /// Length along `axis`.
    pub fn extent(&self, axis: usize) -> f64 {
        self.high[axis] - self.low[axis]
    }

    /// The vector from `from` to the nearest image of `to`. Exactly antisymmetric: swapping the two flips the sign and
    /// no bit more, so both ends of a pair agree on its length.
    pub fn displacement(&self, from: [f64; 3], to: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| {
            let difference = to[axis] - from[axis];
            if !self.periodic[axis] {
                return difference;
            }
            let extent = self.extent(axis);
            difference - extent * (difference / extent).round()
        })
    }

    /// `position` moved by whole periods into the domain: into `low..high` along periodic axes, untouched along others.
    pub fn wrap(&self, position: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|axis| {
            if !self.periodic[axis] {
                return position[axis];
            }
            let extent = self.extent(axis);
            let wrapped = position[axis] - extent * ((position[axis] - self.low[axis]) / extent).floor();
            // Rounding can land exactly on the upper end, which is the lower end's image.
            if wrapped >= self.high[axis] { self.low[axis] } else { wrapped.max(self.low[axis]) }
        })
    }

    /// Whether both corners are finite and the extent is positive along every periodic axis.
    pub fn is_usable(&self) -> bool {
        let finite = self.low.iter().chain(&self.high).all(|number| number.is_finite());
        finite && (0..3).all(|axis| !self.periodic[axis] || self.extent(axis) > 0.0)
    }

    /// As nine numbers (low x, y, z; high x, y, z; 1 or 0 for each periodic axis), to travel as one array.
    pub fn to_numbers(&self) -> [f64; DOMAIN_NUMBERS] {
        std::array::from_fn(|index| match index {
            0..=2 => self.low[index],
            3..=5 => self.high[index - 3],
            _ => f64::from(u8::from(self.periodic[index - 6])),
        })
    }

    /// The inverse of [`Domain::to_numbers`].
    pub fn from_numbers(numbers: &[f64; DOMAIN_NUMBERS]) -> Self {
        Domain {
            low: [numbers[0], numbers[1], numbers[2]],
            high: [numbers[3], numbers[4], numbers[5]],
            periodic: [numbers[6] != 0.0, numbers[7] != 0.0, numbers[8] != 0.0],
        }
    }
}

/// The squared length of a vector, terms added in the order x, y, z.
pub fn squared(vector: [f64; 3]) -> f64 {
    vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DOMAIN: Domain =
        Domain { low: [-1.0, 2.0, 0.0], high: [5.0, 9.5, 1.0], periodic: [true, false, true] };

    proptest! {
        #[test]
        fn a_displacement_is_the_shortest_over_all_images(
            from in proptest::array::uniform3(-20.0..20.0f64), to in proptest::array::uniform3(-20.0..20.0f64),
        ) {
            let mut shortest = f64::INFINITY;
            for image_x in -8..=8 {
                for image_z in -45..=45 {
                    let shifted = [to[0] + 6.0 * f64::from(image_x), to[1], to[2] + f64::from(image_z)];
                    let apart = std::array::from_fn(|axis| shifted[axis] - from[axis]);
                    shortest = shortest.min(squared(apart));
                }
            }
            prop_assert!((squared(DOMAIN.displacement(from, to)) - shortest).abs() < 1e-9);
            let back = DOMAIN.displacement(to, from);
            prop_assert_eq!(DOMAIN.displacement(from, to), back.map(|part| -part));
        }

        #[test]
        fn a_wrapped_position_is_inside_and_an_image(position in proptest::array::uniform3(-1e4..1e4f64)) {
            let wrapped = DOMAIN.wrap(position);
            prop_assert!(wrapped[0] >= -1.0 && wrapped[0] < 5.0 && wrapped[2] >= 0.0 && wrapped[2] < 1.0);
            prop_assert_eq!(wrapped[1], position[1]);
            prop_assert!(squared(DOMAIN.displacement(position, wrapped)).sqrt() - (wrapped[1] - position[1]).abs() < 1e-9);
        }
    }

    #[test]
    fn wrapping_never_yields_the_upper_end() {
        let wrapped = DOMAIN.wrap([-1.0 - 1e-17, 0.0, -1e-300]);
        assert_eq!((wrapped[0], wrapped[2]), (-1.0, 0.0));
    }

    #[test]
    fn a_domain_survives_the_trip_as_numbers() {
        assert_eq!(Domain::from_numbers(&DOMAIN.to_numbers()), DOMAIN);
        assert!(DOMAIN.is_usable());
        assert!(!Domain { high: [-1.0, 9.5, 1.0], ..DOMAIN }.is_usable());
        assert!(!Domain { low: [f64::NAN, 0.0, 0.0], ..DOMAIN }.is_usable());
    }
}
