//! Judging a step by its table and by what was measured of it.

use super::canonical::ConditionRefusal;
use super::{Condition, Judgement, Measure, Measured, Unmeasured};
use crate::id::StepId;
use crate::schema::VariableOrigin;
use crate::table::StepTable;

/// Whether a step is one of those that a condition asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Met,
    /// It is not.
    Unmet,
    /// Nobody knows, as something was not measured: it counts as one.
    Unjudged,
}

/// A number, or why there is none. Also of what no rank put there is a number: none.
pub type Found = Result<Measured, Unmeasured>;

/// A condition, and what it remembers of the steps that it judged.
#[derive(Clone, Debug)]
pub struct StandingCondition {
    condition: Condition,
    /// What measures are called, as in [`Condition::measures`].
    names: Vec<String>,
    memory: Vec<u64>,
}

impl StandingCondition {
    /// The condition of these bytes, before any step.
    ///
    /// # Errors
    /// What is not known of them.
    pub fn decode(bytes: &[u8]) -> Result<Self, ConditionRefusal> {
        Condition::decode(bytes).map(Self::from)
    }

    /// The condition itself.
    pub fn condition(&self) -> &Condition {
        &self.condition
    }

    /// What each rank has to measure for it: names, each once.
    pub fn measures(&self) -> &[String] {
        &self.names
    }

    /// Whether the step of that number and table is as the condition says, where `found` has what was measured. A measure of which it
    /// has nothing is one of which no rank has an element.
    ///
    /// What was not measured leaves memory as it was: the step is passed over. A condition whose truth does not depend on it
    /// is judged all the same. The judgement of a step that is not one is empty. When it was decided is the caller's to say.
    pub fn judge<'f>(
        &mut self,
        (step, table): (StepId, &StepTable),
        found: impl Fn(&str) -> Option<&'f Found>,
    ) -> (Verdict, Judgement) {
        let measures = self.condition.measures();
        let found: Vec<_> = self.names.iter().map(|name| found(name)).collect();
        let measured = measures.into_iter().zip(found.iter().copied()).collect();
        let mut judging = Judging { step, table, measured, before: &self.memory, after: Vec::new() };
        let truth = judging.truth(&self.condition);
        self.memory = judging.after;
        let (verdict, unjudged) = match truth {
            Truth::Is(true) => (Verdict::Met, None),
            Truth::Is(false) => return (Verdict::Unmet, Judgement::default()),
            Truth::Unknown(reason) => (Verdict::Unjudged, Some(reason)),
        };
        let told = |(name, found): (&String, Option<&Found>)| match found {
            Some(Ok(found)) => Some(found.clone()),
            None => Some(Measured { measure: name.clone(), number: None, place: None }),
            Some(Err(_)) => None,
        };
        let measured = self.names.iter().zip(found).filter_map(told).collect();
        (verdict, Judgement { unjudged, measured, ..Judgement::default() })
    }
}

impl From<Condition> for StandingCondition {
    fn from(condition: Condition) -> Self {
        let names = condition.measures().into_iter().map(Measure::to_string).collect();
        Self { condition, names, memory: Vec::new() }
    }
}

/// What is known of a truth value.
#[derive(Clone, Debug, PartialEq)]
enum Truth {
    Is(bool),
    /// It depends on what was not measured.
    Unknown(Unmeasured),
}

/// The numbers of one step, and what was remembered of those before.
pub(super) struct Judging<'j> {
    step: StepId,
    table: &'j StepTable,
    pub(super) measured: Vec<(&'j Measure, Option<&'j Found>)>,
    before: &'j [u64],
    /// What is remembered for the next step.
    pub(super) after: Vec<u64>,
}

/// A slot of memory of which nothing is known yet.
pub(super) const BLANK: u64 = 0;

