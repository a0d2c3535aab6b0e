//! Histograms: counts, so that merging is adding.

use crate::numbers::Strip;

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
        match strip {
            Strip::Signed(numbers) => numbers.iter().for_each(|&number| self.count(number as f64)),
            Strip::Unsigned(numbers) => numbers.iter().for_each(|&number| self.count(number as f64)),
            Strip::Real(numbers) => numbers.iter().for_each(|&number| self.count(number)),
        }
    }

    /// The bin depends on nothing but the number: so cuts and orders make no difference.
    #[inline]
    fn count(&mut self, number: f64) {
        let bins = self.bins();
        let place = if number.is_nan() {
            bins + 2
        } else if number < self.low {
            bins
        } else if number > self.high {
            bins + 1
        } else {
            let share = (number - self.low) / (self.high - self.low);
            ((share * bins as f64) as usize).min(bins - 1)
        };
        self.counts[place] += 1;
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
