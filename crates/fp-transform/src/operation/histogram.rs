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
            ((share * bins as f64) as usize).min(bins - 1)
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
