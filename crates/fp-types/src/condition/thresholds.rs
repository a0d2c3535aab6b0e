//! Many comparisons of numbers with constants, judged together: those that hold are found by a binary search.

use super::{Comparison, Condition, Found, Quantity};
use std::collections::BTreeMap;

/// Conditions that are one comparison of a measure with a constant, each under a key.
///
/// ```
/// use fp_types::{Condition, Measured, MeasuredNumber, Thresholds};
///
/// let mut thresholds = Thresholds::default();
/// for key in 0..1000 {
///     let condition: Condition = format!("max(T) > {key}").parse()?;
///     assert!(thresholds.insert(&condition, key));
/// }
/// let number = Some(MeasuredNumber::Unsigned(3));
/// let found = Ok(Measured { measure: "max(T)".to_owned(), number, place: None });
/// assert_eq!(thresholds.wanted(|_| Some(&found)), [0, 1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Thresholds<K> {
    of_measure: BTreeMap<String, Vec<Alike<K>>>,
    len: usize,
}

/// Comparisons of one sort with one measure, by threshold.
#[derive(Clone, Debug)]
struct Alike<K> {
    comparison: Comparison,
    thresholds: Vec<(f64, K)>,
}

impl<K> Default for Thresholds<K> {
    fn default() -> Self {
        Self { of_measure: BTreeMap::new(), len: 0 }
    }
}

/// Measure, comparison and threshold of a condition that is nothing else.
fn only_comparison(condition: &Condition) -> Option<(String, Comparison, f64)> {
    match condition {
        Condition::Compare { quantity: Quantity::Of(measure), comparison, threshold } => {
            Some((measure.to_string(), *comparison, threshold.0))
                .filter(|(.., threshold)| !threshold.is_nan())
        }
        #[rustfmt::skip]
        Condition::Compare { .. } | Condition::Has { .. } | Condition::Measured(_) | Condition::Not(_)
        | Condition::And(_) | Condition::Or(_) | Condition::Rises(_) | Condition::Hysteresis { .. }
        | Condition::Held { .. } | Condition::Every { .. } => None,
    }
}

