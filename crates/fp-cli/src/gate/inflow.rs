//! A stream that comes in: what the gate has of it, whoever brings it, and over whatever connection.

mod asking;

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fp_core::connection::Connection;
use fp_core::{Epoch, StepId};

use super::Gate;
use super::outlet::{Numbers, Outlet};
use super::received::{Opened, Received, Spare};
use super::requests::Requests;
use super::taken::Taken;
use crate::crossing::{Mark, Note, VERSION_PLAIN, VERSION_RUNS, Wanted};
use crate::failure::Failure;

/// Steps that may be missing before one, so that the stream goes on: each rank abandons them one by one. Behind a longer
/// gap it opens anew, with that number.
const LIMIT_GAP: u64 = 100_000;

/// How long a stream that has ended is remembered for whoever brought it and has not heard of that.
const ENDED: Duration = Duration::from_secs(30);

/// A connection over which the stream comes.
struct Line {
    /// Which, of all that there were.
    number: u64,
    /// Who brings it.
    forward: String,
    /// What is known to it.
    version: u32,
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
    /// What they ask of the simulation, and the opening that their steps are of.
    requests: Requests,
    published: Option<Epoch>,
    /// Since when no step comes any more.
    ending: Option<Instant>,
    /// The opening of a run that begins anew, and whether nobody has to do with the one before any more.
    anew: Option<Epoch>,
    is_ready: bool,
    /// The opening that has ended last, and whether none has come since.
    ended: Option<Epoch>,
    has_ended: bool,
    /// What leaves hold of steps from now on was not taken.
    is_over: bool,
}

impl State {
    /// Whether another connection has taken the place of that one.
    fn is_late(&self, number: u64) -> bool {
        self.line.as_ref().is_none_or(|line| line.number != number)
    }

    /// What is said to whoever brings a run that begins anew, when it may come.
    fn opened(&self) -> Option<Note> {
        let is_heard = self.line.as_ref().is_some_and(|line| line.version >= VERSION_RUNS);
        let epoch = self.anew.filter(|_| is_heard && self.is_ready)?;
        Some(Note::Opened { epoch })
    }

    /// How many had subscribed before; none where nothing went before.
    fn awaited(&self) -> Option<u32> {
        (self.has.is_some() || self.subscribers > 0).then_some(self.subscribers)
    }

