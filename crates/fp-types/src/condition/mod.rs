//! What a subscription demands of a step before it gets it, as a value, as text and as bytes.
//!
//! A condition looks at what a step has, as `has(particles)`, and at numbers that are made of its arrays, as
//! `max(T[0:64, :]) > 9`. Who makes these numbers is not known here: [`MeasureParts`] stands for it.

mod canonical;
mod comparison;
mod judge;
mod judgement;
mod measure;
mod number;
mod parse;
mod parse_error;
mod parse_number;
mod parts;
mod quantity;
mod thresholds;
mod written;

pub use canonical::{ConditionRefusal, LIMIT_CONDITION_BYTES};
pub use comparison::Comparison;
pub use judge::{Found, StandingCondition, Verdict};
pub use judgement::{Judgement, LIMIT_REASON_BYTES, Measured, MeasuredNumber, Unmeasured};
pub use measure::{FunctionOrigin, Measure, MeasuredCall, Statistic};
pub use parse_error::ParseConditionError;
pub use parts::{MeasureParts, NoMeasures};
pub use quantity::{Quantity, WindowStatistic};
pub use thresholds::Thresholds;

use crate::attribute::Real;

/// The longest word, in bytes.
const LIMIT_WORD_BYTES: usize = 32;
/// How deep conditions lie in one another at most.
const LIMIT_DEPTH: usize = 32;
/// How many measures one condition has at most.
const LIMIT_MEASURES: usize = 64;
/// How far back `held` and `window` look, in steps.
pub(crate) const LIMIT_HELD_STEPS: u8 = 64;
/// The most bins of a quantile: their counts are a part of 8 KiB.
pub const LIMIT_QUANTILE_BINS: u16 = 1024;

/// The words that there are, as they are written.
const WORDS: [&str; 18] = [
    "has(variable)",
    "min(variable)",
    "max(variable)",
    "sum(variable)",
    "mean(variable)",
    "variance(variable)",
    "quantile(variable, share, low..high / bins)",
    "argmin(variable)[dimension]",
    "argmax(variable)[dimension]",
    "count(variable > number)",
    "any(variable > number)",
    "all(variable > number)",
    "change(measure)",
    "window(measure, steps, statistic)",
    "rises(condition)",
    "hysteresis(condition, condition)",
    "held(condition, steps, steps)",
    "every(steps)",
];

/// What a step must be like.
///
/// Written as `max(T[0:64, :]) > 9 and not has(particles)`. `not` binds more than `and`, and `and` more than `or`. A
/// comparison with NaN does not hold, and neither does one of an array that no rank put in the step.
///
/// ```
/// use fp_types::Condition;
///
/// let condition: Condition = "rises(max(T[0:64, :]) > 9 or any(p < 0))".parse()?;
/// assert_eq!(condition.to_string(), "rises(max(T[0:64, :]) > 9.0 or any(p < 0.0))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// `has(particles)`: some rank put that variable in the step, be it without an element.
    Has {
        /// The variable's name.
        variable: String,
    },
    /// `max(T) > 9`, `change(max(T)) > 9`, `argmax(T)[0] < 64`, or `window(mean(T), 10, max) > 9`.
    Compare {
        /// What is compared.
        quantity: Quantity,
        /// How it compares.
        comparison: Comparison,
        /// With what: no NaN.
        threshold: Real,
    },
    /// `any(T > 9)`, `all(T > 9)`: a measure that is a truth value.
    Measured(Measure),
    /// `not C`.
    Not(Box<Condition>),
    /// `C and D`: two or more.
    And(Vec<Condition>),
    /// `C or D`: two or more.
    Or(Vec<Condition>),
    /// `rises(C)`: it holds, and did not in the step that was judged before. In the first step it is enough that it holds.
    Rises(Box<Condition>),
    /// `hysteresis(C, D)`: from a step on in which `C` holds, until one in which `D` does. Where both do, `C` counts.
    Hysteresis {
        /// What begins it.
        on: Box<Condition>,
        /// What ends it.
        off: Box<Condition>,
    },
    /// `held(C, 3, 5)`: it held in so many of the last so many steps, this one among them.
    Held {
        /// What is to hold.
        condition: Box<Condition>,
        /// In how many of them: at least 1.
        count: u8,
        /// Of how many steps: at least `count`, and at most 64.
        of: u8,
    },
    /// `every(10)`: the number of the step is a multiple of that.
    Every {
        /// Of what: at least 1.
        steps: u32,
    },
}

