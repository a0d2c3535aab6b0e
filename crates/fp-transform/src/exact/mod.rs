//! Sums without rounding: the same for every order of the numbers and every way to cut them among ranks.
//!
//! A sum is one large integer in units of the smallest positive number, held in chunks of 32 bits with room for
//! carries. So adding is associative, merging two sums is adding, and only the end is rounded, once, to the nearest
//! number. The idea is Neal's small superaccumulator (R. M. Neal, "Fast exact summation using small and large
//! superaccumulators", 2015); here squares are summed too, with chunks for twice the range.
//!
//! Compensated sums are accurate and still differ from cut to cut, and xsum's accumulators cannot be merged or sent.
//! Adding costs about ten times plain addition (`docs/decisions/0031-exact-means-the-same-bits-for-every-cut.md`).

pub(crate) mod moments;
mod result;

pub(crate) use result::{Rounded, covariance, variance};

/// How many numbers are added before carries are brought up: each adds less than 2^53 to a chunk of 63 bits.
const ADDITIONS: u32 = 1 << 9;
/// Bits of a chunk.
const BITS: u32 = 32;
/// The bits of a chunk.
const MASK: i64 = 0xffff_ffff;
/// The bits of a mantissa.
const MANTISSA: u64 = (1 << 53) - 1;

/// Chunks of a sum of numbers: from 2^-1074 to 2^1024, and 64 bits for how many there are.
pub(crate) const SUM_CHUNKS: usize = 69;
/// Chunks of a sum of squares of numbers.
pub(crate) const SQUARE_CHUNKS: usize = 136;
/// How many bits below 1 a sum reaches; a sum of squares twice as many.
pub(crate) const FRACTION_BITS: u32 = 1074;

/// A sum of numbers, in units of 2^-1074.
pub(crate) type ExactSum = Exact<SUM_CHUNKS>;
/// A sum of squares or products, in units of 2^-2148.
pub(crate) type ExactSquares = Exact<SQUARE_CHUNKS>;

/// A finite number or an integer of 64 bits, exactly: `mantissa * 2^(shift - 1074)`, and its sign.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term {
    mantissa: u64,
    shift: u32,
    negative: bool,
}

impl Term {
    /// An integer.
    pub(crate) fn integer(magnitude: u64, negative: bool) -> Self {
        Self { mantissa: magnitude, shift: FRACTION_BITS, negative }
    }

    /// A number, if it is finite.
    pub(crate) fn real(number: f64) -> Option<Self> {
        let (mantissa, shift) = split(number);
        number.is_finite().then_some(Self { mantissa, shift, negative: number.is_sign_negative() })
    }
}

/// A sum in `N` chunks.
#[derive(Clone, Debug)]
pub(crate) struct Exact<const N: usize> {
    chunks: [i64; N],
    additions: u32,
    special: Special,
}

/// What was added that no integer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Special {
    nan: bool,
    positive_infinity: bool,
    negative_infinity: bool,
}

impl Special {
    fn add(&mut self, number: f64) {
        self.nan |= number.is_nan();
        self.positive_infinity |= number == f64::INFINITY;
        self.negative_infinity |= number == f64::NEG_INFINITY;
    }

    /// What a sum with these is, whatever else was added.
    fn value(self) -> Option<f64> {
        match (self.nan, self.positive_infinity, self.negative_infinity) {
            (true, _, _) | (_, true, true) => Some(f64::NAN),
            (_, true, _) => Some(f64::INFINITY),
            (_, _, true) => Some(f64::NEG_INFINITY),
            _ => None,
        }
    }

    fn as_u8(self) -> u8 {
        u8::from(self.nan) | u8::from(self.positive_infinity) << 1 | u8::from(self.negative_infinity) << 2
    }

    fn from_u8(bits: u8) -> Option<Self> {
        let bit = |at: u8| bits >> at & 1 == 1;
        let special = Self { nan: bit(0), positive_infinity: bit(1), negative_infinity: bit(2) };
        (bits < 8).then_some(special)
    }
}

/// Mantissa (53 bits) and shift of a finite number: `mantissa * 2^(shift - 1074)`.
#[inline]
fn split(number: f64) -> (u64, u32) {
    let bits = number.to_bits();
    let (exponent, fraction) = ((bits >> 52 & 0x7ff) as u32, bits & ((1 << 52) - 1));
    if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) }
}