    /// With which number an opening begins. What is known to begin anew does not go on from what was before.
    fn numbers(&self, epoch: Epoch, first: StepId) -> Numbers {
        let is_another = self.has.is_some_and(|has| has.epoch != epoch);
        if first == StepId(0) && is_another { Numbers::Anew } else { Numbers::From(first) }
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
    pub(super) version: u32,
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
        let version = offer.version;
        state.line = Some(Line { number, forward, version, connection });
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
        let again = state.requests.connected(offer.forward);
        state.untold.extend(again);
        // What is not known to it brings all variables.
        let wanted = if version == VERSION_PLAIN { Wanted::default() } else { state.wanted.clone() };
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
            if state.is_late(number) {
                return None;
            }
            if let Some(note) = state.untold.pop_front() {
                if let Note::Request(request) = &note {
                    state.requests.note_told(request.number);
                }
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
            let is_heard = state.line.as_ref().is_some_and(|line| line.version > VERSION_PLAIN);
            state.wanted = wanted;
            (is_new && is_heard).then(|| Note::Wanted(state.wanted.clone()))
        });
    }

    /// Nobody has to do any more with the run before the one that begins anew, if one does: whoever brings it may know.
    pub(super) fn note_ready(&self) {
        self.tell(|state| {
            let is_new = !std::mem::replace(&mut state.is_ready, true);
            state.opened().filter(|_| is_new)
        });
    }

    /// Opens the stream, if it is not open: those who subscribe find it before its first step. An opening that has ended
    /// is none any more. Before a run that begins anew the one before is ended, when it was taken. This was said over that
    /// connection.
    pub(super) fn open(
        self: &Arc<Self>,
        gate: &Arc<Gate>,
        opened: Opened,
        (first, begins_anew): (StepId, bool),
        number: u64,
    ) -> Result<Reception, Failure> {
        let mut outlet = self.outlet();
        if self.state().is_late(number) {
            return Ok(Reception::Late);
        }
        if let Some(before) = outlet.take_if(|open| begins_anew && !open.turn_to(opened)) {
            self.end_run(before)?;
            if self.state().is_late(number) {
                return Ok(Reception::Late);
            }
        }
        let has_ended = self.state().ended == Some(opened.epoch);
        if outlet.is_none() && !has_ended {
            let numbers = match begins_anew {
                true if first.0 < LIMIT_GAP => Numbers::Anew,
                // No stream counts from 0 to there.
                true => Numbers::From(first),
                false => self.state().numbers(opened.epoch, first),
            };
            self.begin(&mut outlet, (gate, opened), numbers)?;
            self.state().has_ended = false;
        }
        if begins_anew {
            // It may be ready since a connection before.
            self.tell(|state| {
                (state.anew, state.published) = (Some(opened.epoch), Some(opened.epoch));
                state.is_ready |= has_ended;
                state.opened()
            });
        }
        Ok(Reception::Handed)
    }

    /// Opens the stream anew, where it is not open.
    fn begin<'a>(
        self: &Arc<Self>,
        outlet: &'a mut Option<Outlet>,
        (gate, opened): (&Arc<Gate>, Opened),
        numbers: Numbers,
    ) -> Result<&'a mut Outlet, Failure> {
        let awaited = {
            let mut state = self.state();
            (state.anew, state.is_ready) = (None, false);
            (state.published, state.ending) = (Some(opened.epoch), None);
            state.awaited()
        };
        Ok(outlet.insert(Outlet::open((gate, self), opened, numbers, awaited)?))
    }

    /// Ends what was published, when it was taken, as something else comes.
    fn end_run(&self, before: Outlet) -> Result<(), Failure> {
        let has_steps = before.has_steps;
        before.finish(false)?;
        // Who had its steps has its end, and awaits nothing more.
        self.tell(|state| {
            if !has_steps {
                return None;
            }
            (state.subscribers, state.is_counted) = (0, false);
            Some(Note::Subscribers(0))
        });
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
        {
            let state = self.state();
            if state.is_late(number) {
                return Ok(Reception::Late);
            }
            let is_there = |has: Mark| has.epoch == mark.epoch && mark.step <= has.step;
            if state.has.is_some_and(is_there) {
                return Ok(Reception::Handed);
            }
        }
        if outlet.as_ref().is_some_and(|outlet| !goes_on(outlet))
            && let Some(before) = outlet.take()
        {
            self.end_run(before)?;
            if self.state().is_late(number) {
                return Ok(Reception::Late);
            }
        }
        let open = match outlet.as_mut() {
            Some(open) => open,
            None => {
                let numbers = self.state().numbers(mark.epoch, mark.step);
                self.begin(&mut outlet, (gate, opened), numbers)?
            }
        };
        let taken = Arc::new(Taken::new(self, mark, opened.ranks, &open.is_void));
        {
            // Whoever comes now is told that it is here, or sends it: not both.
            let mut state = self.state();
            if state.is_late(number) {
                return Ok(Reception::Late);
            }
            state.pending.push(mark);
            (state.has, state.published) = (Some(mark), Some(mark.epoch));
        }
        if open.hand(received, taken) {
            return Ok(Reception::Handed);
        }
        // A rank has ended, and knows why.
        let ended = outlet.take().map_or(Ok(()), |outlet| outlet.finish(true));
        let ending = "what publishes it has ended".to_owned();
        ended.and(Err(Failure::Ended { stream: self.stream.clone(), ending }))
    }

    /// The stream has ended: its subscribers are told, when they have taken all. Then whoever brought it is. What is said of
    /// that over a connection that another one has replaced is said again there.
    pub(super) fn end(&self, number: Option<u64>) -> Result<(), Failure> {
        // Who comes meanwhile waits for that.
        let mut outlet = self.outlet();
        let is_over = {
            let mut state = self.state();
            if number.is_some_and(|number| state.is_late(number)) {
                return Ok(());
            }
            state.ended = state.has.map(|has| has.epoch).or(state.ended);
            state.ending.get_or_insert_with(Instant::now);
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

#[cfg(test)]
mod tests;
