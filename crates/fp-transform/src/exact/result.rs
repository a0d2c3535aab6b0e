//! The result of an exact sum: one rounding, and variances of exact sums.

use super::{ExactSquares, ExactSum, FRACTION_BITS};

/// A number as a mantissa, rounded to 53 bits, and a power of 2: its range is that of an exact sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rounded {
    pub(crate) mantissa: f64,
    pub(crate) exponent: i32,
}

impl Rounded {
    /// The value of limbs of 32 bits, lowest first, times `2^exponent`.
    pub(super) fn of_limbs(limbs: &[u32], negative: bool, exponent: i32) -> Self {
        let Some(highest) = limbs.iter().rposition(|&limb| limb != 0) else {
            return Self { mantissa: 0.0, exponent: 0 };
        };
        let lowest = highest.saturating_sub(3);
        let window = limbs[lowest..=highest].iter().rev();
        let bits = window.fold(0u128, |bits, &limb| bits << 32 | u128::from(limb));
        // What lies below only matters as something more than nothing: the window has at least 97 bits.
        let below = limbs[..lowest].iter().any(|&limb| limb != 0);
        let mantissa = (bits | u128::from(below)) as f64;
        let mantissa = if negative { -mantissa } else { mantissa };
        Self { mantissa, exponent: exponent + 32 * lowest as i32 }
    }

    /// The number itself; infinite if it is too large.
    pub(crate) fn value(self) -> f64 {
        scale(self.mantissa, self.exponent)
    }

    /// The number divided by a count: finite also where [`value`](Self::value) is not.
    pub(crate) fn divided(self, count: u64) -> f64 {
        scale(self.mantissa / count as f64, self.exponent)
    }
}

/// `number * 2^exponent`, rounded at most once: only the last factor can lead to where numbers have fewer bits.
fn scale(mut number: f64, exponent: i32) -> f64 {
    const STEP: i32 = 1000;
    number *= 2f64.powi(exponent % STEP);
    let factor = if exponent < 0 { 2f64.powi(-STEP) } else { 2f64.powi(STEP) };
    for _ in 0..(exponent / STEP).abs() {
        number *= factor;
    }
    number
}

/// The variance (of all, not of a sample) of `count` numbers, from their exact sums: `(n * squares - sum^2) / n^2`.
///
/// The numerator is computed without rounding: no number of decimals is lost where the mean is large.
pub(crate) fn variance(count: u64, sum: &ExactSum, squares: &ExactSquares) -> f64 {
    covariance(count, (sum, sum), squares)
}

/// The covariance of `count` pairs, from the exact sums of both and of their products, in the same way.
pub(crate) fn covariance(count: u64, sums: (&ExactSum, &ExactSum), products: &ExactSquares) -> f64 {
    if sums.0.is_special() || sums.1.is_special() || products.special.value().is_some() {
        return f64::NAN;
    }
    let ((is_first_negative, first), (is_second_negative, second)) = (sums.0.magnitude(), sums.1.magnitude());
    let (is_negative, products) = products.magnitude();
    let times = multiply(&products, &[count as u32, (count >> 32) as u32]);
    let of_sums = (is_first_negative != is_second_negative, multiply(&first, &second));
    let (is_negative, numerator) = difference((is_negative, times), of_sums);
    let rounded = Rounded::of_limbs(&numerator, is_negative, -2 * FRACTION_BITS as i32);
    let count = count as f64;
    scale(rounded.mantissa / count / count, rounded.exponent)
}

/// The difference of two numbers with signs.
fn difference(left: (bool, Vec<u32>), right: (bool, Vec<u32>)) -> (bool, Vec<u32>) {
    let (sign, mut left, other, mut right) = (left.0, left.1, right.0, right.1);
    let len = left.len().max(right.len()) + 1;
    left.resize(len, 0);
    right.resize(len, 0);
    if sign != other {
        return (sign, add(left, &right));
    }
    match left.iter().rev().cmp(right.iter().rev()) {
        std::cmp::Ordering::Less => (!sign, subtract(right, &left)),
        std::cmp::Ordering::Equal | std::cmp::Ordering::Greater => (sign, subtract(left, &right)),
    }
}

