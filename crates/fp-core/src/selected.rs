//! Which variables were subscribed to in which step: that changes while the stream runs.

use fp_proto::config::VariableSet;
use fp_types::StepId;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Changes that are remembered; a step that is older than all of them goes by the oldest.
const LIMIT_CHANGES: usize = 64;

struct Inner {
    /// Each set with the first step that it holds for, rising.
    since: VecDeque<(StepId, VariableSet)>,
    /// Asked for, in this order; from which step on they hold is not known yet.
    asked: VecDeque<VariableSet>,
}

/// The variables of a subscription over time.
pub(crate) struct Selected {
    inner: Mutex<Inner>,
}

impl Selected {
    pub(crate) fn new(variables: VariableSet) -> Self {
        let since = VecDeque::from([(StepId(0), variables)]);
        Self { inner: Mutex::new(Inner { since, asked: VecDeque::new() }) }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Other variables were asked for.
    pub(crate) fn ask(&self, variables: VariableSet) {
        self.lock().asked.push_back(variables);
    }

    /// What was asked for first of those that are open holds from `first` on. A rank that asked for nothing, as only
    /// the lead did, takes what the owners have.
    pub(crate) fn holds_from(&self, first: StepId) {
        let mut inner = self.lock();
        let variables = inner.asked.pop_front().unwrap_or(VariableSet::All);
        inner.since.push_back((first, variables));
        if inner.since.len() > LIMIT_CHANGES {
            inner.since.pop_front();
        }
    }

    /// A new epoch starts with what was asked for last.
    pub(crate) fn restart(&self) {
        let mut inner = self.lock();
        let latest = inner.asked.pop_back().or_else(|| inner.since.pop_back().map(|(_, set)| set));
        inner.asked.clear();
        inner.since = VecDeque::from([(StepId(0), latest.unwrap_or(VariableSet::All))]);
    }

    /// Whether the variable was subscribed to in that step.
    pub(crate) fn contains(&self, step: StepId, variable: &str) -> bool {
        let inner = self.lock();
        let of_step = inner.since.iter().rev().find(|(first, _)| *first <= step);
        of_step.or(inner.since.front()).is_some_and(|(_, set)| set.contains(variable))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_goes_by_its_own_set() {
        let selected = Selected::new(VariableSet::named(["a"]));
        selected.ask(VariableSet::named(["b"]));
        assert!(selected.contains(StepId(9), "a"), "nothing has changed yet");
        selected.holds_from(StepId(5));
        assert!(selected.contains(StepId(4), "a") && !selected.contains(StepId(4), "b"));
        assert!(selected.contains(StepId(5), "b") && !selected.contains(StepId(5), "a"));
        selected.ask(VariableSet::named(["c"]));
        selected.restart();
        assert!(selected.contains(StepId(0), "c") && !selected.contains(StepId(0), "b"));
    }

    #[test]
    fn many_changes_are_bounded() {
        let selected = Selected::new(VariableSet::named(["first"]));
        for change in 0..200 {
            selected.ask(VariableSet::named([format!("v{change}")]));
            selected.holds_from(StepId(change));
        }
        assert_eq!(selected.lock().since.len(), LIMIT_CHANGES);
        assert!(selected.contains(StepId(199), "v199"));
    }
}
