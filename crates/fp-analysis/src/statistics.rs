//! Statistics of tracked features: over the features of a step, and over the life of one.

use std::fmt;
use std::str::FromStr;

use fp_transform::ExactMoments;

use crate::feature::Feature;

/// A number that each tracked feature has in each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// How many elements it has.
    Volume,
    /// How many more than in the step before.
    Growth,
    /// How many steps ago it came to be.
    Age,
    /// The least of its elements.
    Min,
    /// The greatest of its elements.
    Max,
    /// The element that is furthest beyond the threshold.
    Peak,
    /// The mean of its elements.
    Mean,
    /// Their variance.
    Variance,
}

/// Why a text is no column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no column {text:?}; there are {}", Column::ALL.map(Column::word).join(", "))]
pub struct ParseColumnError {
    /// What was given.
    pub text: String,
}

impl Column {
    /// All of them.
    pub const ALL: [Self; 8] =
        [Self::Volume, Self::Growth, Self::Age, Self::Min, Self::Max, Self::Peak, Self::Mean, Self::Variance];

    /// How it is written.
    pub fn word(self) -> &'static str {
        match self {
            Self::Volume => "volume",
            Self::Growth => "growth",
            Self::Age => "age",
            Self::Min => "min",
            Self::Max => "max",
            Self::Peak => "peak",
            Self::Mean => "mean",
            Self::Variance => "variance",
        }
    }

    /// The number of a feature of that growth and age.
    pub(crate) fn of(self, feature: &Feature, growth: i64, age: u64) -> f64 {
        match self {
            Self::Volume => feature.volume as f64,
            Self::Growth => growth as f64,
            Self::Age => age as f64,
            Self::Min => feature.min,
            Self::Max => feature.max,
            Self::Peak => feature.peak,
            Self::Mean => feature.mean,
            Self::Variance => feature.variance,
        }
    }
}

impl FromStr for Column {
    type Err = ParseColumnError;

    fn from_str(text: &str) -> Result<Self, ParseColumnError> {
        let found = Self::ALL.into_iter().find(|column| column.word() == text);
        found.ok_or_else(|| ParseColumnError { text: text.to_owned() })
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Sums of pairs that come one by one. (B. P. Welford, "Note on a method for calculating corrected sums of squares and
/// products", 1962.)
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pairs {
    count: f64,
    means: (f64, f64),
    squares: (f64, f64),
    products: f64,
}

impl Pairs {
    pub(crate) fn add(&mut self, one: f64, other: f64) {
        self.count += 1.0;
        let (from_one, from_other) = (one - self.means.0, other - self.means.1);
        self.means.0 += from_one / self.count;
        self.means.1 += from_other / self.count;
        self.squares.0 += from_one * (one - self.means.0);
        self.squares.1 += from_other * (other - self.means.1);
        self.products += from_one * (other - self.means.1);
    }

    /// Pearson's; NaN of fewer than two pairs, and where one column is the same in all.
    pub(crate) fn correlation(&self) -> f64 {
        let scale = self.squares.0.sqrt() * self.squares.1.sqrt();
        if scale > 0.0 { (self.products / scale).clamp(-1.0, 1.0) } else { f64::NAN }
    }
}

/// Pearson's correlation of pairs of numbers. NaN of fewer than two, and where one column is the same in all.
pub fn correlation(pairs: impl IntoIterator<Item = (f64, f64)>) -> f64 {
    let mut sums = Pairs::default();
    pairs.into_iter().for_each(|(one, other)| sums.add(one, other));
    sums.correlation()
}

/// Numbers over all features of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct StepStatistics {
    /// The mean of their volumes; NaN without one.
    pub volume_mean: f64,
    /// The variance of their volumes, of all (not of a sample); NaN without one.
    pub volume_variance: f64,
    /// Pearson's correlation of the two columns that were asked for. NaN of fewer than two features.
    pub correlation: f64,
}

impl StepStatistics {
    pub(crate) fn of(volumes: impl Iterator<Item = u64>, pairs: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut moments = ExactMoments::default();
        volumes.for_each(|volume| moments.add(volume as f64));
        let (volume_mean, volume_variance) = match moments.count() {
            0 => (f64::NAN, f64::NAN),
            _ => (moments.mean(), moments.variance()),
        };
        Self { volume_mean, volume_variance, correlation: correlation(pairs) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_correlate_and_constants_do_not() {
        let of = |pairs: &[(f64, f64)]| correlation(pairs.iter().copied());
        assert!((of(&[(1.0, 2.0), (2.0, 4.0), (4.0, 8.0)]) - 1.0).abs() < 1e-12);
        assert!((of(&[(1.0, 2.0), (2.0, 0.0)]) + 1.0).abs() < 1e-12);
        assert!(of(&[(1.0, 2.0)]).is_nan() && of(&[]).is_nan() && of(&[(1.0, 3.0), (2.0, 3.0)]).is_nan());
    }

    #[test]
    fn columns_are_read_as_they_are_written() {
        Column::ALL.into_iter().for_each(|column| assert_eq!(column.word().parse(), Ok(column)));
        let error = "size".parse::<Column>().expect_err("no column");
        assert!(error.to_string().starts_with("there is no column \"size\"; there are volume, growth"));
    }

    proptest! {
        /// By the sums of the definition.
        #[test]
        fn it_is_what_the_definition_says(pairs in prop::collection::vec((-9.0..9.0f64, -9.0..9.0f64), 2..20)) {
            let count = pairs.len() as f64;
            let means = (
                pairs.iter().map(|pair| pair.0).sum::<f64>() / count,
                pairs.iter().map(|pair| pair.1).sum::<f64>() / count,
            );
            let sum = |of: &dyn Fn(f64, f64) -> f64| {
                pairs.iter().map(|pair| of(pair.0 - means.0, pair.1 - means.1)).sum::<f64>()
            };
            let wanted = sum(&|a, b| a * b) / (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
            prop_assert!((correlation(pairs.iter().copied()) - wanted).abs() < 1e-9);
        }
    }
}