impl<const N: usize> Exact<N> {
    /// Nothing added.
    pub(crate) const ZERO: Self = Self {
        chunks: [0; N],
        additions: 0,
        special: Special { nan: false, positive_infinity: false, negative_infinity: false },
    };

    /// Adds `mantissa * 2^shift` units. The mantissa has at most 53 bits.
    #[inline]
    fn add_shifted(&mut self, mantissa: u64, shift: u32, negative: bool) {
        if self.additions == ADDITIONS {
            self.carry();
        }
        let (at, bit) = ((shift / BITS) as usize, shift % BITS);
        let wide = u128::from(mantissa) << bit;
        let (lower, upper) = (wide as i64 & MASK, (wide >> BITS) as i64);
        let (lower, upper) = if negative { (-lower, -upper) } else { (lower, upper) };
        self.chunks[at] += lower;
        self.chunks[at + 1] += upper;
        self.additions += 1;
    }

    /// Brings carries up: all chunks but the last are then 0 to 2^32 - 1, the one form that each sum has.
    fn carry(&mut self) {
        self.additions = 0;
        let mut carried = 0;
        let (last, chunks) = match self.chunks.split_last_mut() {
            Some(parts) => parts,
            None => return,
        };
        for chunk in chunks {
            let whole = *chunk + carried;
            (*chunk, carried) = (whole & MASK, whole >> BITS);
        }
        *last += carried;
    }

    /// Adds what another rank summed.
    pub(crate) fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        other.carry();
        self.carry();
        self.special.nan |= other.special.nan;
        self.special.positive_infinity |= other.special.positive_infinity;
        self.special.negative_infinity |= other.special.negative_infinity;
        for (chunk, theirs) in self.chunks.iter_mut().zip(&other.chunks) {
            *chunk += theirs;
        }
        self.carry();
    }

    /// The sum as a sign and a magnitude of 32 bits a limb.
    fn magnitude(&self) -> (bool, Vec<u32>) {
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.chunks[N - 1] < 0;
        if negative {
            sum.chunks.iter_mut().for_each(|chunk| *chunk = -*chunk);
            sum.carry();
        }
        (negative, sum.chunks.iter().map(|&chunk| chunk as u32).collect())
    }

    /// The special value if one was added, else the sum, rounded once.
    fn rounded(&self, fraction_bits: u32) -> Rounded {
        match self.special.value() {
            Some(mantissa) => Rounded { mantissa, exponent: 0 },
            None => {
                let (negative, limbs) = self.magnitude();
                Rounded::of_limbs(&limbs, negative, -(fraction_bits as i32))
            }
        }
    }

    /// Appends the one encoding of this sum: what is special, where the chunks start, how many there are, and they.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        let mut sum = self.clone();
        sum.carry();
        let used = |chunk: &i64| *chunk != 0;
        let first = sum.chunks.iter().position(used).unwrap_or(0);
        let end = sum.chunks.iter().rposition(used).map_or(0, |last| last + 1);
        bytes.extend([sum.special.as_u8(), first as u8, (end - first) as u8]);
        // The last chunk alone can be negative: it is sign-extended on the way back.
        sum.chunks[first..end].iter().for_each(|&chunk| bytes.extend((chunk as u32).to_le_bytes()));
    }

    /// Reads what [`write`](Self::write) wrote, and what is left after it; none if it is anything else.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (&[special, first, count], rest) = bytes.split_first_chunk::<3>()?;
        let (first, count) = (usize::from(first), usize::from(count));
        let (chunks, rest) = rest.split_at_checked(count * 4)?;
        let mut sum = Self { special: Special::from_u8(special)?, ..Self::ZERO };
        let places = sum.chunks.get_mut(first..first + count)?;
        let (chunks, _) = chunks.as_chunks::<4>();
        places.iter_mut().zip(chunks).for_each(|(to, from)| *to = i64::from(u32::from_le_bytes(*from)));
        sum.chunks[N - 1] = i64::from(sum.chunks[N - 1] as u32 as i32);
        Some((sum, rest))
    }
}

impl ExactSum {
    /// Whether something was added that is no finite number.
    pub(crate) fn is_special(&self) -> bool {
        self.special.value().is_some()
    }

