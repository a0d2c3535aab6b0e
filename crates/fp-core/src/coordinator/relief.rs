//! Short calls of a stream with many links. The caller hands the machine what it has, and the background thread tells
//! the links. With a thousand subscriptions that takes many milliseconds, which are not the simulation's.

use crate::coordinator::machine::Machine;
use crate::coordinator::{Endpoint, Look, Role, State};
use fp_proto::time::Moment;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// With more links than this, control or data links, a short call leaves them to the background thread.
pub(crate) const LIMIT_LINKS: usize = 64;

/// Effects that the background thread performs before it lets a short call through: about a tenth of a millisecond.
pub(super) const CHUNK: usize = 16;

/// Effects that a short call performs itself, some tens of microseconds. Of a crowd of watches mostly one is told, and to
/// wake the background thread for it takes longer.
const FEW: usize = 8;

/// Looks of the background thread at whether the short call has the lock, before it goes on.
const LOOKS: u32 = 1000;

impl<R: Role> Endpoint<R> {
    /// Whether there are so many links that a short call leaves them to the background thread.
    pub(crate) fn is_crowded(&self) -> bool {
        self.crowded.load(Ordering::Relaxed)
    }

    /// Notes how many links there are; called when that changes.
    pub(super) fn note_crowd(&self, state: &State<R>) {
        self.crowded.store(state.links.len() > LIMIT_LINKS, Ordering::Relaxed);
    }

    /// As [`Endpoint::drive`], for a short call.
    pub(crate) fn drive_briefly<T>(&self, command: impl FnOnce(&mut State<R>, Moment) -> T) -> T {
        if !self.is_crowded() {
            return self.drive(command);
        }
        let mut state = self.lock_in_a_hurry();
        let answer = command(&mut state, self.clock.now());
        if !state.backlog && state.machine.decides_briefly() {
            self.drain_some(&mut state, FEW);
        }
        self.leave_to_background(state);
        answer
    }

    /// As [`Endpoint::wait`], for a short call: nothing is waited for as a rule.
    pub(crate) fn wait_briefly<T>(
        &self,
        deadline: Instant,
        mut check: impl FnMut(&mut State<R>, Moment) -> Look<T>,
    ) -> Option<T> {
        if let Some(answer) = self.look_briefly(&mut check) {
            return Some(answer);
        }
        self.wait(deadline, check)
    }

    /// What a look finds in a crowd; `None` where it finds nothing or there is no crowd.
    pub(super) fn look_briefly<T>(
        &self,
        check: &mut impl FnMut(&mut State<R>, Moment) -> Look<T>,
    ) -> Option<T> {
        if !self.is_crowded() {
            return None;
        }
        let mut state = self.lock_in_a_hurry();
        let answer = check(&mut state, self.clock.now()).ok()?;
        self.leave_to_background(state);
        Some(answer)
    }

    /// The lock, as soon as the background thread can give it up.
    pub(super) fn lock_in_a_hurry(&self) -> MutexGuard<'_, State<R>> {
        self.hurried.fetch_add(1, Ordering::SeqCst);
        let state = self.lock();
        self.hurried.fetch_sub(1, Ordering::SeqCst);
        state
    }

    /// Wakes nobody where nothing is left to do: to begin a step is that as a rule.
    fn leave_to_background(&self, mut state: MutexGuard<'_, State<R>>) {
        let is_asking = state.machine.is_asking();
        state.backlog |= is_asking;
        self.settle(&mut state);
        drop(state);
        if !is_asking {
            return;
        }
        if let Some((background, _)) = self.registered.get() {
            background.be_awake_by(Instant::now());
        }
    }

    /// Lets short calls go first, if there are any.
    pub(super) fn give_way<'a>(&'a self, state: MutexGuard<'a, State<R>>) -> MutexGuard<'a, State<R>> {
        if self.hurried.load(Ordering::SeqCst) == 0 {
            return state;
        }
        drop(state);
        let mut looks = 0..LOOKS;
        while self.hurried.load(Ordering::SeqCst) > 0 && looks.next().is_some() {
            std::thread::yield_now();
        }
        self.lock()
    }

    /// Does what short calls left to do.
    pub(super) fn work_off(&self) {
        let mut state = self.lock();
        if !state.backlog {
            return;
        }
        while state.backlog {
            self.drain_some(&mut state, CHUNK);
            state = self.give_way(state);
        }
        self.tell_waiting(&state);
        drop(state);
        self.wakers.wake_all();
    }
}