impl<K: Copy + Ord> Thresholds<K> {
    /// Whether such a condition can be judged together with others.
    pub fn takes(condition: &Condition) -> bool {
        only_comparison(condition).is_some()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Enters a condition under a key that no other has, if it can be judged so.
    pub fn insert(&mut self, condition: &Condition, key: K) -> bool {
        let Some((measure, comparison, threshold)) = only_comparison(condition) else { return false };
        let of_measure = self.of_measure.entry(measure).or_default();
        let at = of_measure.iter().position(|alike| alike.comparison == comparison).unwrap_or_else(|| {
            of_measure.push(Alike { comparison, thresholds: Vec::new() });
            of_measure.len() - 1
        });
        let thresholds = &mut of_measure[at].thresholds;
        thresholds
            .insert(thresholds.partition_point(|known| precedes(known, threshold, key)), (threshold, key));
        self.len += 1;
        true
    }

    /// Takes a condition out again. Says whether it was there.
    pub fn remove(&mut self, condition: &Condition, key: K) -> bool {
        let Some((measure, comparison, threshold)) = only_comparison(condition) else { return false };
        let Some(of_measure) = self.of_measure.get_mut(&measure) else { return false };
        let Some(alike) = of_measure.iter_mut().find(|alike| alike.comparison == comparison) else {
            return false;
        };
        let at = alike.thresholds.partition_point(|known| precedes(known, threshold, key));
        if alike.thresholds.get(at).is_none_or(|(_, known)| *known != key) {
            return false;
        }
        alike.thresholds.remove(at);
        self.len -= 1;
        of_measure.retain(|alike| !alike.thresholds.is_empty());
        if of_measure.is_empty() {
            self.of_measure.remove(&measure);
        }
        true
    }

    /// The keys of those that hold by what was found of their measures, or of which nobody knows as it was not measured; sorted.
    /// These are exactly those that [`StandingCondition::judge`](super::StandingCondition::judge) does not find unmet.
    pub fn wanted<'f>(&self, found: impl Fn(&str) -> Option<&'f Found>) -> Vec<K> {
        let mut wanted = Vec::new();
        for (measure, all) in &self.of_measure {
            match found(measure) {
                None => {}
                Some(found) => all.iter().for_each(|alike| alike.find(found, &mut wanted)),
            }
        }
        wanted.sort_unstable();
        wanted
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = K> {
        let all = self.of_measure.values().flatten().flat_map(|alike| &alike.thresholds);
        all.map(|(_, key)| *key)
    }
}

fn precedes<K: Ord>((known, known_key): &(f64, K), threshold: f64, key: K) -> bool {
    known.total_cmp(&threshold).then_with(|| known_key.cmp(&key)).is_lt()
}

impl<K: Copy> Alike<K> {
    /// What holds above a threshold holds above all lower ones, and so on: one end of the list holds.
    fn find(&self, found: &Found, wanted: &mut Vec<K>) {
        let all = &self.thresholds[..];
        let hold = match found {
            Err(_) => all,
            Ok(measured) => match measured.number {
                None => return,
                Some(number) => {
                    let holds = |(threshold, _): &(f64, K)| number.compares(self.comparison, *threshold);
                    match self.comparison {
                        Comparison::Above | Comparison::AtLeast => &all[..all.partition_point(holds)],
                        Comparison::Below | Comparison::AtMost => {
                            &all[all.partition_point(|threshold| !holds(threshold))..]
                        }
                    }
                }
            },
        };
        wanted.extend(hold.iter().map(|(_, key)| *key));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::attribute::Real;
    use crate::condition::{Measured, MeasuredNumber, StandingCondition, Unmeasured, Verdict};
    use crate::id::{Rank, StepId};
    use crate::table::StepTable;

    /// Numbers near one another and near the ends, so that many are equal.
    fn real() -> impl Strategy<Value = f64> {
        let big = 2f64.powi(53);
        let odd = [
            0.0,
            -0.0,
            0.5,
            -0.5,
            f64::MIN_POSITIVE,
            f64::MAX,
            f64::MIN,
            big,
            big + 2.0,
            -big,
            2f64.powi(64),
        ];
        prop_oneof![
            4 => (-4i8..5).prop_map(f64::from),
            2 => prop::sample::select(odd.to_vec()),
            1 => prop::sample::select(vec![f64::INFINITY, f64::NEG_INFINITY]),
            1 => any::<f64>(),
        ]
    }

    fn number() -> impl Strategy<Value = MeasuredNumber> {
        let big = 1i64 << 53;
        let signed = prop_oneof![-4i64..5, big - 2..big + 3, -big - 2..-big + 3, any::<i64>()];
        let unsigned = prop_oneof![0u64..5, Just(u64::MAX), Just((1 << 53) + 1), any::<u64>()];
        let end = || prop_oneof![8 => real(), 1 => Just(f64::NAN)];
        prop_oneof![
            3 => end().prop_map(|number| MeasuredNumber::Real(Real(number))),
            2 => signed.prop_map(MeasuredNumber::Signed),
            2 => unsigned.prop_map(MeasuredNumber::Unsigned),
            1 => (end(), end()).prop_map(|(low, high)| MeasuredNumber::Bracket { low: Real(low), high: Real(high) }),
        ]
    }

    /// What is found of a measure: nothing, none, a number, or it was not measured.
    fn found() -> impl Strategy<Value = Option<Found>> {
        let measured = |number| Some(Ok(Measured { measure: String::new(), number, place: None }));
        prop_oneof![
            8 => number().prop_map(move |number| measured(Some(number))),
            1 => Just(measured(None)),
            1 => Just(Some(Err(Unmeasured::new(Rank(2), "no time".to_owned())))),
            1 => Just(None),
        ]
    }

    fn compare(measure: &str, comparison: Comparison, threshold: f64) -> Condition {
        let text = format!("{measure} {} 0", comparison.sign());
        let Ok(Condition::Compare { quantity, comparison, .. }) = text.parse() else { panic!("{text}") };
        Condition::Compare { quantity, comparison, threshold: Real(threshold) }
    }

    proptest! {
        #[test]
        fn what_is_judged_together_is_judged_as_one_by_one(
            all in prop::collection::vec((0..3usize, 0..4usize, real(), any::<bool>()), 0..40),
            numbers in prop::collection::vec(found(), 3),
        ) {
            const MEASURES: [&str; 3] = ["max(T)", "sum(T)", "count(T > 3.0)"];
            let found = |name: &str| {
                let at = MEASURES.iter().position(|measure| *measure == name).expect("a measure");
                numbers[at].as_ref()
            };
            let table = StepTable::new(Vec::new()).expect("a table");
            let (mut thresholds, mut expected) = (Thresholds::default(), Vec::new());
            let mut gone = Vec::new();
            for (key, (measure, comparison, threshold, goes)) in all.into_iter().enumerate() {
                let condition = compare(MEASURES[measure], Comparison::ALL[comparison], threshold);
                prop_assert!(thresholds.insert(&condition, key));
                if goes {
                    gone.push((condition, key));
                    continue;
                }
                let verdict = StandingCondition::from(condition).judge((StepId(0), &table), found).0;
                expected.extend((verdict != Verdict::Unmet).then_some(key));
            }
            for (condition, key) in gone {
                prop_assert!(thresholds.remove(&condition, key) && !thresholds.remove(&condition, key));
            }
            prop_assert_eq!(thresholds.wanted(found), expected);
            prop_assert_eq!(thresholds.keys().count(), thresholds.len());
        }
    }

    #[test]
    fn whatever_is_more_than_a_comparison_is_judged_alone() {
        for text in [
            "has(T)",
            "any(T > 1)",
            "not max(T) > 1",
            "max(T) > 1 or has(T)",
            "change(max(T)) > 1",
            "every(2)",
            "argmax(T)[0] > 1",
            "rises(max(T) > 1)",
        ] {
            let condition: Condition = text.parse().expect(text);
            assert!(
                !Thresholds::default().insert(&condition, 1) && !Thresholds::<u8>::takes(&condition),
                "{text}"
            );
        }
    }
}
