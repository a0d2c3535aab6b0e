//! What subscribers of a stream ask of the simulation: whoever brings the stream asks it there.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};

use fp_core::{Epoch, ParameterRequest, SteeringOutcome};

use crate::crossing::{Note, Request};
use crate::delegate::unreachable;

/// One that is under way.
struct Open {
    request: Request,
    /// To whom it was told.
    forward: String,
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
    pub(super) fn open(&mut self, request: &ParameterRequest, epoch: Epoch, forward: &str) -> (u64, Note) {
        let number = self.next;
        self.next = number.wrapping_add(1);
        let request = Request::of(request, number, epoch);
        let told = Note::Request(request.clone());
        self.open.insert(number, Open { request, forward: forward.to_owned(), outcome: None });
        (number, told)
    }

    /// That `forward` brings the stream from now on: what it is told once more, as it may not have heard it. What another one
    /// was told nobody answers any more.
    pub(super) fn connected(&mut self, forward: &str) -> Vec<Note> {
        let mut again = Vec::new();
        for open in self.open.values_mut().filter(|open| open.outcome.is_none()) {
            match open.forward == forward {
                true => again.push(Note::Request(open.request.clone())),
                false => {
                    open.outcome =
                        Some(unanswered("the `flexpath forward` that was to ask for it is no more"));
                }
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
    pub(super) fn give_up(&mut self, number: u64, reason: &str, is_told: bool) -> SteeringOutcome {
        self.open.remove(&number);
        if is_told { unanswered(reason) } else { unreachable(reason) }
    }
}
