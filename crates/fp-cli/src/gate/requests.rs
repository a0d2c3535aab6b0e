//! What subscribers of a stream ask of the simulation: whoever brings the stream asks it there.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};

use fp_core::SteeringOutcome;

use crate::crossing::{Note, Request};
use crate::delegate::unreachable;

/// One that is under way.
struct Open {
    request: Request,
    /// For whom it is, and whether that may have heard it.
    forward: String,
    is_told: bool,
    outcome: Option<SteeringOutcome>,
}

/// The requests of one stream that are under way.
pub(super) struct Requests {
    next: u64,
    open: BTreeMap<u64, Open>,
}

impl Default for Requests {
    fn default() -> Self {
        // Whoever brings the stream may have brought it to another gate before, and remembers the numbers of that.
        Self { next: RandomState::new().hash_one(std::process::id()), open: BTreeMap::new() }
    }
}

fn unanswered(reason: &str) -> SteeringOutcome {
    SteeringOutcome::Unanswered { reason: reason.to_owned() }
}

impl Requests {
    /// One more, for that `forward`: its number, and what is to be told.
    pub(super) fn open(&mut self, request: impl FnOnce(u64) -> Request, forward: &str) -> (u64, Note) {
        let number = self.next;
        self.next = number.wrapping_add(1);
        let request = request(number);
        let told = Note::Request(request.clone());
        self.open
            .insert(number, Open { request, forward: forward.to_owned(), is_told: false, outcome: None });
        (number, told)
    }

    /// It is being told.
    pub(super) fn note_told(&mut self, number: u64) {
        if let Some(open) = self.open.get_mut(&number) {
            open.is_told = true;
        }
    }

    /// That `forward` brings the stream from now on: what it is told once more, as it may not have heard it. What another one
    /// was told nobody answers any more.
    pub(super) fn connected(&mut self, forward: &str) -> Vec<Note> {
        let mut again = Vec::new();
        for open in self.open.values_mut().filter(|open| open.outcome.is_none()) {
            if open.forward == forward || !open.is_told {
                open.forward = forward.to_owned();
                again.push(Note::Request(open.request.clone()));
            } else {
                let reason = "the `flexpath forward` that was to ask for it is no more";
                open.outcome = Some(unanswered(reason));
            }
        }
        again
    }

    /// It was answered. One that nobody waits for any more is passed over.
    pub(super) fn answered(&mut self, number: u64, outcome: SteeringOutcome) {
        if let Some(open) = self.open.get_mut(&number) {
            open.outcome.get_or_insert(outcome);
        }
    }

    /// What became of it, once that is known; it is open no more then.
    pub(super) fn take(&mut self, number: u64) -> Option<SteeringOutcome> {
        let outcome = self.open.get_mut(&number)?.outcome.take()?;
        self.open.remove(&number);
        Some(outcome)
    }

    /// It is not waited for any more, and why. What was never told never reached the simulation.
    pub(super) fn give_up(&mut self, number: u64, reason: &str) -> SteeringOutcome {
        let is_told = self.open.remove(&number).is_none_or(|open| open.is_told);
        if is_told { unanswered(reason) } else { unreachable(reason) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_core::{Epoch, SteeringRefusal, StepId};

    fn opened(requests: &mut Requests, forward: &str) -> (u64, Note) {
        let (parameter, by) = ("level".to_owned(), "viewer".to_owned());
        let request =
            |number| Request { number, epoch: Epoch(1), parameter, value: 1.into(), by, now: false };
        requests.open(request, forward)
    }

    /// Two that are under way: one that was told, and one that is to be.
    fn told_and_untold() -> (Requests, u64, (u64, Note)) {
        let mut requests = Requests::default();
        let [(told, _), untold] = [(); 2].map(|()| opened(&mut requests, "f"));
        requests.note_told(told);
        (requests, told, untold)
    }

    const APPLIED: SteeringOutcome = SteeringOutcome::Applied { step: StepId(7) };

    #[test]
    fn what_is_not_answered_is_told_again_and_answered_once() {
        let mut requests = Requests::default();
        let [(first, told), (second, other)] = [(); 2].map(|()| opened(&mut requests, "f"));
        requests.note_told(first);
        assert_eq!((requests.take(first), requests.take(second)), (None, None));
        let again: Vec<Note> = if first < second { vec![told, other] } else { vec![other, told] };
        assert_eq!(requests.connected("f"), again);
        requests.answered(first, APPLIED);
        requests.answered(first, SteeringOutcome::Over);
        requests.answered(first.wrapping_add(5), SteeringOutcome::Over);
        assert_eq!(requests.connected("f").len(), 1);
        assert_eq!((requests.take(first), requests.take(first)), (Some(APPLIED), None));
    }

    /// Another one may be told what the one before was not.
    #[test]
    fn what_another_was_told_is_unanswered() {
        let (mut requests, first, (second, untold)) = told_and_untold();
        assert_eq!(requests.connected("g"), [untold]);
        assert!(matches!(requests.take(first), Some(SteeringOutcome::Unanswered { .. })));
        requests.answered(second, APPLIED);
        assert_eq!(requests.take(second), Some(APPLIED));
    }

    #[test]
    fn what_was_never_told_never_reached_the_simulation() {
        let (mut requests, first, (second, _)) = told_and_untold();
        let [told, untold] = [first, second].map(|number| requests.give_up(number, "it is away"));
        assert!(matches!(told, SteeringOutcome::Unanswered { .. }));
        assert!(matches!(untold, SteeringOutcome::Refused(SteeringRefusal::Unreachable { .. })));
        assert_eq!(requests.connected("f"), []);
    }
}
