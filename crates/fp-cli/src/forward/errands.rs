//! What subscribers of the gate ask of the simulation: asked here, and answered over whatever connection there is then.

use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use fp_core::SteeringOutcome;

use super::Forward;
use super::held::Other;
use crate::crossing::{Note, Request};
use crate::delegate::{Delegate, unreachable};

/// Requests under way at one time: more than a gate hands on.
const LIMIT_ERRANDS: usize = 64;

/// Answers that are remembered for a gate that has not heard them: of more requests than it has under way.
const LIMIT_ANSWERS: usize = 256;

#[derive(Default)]
struct State {
    under_way: BTreeSet<u64>,
    /// What became of the last ones.
    answers: VecDeque<(u64, SteeringOutcome)>,
    untold: VecDeque<u64>,
}

/// The requests of a gate.
pub(super) struct Errands {
    /// Who asks; none where no request is passed on.
    delegate: Option<Arc<Delegate>>,
    state: Mutex<State>,
}

impl State {
    fn answer(&mut self, number: u64, outcome: SteeringOutcome) {
        self.under_way.remove(&number);
        self.answers.push_back((number, outcome));
        if self.answers.len() > LIMIT_ANSWERS {
            self.answers.pop_front();
        }
        self.untold.push_back(number);
    }
}

/// What becomes of a request. How long whoever asked waits is not known here.
fn asked(delegate: &Delegate, request: Request) -> SteeringOutcome {
    let Request { epoch, parameter, value, by, now, .. } = request;
    delegate.ask((&parameter, value), (&by, now), Some(epoch), || true)
}

impl Errands {
    pub(super) fn new(delegate: Option<Delegate>) -> Self {
        Self { delegate: delegate.map(Arc::new), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for it, once: what was asked before is answered again.
    pub(super) fn run(self: &Arc<Self>, request: Request) {
        let number = request.number;
        let mut state = self.state();
        if state.under_way.contains(&number) {
            return;
        }
        if state.answers.iter().any(|(answered, _)| *answered == number) {
            if !state.untold.contains(&number) {
                state.untold.push_back(number);
            }
            return;
        }
        let Some(delegate) = self.delegate.clone() else {
            let reason = "`flexpath forward` brings none from here (--no-requests)";
            return state.answer(number, unreachable(reason));
        };
        if state.under_way.len() >= LIMIT_ERRANDS {
            let reason = format!("`flexpath forward` has {LIMIT_ERRANDS} under way already");
            return state.answer(number, unreachable(reason));
        }
        state.under_way.insert(number);
        drop(state);
        let errands = self.clone();
        let named = thread::Builder::new().name("ask the simulation".to_owned());
        let asking = named.spawn(move || {
            let asked = catch_unwind(AssertUnwindSafe(|| asked(&delegate, request)));
            let reason = "`flexpath forward` panicked over it".to_owned();
            let outcome = asked.unwrap_or(SteeringOutcome::Unanswered { reason });
            errands.state().answer(number, outcome);
        });
        if let Err(error) = asking {
            let reason = format!("`flexpath forward` can start no thread for it: {error}");
            self.state().answer(number, unreachable(reason));
        }
    }

    /// Whether anything is still to be told.
    pub(super) fn are_under_way(&self) -> bool {
        let state = self.state();
        !state.under_way.is_empty() || !state.untold.is_empty()
    }

    /// An answer that was not told yet.
    pub(super) fn next_untold(&self) -> Option<Note> {
        let mut state = self.state();
        while let Some(number) = state.untold.pop_front() {
            let found = state.answers.iter().find(|(answered, _)| *answered == number);
            if let Some((_, outcome)) = found {
                return Some(Note::Answered { number, outcome: outcome.clone() });
            }
        }
        None
    }
}

impl Forward<'_> {
    /// Tells the gate what became of requests. What does not come through is asked for again.
    pub(super) fn answer(&self) {
        while let Some(passage) = self.passage.as_ref().filter(|passage| passage.hears_answers())
            && let Some(note) = self.errands.next_untold()
        {
            if let Err(error) = passage.tell(&note) {
                return self.held.note_other(Other::Cut(error.to_string()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fp_core::Epoch;

    fn request(number: u64) -> Request {
        let (parameter, by) = ("level".to_owned(), "viewer".to_owned());
        Request { number, epoch: Epoch(1), parameter, value: 1.into(), by, now: false }
    }

    /// A gate that has not heard the answer asks again, over another connection.
    #[test]
    fn what_was_asked_is_answered_again_and_not_asked_again() {
        let errands = Arc::new(Errands::new(None));
        errands.run(request(7));
        let told = errands.next_untold();
        assert!(matches!(&told, Some(Note::Answered { number: 7, outcome: SteeringOutcome::Refused(_) })));
        assert_eq!(errands.next_untold(), None);
        errands.run(request(7));
        assert_eq!((errands.next_untold(), errands.next_untold()), (told, None));
        errands.state().under_way.insert(8);
        errands.run(request(8));
        assert_eq!(errands.next_untold(), None, "it is under way");
        errands.state().answer(8, SteeringOutcome::Over);
        let told = Note::Answered { number: 8, outcome: SteeringOutcome::Over };
        assert_eq!((errands.next_untold(), errands.next_untold()), (Some(told), None));
    }

    #[test]
    fn answers_are_remembered_up_to_a_bound() {
        let errands = Arc::new(Errands::new(None));
        for number in 0..2 * LIMIT_ANSWERS as u64 {
            errands.run(request(number));
            assert!(errands.next_untold().is_some());
        }
        assert_eq!(errands.state().answers.len(), LIMIT_ANSWERS);
    }
}