    /// Adds a number.
    #[inline]
    pub(crate) fn add(&mut self, number: f64) {
        if number.is_finite() {
            let (mantissa, shift) = split(number);
            self.add_shifted(mantissa, shift, number.is_sign_negative());
        } else {
            self.special.add(number);
        }
    }

    /// Adds an integer.
    pub(crate) fn add_integer(&mut self, magnitude: u64, negative: bool) {
        self.add_shifted(magnitude & MANTISSA, FRACTION_BITS, negative);
        self.add_shifted(magnitude >> 53, FRACTION_BITS + 53, negative);
    }

    /// The sum, rounded to the nearest number.
    pub(crate) fn round(&self) -> Rounded {
        self.rounded(FRACTION_BITS)
    }

    /// The sum if it is an integer of at most 127 bits: sums of integers are.
    pub(crate) fn to_integer(&self) -> Option<i128> {
        let (negative, limbs) = self.magnitude();
        let bit = |at: u32| u128::from(limbs[(at / BITS) as usize] >> (at % BITS) & 1);
        let magnitude = (0..127).map(|at| bit(FRACTION_BITS + at) << at).sum::<u128>() as i128;
        let above = (FRACTION_BITS + 127..SUM_CHUNKS as u32 * BITS).any(|at| bit(at) == 1);
        (!above).then_some(if negative { -magnitude } else { magnitude })
    }
}

impl ExactSquares {
    /// Adds the square of a number.
    #[inline]
    pub(crate) fn add_square(&mut self, number: f64) {
        if number.is_finite() {
            let (mantissa, shift) = split(number);
            self.add_square_shifted(mantissa, 2 * shift);
        } else {
            self.special.add(number * number);
        }
    }

    /// Adds the square of an integer.
    pub(crate) fn add_integer_square(&mut self, magnitude: u64) {
        self.add_square_shifted(magnitude, 2 * FRACTION_BITS);
    }

    /// Adds the product of two numbers.
    #[inline]
    pub(crate) fn add_product(&mut self, a: Term, b: Term) {
        let product = u128::from(a.mantissa) * u128::from(b.mantissa);
        self.add_wide(product, a.shift + b.shift, a.negative != b.negative);
    }

    #[inline]
    fn add_square_shifted(&mut self, root: u64, shift: u32) {
        self.add_wide(u128::from(root) * u128::from(root), shift, false);
    }

    #[inline]
    fn add_wide(&mut self, product: u128, shift: u32, negative: bool) {
        self.add_shifted(product as u64 & MANTISSA, shift, negative);
        self.add_shifted((product >> 53) as u64 & MANTISSA, shift + 53, negative);
        if product >> 106 != 0 {
            self.add_shifted((product >> 106) as u64, shift + 106, negative);
        }
    }
}

/// The sum of a few numbers, rounded once: exactly what an [`ExactSum`] of them gives, and faster where their
/// exponents are near one another.
pub(crate) fn sum_of(numbers: &[f64]) -> Rounded {
    if let Some(sum) = near_sum(numbers) {
        return sum;
    }
    let mut sum = ExactSum::ZERO;
    numbers.iter().for_each(|&number| sum.add(number));
    sum.round()
}

