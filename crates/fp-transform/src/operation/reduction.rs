//! Least, greatest, sum, mean, variance: of parts of an array, merged without rounding.

use fp_types::{Comparison, Dtype};

use super::{Counts, Reduction};
use crate::block::Array;
use crate::error::DeriveError;
use crate::exact::{ExactSquares, ExactSum, variance};
use crate::memory::Memory;
use crate::numbers::{Scalar, Strip, for_each_strip};

/// What is known of the elements seen so far.
#[derive(Clone, Debug)]
pub(crate) enum Statistic {
    Extreme {
        greatest: bool,
        found: Option<Scalar>,
    },
    Sum {
        count: u64,
        sum: ExactSum,
    },
    Squares {
        count: u64,
        sum: ExactSum,
        squares: Box<ExactSquares>,
    },
    Histogram(Counts),
    /// How many elements there are, and how many compare so.
    Compared {
        comparison: Comparison,
        threshold: f64,
        held: u64,
        count: u64,
    },
}

impl Statistic {
    /// Of nothing.
    pub(crate) fn new(reduction: Reduction) -> Self {
        match reduction {
            Reduction::Minimum => Self::Extreme { greatest: false, found: None },
            Reduction::Maximum => Self::Extreme { greatest: true, found: None },
            Reduction::Sum | Reduction::Mean => Self::Sum { count: 0, sum: ExactSum::ZERO },
            Reduction::Variance => {
                Self::Squares { count: 0, sum: ExactSum::ZERO, squares: Box::new(ExactSquares::ZERO) }
            }
            Reduction::Histogram { low, high, bins } => Self::Histogram(Counts::new(low, high, bins)),
            Reduction::Count { comparison, threshold }
            | Reduction::Any { comparison, threshold }
            | Reduction::All { comparison, threshold } => {
                Self::Compared { comparison, threshold, held: 0, count: 0 }
            }
        }
    }

    fn add(&mut self, strip: &Strip<'_>) {
        match self {
            Self::Extreme { greatest, found } => *found = extreme(*found, strip, *greatest),
            Self::Sum { count, sum } => *count += add_sum(sum, strip),
            Self::Squares { count, sum, squares } => {
                *count += add_sum(sum, strip);
                match strip {
                    Strip::Signed(all) => {
                        all.iter().for_each(|x| squares.add_integer_square(x.unsigned_abs()))
                    }
                    Strip::Unsigned(all) => all.iter().for_each(|&x| squares.add_integer_square(x)),
                    Strip::Real(all) => all.iter().for_each(|&x| squares.add_square(x)),
                }
            }
            Self::Histogram(counts) => counts.add(strip),
            Self::Compared { comparison, threshold, held, count } => {
                *count += strip.len() as u64;
                strip.for_each_real(|number| *held += u64::from(comparison.holds(number, *threshold)));
            }
        }
    }

    /// Adds what another rank found; says whether the two are of a kind.
    pub(crate) fn merge(&mut self, other: &Self) -> bool {
        match (self, other) {
            (Self::Extreme { greatest, found }, Self::Extreme { greatest: theirs, found: other }) => {
                *found = match (*found, *other) {
                    (Some(found), Some(other)) => Some(better(found, other, *greatest)),
                    (found, other) => found.or(other),
                };
                greatest == theirs
            }
            (Self::Sum { count, sum }, Self::Sum { count: others, sum: other }) => {
                *count = count.saturating_add(*others);
                sum.merge(other);
                true
            }
            (
                Self::Squares { count, sum, squares },
                Self::Squares { count: others, sum: other, squares: theirs },
            ) => {
                *count = count.saturating_add(*others);
                sum.merge(other);
                squares.merge(theirs);
                true
            }
            (Self::Histogram(counts), Self::Histogram(other)) => {
                let alike = counts.is_like(other);
                counts.merge(other);
                alike
            }
            (
                Self::Compared { held, count, comparison, .. },
                Self::Compared { held: theirs, count: others, comparison: other, .. },
            ) => {
                *held = held.saturating_add(*theirs);
                *count = count.saturating_add(*others);
                comparison == other
            }
            _ => false,
        }
    }

