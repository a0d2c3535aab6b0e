//! What was subscribed to in which step: that changes while the stream runs, and each step is read by what held for it.

use fp_proto::config::{SubscriptionSpec, VariableSet};
use fp_proto::request::Request;
use fp_types::StepId;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Changes that are remembered for steps that were not taken yet. A step that is older than all of them goes by the
/// oldest.
const LIMIT_CHANGES: usize = 1024;

/// What a subscription asks for in a step.
#[derive(Debug)]
pub(crate) struct Wants {
    variables: VariableSet,
    /// What publisher ranks are asked for besides: sorted, without modules.
    requests: Vec<Request>,
}

impl Wants {
    fn new(spec: SubscriptionSpec) -> Self {
        let requests = spec.requests.into_iter().filter(|request| !request.is_module()).collect();
        Self { variables: spec.variables, requests }
    }

    /// Whether the variable is subscribed to.
    pub(crate) fn contains(&self, variable: &str) -> bool {
        self.variables.contains(variable)
    }

    /// Whether publisher ranks are asked for that.
    pub(crate) fn asks(&self, request: &Request) -> bool {
        self.requests.binary_search(request).is_ok()
    }
}

/// What is asked for, each with the first step that it holds for, rising.
type Since = VecDeque<(StepId, Arc<Wants>)>;

/// What a subscription asks for over time.
pub(crate) struct WantsHistory {
    at_first: Arc<Wants>,
    since: Mutex<Since>,
}

impl WantsHistory {
    pub(crate) fn new(spec: SubscriptionSpec) -> Self {
        let at_first = Arc::new(Wants::new(spec));
        let since = Mutex::new(Since::from([(StepId(0), at_first.clone())]));
        Self { at_first, since }
    }

    fn lock(&self) -> MutexGuard<'_, Since> {
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// This holds from `first` on; says what held until then, and what does now.
    pub(crate) fn holds_from(&self, first: StepId, spec: SubscriptionSpec) -> (Arc<Wants>, Arc<Wants>) {
        let mut since = self.lock();
        let (before, now) = (self.newest(&since), Arc::new(Wants::new(spec)));
        since.retain(|(known, _)| *known < first);
        since.push_back((first, now.clone()));
        if since.len() > LIMIT_CHANGES {
            since.pop_front();
        }
        (before, now)
    }

    /// A new epoch starts with what held last. If the lead had asked for something else by then, that is told next.
    pub(crate) fn restart(&self) {
        let mut since = self.lock();
        *since = Since::from([(StepId(0), self.newest(&since))]);
    }

    /// What is asked for in that step.
    pub(crate) fn of(&self, step: StepId) -> Arc<Wants> {
        let since = self.lock();
        let of_step = since.iter().rev().find(|(first, _)| *first <= step).or(since.front());
        of_step.map_or_else(|| self.at_first.clone(), |(_, wants)| wants.clone())
    }

    /// What holds from the newest change on.
    pub(crate) fn latest(&self) -> Arc<Wants> {
        self.newest(&self.lock())
    }

    fn newest(&self, since: &Since) -> Arc<Wants> {
        since.back().map_or_else(|| self.at_first.clone(), |(_, wants)| wants.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(derivation: u8, may_be_left: bool) -> Request {
        Request::Derivation { derivation: vec![derivation], may_be_left }
    }

    fn spec(variable: &str, requests: &[Request]) -> SubscriptionSpec {
        let (variables, requests) = (VariableSet::named([variable]), requests.to_vec());
        SubscriptionSpec { variables, requests, ..Default::default() }
    }

    #[test]
    fn each_step_goes_by_its_own_set() {
        let selected = WantsHistory::new(spec("a", &[derived(1, false)]));
        let module = Request::Module { code: vec![9], user: None };
        let asked = spec("b", &[derived(1, true), module.clone()]);
        let (before, now) = selected.holds_from(StepId(5), asked);
        assert!(before.contains("a") && now.contains("b"));
        assert!(selected.of(StepId(4)).contains("a") && !selected.of(StepId(4)).contains("b"));
        assert!(
            selected.of(StepId(4)).asks(&derived(1, false))
                && !selected.of(StepId(5)).asks(&derived(1, false))
        );
        assert!(selected.of(StepId(5)).contains("b") && selected.of(StepId(9)).asks(&derived(1, true)));
        assert!(!selected.of(StepId(9)).asks(&module), "modules are nothing that is read");
        selected.holds_from(StepId(5), spec("c", &[]));
        assert!(
            selected.of(StepId(5)).contains("c"),
            "of two that begin with the same step the second holds"
        );
        selected.restart();
        assert!(selected.of(StepId(0)).contains("c") && !selected.of(StepId(0)).contains("b"));
    }

    #[test]
    fn many_changes_are_bounded() {
        let selected = WantsHistory::new(spec("first", &[]));
        let many = 3 * LIMIT_CHANGES as u64;
        for change in 0..many {
            selected.holds_from(StepId(change), spec(&format!("v{change}"), &[]));
        }
        assert_eq!(selected.lock().len(), LIMIT_CHANGES);
        assert!(selected.of(StepId(many - 1)).contains(&format!("v{}", many - 1)));
        assert!(selected.latest().contains(&format!("v{}", many - 1)));
    }
}
