//! The steps that a forward holds until they are taken at the other end.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fp_core::{Epoch, StepId, StepReader};

use crate::crossing::{Mark, Wanted};

/// Which attachment to the publisher a step is of: how often this was subscribed, and attached then.
pub(super) type Attachment = (u32, u32);

/// How many times the window is held at most: those of publishers that were lost are kept by no window any more.
const LIMIT_WINDOWS: usize = 4;

/// Whether numbers go on from what came before, here or by another forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    /// They do.
    Same,
    /// They do not: it is another run.
    Another,
    /// Nobody is known who had anything of it, or of one before.
    Unknown,
}

/// A step that is held.
struct Step<T> {
    mark: Mark,
    /// As which the gate has it, if it was sent: maybe as one of an opening before.
    known: Mark,
    step: Arc<T>,
    of: Attachment,
    /// Which of the counts of numbers it is of.
    line: u32,
    /// Whether it was sent over the connection that there is, or one before that the gate had it from.
    is_sent: bool,
    /// It could not be read, and is awaited until then.
    lost: Option<Instant>,
}

/// What is known of the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Other {
    /// There is no connection, or none any more, for this reason.
    Cut(String),
    /// It listens.
    There,
    /// It has said that the stream has ended there too.
    Ended,
    /// It does not take the stream.
    Refuses(String),
}

/// The steps, oldest first; and what was heard of the other end. One thread sends, another one hears.
pub(super) struct Held<T = StepReader> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    steps: VecDeque<Step<T>>,
    /// Steps of a forward before this one that the gate has, and not all have taken.
    inherited: Vec<Mark>,
    /// The last step that the gate had as it was connected.
    has: Option<Mark>,
    /// The number of the last step that came or was there before, while numbers go on.
    last: Option<Mark>,
    /// What came last: of which attachment, and which number.
    latest: (Attachment, StepId),
    /// How often numbers have begun anew.
    line: u32,
    /// The last of these counts that somebody at a gate may have had steps of; and that of which a gate was told over this
    /// connection that it begins anew, with its opening.
    opened: u32,
    opening: Option<(Epoch, u32)>,
    /// Whether nothing comes again any more.
    is_final: bool,
    given_up: u64,
    subscribers: u32,
    /// Which variables they want.
    wanted: Wanted,
    other: Other,
    awaits_end: bool,
    taken: u64,
}