    /// Whether it has seen no element.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Extreme { found, .. } => found.is_none(),
            Self::Sum { count, .. } | Self::Squares { count, .. } | Self::Compared { count, .. } => {
                *count == 0
            }
            Self::Histogram(_) => false,
        }
    }

    /// The bytes of the result, for elements of type `of`.
    pub(crate) fn finish(&self, reduction: Reduction, of: Dtype) -> Result<Vec<u8>, DeriveError> {
        let empty = || DeriveError::Empty { operation: super::Operation::Reduce(reduction).to_string() };
        match self {
            Self::Extreme { found, .. } => found.map(|scalar| scalar.to_bytes(of)).ok_or_else(empty),
            Self::Sum { sum, .. } if reduction == Reduction::Sum => finish_sum(sum, reduction.dtype(of)),
            Self::Sum { count: 0, .. } | Self::Squares { count: 0, .. } => Err(empty()),
            Self::Sum { count, sum } => Ok(sum.round().divided(*count).to_ne_bytes().to_vec()),
            Self::Squares { count, sum, squares } => {
                Ok(variance(*count, sum, squares).to_ne_bytes().to_vec())
            }
            Self::Histogram(counts) => {
                Ok(counts.counts().iter().flat_map(|count| count.to_ne_bytes()).collect())
            }
            Self::Compared { held, count, .. } => Ok(match reduction {
                Reduction::Any { .. } => vec![u8::from(*held > 0)],
                Reduction::All { .. } => vec![u8::from(held == count)],
                Reduction::Minimum
                | Reduction::Maximum
                | Reduction::Sum
                | Reduction::Mean
                | Reduction::Variance
                | Reduction::Histogram { .. }
                | Reduction::Count { .. } => held.to_ne_bytes().to_vec(),
            }),
        }
    }
}

/// What the blocks of an array give.
pub(crate) fn reduce(reduction: Reduction, input: &Array, memory: &Memory) -> Result<Statistic, DeriveError> {
    if let Reduction::Histogram { bins, .. } = reduction {
        memory.charge(8 * u64::from(bins))?;
    }
    let mut statistic = Statistic::new(reduction);
    for (at, block) in input.blocks().iter().enumerate() {
        memory.check_stop_after(at)?;
        let block = block.native(memory)?;
        for_each_strip(block.dtype(), block.bytes(), |strip| statistic.add(&strip));
    }
    Ok(statistic)
}

fn finish_sum(sum: &ExactSum, dtype: Dtype) -> Result<Vec<u8>, DeriveError> {
    let too_large = || DeriveError::SumTooLarge { sum: sum.round().value(), dtype };
    if dtype == Dtype::I64 {
        let sum = sum.to_integer().and_then(|sum| i64::try_from(sum).ok()).ok_or_else(too_large)?;
        return Ok(sum.to_ne_bytes().to_vec());
    }
    if dtype == Dtype::U64 {
        let sum = sum.to_integer().and_then(|sum| u64::try_from(sum).ok()).ok_or_else(too_large)?;
        return Ok(sum.to_ne_bytes().to_vec());
    }
    Ok(sum.round().value().to_ne_bytes().to_vec())
}

/// Adds numbers to a sum; says how many.
fn add_sum(sum: &mut ExactSum, strip: &Strip<'_>) -> u64 {
    match strip {
        Strip::Signed(all) => {
            all.iter().for_each(|x| sum.add_integer(x.unsigned_abs(), *x < 0));
            all.len() as u64
        }
        Strip::Unsigned(all) => {
            all.iter().for_each(|&x| sum.add_integer(x, false));
            all.len() as u64
        }
        Strip::Real(all) => {
            all.iter().for_each(|&x| sum.add(x));
            all.len() as u64
        }
    }
}

/// The extreme of what was found and of a strip.
pub(crate) fn extreme(found: Option<Scalar>, strip: &Strip<'_>, greatest: bool) -> Option<Scalar> {
    let of_strip = match strip {
        Strip::Signed(all) => pick(all, i64::cmp, greatest).map(Scalar::Signed),
        Strip::Unsigned(all) => pick(all, u64::cmp, greatest).map(Scalar::Unsigned),
        Strip::Real(all) => extreme_real(all, greatest).map(Scalar::Real),
    };
    match (found, of_strip) {
        (Some(found), Some(other)) => Some(better(found, other, greatest)),
        (found, other) => found.or(other),
    }
}

fn pick<T: Copy>(all: &[T], compare: fn(&T, &T) -> std::cmp::Ordering, greatest: bool) -> Option<T> {
    if greatest { all.iter().copied().max_by(compare) } else { all.iter().copied().min_by(compare) }
}

/// Real numbers that are compared at a time: no comparison waits for the one before.
const LANES: usize = 8;

/// The extreme of real numbers; NaN if any is none. -0 comes before 0.
fn extreme_real(all: &[f64], greatest: bool) -> Option<f64> {
    // Neither leaves its loop early: the compiler makes vector instructions of them.
    let nans = all.iter().fold(0, |nans, x| nans | u64::from(x.is_nan()));
    if nans != 0 || all.is_empty() {
        return (nans != 0).then_some(f64::NAN);
    }
    let best = match greatest {
        true => best_of(all, f64::NEG_INFINITY, |one, other| if other > one { other } else { one }),
        false => best_of(all, f64::INFINITY, |one, other| if other < one { other } else { one }),
    };
    if best != 0.0 {
        return Some(best);
    }
    // Of zeros a comparison says that they are equal. All others have the sign of what is less extreme.
    let signs = all.iter().map(|x| x.to_bits());
    let bits =
        if greatest { signs.fold(u64::MAX, |all, x| all & x) } else { signs.fold(0, |all, x| all | x) };
    Some(0f64.copysign(f64::from_bits(bits)))
}

