//! A stream that comes in: what the gate has of it, whoever brings it, and over whatever connection.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fp_core::connection::Connection;
use fp_core::{Epoch, StepId};

use super::Gate;
use super::outlet::Outlet;
use super::received::{Opened, Received, Spare};
use super::taken::Taken;
use crate::crossing::{Mark, Note, Wanted};
use crate::failure::Failure;

/// Steps that may be missing before one, so that numbers go on. Behind a longer gap the stream opens anew.
const LIMIT_GAP: u64 = 100_000;

/// How long a stream that has ended is remembered for whoever brought it and has not heard of that.
const ENDED: Duration = Duration::from_secs(30);

/// A connection over which the stream comes.
struct Line {
    /// Which, of all that there were.
    number: u64,
    /// Who brings it.
    forward: String,
    /// Whether it brings all variables in any case.
    is_plain: bool,
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
    /// How many subscribe to it: as was offered, until they are counted.
    subscribers: u32,
    is_counted: bool,
    /// Which variables they want.
    wanted: Wanted,
    /// The opening that has ended last, and whether none has come since.
    ended: Option<Epoch>,
    has_ended: bool,
    /// What leaves hold of steps from now on was not taken.
    is_over: bool,
}

impl State {
    /// How many had subscribed before; none where nothing went before.
    fn awaited(&self) -> Option<u32> {
        (self.has.is_some() || self.subscribers > 0).then_some(self.subscribers)
    }
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

/// A stream as it is offered.
pub(super) struct Offer<'a> {
    pub(super) forward: &'a str,
    /// How many had subscribed when that was heard last.
    pub(super) subscribers: u32,
    /// Whether it is of a version that brings all variables.
    pub(super) is_plain: bool,
}

/// How a step fared that came.
#[derive(PartialEq, Eq)]
pub(super) enum Reception {
    /// It is handed to those who publish it, or was before.
    Handed,
    /// It came over a connection that another one has replaced.
    Late,
}