/// The sum as one integer of 127 bits, if it fits: 53 bits each, 48 for shifts, 26 for how many there are.
fn near_sum(numbers: &[f64]) -> Option<Rounded> {
    let (mut lowest, mut highest) = (u32::MAX, 0);
    for number in numbers.iter().filter(|&&number| number != 0.0) {
        let exponent = (number.to_bits() >> 52 & 0x7ff) as u32;
        (lowest, highest) = (lowest.min(exponent), highest.max(exponent));
    }
    if lowest > highest {
        return Some(Rounded { mantissa: 0.0, exponent: 0 });
    }
    if lowest == 0 || highest == 0x7ff || highest - lowest > 48 || numbers.len() > 1 << 25 {
        return None;
    }
    let mut sum = 0i128;
    for number in numbers.iter().filter(|&&number| number != 0.0) {
        let (mantissa, shift) = split(*number);
        let magnitude = i128::from(mantissa) << (shift + 1 - lowest);
        sum += if number.is_sign_negative() { -magnitude } else { magnitude };
    }
    Some(Rounded { mantissa: sum as f64, exponent: lowest as i32 - 1 - FRACTION_BITS as i32 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(numbers: &[f64]) -> ExactSum {
        let mut sum = ExactSum::ZERO;
        numbers.iter().for_each(|&number| sum.add(number));
        sum
    }

    fn encoded<const N: usize>(sum: &Exact<N>) -> Vec<u8> {
        let mut bytes = Vec::new();
        sum.write(&mut bytes);
        bytes
    }

    #[test]
    fn sums_are_rounded_once() {
        let tiny = f64::from_bits(1);
        let value = |numbers: &[f64]| sum(numbers).round().value();
        assert_eq!(value(&[1e308, 1e308, -1e308, -1e308, tiny]), tiny);
        assert_eq!(value(&[1.0, 2f64.powi(-53)]), 1.0, "a tie goes to the even number");
        assert_eq!(value(&[1.0, 2f64.powi(-53), tiny]), 1.0 + f64::EPSILON);
        assert_eq!(value(&[-1.0, -2f64.powi(-53), -tiny]), -1.0 - f64::EPSILON);
        assert_eq!(value(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(value(&[f64::MAX, -f64::MAX]), 0.0);
        assert_eq!(value(&[0.1; 10]), 1.0);
        assert!(value(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
        assert_eq!(value(&[f64::NEG_INFINITY, 1.0]), f64::NEG_INFINITY);
    }

    #[test]
    fn integers_keep_all_their_bits() {
        let mut sum = ExactSum::ZERO;
        for _ in 0..5 {
            sum.add_integer(u64::MAX, false);
            sum.add_integer(1 << 63, true);
        }
        assert_eq!(sum.to_integer(), Some(5 * (i128::from(u64::MAX) - (1 << 63))));
        sum.add_integer(u64::MAX, true);
        assert_eq!(sum.to_integer(), Some(4 * i128::from(u64::MAX) - 5 * (1 << 63)));
    }

    #[test]
    fn no_bytes_but_those_of_a_sum_are_read() {
        assert!(ExactSum::read(&[0, 0]).is_none());
        assert!(ExactSum::read(&[8, 0, 0]).is_none(), "an unknown special");
        assert!(ExactSum::read(&[0, 69, 1, 0, 0, 0, 0]).is_none(), "past the end");
        assert!(ExactSum::read(&[0, 0, 2, 0, 0, 0, 0]).is_none(), "cut short");
    }

    fn any_finite() -> impl Strategy<Value = f64> {
        let bits = any::<u64>().prop_map(f64::from_bits);
        prop_oneof![bits.prop_filter("finite", |x| x.is_finite()), -1e3..1e3, Just(0.0), Just(-1e300)]
    }

    proptest! {
        #[test]
        fn cuts_and_orders_change_no_bit(
            mut numbers in proptest::collection::vec(any_finite(), 0..2000), cut in 0usize..2000,
        ) {
            let whole = encoded(&sum(&numbers));
            let (left, right) = numbers.split_at(cut.min(numbers.len()));
            let mut merged = sum(right);
            merged.merge(&sum(left));
            prop_assert_eq!(encoded(&merged), whole.clone());
            let (read, rest) = ExactSum::read(&whole).unwrap();
            prop_assert!(rest.is_empty());
            prop_assert_eq!(encoded(&read), whole.clone());
            numbers.reverse();
            prop_assert_eq!(encoded(&sum(&numbers)), whole);
        }

        #[test]
        fn the_short_way_gives_the_same_bits(numbers in proptest::collection::vec(-1e6..1e6f64, 1..50)) {
            let short = near_sum(&numbers);
            let long = sum(&numbers).round().value();
            if let Some(short) = short {
                prop_assert_eq!(short.value().to_bits(), long.to_bits());
            }
        }

        /// Pairs have an oracle: the machine's own addition is rounded once.
        #[test]
        fn two_numbers_sum_as_the_machine_has_it(a in any_finite(), b in any_finite()) {
            prop_assert_eq!(sum(&[a, b]).round().value(), a + b);
            let mut squares = ExactSquares::ZERO;
            squares.add_square(a);
            let square = squares.rounded(2 * FRACTION_BITS).value();
            prop_assert!(square == a * a || (a * a).is_subnormal() || a * a == 0.0);
        }
    }
}
