//! A stream that comes in: what the gate has of it, whoever brings it, and over whatever connection.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fp_core::StepId;
use fp_core::connection::Connection;

use super::Gate;
use super::outlet::Outlet;
use super::received::{Opened, Received, Spare};
use super::taken::Taken;
use crate::crossing::{Mark, Note};
use crate::failure::Failure;

/// Steps that may be missing before one, so that numbers go on. Behind a longer gap the stream opens anew.
const LIMIT_GAP: u64 = 100_000;

/// A connection over which the stream comes.
struct Line {
    /// Which, of all that there were.
    number: u64,
    /// Who brings it.
    forward: String,
    connection: Arc<Connection>,
}

#[derive(Default)]
struct State {
    line: Option<Line>,
    /// How many connections there were.
    lines: u64,
    /// Since when there is none.
    away: Option<Instant>,
    /// The last step that came.
    has: Option<Mark>,
    /// Steps that came, and were not taken by all.
    pending: Vec<Mark>,
    /// What is to be said over the connection.
    untold: VecDeque<Note>,
    subscribers: u32,
    /// What leaves hold of steps from now on was not taken.
    is_over: bool,
}

/// A stream that comes in.
pub(super) struct Inflow {
    pub(super) stream: String,
    state: Mutex<State>,
    changed: Condvar,
    /// Memory for what comes next.
    pub(super) spare: Arc<Spare>,
    /// Where it is published.
    outlet: Mutex<Option<Outlet>>,
}

/// Why a stream is not taken from somebody.
pub(super) struct Taker(pub(super) String);

impl Inflow {
    pub(super) fn new(stream: &str) -> Self {
        let state = State { away: Some(Instant::now()), ..State::default() };
        let (state, changed, outlet) = (Mutex::new(state), Condvar::new(), Mutex::default());
        Self { stream: stream.to_owned(), state, changed, spare: Arc::default(), outlet }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody has brought it for so long.
    pub(super) fn is_left(&self, awaits: Duration) -> bool {
        self.state().away.is_some_and(|since| since.elapsed() >= awaits)
    }

    /// It comes over that connection from now on: which number that has, and what is answered. The same forward takes
    /// the place of its own connection before; another one awaits its end.
    pub(super) fn connect(
        &self,
        forward: &str,
        connection: &Arc<Connection>,
        reserve: u32,
    ) -> Result<(u64, Note), Taker> {
        let mut state = self.state();
        if state.is_over {
            return Err(Taker("a gate that ends it just now".to_owned()));
        }
        if let Some(line) = &state.line {
            if line.forward != forward {
                return Err(Taker(line.connection.peer().to_owned()));
            }
            line.connection.close();
        }
        state.lines += 1;
        let (number, forward, connection) = (state.lines, forward.to_owned(), connection.clone());
        state.line = Some(Line { number, forward, connection });
        state.away = None;
        // Who comes anew is told how it stands, and hears no more of what was to be said before.
        state.untold.clear();
        let subscribers = state.subscribers;
        state.untold.push_back(Note::Subscribers(subscribers));
        Ok((number, Note::Welcome { has: state.has, pending: state.pending.clone(), reserve }))
    }

    /// That connection is no more.
    pub(super) fn disconnect(&self, number: u64) {
        let mut state = self.state();
        if state.line.as_ref().is_some_and(|line| line.number == number) {
            state.line = None;
            state.away = Some(Instant::now());
        }
        drop(state);
        self.changed.notify_all();
    }

    /// The next thing to be said over that connection; none if it is no more.
    pub(super) fn next_note(&self, number: u64) -> Option<Note> {
        let mut state = self.state();
        loop {
            if state.line.as_ref().is_none_or(|line| line.number != number) {
                return None;
            }
            if let Some(note) = state.untold.pop_front() {
                return Some(note);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn tell(&self, note: Note) {
        let mut state = self.state();
        if state.line.is_some() {
            state.untold.push_back(note);
        }
        drop(state);
        self.changed.notify_all();
    }

    /// All have taken that step.
    pub(super) fn taken(&self, mark: Mark) {
        let mut state = self.state();
        if state.is_over {
            return;
        }
        state.pending.retain(|pending| *pending != mark);
        drop(state);
        self.tell(Note::Taken(mark));
    }

    /// So many subscribe to it now.
    pub(super) fn note_subscribers(&self, subscribers: u32) {
        let mut state = self.state();
        let is_new = std::mem::replace(&mut state.subscribers, subscribers) != subscribers;
        drop(state);
        if is_new {
            self.tell(Note::Subscribers(subscribers));
        }
    }

    /// Opens the stream, if it is not open: those who subscribe find it before its first step.
    pub(super) fn open(
        self: &Arc<Self>,
        gate: &Arc<Gate>,
        opened: Opened,
        first: StepId,
        subscribers: u32,
    ) -> Result<(), Failure> {
        let mut outlet = self.outlet.lock().unwrap_or_else(PoisonError::into_inner);
        if outlet.is_none() {
            *outlet = Some(Outlet::open(gate, self, opened.ranks, first, subscribers)?);
        }
        Ok(())
    }

    /// Publishes a step that has come; waits until it is a rank's next.
    pub(super) fn publish(
        self: &Arc<Self>,
        gate: &Arc<Gate>,
        received: Received,
        opened: Opened,
        subscribers: u32,
    ) -> Result<(), Failure> {
        let mut outlet = self.outlet.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = received.mark();
        let is_there = |has: Mark| has.epoch == mark.epoch && mark.step <= has.step;
        if self.state().has.is_some_and(is_there) {
            // Over the connection before it came to its end after all.
            return Ok(());
        }
        let goes_on = |outlet: &Outlet| {
            outlet.ranks == opened.ranks
                && (outlet.next.0..outlet.next.0.saturating_add(LIMIT_GAP)).contains(&mark.step.0)
        };
        if outlet.as_ref().is_some_and(|outlet| !goes_on(outlet))
            && let Some(before) = outlet.take()
        {
            before.finish()?;
        }
        let open = match outlet.as_mut() {
            Some(open) => open,
            None => outlet.insert(Outlet::open(gate, self, opened.ranks, mark.step, subscribers)?),
        };
        let taken = Arc::new(Taken::new(self, mark, opened.ranks));
        let mut state = self.state();
        state.pending.push(mark);
        state.has = Some(mark);
        drop(state);
        if open.hand(received, taken) {
            return Ok(());
        }
        // A rank has ended, and knows why.
        let ended = outlet.take().map_or(Ok(()), Outlet::finish);
        let ending = "what publishes it has ended".to_owned();
        ended.and(Err(Failure::Ended { stream: self.stream.clone(), ending }))
    }

    /// The stream has ended: its subscribers are told, when they have taken all. Then whoever brought it is.
    pub(super) fn end(&self) -> Result<(), Failure> {
        let outlet = self.outlet.lock().unwrap_or_else(PoisonError::into_inner).take();
        outlet.map_or(Ok(()), Outlet::finish)?;
        self.tell(Note::Ended);
        Ok(())
    }

    /// Nothing more is said to whoever brings it, and what is given up from now on was not taken.
    pub(super) fn give_up(&self) {
        let mut state = self.state();
        state.is_over = true;
        if let Some(line) = state.line.take() {
            line.connection.close();
        }
        drop(state);
        self.changed.notify_all();
    }
}
