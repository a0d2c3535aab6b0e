//! Which elements count: `temperature > 900`.

use std::fmt;
use std::str::FromStr;

use fp_types::{Comparison, Condition, Measure, NameError, ParseConditionError, Real, Statistic};

/// Elements of a variable that compare so with a number. NaN never does, nor does anything with NaN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threshold {
    measure: Measure,
    comparison: Comparison,
    number: Real,
}

/// Why a text is no threshold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseThresholdError {
    /// It does not read as one. It is read as what stands within `any(...)`.
    #[error("a variable and a number are expected, as temperature > 900: {0}")]
    Text(ParseConditionError),
    /// It names a part of the variable.
    #[error("features are of the whole of {variable:?}: leave out what stands in square brackets")]
    Region {
        /// The variable.
        variable: String,
    },
}

impl Threshold {
    /// Of the elements of that variable.
    ///
    /// # Errors
    /// A name that no variable can have.
    pub fn new(variable: &str, comparison: Comparison, number: f64) -> Result<Self, NameError> {
        let measure = Measure::of(Statistic::Any(comparison, Real(number)), variable)?;
        Ok(Self { measure, comparison, number: Real(number) })
    }

    /// The variable.
    pub fn variable(&self) -> &str {
        self.measure.variable()
    }

    /// Whether an element counts.
    pub fn holds(&self, element: f64) -> bool {
        self.comparison.holds(element, self.number.0)
    }

    /// Whether what counts is above, so that the greatest element is the peak. Otherwise it is the least.
    pub fn is_above(&self) -> bool {
        matches!(self.comparison, Comparison::Above | Comparison::AtLeast)
    }

    /// Calls back with where elements begin to count, and where they end to.
    pub(crate) fn for_each_run(&self, row: &[f64], found: impl FnMut(usize, usize)) {
        let number = self.number.0;
        match self.comparison {
            Comparison::Above => runs(row, |element| element > number, found),
            Comparison::AtLeast => runs(row, |element| element >= number, found),
            Comparison::Below => runs(row, |element| element < number, found),
            Comparison::AtMost => runs(row, |element| element <= number, found),
        }
    }
}

fn runs(row: &[f64], counts: impl Fn(f64) -> bool, mut found: impl FnMut(usize, usize)) {
    let mut at = 0;
    while let Some(before) = row[at..].iter().position(|&element| counts(element)) {
        let start = at + before;
        let len = row[start..].iter().position(|&element| !counts(element)).unwrap_or(row.len() - start);
        found(start, start + len);
        at = start + len;
    }
}

impl FromStr for Threshold {
    type Err = ParseThresholdError;

    fn from_str(text: &str) -> Result<Self, ParseThresholdError> {
        let read: Condition = format!("any({text})").parse().map_err(ParseThresholdError::Text)?;
        let wrong = || {
            // Brackets within may close what was opened here.
            let (text, at) = (format!("any({text})"), text.len() + 5);
            ParseThresholdError::Text(ParseConditionError::Expected {
                text,
                at,
                expected: "one comparison alone",
            })
        };
        let Condition::Measured(measure) = read else { return Err(wrong()) };
        if measure.region().is_some() {
            return Err(ParseThresholdError::Region { variable: measure.variable().to_owned() });
        }
        let Statistic::Any(comparison, number) = measure.statistic() else { return Err(wrong()) };
        Ok(Self { measure, comparison, number })
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.measure.to_string();
        f.write_str(text.strip_prefix("any(").and_then(|text| text.strip_suffix(')')).unwrap_or(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_are_written_as_in_conditions() {
        for (text, written) in [
            ("temperature > 900", "temperature > 900.0"),
            ("p<=-1e-3", "p <= -0.001"),
            ("\"p (Pa)\" >= 2", "\"p (Pa)\" >= 2.0"),
        ] {
            let threshold: Threshold = text.parse().expect(text);
            assert_eq!(threshold.to_string(), written);
            assert_eq!(written.parse(), Ok(threshold));
        }
    }

    #[test]
    fn what_is_none_is_refused_with_its_place() {
        for (text, said) in [
            ("temperature", "\"any(temperature)\", character 16: one of >"),
            ("temperature > x", "character 19: a number"),
            ("a > 1) or any(b > 1", "character 24: one comparison alone"),
            ("T[0:4] > 1", "leave out what stands in square brackets"),
        ] {
            let error = text.parse::<Threshold>().expect_err(text).to_string();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn runs_are_found_and_nan_is_in_none() {
        let threshold: Threshold = "x > 1".parse().expect("a threshold");
        let runs = |row: &[f64]| {
            let mut runs = Vec::new();
            threshold.for_each_run(row, |start, end| runs.push((start, end)));
            runs
        };
        assert_eq!(runs(&[2.0, 3.0, 1.0, f64::NAN, 5.0]), [(0, 2), (4, 5)]);
        assert_eq!(runs(&[f64::INFINITY; 3]), [(0, 3)]);
        assert!(runs(&[]).is_empty() && runs(&[0.0]).is_empty());
    }
}