impl<T> Default for Held<T> {
    fn default() -> Self {
        let state = State {
            steps: VecDeque::new(),
            inherited: Vec::new(),
            has: None,
            last: None,
            latest: ((0, 0), StepId(0)),
            line: 0,
            opened: 0,
            opening: None,
            is_final: false,
            given_up: 0,
            subscribers: 0,
            wanted: Wanted::default(),
            other: Other::Cut(String::new()),
            awaits_end: false,
            taken: 0,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<T> State<T> {
    fn begin(&mut self, of: Attachment, run: Run) {
        if self.latest.0 == of {
            return;
        }
        self.latest = (of, StepId(0));
        // Behind a run of which nobody had a step another one is the first one still.
        if run != Run::Same {
            (self.line, self.last) = (self.line + u32::from(self.last.is_some()), None);
        }
        if run == Run::Unknown {
            self.opened = self.line;
        }
    }

    /// Of what was not told, nothing follows.
    fn note_opened(&mut self, epoch: Epoch) {
        let of = self.opening.filter(|(opening, _)| *opening == epoch);
        self.opened = of.map_or(self.opened, |(_, line)| self.opened.max(line));
    }
}

impl<T> Held<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Steps of that attachment come now.
    pub(super) fn begin(&self, of: Attachment, run: Run) {
        self.state().begin(of, run);
    }

    /// One more, of that attachment. What a forward before this one has sent is held as well, and not sent again. What
    /// comes again takes the place of what was held of it.
    pub(super) fn push(&self, mark: Mark, step: T, (of, run): (Attachment, Run)) {
        let (step, mut state) = (Arc::new(step), self.state());
        state.begin(of, run);
        state.latest.1 = mark.step;
        let (line, goes_on) = (state.line, run == Run::Same);
        let is_its = |held: &&mut Step<T>| held.line == line && held.mark.step == mark.step;
        if let Some(held) = state.steps.iter_mut().find(is_its) {
            let known = if held.is_sent { held.known } else { mark };
            *held = Step { mark, known, step, of, line, lost: None, ..*held };
            return;
        }
        // The gate may have two of that number, of two openings: the very one comes first.
        let find = |is_it: &dyn Fn(&Mark) -> bool| state.inherited.iter().position(is_it);
        let is_alike = |inherited: &Mark| goes_on && inherited.step == mark.step;
        let at = find(&|inherited| *inherited == mark).or_else(|| find(&is_alike));
        let inherited = at.map(|at| state.inherited.remove(at));
        let is_there = state.last.is_some_and(|last| mark.step <= last.step);
        if inherited.is_some() || !is_there {
            let (known, is_sent) = (inherited.unwrap_or(mark), inherited.is_some());
            state.steps.push_back(Step { mark, known, step, of, line, is_sent, lost: None });
        }
        state.last = state.last.filter(|_| is_there).or(Some(mark));
    }

    /// The opening that the gate has steps of, if any, and the first number that a forward which begins now should hold.
    pub(super) fn behind(&self) -> Option<(Epoch, StepId)> {
        let state = self.state();
        let has = state.has?;
        let next = StepId(has.step.0.saturating_add(1));
        // None is taken twice: those that were taken since are let go of.
        let rising = state.inherited.iter().rev().map(|mark| mark.step);
        let first = rising.fold((next, true), |(first, goes_on), step| {
            let goes_on = goes_on && step < first;
            (if goes_on { step } else { first }, goes_on)
        });
        Some((has.epoch, first.0))
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.state().steps.len()
    }

    /// How many the publisher keeps for this: not those that it is lost with, which come again.
    pub(super) fn kept(&self) -> usize {
        let state = self.state();
        let is_kept = |held: &&Step<T>| held.of == state.latest.0 && held.lost.is_none();
        state.steps.iter().filter(is_kept).count()
    }

    /// Whether no more are to be held: as many are kept for this as may be, or those of publishers before are too many.
    pub(super) fn is_full(&self, window: usize) -> bool {
        self.kept() >= window || self.count() >= window.saturating_mul(LIMIT_WINDOWS)
    }

    /// The gate is told over this connection that no step comes any more; false if it was told before.
    pub(super) fn await_end(&self) -> bool {
        !std::mem::replace(&mut self.state().awaits_end, true)
    }

    /// The gate says that all of the stream was taken. False if that is not the end of what it was told to end: it is
    /// of an earlier connection.
    pub(super) fn all_taken(&self) -> bool {
        let mut state = self.state();
        if !state.awaits_end || state.steps.iter().any(|held| !held.is_sent) {
            return false;
        }
        state.inherited.clear();
        let taken = std::mem::take(&mut state.steps);
        state.taken += taken.len() as u64;
        true
    }

    /// How many were taken.
    pub(super) fn taken_steps(&self) -> u64 {
        self.state().taken
    }

    /// How many subscriptions the gate had last. Where it has to be given steps again, there was one at least.
    pub(super) fn subscribers(&self) -> u32 {
        let state = self.state();
        state.subscribers.max(u32::from(!state.steps.is_empty()))
    }

    /// Whether any is to be sent.
    pub(super) fn has_unsent(&self) -> bool {
        self.state().steps.iter().any(|held| !held.is_sent)
    }

    /// Which is to be sent next, if any, or comes then; and whether a run begins anew with it.
    pub(super) fn next_or(&self, coming: Mark) -> (Mark, bool) {
        let state = self.state();
        let unsent = state.steps.iter().find(|held| !held.is_sent);
        let (mark, line) = unsent.map_or((coming, state.line), |held| (held.mark, held.line));
        (mark, line > state.opened)
    }

    /// The gate is told that a run begins anew with that opening, and answers; or does not know that word, and so gets its
    /// steps.
    pub(super) fn open(&self, epoch: Epoch, is_answered: bool) {
        let mut state = self.state();
        let unsent = state.steps.iter().find(|held| !held.is_sent);
        let line = unsent.map_or(state.line, |held| held.line);
        state.opening = Some((epoch, line));
        if !is_answered {
            state.note_opened(epoch);
        }
    }

    /// Nobody at the gate has to do with the run before any more.
    pub(super) fn note_opened(&self, epoch: Epoch) {
        self.state().note_opened(epoch);
        self.changed.notify_all();
    }

    /// Whether the gate was told that a run begins anew, and has still to do with the run before.
    pub(super) fn awaits_run(&self) -> bool {
        let state = self.state();
        state.opening.is_some_and(|(_, line)| line > state.opened)
    }

    /// The oldest that was not sent, unless it is to come again, or the gate has still to do with the run before. It counts
    /// as sent from now on: the answer may come before all of it has gone.
    pub(super) fn next_to_send(&self) -> Option<(Mark, Arc<T>)> {
        let mut state = self.state();
        loop {
            let at = state.steps.iter().position(|held| !held.is_sent)?;
            let (latest, line, is_final) = (state.latest, state.line, state.is_final);
            let is_opened = state.steps[at].line <= state.opened;
            let next = &mut state.steps[at];
            let is_before = next.of < latest.0;
            // Steps come again in the order of their numbers.
            let is_late = next.lost.is_some_and(|until| Instant::now() >= until);
            let is_past = next.line != line || (is_before && latest.1 > next.mark.step);
            let comes_again = !is_final && !is_past && !is_late;
            match (comes_again, next.lost.is_some()) {
                (true, is_lost) if is_lost || is_before => return None,
                (false, true) => {
                    state.steps.remove(at);
                    state.given_up += 1;
                }
                _ if !is_opened => return None,
                _ => {
                    (next.is_sent, next.known) = (true, next.mark);
                    return Some((next.mark, next.step.clone()));
                }
            }
        }
    }

    /// It cannot be read, as its publisher is lost: if it does not come again until then, nobody gets it.
    pub(super) fn lose(&self, mark: Mark, until: Instant) {
        let mut state = self.state();
        let found = state.steps.iter_mut().find(|held| held.mark == mark);
        found.into_iter().for_each(|held| (held.is_sent, held.lost) = (false, Some(until)));
    }

    /// None can be read any more, as the subscription is another one: what does not come again until then nobody gets.
    /// Which is the oldest that was not sent.
    pub(super) fn lose_all(&self, until: Instant) -> Option<StepId> {
        let mut state = self.state();
        let line = state.line;
        state.steps.iter_mut().for_each(|held| _ = held.lost.get_or_insert(until));
        let unsent = state.steps.iter().filter(|held| !held.is_sent && held.line == line);
        unsent.map(|held| held.mark.step).min()
    }

    /// It cannot be read: nobody gets it.
    pub(super) fn give_up(&self, mark: Mark) {
        let mut state = self.state();
        state.steps.retain(|held| held.mark != mark);
        state.given_up += 1;
    }

    /// Nothing comes again until a stream is brought anew.
    pub(super) fn note_final(&self, is_final: bool) {
        self.state().is_final = is_final;
    }

    /// How many nobody gets.
    pub(super) fn given_up_steps(&self) -> u64 {
        self.state().given_up
    }

    /// There is a connection, and the gate has all up to that step, but that these are not taken yet.
    pub(super) fn connected(&self, has: Option<Mark>, pending: &[Mark]) {
        let mut state = self.state();
        // What the gate has is behind what was held before it in any case.
        let known = has.and_then(|has| {
            let is_up_to = |held: &Step<T>| {
                let is_before = held.known.epoch == has.epoch && held.known.step <= has.step;
                is_before || pending.contains(&held.known)
            };
            state.steps.iter().rposition(is_up_to).map(|last| last + 1)
        });
        let known = known.unwrap_or(0);
        let before = state.steps.len();
        let mut at = 0;
        state.steps.retain_mut(|held| {
            held.is_sent = at < known;
            at += 1;
            !held.is_sent || pending.contains(&held.known)
        });
        state.taken += (before - state.steps.len()) as u64;
        let is_held = |mark: &Mark| state.steps.iter().any(|held| held.is_sent && held.known == *mark);
        state.inherited = pending.iter().copied().filter(|mark| !is_held(mark)).collect();
        (state.other, state.has, state.awaits_end) = (Other::There, has, false);
        state.opening = None;
        // An attachment counts on from where it began.
        let has_begun = state.latest.0 != Attachment::default();
        state.last = state.last.or(has.filter(|_| !has_begun));
        self.changed.notify_all();
    }

    /// All subscribers of the gate have taken it; false if it was never sent.
    pub(super) fn taken(&self, mark: Mark) -> bool {
        let mut state = self.state();
        if let Some(at) = state.inherited.iter().position(|inherited| *inherited == mark) {
            state.inherited.remove(at);
            return true;
        }
        let found = state.steps.iter().position(|held| held.known == mark && held.is_sent);
        let removed = found.and_then(|at| state.steps.remove(at));
        state.taken += u64::from(removed.is_some());
        drop(state);
        self.changed.notify_all();
        removed.is_some()
    }

    /// So many subscribe there now.
    pub(super) fn note_subscribers(&self, subscribers: u32) {
        self.state().subscribers = subscribers;
    }

    /// They want these variables.
    pub(super) fn note_wanted(&self, wanted: Wanted) {
        self.state().wanted = wanted;
    }

    /// Which variables they want.
    pub(super) fn wanted(&self) -> Wanted {
        self.state().wanted.clone()
    }

    /// The connection is no more, or the gate does not want the stream.
    pub(super) fn note_other(&self, other: Other) {
        self.state().other = other;
        self.changed.notify_all();
    }

    /// What is known of the other end.
    pub(super) fn other(&self) -> Other {
        self.state().other.clone()
    }

    /// Waits until one is taken or the connection cut, and no longer than that.
    pub(super) fn wait(&self, at_most: Duration) {
        let state = self.state();
        drop(self.changed.wait_timeout(state, at_most).unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests;
