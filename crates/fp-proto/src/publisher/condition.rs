//! Which steps a subscription is about, where it says a condition (`docs/protocol.md`, section 7).

use super::lead::{Lead, Served};
use crate::bounds::{LIMIT_PARTS_BYTES, PART_BYTES};
use crate::config::SubscriptionSpec;
use crate::message::MeasurePart;
use crate::publisher::PublisherMachine;
use crate::transition::Transition;
use crate::wire::mutated;
use fp_types::{
    Condition, ConditionRefusal, Found, Judgement, LIMIT_REASON_BYTES, MeasureParts, Rank, StandingCondition,
    StepId, StepTable, SubscriptionId, Unmeasured, Verdict,
};
use std::collections::BTreeMap;

/// What was measured of a step by all ranks, finished; sorted by the measures.
#[derive(Default)]
pub(crate) struct Numbers(Vec<(String, Found)>);

impl Numbers {
    pub(crate) fn of(parts: Vec<MeasurePart>, measures: &dyn MeasureParts) -> Self {
        if parts.is_empty() {
            return Self::default();
        }
        let finish = |MeasurePart { measure, part, unmeasured }: MeasurePart| {
            let found = unmeasured.map_or_else(|| measures.finish(&measure, &part), Err);
            (measure, found)
        };
        Self(parts.into_iter().map(finish).collect())
    }

    /// What was found of a measure; of all of them the same where they were too many to tell.
    pub(super) fn get(&self, measure: &str) -> Option<&Found> {
        let Self(numbers) = self;
        match numbers.first() {
            Some((all, found)) if all.is_empty() => Some(found),
            _ => {
                let at = numbers.binary_search_by(|(known, _)| known.as_str().cmp(measure)).ok()?;
                Some(&numbers[at].1)
            }
        }
    }
}

/// What is found for a subscription of a step that is decided.
pub(crate) fn judge(
    machine: &mut PublisherMachine,
    subscription: SubscriptionId,
    (step, table): (StepId, &StepTable),
    numbers: &Numbers,
) -> (Verdict, Judgement) {
    let ignored = mutated!(machine.wire, ConditionIgnored);
    let Some(condition) = machine.served(subscription).and_then(|served| served.condition.as_mut()) else {
        return (Verdict::Met, Judgement::default());
    };
    let (verdict, judgement) = condition.judge((step, table), |measure| numbers.get(measure));
    (if ignored { Verdict::Met } else { verdict }, judgement)
}

/// The same of a step for which not every rank measured: it was begun before all knew the condition, or some rank did not
/// keep it. What the condition remembers stays as it is.
pub(crate) fn judge_unmeasured(served: &Served, (step, table): (StepId, &StepTable)) -> (Verdict, Judgement) {
    let Some(condition) = &served.condition else { return (Verdict::Met, Judgement::default()) };
    let reason = "not every rank knew the condition when the step began".to_owned();
    let unmeasured = Unmeasured::new(Rank::LEAD, reason);
    if condition.condition().has_memory() {
        // What it would remember of the steps before is not known.
        return (Verdict::Unjudged, Judgement { unjudged: Some(unmeasured), ..Judgement::default() });
    }
    let unmeasured: Found = Err(unmeasured);
    condition.clone().judge((step, table), |_| Some(&unmeasured))
}

/// A step is none that the subscription is about: nothing of it is said, and it counts as none that was missed.
pub(crate) fn unmet(machine: &mut PublisherMachine, subscription: SubscriptionId, step: StepId) {
    machine.wire.mark(Transition::ConditionUnmet);
    let skipped = u64::from(mutated!(machine.wire, IndifferentIsSkipped));
    if let Some(served) = machine.served(subscription) {
        served.skipped += served.gap_before(step) + skipped;
    }
}

/// Whether steps can be judged by a newcomer's condition, and ranks can tell one another what is measured for it beside what
/// is measured already.
pub(crate) fn check(machine: &PublisherMachine, spec: &SubscriptionSpec) -> Result<(), ConditionRefusal> {
    let Some(bytes) = &spec.when else { return Ok(()) };
    let measures = &*machine.config.measures;
    let condition = Condition::known(bytes, measures)?;
    let limits = |condition: &Condition| {
        let limit = |measure: &fp_types::Measure| {
            let name = measure.to_string();
            let part_bytes = measures.limit_part_bytes(measure).max(LIMIT_REASON_BYTES);
            let len_bytes = PART_BYTES + name.len() + part_bytes;
            (name, len_bytes)
        };
        condition.measures().into_iter().map(limit).collect::<BTreeMap<_, _>>()
    };
    let mut all = limits(&condition);
    if all.is_empty() {
        return Ok(());
    }
    let known = machine.lead.iter().flat_map(Lead::conditions).map(StandingCondition::condition);
    known.for_each(|known| all.append(&mut limits(known)));
    match all.values().sum::<usize>() {
        len_bytes if len_bytes <= LIMIT_PARTS_BYTES => Ok(()),
        len_bytes => {
            let (len_bytes, limit_bytes) = (len_bytes as u64, LIMIT_PARTS_BYTES as u64);
            Err(ConditionRefusal::TooManyMeasures { len_bytes, limit_bytes })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_types::NoMeasures;

    /// Numbers of some subtrees are none of the whole.
    #[test]
    fn what_was_cut_on_the_way_was_not_measured() {
        let unmeasured = |measure: &str, reason: &str| MeasurePart {
            measure: measure.to_owned(),
            part: Vec::new(),
            unmeasured: Some(Unmeasured::new(Rank(1), reason.to_owned())),
        };
        let numbers = Numbers::of(vec![unmeasured("", "cut"), unmeasured("max(T)", "own")], &NoMeasures);
        let reason = |measure| {
            numbers.get(measure).and_then(|found| found.as_ref().err()).map(|why| why.reason.as_str())
        };
        assert_eq!([reason("max(T)"), reason("min(T)")], [Some("cut"), Some("cut")]);
    }
}