impl Judging<'_> {
    fn truth(&mut self, condition: &Condition) -> Truth {
        match condition {
            Condition::Has { variable } => {
                let entry = self.table.entry(variable);
                Truth::Is(entry.is_some_and(|entry| entry.def.origin == VariableOrigin::Put))
            }
            Condition::Measured(measure) => match self.number(measure) {
                Ok(number) => Truth::Is(number.is_some_and(|number| number.as_f64() != 0.0)),
                Err(reason) => Truth::Unknown(reason),
            },
            Condition::Compare { quantity, comparison, threshold } => match self.quantity(quantity) {
                Ok(number) => {
                    Truth::Is(number.is_some_and(|number| number.compares(*comparison, threshold.0)))
                }
                Err(reason) => Truth::Unknown(reason),
            },
            Condition::Every { steps } => Truth::Is(self.step.0.is_multiple_of(u64::from(*steps).max(1))),
            Condition::Not(part) => match self.truth(part) {
                Truth::Is(truth) => Truth::Is(!truth),
                unknown @ Truth::Unknown(_) => unknown,
            },
            Condition::And(parts) => self.decided_by(parts, false),
            Condition::Or(parts) => self.decided_by(parts, true),
            Condition::Rises(part) => {
                let slot = self.slot(1);
                let was = self.remembered(slot) != BLANK;
                let now = self.truth(part);
                self.keep(slot, &now, u64::from);
                and_is(now, |now| now && !was)
            }
            Condition::Hysteresis { on, off } => self.hysteresis(on, off),
            Condition::Held { condition, count, of } => {
                let slot = self.slot(1);
                let earlier = self.remembered(slot);
                let window = u64::MAX >> (64 - u32::from(*of).clamp(1, 64));
                let with = |now: bool| (earlier << 1 | u64::from(now)) & window;
                let now = self.truth(condition);
                self.keep(slot, &now, with);
                and_is(now, |now| with(now).count_ones() >= u32::from(*count))
            }
        }
    }

    fn hysteresis(&mut self, on: &Condition, off: &Condition) -> Truth {
        let slot = self.slot(1);
        let was = self.remembered(slot) != BLANK;
        let now = match (self.truth(on), self.truth(off)) {
            (Truth::Is(true), _) => Truth::Is(true),
            (Truth::Is(false), Truth::Is(off)) => Truth::Is(was && !off),
            (Truth::Is(false), Truth::Unknown(_)) if !was => Truth::Is(false),
            (Truth::Unknown(_), Truth::Is(false)) if was => Truth::Is(true),
            (Truth::Unknown(reason), _) | (_, Truth::Unknown(reason)) => Truth::Unknown(reason),
        };
        self.keep(slot, &now, u64::from);
        now
    }

    /// The truth of a list that one part of that truth decides. Every part is judged, as each may have a memory.
    fn decided_by(&mut self, parts: &[Condition], deciding: bool) -> Truth {
        let truths: Vec<Truth> = parts.iter().map(|part| self.truth(part)).collect();
        if truths.contains(&Truth::Is(deciding)) {
            return Truth::Is(deciding);
        }
        let unknown = truths.into_iter().find(|truth| matches!(truth, Truth::Unknown(_)));
        unknown.unwrap_or(Truth::Is(!deciding))
    }

    /// Slots of memory, which are as before unless something is kept in them.
    pub(super) fn slot(&mut self, count: usize) -> usize {
        let slot = self.after.len();
        let kept = (slot..slot + count).map(|at| self.remembered(at)).collect::<Vec<_>>();
        self.after.extend(kept);
        slot
    }

    pub(super) fn remembered(&self, slot: usize) -> u64 {
        self.before.get(slot).copied().unwrap_or(BLANK)
    }

    fn keep(&mut self, slot: usize, truth: &Truth, what: impl Fn(bool) -> u64) {
        if let Truth::Is(truth) = truth {
            self.after[slot] = what(*truth);
        }
    }
}

