//! Mean and variance of numbers that several ranks have parts of.

use super::{ExactSquares, ExactSum, variance};

/// How many numbers there are, their sum and the sum of their squares, both without rounding. So mean and variance are the
/// same to the bit for every order of the numbers, and every way to cut them.
///
/// ```
/// use fp_transform::ExactMoments;
///
/// let (mut one, mut other) = (ExactMoments::default(), ExactMoments::default());
/// [1e300, 1.0].map(|number| one.add(number));
/// [-1e300, 4.0].map(|number| other.add(number));
/// one.merge(&other);
/// assert_eq!((one.count(), one.mean()), (4, 1.25));
/// ```
#[derive(Clone, Debug)]
pub struct ExactMoments {
    count: u64,
    sum: ExactSum,
    squares: ExactSquares,
}

impl Default for ExactMoments {
    fn default() -> Self {
        Self { count: 0, sum: ExactSum::ZERO, squares: ExactSquares::ZERO }
    }
}

impl ExactMoments {
    /// Adds a number. NaN and infinities make the mean what a sum with them is, and the variance NaN.
    #[inline]
    pub fn add(&mut self, number: f64) {
        self.count += 1;
        self.sum.add(number);
        self.squares.add_square(number);
    }

    /// Adds what another rank has.
    pub fn merge(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.sum.merge(&other.sum);
        self.squares.merge(&other.squares);
    }

    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The mean, rounded twice: the sum, and its quotient. NaN of no number.
    pub fn mean(&self) -> f64 {
        self.sum.round().divided(self.count)
    }

    /// The variance of all of them (not of a sample). NaN of no number.
    pub fn variance(&self) -> f64 {
        variance(self.count, &self.sum, &self.squares)
    }

    /// Appends the one encoding that these moments have: some 40 bytes where the numbers are of like size.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.count.to_le_bytes());
        self.sum.write(bytes);
        self.squares.write(bytes);
    }

    /// Reads what [`write`](Self::write) wrote, and what is left after it; none if it is anything else.
    pub fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (count, rest) = bytes.split_first_chunk::<8>()?;
        let (sum, rest) = ExactSum::read(rest)?;
        let (squares, rest) = ExactSquares::read(rest)?;
        Some((Self { count: u64::from_le_bytes(*count), sum, squares }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However they are cut, and by way of bytes or not.
        #[test]
        fn any_cut_gives_the_same_bits(numbers in prop::collection::vec(-1e9..1e9f64, 1..40), cut in 0usize..40) {
            let moments = |numbers: &[f64]| {
                let mut moments = ExactMoments::default();
                numbers.iter().for_each(|&number| moments.add(number));
                moments
            };
            let (whole, (left, right)) = (moments(&numbers), numbers.split_at(cut.min(numbers.len())));
            let mut bytes = Vec::new();
            moments(right).write(&mut bytes);
            let (mut merged, rest) = ExactMoments::read(&bytes).expect("as it was written");
            prop_assert!(rest.is_empty());
            merged.merge(&moments(left));
            let bits = |of: &ExactMoments| (of.count(), of.mean().to_bits(), of.variance().to_bits());
            prop_assert_eq!(bits(&merged), bits(&whole));
            let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
            prop_assert!((whole.mean() - mean).abs() <= 1e-3);
        }
    }

    #[test]
    fn what_is_cut_short_is_not_read() {
        let mut bytes = Vec::new();
        ExactMoments::default().write(&mut bytes);
        (0..bytes.len()).for_each(|len| assert!(ExactMoments::read(&bytes[..len]).is_none()));
    }
}