fn best_of(all: &[f64], worst: f64, better: impl Fn(f64, f64) -> f64) -> f64 {
    let (together, rest) = all.as_chunks::<LANES>();
    let mut best = [worst; LANES];
    for numbers in together {
        for (best, number) in best.iter_mut().zip(numbers) {
            *best = better(*best, *number);
        }
    }
    best.into_iter().chain(rest.iter().copied()).fold(worst, better)
}

fn better(found: Scalar, other: Scalar, greatest: bool) -> Scalar {
    if found.is_nan() || other.is_nan() {
        return Scalar::Real(f64::NAN);
    }
    let other_is_greater = other.compare(found).is_gt();
    if other_is_greater == greatest { other } else { found }
}

impl Statistic {
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Extreme { found, .. } => match found {
                None => bytes.push(0),
                Some(number) => {
                    bytes.push(1);
                    bytes.extend(number.to_le_bytes());
                }
            },
            Self::Sum { count, sum } => {
                bytes.extend(count.to_le_bytes());
                sum.write(bytes);
            }
            Self::Squares { count, sum, squares } => {
                bytes.extend(count.to_le_bytes());
                sum.write(bytes);
                squares.write(bytes);
            }
            Self::Histogram(counts) => counts.write(bytes),
            Self::Compared { held, count, .. } => {
                bytes.extend(held.to_le_bytes());
                bytes.extend(count.to_le_bytes());
            }
        }
    }

    /// Reads what [`write`](Self::write) wrote, of elements of type `of`.
    pub(crate) fn read(reduction: Reduction, of: Dtype, bytes: &[u8]) -> Option<Self> {
        let count = |bytes: &[u8]| bytes.first_chunk::<8>().map(|count| u64::from_le_bytes(*count));
        match (Self::new(reduction), bytes) {
            (Self::Extreme { greatest, .. }, [0]) => Some(Self::Extreme { greatest, found: None }),
            (Self::Extreme { greatest, .. }, [1, number @ ..]) => {
                let found = Scalar::from_le_bytes(of, number.try_into().ok()?);
                Some(Self::Extreme { greatest, found: Some(found) })
            }
            (Self::Sum { .. }, bytes) => {
                let (sum, rest) = ExactSum::read(bytes.get(8..)?)?;
                rest.is_empty().then_some(Self::Sum { count: count(bytes)?, sum })
            }
            (Self::Squares { .. }, bytes) => {
                let (sum, rest) = ExactSum::read(bytes.get(8..)?)?;
                let (squares, rest) = ExactSquares::read(rest)?;
                let squares = Box::new(squares);
                rest.is_empty().then_some(Self::Squares { count: count(bytes)?, sum, squares })
            }
            (Self::Histogram(counts), bytes) => counts.read(bytes).map(Self::Histogram),
            (Self::Compared { comparison, threshold, .. }, bytes) => {
                let (held, count) = (count(bytes)?, count(bytes.get(8..)?)?);
                let compared = Self::Compared { comparison, threshold, held, count };
                (bytes.len() == 16 && held <= count).then_some(compared)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = f64> {
        let some = prop::sample::select(vec![0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, 5e-324]);
        prop_oneof![8 => some, 2 => any::<f64>().prop_filter("a number", |x| !x.is_nan())]
    }

    proptest! {
        /// Number by number: NaN if any is NaN, else by the total order.
        #[test]
        fn many_at_a_time_have_the_extreme_that_one_by_one_have(
            numbers in proptest::collection::vec(number(), 0..40), nan in proptest::option::of(0..40usize),
            sign in prop::sample::select(vec![1.0, -1.0, 0.0]), greatest: bool,
        ) {
            // Also numbers of one sign, of which zeros are the extreme.
            let signed = |x: f64| if sign == 0.0 || x == 0.0 { x } else { x.abs() * sign };
            let mut numbers: Vec<f64> = numbers.into_iter().map(signed).collect();
            if let Some(place) = nan.and_then(|at| numbers.get_mut(at)) {
                *place = f64::NAN;
            }
            let expected = match numbers.iter().any(|x| x.is_nan()) {
                true => Some(f64::NAN),
                false => pick(&numbers, f64::total_cmp, greatest),
            };
            let found = extreme_real(&numbers, greatest);
            prop_assert_eq!(found.map(f64::to_bits), expected.map(f64::to_bits), "{:?}", numbers);
        }
    }
}
