//! Colours of numbers and of ids.

use colorous::{SINEBOW, VIRIDIS};

/// The colour of elements that are NaN.
pub const NO_NUMBER: [u8; 3] = [150, 150, 150];

/// Neighbouring multiples of this part of a circle are far from one another, however many there are.
const GOLDEN_SHARE: f64 = 0.618_033_988_749_895;
/// Ids with hues that are close still differ in this.
const SHADES: [f64; 4] = [1.0, 0.7, 0.85, 0.55];

/// The colour of a share of a range, from 0 to 1: dark blue to yellow, by the colour map viridis. What lies outside has the
/// colour of that end, and NaN is [`NO_NUMBER`].
pub fn colour_of_share(share: f64) -> [u8; 3] {
    if share.is_nan() { NO_NUMBER } else { VIRIDIS.eval_continuous(share.clamp(0.0, 1.0)).as_array() }
}

/// The colour of an id: always the same.
pub fn colour_of_id(id: u64) -> [u8; 3] {
    // Of ids that no run reaches, hues may be close.
    let hue = ((id % (1 << 40)) as f64 * GOLDEN_SHARE).fract();
    let shade = SHADES[(id % SHADES.len() as u64) as usize];
    SINEBOW.eval_continuous(hue).as_array().map(|part| (f64::from(part) * shade).round() as u8)
}

/// Where a number lies in a range, as a share. In a range of one number this is the middle.
pub(crate) fn share_of(number: f64, [low, high]: [f64; 2]) -> f64 {
    if number.is_nan() {
        return f64::NAN;
    }
    // Halves, as the difference of the ends may be more than there is.
    let share = (number / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
    if share.is_nan() { 0.5 } else { share }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ends and middle of the map as its authors publish it.
    #[test]
    fn shares_are_colours_of_viridis() {
        assert_eq!(colour_of_share(0.0), [68, 1, 84]);
        assert_eq!(colour_of_share(1.0), [253, 231, 37]);
        let middle = colour_of_share(0.5);
        let is_near = middle.iter().zip([33, 145, 140]).all(|(&one, other)| one.abs_diff(other) <= 2);
        assert!(is_near, "{middle:?}");
        assert_eq!(colour_of_share(f64::NAN), NO_NUMBER);
        assert_eq!(colour_of_share(f64::INFINITY), colour_of_share(1.0));
    }

    #[test]
    fn a_share_is_that_of_the_range() {
        assert_eq!(share_of(3.0, [1.0, 5.0]), 0.5);
        assert_eq!(share_of(2.0, [2.0, 2.0]), 0.5);
        assert_eq!(share_of(f64::MAX, [f64::MIN, f64::MAX]), 1.0);
        assert_eq!(share_of(f64::INFINITY, [2.0, 2.0]), f64::INFINITY);
        assert!(share_of(f64::NAN, [0.0, 1.0]).is_nan());
    }

    #[test]
    fn the_first_ids_can_be_told_apart() {
        let differ = |one: [u8; 3], other: [u8; 3]| {
            one.iter().zip(other).map(|(&one, other)| u32::from(one.abs_diff(other))).sum::<u32>()
        };
        for one in 1..=24 {
            for other in one + 1..=24 {
                assert!(differ(colour_of_id(one), colour_of_id(other)) >= 24, "{one} and {other}");
            }
        }
    }
}
