//! Histograms: counts, so that merging is adding.

use super::MAX_BINS;
use crate::numbers::Strip;

/// Intervals of equal width. An interval has its lower end, the last one both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bins {
    /// The lower end of the first.
    pub low: f64,
    /// The upper end of the last.
    pub high: f64,
    /// How many.
    pub count: u32,
}

impl Bins {
    /// How many counts there are: the bins, then below, above, NaN.
    pub(crate) fn places(self) -> u64 {
        u64::from(self.count) + 3
    }

    /// What makes no sense of them.
    pub(super) fn fault(self) -> Option<&'static str> {
        let Self { low, high, count } = self;
        match count {
            _ if !(high - low).is_finite() || low >= high => {
                Some("a finite interval is wanted, of which the lower end comes first")
            }
            0 => Some("no bins"),
            _ if count > MAX_BINS => Some("too many bins"),
            _ => None,
        }
    }

    /// The least number that is counted in that bin or a later one.
    fn first_of(self, bin: usize) -> f64 {
        if self.place(self.low) >= bin {
            return self.low;
        }
        let (mut before, mut at) = (in_order(self.low), in_order(self.high));
        while at - before > 1 {
            let middle = before + (at - before) / 2;
            let is_before = self.place(of_order(middle)) < bin;
            (before, at) = if is_before { (middle, at) } else { (before, middle) };
        }
        of_order(at)
    }

    /// Where the bin before that one ends.
    #[inline]
    fn end(self, bin: usize) -> f64 {
        self.low + (self.high - self.low) * (bin as f64 / f64::from(self.count))
    }

    /// What numbers are at least and at most that are counted in a bin. Of bins that are narrower than the numbers are
    /// apart, some may have numbers beyond their ends.
    fn ends(self, bin: usize) -> (f64, f64) {
        let low = self.end(bin).min(self.first_of(bin)).max(self.low);
        let is_last = bin + 1 >= self.count as usize;
        let last = || self.first_of(bin + 1).next_down();
        (low, if is_last { self.high } else { self.end(bin + 1).max(last()).min(self.high) })
    }

    /// Where a number is counted. That depends on nothing but the number: so cuts and orders make no difference.
    #[inline]
    pub(super) fn place(self, number: f64) -> usize {
        let bins = self.count as usize;
        if number.is_nan() {
            bins + 2
        } else if number < self.low {
            bins
        } else if number > self.high {
            bins + 1
        } else {
            let share = (number - self.low) / (self.high - self.low);
            let at = ((share * bins as f64) as usize).min(bins - 1);
            // That is rounded: what lies at an end of a bin may have come to the one beside it.
            if at > 0 && number < self.end(at) {
                at - 1
            } else if at + 1 < bins && number >= self.end(at + 1) {
                at + 1
            } else {
                at
            }
        }
    }
}

/// How many elements lie in each bin, and outside.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counts {
    low: f64,
    high: f64,
    /// The bins, then below, above, NaN.
    counts: Vec<u64>,
}

impl Counts {
    pub(crate) fn new(low: f64, high: f64, bins: u32) -> Self {
        Self { low, high, counts: vec![0; bins as usize + 3] }
    }

    /// How many bins there are.
    fn bins(&self) -> usize {
        self.counts.len() - 3
    }

    pub(super) fn add(&mut self, strip: &Strip<'_>) {
        let bins = Bins { low: self.low, high: self.high, count: self.bins() as u32 };
        strip.for_each_real(|number| self.counts[bins.place(number)] += 1);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (count, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *count = count.saturating_add(*theirs);
        }
    }

    /// Whether the two count the same.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let bounds = |counts: &Self| (counts.low.to_bits(), counts.high.to_bits(), counts.counts.len());
        bounds(self) == bounds(other)
    }

    /// What the number is at least and at most of which the rank is the least that makes so large a share of all. `None` of
    /// nothing, and NaN if any number is.
    pub(crate) fn bracket(&self, share: f64) -> Option<(f64, f64)> {
        let bins = Bins { low: self.low, high: self.high, count: self.bins() as u32 };
        let (inside, outside) = self.counts.split_at(self.bins());
        let &[below, _, nan] = outside else { return None };
        let all = self.counts.iter().fold(0u64, |all, count| all.saturating_add(*count));
        if all == 0 || nan > 0 {
            return (nan > 0).then_some((f64::NAN, f64::NAN));
        }
        let rank = rank(share, all);
        if rank <= below {
            return Some((f64::NEG_INFINITY, self.low));
        }
        let mut seen = below;
        for (bin, count) in inside.iter().enumerate() {
            seen = seen.saturating_add(*count);
            if rank <= seen {
                return Some(bins.ends(bin));
            }
        }
        Some((self.high, f64::INFINITY))
    }

    /// Bins, below, above, NaN.
    pub(crate) fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The counts alone: what they count is known to who reads them.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        self.counts.iter().for_each(|count| bytes.extend(count.to_le_bytes()));
    }

    /// Reads what [`write`](Self::write) wrote.
    pub(crate) fn read(mut self, bytes: &[u8]) -> Option<Self> {
        let (counts, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() || counts.len() != self.counts.len() {
            return None;
        }
        self.counts.iter_mut().zip(counts).for_each(|(to, from)| *to = u64::from_le_bytes(*from));
        Some(self)
    }
}