/// `left + right`, of one length, with room for the carry.
fn add(mut left: Vec<u32>, right: &[u32]) -> Vec<u32> {
    let mut carried = 0;
    for (place, &limb) in left.iter_mut().zip(right) {
        let whole = u64::from(*place) + u64::from(limb) + carried;
        (*place, carried) = (whole as u32, whole >> 32);
    }
    left
}

fn multiply(left: &[u32], right: &[u32]) -> Vec<u32> {
    let mut product = vec![0u32; left.len() + right.len()];
    for (at, &limb) in left.iter().enumerate().filter(|(_, limb)| **limb != 0) {
        let mut carried = 0;
        for (place, &other) in product[at..].iter_mut().zip(right.iter().chain([&0])) {
            let whole = u64::from(limb) * u64::from(other) + u64::from(*place) + carried;
            (*place, carried) = (whole as u32, whole >> 32);
        }
    }
    product
}

/// `left - right`, which is not negative.
fn subtract(mut left: Vec<u32>, right: &[u32]) -> Vec<u32> {
    let mut borrowed = false;
    for (at, place) in left.iter_mut().enumerate() {
        let (first, under) = place.overflowing_sub(right.get(at).copied().unwrap_or(0));
        let (second, further) = first.overflowing_sub(u32::from(borrowed));
        (*place, borrowed) = (second, under || further);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::super::Term;
    use super::*;

    fn variance_of(numbers: &[f64]) -> f64 {
        let (mut sum, mut squares) = (ExactSum::ZERO, ExactSquares::ZERO);
        for &number in numbers {
            sum.add(number);
            squares.add_square(number);
        }
        variance(numbers.len() as u64, &sum, &squares)
    }

    #[test]
    fn variances_do_not_cancel() {
        assert_eq!(variance_of(&[1.0, 2.0, 3.0, 4.0]), 1.25);
        assert_eq!(variance_of(&[1e15 + 1.0, 1e15 + 2.0, 1e15 + 3.0, 1e15 + 4.0]), 1.25);
        assert_eq!(variance_of(&[-7.5; 9]), 0.0);
        assert_eq!(variance_of(&[f64::MAX, f64::MAX]), 0.0);
        assert_eq!(variance_of(&[1e200, -1e200]), f64::INFINITY);
        assert!(variance_of(&[1.0, f64::INFINITY]).is_nan());
    }

    /// Of pairs, from their exact sums.
    fn covariance_of(pairs: &[(f64, f64)]) -> f64 {
        let (mut first, mut second, mut products) = (ExactSum::ZERO, ExactSum::ZERO, ExactSquares::ZERO);
        for &(a, b) in pairs {
            first.add(a);
            second.add(b);
            if let (Some(a), Some(b)) = (Term::real(a), Term::real(b)) {
                products.add_product(a, b);
            }
        }
        covariance(pairs.len() as u64, (&first, &second), &products)
    }

    #[test]
    fn covariances_have_a_sign_and_do_not_cancel() {
        assert_eq!(covariance_of(&[(1.0, 4.0), (2.0, 3.0), (3.0, 2.0), (4.0, 1.0)]), -1.25);
        let large = [1.0, 2.0, 3.0, 4.0].map(|x| (1e15 + x, -1e15 - x));
        assert_eq!(covariance_of(&large), -1.25);
        assert_eq!(covariance_of(&[(1.0, -1.0), (-1.0, -1.0)]), 0.0);
        assert_eq!(covariance_of(&[(1e200, -1e200), (-1e200, 1e200)]), f64::NEG_INFINITY);
        assert!(covariance_of(&[(1.0, 2.0), (f64::INFINITY, 1.0)]).is_nan());
        assert!(covariance_of(&[(1.0, 2.0), (1.0, f64::NAN)]).is_nan());
    }

    #[test]
    fn scaling_reaches_both_ends() {
        assert_eq!(scale(1.0, -1074), f64::from_bits(1));
        assert_eq!(scale(3.0, -1074), f64::from_bits(3));
        assert_eq!(scale(1.0, 1023), 2f64.powi(1023));
        assert_eq!(scale(1.0, -3000), 0.0);
        assert_eq!(scale(0.0, 5000), 0.0);
    }
}
