//! The one measure of a watched world: the least element of the grid.

use fp_proto::config::{SubscriptionSpec, VariableSet};
use fp_types::{Condition, Found, Measure, MeasureParts, Measured, MeasuredNumber, Rank, Real, Unmeasured};

/// The array of which it is.
pub(crate) const GRID: &str = "temperature";
/// A part is as long as that of a least element of three dimensions: type, shape and place beside the number.
const PART_BYTES: usize = 2 + 3 * 8 + 17;

/// The least element, as a part of it: its eight bytes come first.
#[derive(Debug)]
pub(crate) struct Least;

/// A rank's part.
pub(crate) fn part(least: f64) -> Vec<u8> {
    let mut part = least.to_le_bytes().to_vec();
    part.resize(PART_BYTES, 0);
    part
}

fn read(part: &[u8]) -> Option<f64> {
    part.first_chunk::<8>().map(|bytes| f64::from_le_bytes(*bytes))
}

impl MeasureParts for Least {
    fn knows(&self, _: &Measure) -> bool {
        true
    }

    fn limit_part_bytes(&self, _: &Measure) -> usize {
        PART_BYTES
    }

    fn merge(&self, _: &str, one: &[u8], other: &[u8]) -> Option<Vec<u8>> {
        Some(if read(other)? < read(one)? { other } else { one }.to_vec())
    }

    fn finish(&self, measure: &str, part: &[u8]) -> Found {
        let unreadable = || Unmeasured::new(Rank::LEAD, format!("the parts of {measure} cannot be read"));
        let number = Some(MeasuredNumber::Real(Real(read(part).ok_or_else(unreadable)?)));
        Ok(Measured { measure: measure.to_owned(), number, place: None })
    }
}

/// What the subscribers of a watched world ask for: to be told, and no variables.
pub(crate) fn watching() -> SubscriptionSpec {
    let condition: Condition = format!("min({GRID}) < 0").parse().expect("a condition");
    let variables = VariableSet::named(Vec::<String>::new());
    SubscriptionSpec {
        variables,
        when: Some(condition.encode()),
        limit_steps: 8,
        ..SubscriptionSpec::default()
    }
}