/// The least rank of so many, from 1, that is no smaller a share of them.
fn rank(share: f64, of: u64) -> u64 {
    let all = of as f64;
    let is_enough = |rank: u64| rank as f64 / all >= share;
    let mut rank = ((share * all) as u64).clamp(1, of);
    while rank > 1 && is_enough(rank - 1) {
        rank -= 1;
    }
    while rank < of && !is_enough(rank) {
        rank += 1;
    }
    rank
}

/// Finite numbers as integers that are ordered as they are.
fn in_order(number: f64) -> i128 {
    of_sign(number.to_bits() as i64).into()
}

/// The number of such an integer.
fn of_order(at: i128) -> f64 {
    f64::from_bits(of_sign(at as i64) as u64)
}

/// Integers in sign and magnitude as integers in two's complement, and back.
fn of_sign(bits: i64) -> i64 {
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Widths and places at which rounding shows, beside plain ones.
    fn bins() -> impl Strategy<Value = Bins> {
        let ends = prop_oneof![
            Just((0.0, 1.0)),
            Just((-1000.0, 1000.0)),
            Just((1e15, 1e15 + 10.0)),
            (-50.0..50.0, 0.001..100.0).prop_map(|(low, width)| (low, low + width)),
        ];
        (ends, 1u32..70).prop_map(|((low, high), count)| Bins { low, high, count })
    }

    fn counted(bins: Bins, numbers: &[f64]) -> Counts {
        let mut counts = Counts::new(bins.low, bins.high, bins.count);
        counts.add(&Strip::Real(numbers));
        counts
    }

    proptest! {
        /// The number that sorting gives lies in its bracket, which is one bin wide or ends with the interval.
        #[test]
        fn a_bracket_has_the_quantile(
            bins in bins(), shares in proptest::collection::vec(-0.2f64..1.2, 1..60), share in 0u32..101,
        ) {
            let width = bins.high - bins.low;
            let mut numbers: Vec<f64> = shares.iter().map(|share| bins.low + share * width).collect();
            // Those that lie at the ends of bins.
            numbers.extend((0..=bins.count).map(|at| bins.low + width * (f64::from(at) / f64::from(bins.count))));
            let (low, high) = counted(bins, &numbers).bracket(f64::from(share) / 100.0).expect("numbers");
            numbers.sort_by(f64::total_cmp);
            let least = (numbers.len() as u64 * u64::from(share)).div_ceil(100).max(1);
            let exact = numbers[least as usize - 1];
            prop_assert!(low <= exact && exact <= high, "{:?}: {} in {}..{}", bins, exact, low, high);
            let bin = width / f64::from(bins.count);
            let rounding = 4.0 * f64::EPSILON * (bins.low.abs() + bins.high.abs());
            prop_assert!(high - low <= bin + rounding || low == bins.high || high == bins.low);
        }
    }

    #[test]
    fn nothing_and_nan_have_no_bracket() {
        let bins = Bins { low: 0.0, high: 8.0, count: 4 };
        assert_eq!(counted(bins, &[]).bracket(0.5), None);
        let (low, high) = counted(bins, &[1.0, f64::NAN]).bracket(0.0).expect("numbers");
        assert!(low.is_nan() && high.is_nan());
        let ends = [-1.0, 0.0, 1.9, 2.0, 8.0, f64::INFINITY];
        let at = |rank: u32| counted(bins, &ends).bracket(f64::from(rank) / 6.0).expect("numbers");
        let infinite = f64::INFINITY;
        assert_eq!([0, 1, 2, 3].map(at), [(-infinite, 0.0), (-infinite, 0.0), (0.0, 2.0), (0.0, 2.0)]);
        assert_eq!([4, 5, 6].map(at), [(2.0, 4.0), (6.0, 8.0), (8.0, infinite)]);
        // Of a peer that lies there is a bracket as well.
        let mut lie = counted(bins, &[]);
        lie.counts = vec![u64::MAX; 6];
        lie.counts.push(0);
        assert_eq!(lie.bracket(0.99), Some((-infinite, 0.0)));
    }
}
