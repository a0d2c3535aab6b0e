//! A request of a subscriber, from when it is told to whoever brings the stream to when that has answered.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use fp_core::{ParameterRequest, SteeringOutcome};

use super::Inflow;
use crate::crossing::{Note, Request, VERSION};
use crate::delegate::unreachable;
use crate::interrupt::NOTICE;

/// How long who brings the stream may be away, while somebody waits for what becomes of a request. It finds within ten seconds
/// that it is, and dials again.
const AWAY: Duration = Duration::from_secs(30);

/// How long that is awaited: longer than it is where the simulation is asked.
const ANSWER: Duration = Duration::from_secs(620);

impl Inflow {
    /// Has whoever brings the stream ask for that where it comes from, and waits for what becomes of it.
    pub(in crate::gate) fn ask(&self, request: &ParameterRequest) -> SteeringOutcome {
        let began = Instant::now();
        let mut state = self.state();
        let number = match &state.line {
            _ if state.is_over || state.ending.is_some() => {
                return unreachable("the stream has ended where it comes from");
            }
            None => {
                let then = "ask again when `flexpath forward` runs again where it comes from";
                return unreachable(format!("nobody brings the stream to the gate now: {then}"));
            }
            Some(line) if line.version < VERSION => {
                return unreachable("the `flexpath forward` that brings the stream is of an older version");
            }
            Some(line) => {
                let (forward, epoch) = (line.forward.clone(), state.published.unwrap_or_default());
                let asked = |number| Request::of(request, number, epoch);
                let (number, note) = state.requests.open(asked, &forward);
                state.untold.push_back(note);
                number
            }
        };
        self.changed.notify_all();
        loop {
            if let Some(outcome) = state.requests.take(number) {
                return outcome;
            }
            let is_long = |since: Option<Instant>| since.is_some_and(|since| since.elapsed() >= AWAY);
            let is_away = state.is_over || is_long(state.away) || is_long(state.ending);
            let is_left = !request.is_awaited() || began.elapsed() >= ANSWER;
            if is_away || is_left {
                let why = if is_away { "whoever was to ask for it is away" } else { "no answer came" };
                let is_it = |note: &Note| matches!(note, Note::Request(asked) if asked.number == number);
                state.untold.retain(|note| !is_it(note));
                return state.requests.give_up(number, why);
            }
            state = self.changed.wait_timeout(state, NOTICE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whoever brings the stream says what became of a request.
    pub(in crate::gate) fn answered(&self, number: u64, outcome: SteeringOutcome) {
        self.tell(|state| {
            state.requests.answered(number, outcome);
            None
        });
    }
}
