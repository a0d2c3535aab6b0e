//! Conditions that a subscription was given while it is served, each until the first step comes that it holds for.

use fp_types::{StandingCondition, StepId};
use std::collections::VecDeque;

/// A condition that takes the place of the one before.
struct NextCondition {
    /// Its canonical bytes.
    bytes: Vec<u8>,
    condition: StandingCondition,
    /// The first step that is judged by it, once that is agreed.
    first: Option<StepId>,
}

/// Those of one subscription, in the order in which they were asked for.
#[derive(Default)]
pub(crate) struct NextConditions(VecDeque<NextCondition>);

impl NextConditions {
    /// The canonical bytes of the condition that was asked for last.
    pub(crate) fn last(&self) -> Option<&[u8]> {
        self.0.back().map(|next| &*next.bytes)
    }

    /// A condition is asked for. It holds for no step until its first one is agreed.
    pub(crate) fn ask(&mut self, bytes: &[u8]) {
        if let Ok(condition) = StandingCondition::decode(bytes) {
            self.0.push_back(NextCondition { bytes: bytes.to_vec(), condition, first: None });
        }
    }

    /// The first step of the oldest one is agreed that had none.
    pub(crate) fn start(&mut self, first: StepId) {
        if let Some(next) = self.0.iter_mut().find(|next| next.first.is_none()) {
            next.first = Some(first);
        }
    }

    /// The condition that holds from this step on, where it is another one than for the step before.
    pub(crate) fn take(&mut self, step: StepId) -> Option<StandingCondition> {
        let holds = |next: &&NextCondition| next.first.is_some_and(|first| first <= step);
        let held = self.0.iter().take_while(holds).count();
        self.0.drain(..held).next_back().map(|next| next.condition)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &StandingCondition> {
        self.0.iter().map(|next| &next.condition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_types::Condition;

    #[test]
    fn each_holds_from_its_first_step_on() {
        let bytes = |variable: &str| Condition::Has { variable: variable.to_owned() }.encode();
        let mut next = NextConditions::default();
        ["a", "b", "c"].iter().for_each(|variable| next.ask(&bytes(variable)));
        assert_eq!(next.last(), Some(&*bytes("c")));
        let taken = |next: &mut NextConditions, step| {
            next.take(StepId(step)).map(|condition| condition.condition().encode())
        };
        assert_eq!(taken(&mut next, 9), None, "no first step is agreed");
        next.start(StepId(5));
        next.start(StepId(5));
        assert_eq!(taken(&mut next, 4), None);
        assert_eq!(taken(&mut next, 5), Some(bytes("b")), "the last of two that begin with one step");
        assert_eq!(taken(&mut next, 9), None);
        next.start(StepId(7));
        assert_eq!((taken(&mut next, 9), next.is_empty()), (Some(bytes("c")), true));
    }
}