/// What follows of a truth value, if it is known.
fn and_is(truth: Truth, follows: impl Fn(bool) -> bool) -> Truth {
    match truth {
        Truth::Is(truth) => Truth::Is(follows(truth)),
        unknown @ Truth::Unknown(_) => unknown,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::attribute::Real;
    use crate::condition::MeasuredNumber;
    use crate::dtype::Dtype;
    use crate::id::Rank;
    use crate::layout::Layout;
    use crate::schema::VariableDef;
    use crate::table::TableEntry;

    fn entry(name: &str, origin: VariableOrigin) -> TableEntry {
        let mut def = VariableDef::local_array(name, Dtype::F64, 1);
        def.origin = origin;
        TableEntry { def: Arc::new(def), layout: Arc::new(Layout::local(1, []).unwrap()) }
    }

    fn table() -> StepTable {
        let put = |name| entry(name, VariableOrigin::Put);
        StepTable::new(vec![put("T"), put("x"), entry("d", VariableOrigin::Derived)]).unwrap()
    }

    #[test]
    fn a_step_has_what_some_rank_put() {
        let judge = |text: &str| {
            let condition = text.parse::<Condition>().expect(text);
            StandingCondition::from(condition).judge((StepId(0), &table()), |_| None).0
        };
        let (met, unmet) = (Verdict::Met, Verdict::Unmet);
        assert_eq!(["has(T)", "has(x)", "has(t)", "has(d)"].map(judge), [met, met, unmet, unmet]);
        assert!(StandingCondition::decode(b"").is_err());
    }

    /// The verdicts of steps in which `max(T)` is that much, `f64::MAX` where it was not measured, and NaN where nobody put it.
    fn verdicts(condition: &str, numbers: &[f64]) -> String {
        let mut condition = StandingCondition::from(condition.parse::<Condition>().expect(condition));
        let table = table();
        let mut letter = |(step, number): (u64, f64)| {
            let found = if number == f64::MAX {
                Err(Unmeasured::new(Rank(3), "no time".to_owned()))
            } else {
                // The greatest element lies at twice its number.
                let place = (!number.is_nan()).then(|| vec![7, 2 * number as u64]);
                let number = (!number.is_nan()).then_some(MeasuredNumber::Real(Real(number)));
                Ok(Measured { measure: "max(T)".to_owned(), number, place })
            };
            match condition.judge((StepId(step), &table), |_| Some(&found)).0 {
                Verdict::Met => '+',
                Verdict::Unmet => '-',
                Verdict::Unjudged => '?',
            }
        };
        (0..).zip(numbers).map(|(step, number)| letter((step, *number))).collect()
    }

    /// Not measured.
    const U: f64 = f64::MAX;
    /// Not there.
    const N: f64 = f64::NAN;

    #[test]
    fn steps_are_judged_one_after_another() {
        for (condition, numbers, expected) in [
            ("max(T) > 5", vec![4.0, 5.0, 6.0, N, U], "--+-?"),
            ("not max(T) > 5", vec![4.0, 6.0, N, U], "+-+?"),
            ("max(T) > 5 or has(T)", vec![4.0, U], "++"),
            ("max(T) > 5 and has(t)", vec![6.0, U], "--"),
            ("max(T) > 5 and has(T)", vec![6.0, U], "+?"),
            ("rises(max(T) > 5)", vec![6.0, 7.0, 4.0, 6.0, U, 7.0, U, 4.0, 6.0], "+--+?-?-+"),
            ("hysteresis(max(T) > 5, max(T) < 2)", vec![4.0, 6.0, 3.0, 1.0, 3.0, 6.0, U, 3.0], "-++--+?+"),
            ("held(max(T) > 5, 2, 3)", vec![6.0, 6.0, 4.0, 4.0, 6.0, U, 6.0], "-++--?+"),
            ("change(max(T)) > 1", vec![9.0, 10.0, 12.0, N, 13.5, U, 14.0, 16.0], "--+-+?-+"),
            ("rises(max(T) > 5) or rises(has(T))", vec![1.0, 1.0, 6.0], "+-+"),
            ("every(3)", vec![U; 7], "+--+--+"),
            ("every(2) and max(T) > 5", vec![6.0, 6.0, 4.0, U, U], "+---?"),
            ("argmax(T)[1] < 9", vec![4.0, 5.0, N, U], "+--?"),
            ("argmax(T)[2] < 9", vec![4.0, N], "?-"),
            ("change(argmax(T)[1]) >= 2", vec![4.0, 5.0, 5.0, U, 7.0], "-+-?+"),
            ("window(max(T), 2, min) > 5", vec![6.0, 7.0, 4.0, 6.0, N, 6.0, U, 6.0], "-+---+?+"),
            ("window(max(T), 3, range) <= 1", vec![6.0, 6.0, 7.0, 8.0, 8.0, 9.0, 8.0], "--+-+++"),
            ("window(change(max(T)), 2, sum) > 3", vec![1.0, 2.0, 5.0, U, 6.0, 6.0], "--+?+-"),
        ] {
            assert_eq!(verdicts(condition, &numbers), expected, "{condition}");
        }
    }
}
