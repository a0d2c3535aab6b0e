//! The steps that a forward holds until they are taken at the other end.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fp_core::{Epoch, StartAt, StepId, StepReader};

use crate::crossing::{Mark, Wanted};

/// A step that is held.
struct Step<T> {
    mark: Mark,
    step: Arc<T>,
    /// Whether it was sent over the connection that there is, or one before that the gate had it from.
    is_sent: bool,
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
            subscribers: 0,
            wanted: Wanted::default(),
            other: Other::Cut(String::new()),
            awaits_end: false,
            taken: 0,
        };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }
}

impl<T> Held<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more. What a forward before this one has sent is held as well, and not sent again; what was taken of it is
    /// let go of at once.
    pub(super) fn push(&self, mark: Mark, step: T) {
        let mut state = self.state();
        let before = state.inherited.len();
        state.inherited.retain(|inherited| *inherited != mark);
        let is_sent = state.inherited.len() < before;
        let is_there = state.has.is_some_and(|has| has.epoch == mark.epoch && mark.step <= has.step);
        if is_sent || !is_there {
            state.steps.push_back(Step { mark, step: Arc::new(step), is_sent });
        }
    }

    /// The step before the first of that epoch that a forward which begins now should hold, if the gate has any of it.
    pub(super) fn behind(&self, epoch: Epoch) -> Option<StartAt> {
        let state = self.state();
        let has = state.has.filter(|has| has.epoch == epoch)?;
        let of_epoch = state.inherited.iter().filter(|mark| mark.epoch == epoch);
        Some(match of_epoch.map(|mark| mark.step).min() {
            // None is taken twice: those that were taken since are let go of.
            Some(StepId(0)) => StartAt::OldestReserved,
            Some(first) => StartAt::After(StepId(first.0 - 1)),
            None => StartAt::After(has.step),
        })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.state().steps.len()
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

    /// Which is to be sent next.
    pub(super) fn unsent(&self) -> Option<Mark> {
        self.state().steps.iter().find(|held| !held.is_sent).map(|held| held.mark)
    }

    /// The oldest that was not sent. It counts as sent from now on: the answer may come before all of it has gone.
    pub(super) fn next_to_send(&self) -> Option<(Mark, Arc<T>)> {
        let mut state = self.state();
        let next = state.steps.iter_mut().find(|held| !held.is_sent)?;
        next.is_sent = true;
        Some((next.mark, next.step.clone()))
    }

    /// It cannot be read any more: nobody gets it.
    pub(super) fn give_up(&self, mark: Mark) {
        self.state().steps.retain(|held| held.mark != mark);
    }

    /// There is a connection, and the gate has all up to that step, but that these are not taken yet.
    pub(super) fn connected(&self, has: Option<Mark>, pending: &[Mark]) {
        let mut state = self.state();
        // What the gate has is behind what was held before it in any case.
        let known = has.and_then(|has| {
            let is_up_to = |held: &Step<T>| {
                let is_before = held.mark.epoch == has.epoch && held.mark.step <= has.step;
                is_before || pending.contains(&held.mark)
            };
            state.steps.iter().rposition(is_up_to).map(|last| last + 1)
        });
        let known = known.unwrap_or(0);
        let before = state.steps.len();
        let mut at = 0;
        state.steps.retain_mut(|held| {
            held.is_sent = at < known;
            at += 1;
            !held.is_sent || pending.contains(&held.mark)
        });
        state.taken += (before - state.steps.len()) as u64;
        let is_held = |mark: &Mark| state.steps.iter().any(|held| held.mark == *mark);
        state.inherited = pending.iter().copied().filter(|mark| !is_held(mark)).collect();
        (state.other, state.has, state.awaits_end) = (Other::There, has, false);
        self.changed.notify_all();
    }

    /// All subscribers of the gate have taken it; false if it was never sent.
    pub(super) fn taken(&self, mark: Mark) -> bool {
        let mut state = self.state();
        if let Some(at) = state.inherited.iter().position(|inherited| *inherited == mark) {
            state.inherited.swap_remove(at);
            return true;
        }
        let found = state.steps.iter().position(|held| held.mark == mark && held.is_sent);
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
mod tests {
    use super::*;

    fn mark(epoch: u128, step: u64) -> Mark {
        Mark { epoch: Epoch(epoch), step: StepId(step) }
    }

    fn held(marks: &[Mark]) -> Held<()> {
        let held = Held::default();
        marks.iter().for_each(|mark| held.push(*mark, ()));
        held
    }

    fn to_send(held: &Held<()>) -> Vec<Mark> {
        std::iter::from_fn(|| held.next_to_send().map(|(mark, _)| mark)).collect()
    }

    #[test]
    fn each_is_sent_once_over_a_connection() {
        let held = held(&[mark(1, 0), mark(1, 1)]);
        held.connected(None, &[]);
        assert_eq!(to_send(&held), [mark(1, 0), mark(1, 1)]);
        assert_eq!(to_send(&held), []);
        held.connected(None, &[]);
        assert_eq!(to_send(&held), [mark(1, 0), mark(1, 1)], "another gate has nothing of it");
    }

    #[test]
    fn what_the_gate_has_is_not_sent_again_and_released_once_it_is_taken() {
        let held = held(&[mark(1, 7), mark(2, 0), mark(2, 1), mark(2, 2)]);
        to_send(&held);
        // The word that 7 and 0 were taken was lost with the connection.
        held.connected(Some(mark(2, 1)), &[mark(2, 1)]);
        assert_eq!((held.count(), held.taken_steps()), (2, 2));
        assert_eq!(to_send(&held), [mark(2, 2)]);
        assert!(held.taken(mark(2, 1)) && held.taken(mark(2, 2)));
        assert_eq!((held.count(), held.taken_steps()), (0, 4));
    }

    #[test]
    fn what_is_pending_of_an_earlier_opening_is_not_sent_again() {
        let held = held(&[mark(1, 7), mark(2, 8)]);
        to_send(&held);
        assert!(held.taken(mark(2, 8)));
        held.connected(Some(mark(2, 8)), &[mark(1, 7)]);
        assert_eq!((held.count(), to_send(&held)), (1, Vec::new()));
    }

    #[test]
    fn a_forward_that_begins_holds_what_the_gate_would_lose() {
        let held = held(&[]);
        held.connected(Some(mark(1, 9)), &[mark(1, 6), mark(1, 8)]);
        assert_eq!(held.behind(Epoch(1)), Some(StartAt::After(StepId(5))));
        assert_eq!(held.behind(Epoch(2)), None);
        (6..=10).for_each(|step| held.push(mark(1, step), ()));
        assert_eq!((held.count(), to_send(&held)), (3, vec![mark(1, 10)]));
        // The gate was killed: the next one has nothing.
        held.connected(None, &[]);
        assert_eq!(to_send(&held), [mark(1, 6), mark(1, 8), mark(1, 10)]);
        let all_taken = self::held(&[]);
        all_taken.connected(Some(mark(1, 9)), &[]);
        assert_eq!(all_taken.behind(Epoch(1)), Some(StartAt::After(StepId(9))));
    }

    #[test]
    fn a_gate_that_has_an_earlier_opening_gets_all() {
        let held = held(&[mark(2, 0), mark(2, 1)]);
        held.connected(Some(mark(1, 40)), &[]);
        assert_eq!(to_send(&held), [mark(2, 0), mark(2, 1)]);
    }

    #[test]
    fn what_was_never_sent_cannot_be_taken() {
        let held = held(&[mark(1, 0)]);
        held.connected(None, &[]);
        assert!(!held.taken(mark(1, 0)) && !held.taken(mark(1, 5)));
        assert_eq!(held.count(), 1);
        to_send(&held);
        assert!(held.taken(mark(1, 0)) && !held.taken(mark(1, 0)));
    }

    #[test]
    fn what_a_forward_before_sent_is_awaited_and_no_lie() {
        let held = held(&[]);
        held.connected(Some(mark(1, 6)), &[mark(1, 5), mark(1, 6)]);
        assert!(held.taken(mark(1, 6)) && held.taken(mark(1, 5)) && !held.taken(mark(1, 5)));
        assert_eq!((held.count(), held.taken_steps()), (0, 0));
    }

    #[test]
    fn a_stream_that_has_ended_there_was_taken_as_far_as_it_was_sent() {
        let held = held(&[mark(1, 0), mark(1, 1)]);
        held.connected(None, &[]);
        held.next_to_send();
        held.await_end();
        assert!(!held.all_taken());
        held.next_to_send();
        held.connected(Some(mark(1, 1)), &[mark(1, 0), mark(1, 1)]);
        assert!(!held.all_taken(), "that was said of another connection");
        held.await_end();
        assert!(held.all_taken());
        assert_eq!((held.count(), held.taken_steps()), (0, 2));
    }

    #[test]
    fn somebody_is_awaited_where_steps_are_given_again() {
        let held = held(&[]);
        assert_eq!(held.subscribers(), 0);
        held.push(mark(1, 0), ());
        assert_eq!(held.subscribers(), 1);
        held.note_subscribers(3);
        assert_eq!(held.subscribers(), 3);
    }
}
