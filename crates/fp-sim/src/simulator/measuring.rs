//! How what ranks measure is brought together: plain sums.

use fp_types::{Found, Measure, MeasureParts, Measured, MeasuredNumber, Rank, Unmeasured};

/// Parts are numbers of eight bytes, and a number is their sum.
#[derive(Debug)]
pub(crate) struct Sums;

fn read(part: &[u8]) -> Option<u64> {
    part.try_into().ok().map(u64::from_le_bytes)
}

impl MeasureParts for Sums {
    fn knows(&self, _: &Measure) -> bool {
        true
    }

    fn limit_part_bytes(&self, _: &Measure) -> usize {
        8
    }

    fn merge(&self, _: &str, one: &[u8], other: &[u8]) -> Option<Vec<u8>> {
        Some((read(one)? + read(other)?).to_le_bytes().to_vec())
    }

    fn finish(&self, measure: &str, part: &[u8]) -> Found {
        let unreadable = || Unmeasured::new(Rank::LEAD, format!("the parts of {measure} cannot be read"));
        let number = Some(MeasuredNumber::Unsigned(read(part).ok_or_else(unreadable)?));
        Ok(Measured { measure: measure.to_owned(), number, place: None })
    }
}
