//! How what ranks measured is brought together: injected, as what is measured is not known here.

use std::fmt;

use super::{Condition, ConditionRefusal, Found, Measure, Unmeasured};
use crate::id::Rank;

/// Who knows measures. All functions are pure: equal arguments give equal results on every rank.
///
/// Of each measure every rank has a part, as bytes. Parts are merged on the way to the lead, in any order.
pub trait MeasureParts: fmt::Debug + Send + Sync {
    /// Whether it knows that measure.
    fn knows(&self, measure: &Measure) -> bool;

    /// The most bytes that a part of that measure takes.
    fn limit_part_bytes(&self, measure: &Measure) -> usize;

    /// Brings two ranks' parts of a measure together. `None` if they are no two parts of it.
    fn merge(&self, measure: &str, one: &[u8], other: &[u8]) -> Option<Vec<u8>>;

    /// The number of all ranks' parts.
    fn finish(&self, measure: &str, part: &[u8]) -> Found;
}

/// Knows no measure: conditions look at tables alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMeasures;

impl MeasureParts for NoMeasures {
    fn knows(&self, _: &Measure) -> bool {
        false
    }

    fn limit_part_bytes(&self, _: &Measure) -> usize {
        0
    }

    fn merge(&self, _: &str, _: &[u8], _: &[u8]) -> Option<Vec<u8>> {
        None
    }

    fn finish(&self, measure: &str, _: &[u8]) -> Found {
        Err(Unmeasured::new(Rank::LEAD, format!("{measure} is not known here")))
    }
}

impl Condition {
    /// The condition of these bytes, if all that it measures is known.
    ///
    /// # Errors
    /// What is not known.
    pub fn known(bytes: &[u8], parts: &dyn MeasureParts) -> Result<Self, ConditionRefusal> {
        let condition = Self::decode(bytes)?;
        let unknown = condition.measures().into_iter().find(|measure| !parts.knows(measure));
        match unknown.map(|measure| measure.statistic().word()) {
            Some(word) => Err(ConditionRefusal::Unmeasured { word: word.to_owned() }),
            None => Ok(condition),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_dots_may_be_a_field() {
        let condition: Condition = "max(a.b.c) > 1 or has(x.y) or any(.p > 1)".parse().expect("a condition");
        let fields: Vec<_> = condition.measures()[0].may_be_field().collect();
        assert_eq!(fields, [("a.b", "c"), ("a", "b.c")]);
        assert_eq!(condition.variables(), [".p", "a", "a.b", "a.b.c", "x.y"]);
    }

    #[test]
    fn what_nobody_measures_is_refused_by_its_word() {
        let known = |text: &str| {
            let condition: Condition = text.parse().expect(text);
            Condition::known(&condition.encode(), &NoMeasures).map(|known| known == condition)
        };
        assert_eq!(known("has(T)"), Ok(true));
        assert_eq!(
            known("has(T) or max(T) > 1"),
            Err(ConditionRefusal::Unmeasured { word: "max".to_owned() })
        );
    }
}