impl Condition {
    /// The conditions directly within it.
    fn parts(&self) -> Vec<&Condition> {
        match self {
            Self::Has { .. } | Self::Compare { .. } | Self::Measured(_) | Self::Every { .. } => Vec::new(),
            Self::Not(part) | Self::Rises(part) | Self::Held { condition: part, .. } => vec![part],
            Self::And(parts) | Self::Or(parts) => parts.iter().collect(),
            Self::Hysteresis { on, off } => vec![on, off],
        }
    }

    /// What is measured for it, each once, in the order of its text.
    pub fn measures(&self) -> Vec<&Measure> {
        let mut found = Vec::new();
        self.note_measures(&mut found);
        found
    }

    fn note_measures<'c>(&'c self, found: &mut Vec<&'c Measure>) {
        let own = match self {
            Self::Compare { quantity, .. } => Some(quantity.measure()),
            Self::Measured(measure) => Some(measure),
            #[rustfmt::skip]
            Self::Has { .. } | Self::Not(_) | Self::And(_) | Self::Or(_) | Self::Rises(_)
            | Self::Hysteresis { .. } | Self::Held { .. } | Self::Every { .. } => None,
        };
        found.extend(own.filter(|own| !found.contains(own)));
        self.parts().into_iter().for_each(|part| part.note_measures(found));
    }

    /// The same with the hashes of the modules that it names. What is a hash already stays.
    ///
    /// # Errors
    /// A name of which `hash_of` knows none.
    pub fn with_modules(
        mut self,
        hash_of: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ParseConditionError> {
        let mut unknown = None;
        self.each_measure(&mut |measure| {
            let Some(call) = measure.module_mut() else { return };
            match hash_of(&call.name) {
                Some(hash) => call.name = hash,
                None => unknown = Some(call.name.clone()),
            }
        });
        unknown.map_or(Ok(self), |name| Err(ParseConditionError::NoModule { name }))
    }

    fn each_measure(&mut self, visit: &mut dyn FnMut(&mut Measure)) {
        match self {
            Self::Has { .. } | Self::Every { .. } => {}
            Self::Compare { quantity, .. } => visit(quantity.measure_mut()),
            Self::Measured(measure) => visit(measure),
            Self::Not(part) | Self::Rises(part) | Self::Held { condition: part, .. } => {
                part.each_measure(visit)
            }
            Self::And(parts) | Self::Or(parts) => parts.iter_mut().for_each(|part| part.each_measure(visit)),
            Self::Hysteresis { on, off } => [on, off].into_iter().for_each(|part| part.each_measure(visit)),
        }
    }

    /// The variables of which it says something, each once. Of `max(particles.x)` these are that name and `particles`,
    /// whose records may have the field.
    pub fn variables(&self) -> Vec<&str> {
        let measures = self.measures();
        let mut found: Vec<&str> = measures.iter().map(|measure| measure.variable()).collect();
        found.extend(measures.iter().flat_map(|measure| measure.may_be_field()).map(|(records, _)| records));
        self.note_had(&mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn note_had<'c>(&'c self, found: &mut Vec<&'c str>) {
        if let Self::Has { variable } = self {
            found.push(variable);
        }
        self.parts().into_iter().for_each(|part| part.note_had(found));
    }

    /// Whether it looks at earlier steps.
    pub fn has_memory(&self) -> bool {
        let own = match self {
            Self::Rises(_) | Self::Hysteresis { .. } | Self::Held { .. } => true,
            Self::Compare { quantity, .. } => quantity.has_memory(),
            #[rustfmt::skip]
            Self::Has { .. } | Self::Measured(_) | Self::Not(_) | Self::And(_) | Self::Or(_)
            | Self::Every { .. } => false,
        };
        own || self.parts().into_iter().any(Self::has_memory)
    }
}
