//! The number of a step that a condition compares, and what it remembers of the steps before for that.

use super::judge::{BLANK, Judging};
use super::{Found, Measure, MeasuredNumber, Quantity, Unmeasured, WindowStatistic};
use crate::attribute::Real;
use crate::id::Rank;

/// A number, none where there is none, or why it is not known.
pub(super) type Number = Result<Option<MeasuredNumber>, Unmeasured>;

/// A change knows the number of the step before.
const SIGNED: u64 = 1;
const UNSIGNED: u64 = 2;
const REAL: u64 = 3;

impl<'j> Judging<'j> {
    /// What is compared of this step. All that remembers something is looked at, whatever comes of it.
    pub(super) fn quantity(&mut self, quantity: &Quantity) -> Number {
        match quantity {
            Quantity::Of(measure) => self.number(measure),
            Quantity::PlaceOf { measure, dim } => self.place(measure, *dim),
            Quantity::ChangeOf(of) => self.change(of),
            Quantity::WindowOf { of, steps, by } => self.window(of, usize::from(*steps), *by),
        }
    }

    fn found(&self, measure: &Measure) -> Option<&'j Found> {
        self.measured.iter().find(|(known, _)| *known == measure).and_then(|(_, found)| *found)
    }

    pub(super) fn number(&self, measure: &Measure) -> Number {
        match self.found(measure) {
            Some(Ok(found)) => Ok(found.number),
            Some(Err(reason)) => Err(reason.clone()),
            None => Ok(None),
        }
    }

    /// Where an extreme lies along a dimension.
    fn place(&self, measure: &Measure, dim: u8) -> Number {
        let found = match self.found(measure) {
            Some(Ok(found)) if found.number.is_some() => found,
            Some(Err(reason)) => return Err(reason.clone()),
            Some(Ok(_)) | None => return Ok(None),
        };
        let why = match found.place.as_deref() {
            Some(place) => match place.get(usize::from(dim)) {
                Some(at) => return Ok(Some(MeasuredNumber::Unsigned(*at))),
                None => {
                    format!("arg{measure}[{dim}]: it has {} dimensions, and they count from 0", place.len())
                }
            },
            None => format!("arg{measure}[{dim}]: only elements of global arrays have a place"),
        };
        Err(Unmeasured::new(Rank::LEAD, why))
    }

    /// How much more a number is than before.
    fn change(&mut self, of: &Quantity) -> Number {
        let slot = self.slot(2);
        let (kind, bits) = (self.remembered(slot), self.remembered(slot + 1));
        let before = match kind {
            SIGNED => Some(MeasuredNumber::Signed(bits as i64)),
            UNSIGNED => Some(MeasuredNumber::Unsigned(bits)),
            REAL => Some(MeasuredNumber::Real(Real(f64::from_bits(bits)))),
            _ => None,
        };
        let Some(now) = self.quantity(of)? else { return Ok(None) };
        (self.after[slot], self.after[slot + 1]) = match now {
            MeasuredNumber::Signed(number) => (SIGNED, number as u64),
            MeasuredNumber::Unsigned(number) => (UNSIGNED, number),
            MeasuredNumber::Real(Real(number)) => (REAL, number.to_bits()),
            MeasuredNumber::Bracket { .. } => (REAL, now.as_f64().to_bits()),
        };
        Ok(before.map(|before| MeasuredNumber::Real(Real(now.above(before)))))
    }

    /// What is made of the numbers of the last so many steps: how many are known lies before them, the oldest first.
    fn window(&mut self, of: &Quantity, steps: usize, by: WindowStatistic) -> Number {
        let slot = self.slot(1 + steps);
        let known = usize::try_from(self.remembered(slot)).unwrap_or(0).min(steps);
        let Some(now) = self.quantity(of)? else { return Ok(None) };
        let mut numbers: Vec<f64> =
            (1..=known).map(|at| f64::from_bits(self.remembered(slot + at))).collect();
        numbers.push(now.as_f64());
        numbers.drain(..numbers.len().saturating_sub(steps));
        self.after[slot] = numbers.len() as u64;
        let to = self.after[slot + 1..=slot + steps].iter_mut();
        let bits = numbers.iter().map(|number| number.to_bits()).chain(std::iter::repeat(BLANK));
        to.zip(bits).for_each(|(to, bits)| *to = bits);
        Ok((numbers.len() == steps).then(|| MeasuredNumber::Real(Real(by.of(&numbers)))))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::condition::{Condition, Measured, StandingCondition, Verdict};
    use crate::id::StepId;
    use crate::table::StepTable;

    /// What a step has: a number, none, or it was not measured.
    fn step() -> impl Strategy<Value = Result<Option<f64>, ()>> {
        prop_oneof![
            8 => (-4i8..5).prop_map(|number| Ok(Some(f64::from(number)))),
            1 => Just(Ok(Some(f64::NAN))),
            1 => Just(Ok(None)),
            1 => Just(Err(())),
        ]
    }

    /// What a window of those numbers is, of which all steps up to this one are given, looked at anew.
    fn expected(before: &[Result<Option<f64>, ()>], steps: usize, by: WindowStatistic) -> Option<f64> {
        let present: Vec<f64> = before.iter().filter_map(|step| step.ok().flatten()).collect();
        let window = &present[present.len().checked_sub(steps)?..];
        let sorted = {
            let mut sorted = window.to_vec();
            sorted.sort_by(f64::total_cmp);
            sorted
        };
        let is_nan = window.iter().any(|number| number.is_nan());
        let sum = window.iter().sum::<f64>();
        Some(match by {
            _ if is_nan => f64::NAN,
            WindowStatistic::Minimum => sorted[0],
            WindowStatistic::Maximum => sorted[steps - 1],
            WindowStatistic::Sum => sum,
            WindowStatistic::Mean => sum / steps as f64,
            WindowStatistic::Range => sorted[steps - 1] - sorted[0],
        })
    }

    proptest! {
        #[test]
        fn a_window_is_what_its_steps_give(
            all in proptest::collection::vec(step(), 1..24), steps in 1usize..7, by in 0..WindowStatistic::ALL.len(),
        ) {
            let (by, table) = (WindowStatistic::ALL[by], StepTable::new(Vec::new()).expect("a table"));
            let text = format!("window(max(T), {steps}, {}) > 0.5", by.word());
            let mut standing = StandingCondition::from(text.parse::<Condition>().expect("a condition"));
            for at in 0..all.len() {
                let found = match all[at] {
                    Ok(number) => {
                        let number = number.map(|number| MeasuredNumber::Real(Real(number)));
                        Ok(Measured { measure: "max(T)".to_owned(), number, place: None })
                    }
                    Err(()) => Err(Unmeasured::new(Rank(1), "no time".to_owned())),
                };
                let (verdict, _) = standing.judge((StepId(at as u64), &table), |_| Some(&found));
                let expected = match all[at] {
                    Err(()) => Verdict::Unjudged,
                    Ok(None) => Verdict::Unmet,
                    Ok(Some(_)) => match expected(&all[..=at], steps, by) {
                        Some(number) if number > 0.5 => Verdict::Met,
                        _ => Verdict::Unmet,
                    },
                };
                prop_assert_eq!(verdict, expected, "{} at {}", text, at);
            }
        }
    }
}