impl Inflow {
    pub(super) fn new(stream: &str) -> Self {
        let state = State { away: Some(Instant::now()), ..State::default() };
        let (state, changed, outlet) = (Mutex::new(state), Condvar::new(), Mutex::default());
        Self { stream: stream.to_owned(), state, changed, spare: Arc::default(), outlet }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outlet(&self) -> MutexGuard<'_, Option<Outlet>> {
        self.outlet.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody has brought it for so long.
    pub(super) fn is_left(&self, awaits: Duration) -> bool {
        let state = self.state();
        // Of one that has ended nothing is awaited but that whoever brought it hears of it.
        let awaits = if state.has_ended { awaits.min(ENDED) } else { awaits };
        state.away.is_some_and(|since| since.elapsed() >= awaits)
    }

    /// It comes over that connection from now on: which number that has, and what is answered. The same forward takes
    /// the place of its own connection before, and of any that is cut; else why not.
    pub(super) fn connect(
        &self,
        offer: &Offer<'_>,
        connection: &Arc<Connection>,
        reserve: u32,
    ) -> Result<(u64, Note), String> {
        let mut state = self.state();
        if state.is_over {
            return Err(format!("stream {:?} is being ended there", self.stream));
        }
        if let Some(line) = &state.line {
            if line.forward != offer.forward && !line.connection.is_cut() {
                let (stream, peer) = (&self.stream, line.connection.peer());
                return Err(format!("stream {stream:?} is brought by another already, from {peer}"));
            }
            line.connection.close();
        }
        state.lines += 1;
        let (number, forward, connection) = (state.lines, offer.forward.to_owned(), connection.clone());
        let is_plain = offer.is_plain;
        state.line = Some(Line { number, forward, is_plain, connection });
        state.away = None;
        // Who comes anew is told how it stands, and hears no more of what was to be said before.
        state.untold.clear();
        match state.is_counted {
            true => {
                let subscribers = state.subscribers;
                state.untold.push_back(Note::Subscribers(subscribers));
            }
            false => state.subscribers = state.subscribers.max(offer.subscribers),
        }
        let wanted = if is_plain { Wanted::default() } else { state.wanted.clone() };
        Ok((number, Note::Welcome { has: state.has, pending: state.pending.clone(), reserve, wanted }))
    }

    /// That connection is no more; whether it was the last one, so that what has ended over it has ended for all.
    pub(super) fn disconnect(&self, number: u64, has_ended: bool) -> bool {
        let mut state = self.state();
        let is_last = state.line.as_ref().is_some_and(|line| line.number == number);
        if is_last {
            state.line = None;
            state.away = Some(Instant::now()).filter(|_| !has_ended);
            state.is_over |= has_ended;
        }
        drop(state);
        self.changed.notify_all();
        is_last
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

    /// Changes what holds, and says what is to be said of it: together, so that a new connection hears it once.
    fn tell(&self, change: impl FnOnce(&mut State) -> Option<Note>) {
        let mut state = self.state();
        let note = change(&mut state);
        let note = note.filter(|_| state.line.is_some() && !state.is_over);
        state.untold.extend(note);
        drop(state);
        self.changed.notify_all();
    }

    /// All have taken that step.
    pub(super) fn taken(&self, mark: Mark) {
        self.tell(|state| {
            if state.is_over {
                return None;
            }
            // What was told before, as nothing came any more, is not told again.
            let at = state.pending.iter().position(|pending| *pending == mark)?;
            state.pending.remove(at);
            Some(Note::Taken(mark))
        });
    }

    /// All have taken all steps up to that one, though some of them are in the reserve.
    pub(super) fn taken_until(&self, last: Mark) {
        let mut state = self.state();
        let behind = state.pending.iter().rposition(|pending| *pending == last).map_or(0, |at| at + 1);
        let taken: Vec<Mark> = state.pending.drain(..behind).collect();
        if state.line.is_some() && !state.is_over {
            state.untold.extend(taken.into_iter().map(Note::Taken));
        }
        drop(state);
        self.changed.notify_all();
    }

    /// So many subscribe to it now.
    pub(super) fn note_subscribers(&self, subscribers: u32) {
        self.tell(|state| {
            let is_new = !state.is_counted || state.subscribers != subscribers;
            (state.subscribers, state.is_counted) = (subscribers, true);
            is_new.then_some(Note::Subscribers(subscribers))
        });
    }

    /// They want these variables from now on.
    pub(super) fn note_wanted(&self, wanted: Wanted) {
        self.tell(|state| {
            let is_new = state.wanted != wanted;
            let is_heard = state.line.as_ref().is_some_and(|line| !line.is_plain);
            state.wanted = wanted;
            (is_new && is_heard).then(|| Note::Wanted(state.wanted.clone()))
        });
    }

    /// Opens the stream, if it is not open: those who subscribe find it before its first step. An opening that has ended
    /// is none any more.
    pub(super) fn open(
        self: &Arc<Self>,
        gate: &Arc<Gate>,
        opened: Opened,
        first: StepId,
    ) -> Result<(), Failure> {
        let mut outlet = self.outlet();
        let (has_ended, awaited) = {
            let state = self.state();
            (state.ended == Some(opened.epoch), state.awaited())
        };
        if outlet.is_none() && !has_ended {
            *outlet = Some(Outlet::open(gate, self, opened.ranks, first, awaited)?);
            self.state().has_ended = false;
        }
        Ok(())
    }

    /// Publishes a step that has come over that connection; waits until it is a rank's next.
    pub(super) fn publish(
        self: &Arc<Self>,
        gate: &Arc<Gate>,
        received: Received,
        opened: Opened,
        number: u64,
    ) -> Result<Reception, Failure> {
        let mut outlet = self.outlet();
        let mark = received.mark();
        let goes_on = |outlet: &Outlet| {
            outlet.ranks == opened.ranks
                && (outlet.next.0..outlet.next.0.saturating_add(LIMIT_GAP)).contains(&mark.step.0)
        };
        let awaited = {
            let state = self.state();
            if state.line.as_ref().is_none_or(|line| line.number != number) {
                return Ok(Reception::Late);
            }
            let is_there = |has: Mark| has.epoch == mark.epoch && mark.step <= has.step;
            if state.has.is_some_and(is_there) {
                return Ok(Reception::Handed);
            }
            state.awaited()
        };
        if outlet.as_ref().is_some_and(|outlet| !goes_on(outlet))
            && let Some(before) = outlet.take()
        {
            before.finish(false)?;
        }
        let open = match outlet.as_mut() {
            Some(open) => open,
            None => outlet.insert(Outlet::open(gate, self, opened.ranks, mark.step, awaited)?),
        };
        let taken = Arc::new(Taken::new(self, mark, opened.ranks, &open.is_void));
        {
            // Whoever comes now is told that it is here, or sends it: not both.
            let mut state = self.state();
            if state.line.as_ref().is_none_or(|line| line.number != number) {
                return Ok(Reception::Late);
            }
            state.pending.push(mark);
            state.has = Some(mark);
        }
        if open.hand(received, taken) {
            return Ok(Reception::Handed);
        }
        // A rank has ended, and knows why.
        let ended = outlet.take().map_or(Ok(()), |outlet| outlet.finish(true));
        let ending = "what publishes it has ended".to_owned();
        ended.and(Err(Failure::Ended { stream: self.stream.clone(), ending }))
    }

    /// The stream has ended: its subscribers are told, when they have taken all. Then whoever brought it is.
    pub(super) fn end(&self, number: Option<u64>) -> Result<(), Failure> {
        // Who comes meanwhile waits for that.
        let mut outlet = self.outlet();
        let is_over = {
            let mut state = self.state();
            state.ended = state.has.map(|has| has.epoch).or(state.ended);
            state.is_over
        };
        outlet.take().map_or(Ok(()), |outlet| outlet.finish(is_over))?;
        self.tell(|state| {
            (state.subscribers, state.is_counted, state.has_ended) = (0, false, true);
            state.wanted = Wanted::default();
            // Over another connection it is told as it is said there.
            let is_its = state.line.as_ref().map(|line| line.number) == number;
            is_its.then_some(Note::Ended)
        });
        Ok(())
    }

    /// Nothing more is said to whoever brings it, and what is given up from now on was not taken.
    pub(super) fn give_up(&self) {
        let mut state = self.state();
        (state.is_over, state.away) = (true, None);
        if let Some(line) = state.line.take() {
            line.connection.close();
        }
        drop(state);
        self.changed.notify_all();
    }
}
